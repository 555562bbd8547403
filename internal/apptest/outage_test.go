package apptest_test

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/apptest"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/settlement"
)

// behind returns a program that reaches its PostgreSQL through a proxy.
func behind(t *testing.T, options ...apptest.Option) (*apptest.Program, *apptest.Proxy) {
	t.Helper()
	home := apptest.NewHome(t, db.Postgres)
	proxy, through := apptest.NewProxy(t, home.Database)
	home.Database = through
	return home.Start(t, options...), proxy
}

// absences returns requests that need the database, from each area of the API. Each has the
// response that the contract promises while the database is unavailable. Lists of the catalogue are
// not among them, because the program has them in memory for some seconds.
func absences(c *apptest.Client, o apptest.Order) []struct{ method, path, body string } {
	const (
		vtu     = `{"success":false,"message":"Service temporarily unavailable"}`
		account = `{"status":"error","message":"Service temporarily unavailable"}`
	)
	return []struct{ method, path, body string }{
		{http.MethodPost, apptest.PurchaseData, vtu},
		{http.MethodGet, "/api/v1/vtu/transactions", vtu},
		{http.MethodGet, "/api/v1/vtu/transaction/" + o.IdempotencyKey, vtu},
		{http.MethodGet, "/api/v1/settlement/accounts", account},
		{http.MethodGet, "/api/v1/outcomes", account},
		{http.MethodGet, "/api/v1/events", account},
		{http.MethodGet, "/api/v1/events?wait=5&after=100", account},
		{http.MethodGet, "/api/v1/integrity", account},
	}
}

func TestADatabaseThatGoesAwayAndComesBack(t *testing.T) {
	t.Parallel()
	p, proxy := behind(t)
	order := p.Order(p.Bundle(), "while-away", "10")
	proxy.Cut()
	for _, q := range absences(p.Client, order) {
		var body any
		if q.method == http.MethodPost {
			body = order
		}
		if a := p.Do(q.method, q.path, body); a.Status != http.StatusServiceUnavailable || a.Body != q.body+"\n" {
			t.Errorf("%s %s: %s", q.method, q.path, a)
		}
	}
	_, a, err := p.Tokens(t.Context())
	if err != nil || a.Status != http.StatusServiceUnavailable || a.Body != `{"message":"Service temporarily unavailable"}`+"\n" {
		t.Errorf("tokens: %s %v", a, err)
	}
	for path, want := range map[string]int{"/healthz": http.StatusOK, "/readyz": http.StatusServiceUnavailable, "/openapi.json": http.StatusOK} {
		if a, err := p.Raw(t.Context(), http.MethodGet, path, nil); err != nil || a.Status != want {
			t.Errorf("%s: %s %v", path, a, err)
		}
	}
	proxy.Mend()
	apptest.Eventually(t, func() string {
		if a, err := p.Raw(t.Context(), http.MethodGet, "/readyz", nil); err != nil || a.Status != http.StatusOK {
			return a.String()
		}
		return ""
	})
	if n := len(p.Audit(t, apptest.DevFloat)); n != 0 {
		t.Errorf("%d purchases that were answered 503", n)
	}
	p.Bought(p.Buy(order))
	p.Audit(t, apptest.DevFloat)
}

// The database keeps its connections open but does not respond. This counts as unavailable: read
// requests get a 503 within the time limit. When the database responds again, all requests succeed.
func TestADatabaseThatFallsSilent(t *testing.T) {
	t.Parallel()
	p, proxy := behind(t)
	order := p.Order(p.Bundle(), "while-silent", "10")
	proxy.Silence()
	var all sync.WaitGroup
	began := time.Now()
	for _, q := range append(absences(p.Client, order), quiet...) {
		all.Go(func() {
			if q.method == http.MethodPost {
				return // write requests are not sent here, because the ledger has a separate timeout for them
			}
			a, err := p.Try(context.Background(), q.method, q.path, nil)
			if err != nil || a.Status != http.StatusServiceUnavailable || q.body != "" && a.Body != q.body+"\n" {
				t.Errorf("%s: %s %v", q.path, a, err)
			}
		})
	}
	all.Go(func() { // the program inserts such a job when it starts
		err := p.App.DB.Insert(context.Background(), job.Job{Company: settlement.House, Kind: "nothing", RunAt: p.App.Clock.Now()}.Record())
		if !fault.Is(err, fault.Unavailable) {
			t.Errorf("a standing job: %v", err)
		}
	})
	all.Wait()
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("they were told after %s", took)
	}
	proxy.Mend()
	apptest.Eventually(t, func() string {
		if a, err := p.Raw(t.Context(), http.MethodGet, "/readyz", nil); err != nil || a.Status != http.StatusOK {
			return a.String()
		}
		return ""
	})
	p.Bought(p.Buy(order))
	p.Audit(t, apptest.DevFloat)
}

// quiet lists further requests that only read, from every area of the API.
var quiet = []struct{ method, path, body string }{
	{method: http.MethodGet, path: "/api/v1/customer/"},
	{method: http.MethodGet, path: "/api/v1/customer/x@example.com"},
	{method: http.MethodGet, path: "/api/v1/transaction/"},
	{method: http.MethodGet, path: "/api/v1/card/"},
	{method: http.MethodGet, path: "/api/v1/card/get-card/x"},
	{method: http.MethodGet, path: "/api/v1/card/transaction/x"},
	{method: http.MethodGet, path: "/api/v1/settlement/banks"},
	{method: http.MethodGet, path: "/api/v1/settlement/transaction/"},
	{method: http.MethodGet, path: "/api/v1/settlement/payout-status/x"},
	{method: http.MethodGet, path: "/api/v1/settlement/statement?settlementId=1&from=2020-01-01&to=2020-01-02"},
	{method: http.MethodGet, path: "/api/v1/virtual-account/x"},
	{method: http.MethodGet, path: "/api/v1/crypto/transactions"},
	{method: http.MethodGet, path: "/api/v1/crypto/history"},
	{method: http.MethodGet, path: "/api/v1/webhooks"},
	{method: http.MethodGet, path: "/api/v1/idempotency/x"},
	{method: http.MethodGet, path: "/api/v1/outcomes/x"},
	{method: http.MethodGet, path: "/api/v1/events/x"},
}

// The API caches a company's credentials for thirty seconds. If the database is unavailable after
// that, a request gets a 503 and never a 401.
func TestACachedCompanyNeedsTheDatabaseAgain(t *testing.T) {
	t.Parallel()
	p, proxy := behind(t)
	p.Balance(p.SettlementID)
	p.Advance(time.Minute)
	proxy.Cut()
	a := p.Do(http.MethodGet, "/api/v1/settlement/accounts", nil)
	if a.Status != http.StatusServiceUnavailable || a.Body != `{"message":"Service temporarily unavailable"}`+"\n" {
		t.Errorf("the gate: %s", a)
	}
}

// The database becomes unavailable after the provider has received the payment request. The
// purchase stays PENDING, and the resolver finds its outcome when the database is available again.
func TestADatabaseLostDuringTheCall(t *testing.T) {
	t.Parallel()
	g := newGate()
	p, proxy := behind(t, apptest.Around(g.around))
	order := p.Order(p.Bundle(), "lost-outcome", "10")
	first := ask(t, p.Client, order, header, "lost-outcome")
	await(t, g.entered)
	proxy.Cut()
	close(g.open)
	a := await(t, first)
	if tr := p.Bought(a); tr.Status != "PENDING" {
		t.Errorf("the outcome could not be written: %s", a)
	}
	proxy.Mend()
	apptest.Eventually(t, func() string {
		if a := p.Do(http.MethodGet, "/api/v1/vtu/transaction/lost-outcome", nil); a.Status != http.StatusOK {
			return a.String()
		}
		return ""
	})
	p.Audit(t, apptest.DevFloat)
	p.Advance(time.Minute)
	resolved(t, p.Client)
	if tr := p.Transaction("lost-outcome"); tr.Status != "SUCCESS" {
		t.Errorf("in the end: %+v", tr)
	}
	p.Audit(t, apptest.DevFloat)
}

// mute is a biller that accepts orders but never replies to a requery, which asks for the status of
// an order.
type mute struct{ *gate }

func (m mute) around(b provider.Biller) provider.Biller {
	if m.gate.around(b) == b {
		return b
	}
	return m
}

func (m mute) Requery(context.Context, provider.Sale) provider.Answer { return provider.Answer{} }

// The biller's definite reply is being committed when the connection to the database breaks. The
// outcome is not lost, although the biller would not reply a second time.
func TestADefiniteAnswerOutlivesItsConnection(t *testing.T) {
	t.Parallel()
	for ending, want := range map[string]string{"10": "SUCCESS", "01": "FAILED"} {
		for name, harm := range map[string]func(*apptest.Proxy){
			"at COMMIT": func(proxy *apptest.Proxy) {
				proxy.AtCommitOf("ledger_entry", func(_, closeClient func()) { closeClient() })
			},
			"all of them": func(proxy *apptest.Proxy) { proxy.Cut(); proxy.Mend() },
			"answer unsent": func(proxy *apptest.Proxy) {
				proxy.AtCommitOf("ledger_entry", func(forward, closeClient func()) { forward(); closeClient() })
			},
		} {
			t.Run(want+" "+name, func(t *testing.T) {
				t.Parallel()
				m := mute{newGate()}
				p, proxy := behind(t, apptest.Around(m.around))
				first := ask(t, p.Client, p.Order(p.Bundle(), "broken", ending), header, "broken")
				await(t, m.entered)
				harm(proxy)
				close(m.open)
				await(t, first)
				apptest.Eventually(t, func() string {
					a := p.Do(http.MethodGet, "/api/v1/vtu/transaction/broken", nil)
					if a.Status != http.StatusOK || p.Transaction("broken").Status != want {
						return a.String()
					}
					return ""
				})
				p.Audit(t, apptest.DevFloat)
			})
		}
	}
}

// If the reply to a purchase's COMMIT is lost, the ledger searches for the purchase. If the
// purchase was committed, the program continues with it. Otherwise the caller gets a 503 and may
// send the request again.
func TestAPurchaseWhoseCommitIsLost(t *testing.T) {
	t.Parallel()
	p, proxy := behind(t)
	bundle := p.Bundle()
	proxy.AtCommitOf("vtu_purchase", func(forward, closeClient func()) { forward(); closeClient() })
	if tr := p.Bought(p.Buy(p.Order(bundle, "committed", "10"))); tr.Status != "SUCCESS" {
		t.Errorf("its first unit was committed: %+v", tr)
	}
	proxy.AtCommitOf("vtu_purchase", func(_, closeClient func()) { closeClient() })
	order := p.Order(bundle, "not-committed", "10")
	p.Buy(order, header, "h").Want(t, http.StatusServiceUnavailable)
	if n := len(p.Audit(t, apptest.DevFloat)); n != 1 {
		t.Errorf("%d purchases", n)
	}
	if tr := p.Bought(p.Buy(order, header, "h")); tr.Status != "SUCCESS" {
		t.Errorf("repeated: %+v", tr)
	}
	p.Audit(t, apptest.DevFloat)
}

// While the disk is full, requests get a 503 and leave no incomplete operation. When the disk has
// room again, requests succeed.
func TestAFullDisk(t *testing.T) {
	t.Parallel()
	p := apptest.Start(t, db.SQLite)
	bundle := p.Bundle()
	pragma(t, p, "PRAGMA max_page_count = 1") // from now on SQLite refuses to let the file grow
	bought := 0
	for i := 0; ; i++ {
		a := p.Buy(p.Order(bundle, fmt.Sprintf("full-%d", i), "10"))
		if a.Status == http.StatusServiceUnavailable {
			if a.Body != `{"success":false,"message":"Service temporarily unavailable"}`+"\n" {
				t.Errorf("full: %s", a)
			}
			break
		}
		if bought++; bought > 1000 {
			t.Fatal("the disk does not fill up")
		}
		p.Bought(a)
	}
	transactions := p.Audit(t, apptest.DevFloat)
	if len(transactions) != bought {
		t.Errorf("%d purchases were answered 200, and there are %d", bought, len(transactions))
	}
	pragma(t, p, "PRAGMA max_page_count = 1000000")
	p.Bought(p.Buy(p.Order(bundle, "room", "10")))
	p.Advance(time.Minute)
	resolved(t, p.Client)
	p.Audit(t, apptest.DevFloat)
}

// If the database file is read-only, write requests get a 503 and read requests succeed.
func TestAReadOnlyFile(t *testing.T) {
	t.Parallel()
	p := apptest.Start(t, db.SQLite)
	bundle := p.Bundle()
	p.Bought(p.Buy(p.Order(bundle, "before", "10")))
	pragma(t, p, "PRAGMA query_only = 1")
	p.Buy(p.Order(bundle, "read-only", "10"), header, "h").Want(t, http.StatusServiceUnavailable)
	if a, err := p.Raw(t.Context(), http.MethodGet, "/readyz", nil); err != nil || a.Status != http.StatusServiceUnavailable {
		t.Errorf("ready, with a file that is read-only: %s %v", a, err)
	}
	if n := len(p.Audit(t, apptest.DevFloat)); n != 1 {
		t.Errorf("%d purchases", n)
	}
	p.Stop()
	again := p.Home.Start(t)
	again.Bought(again.Buy(again.Order(bundle, "read-only", "10"), header, "h"))
	again.Audit(t, apptest.DevFloat)
}

// pragma runs a PRAGMA on the only connection that writes.
func pragma(t *testing.T, p *apptest.Program, statement string) {
	t.Helper()
	if _, err := p.App.DB.Exec(context.WithoutCancel(t.Context()), statement); err != nil {
		t.Fatal(err)
	}
}

// A sandbox control that needs the database responds 503 while the database is unavailable.
func TestTheSandboxSaysThatTheDatabaseIsAway(t *testing.T) {
	t.Parallel()
	p, proxy := behind(t)
	proxy.Cut()
	a, err := p.Raw(t.Context(), http.MethodPost, "/sandbox/clock", map[string]string{"advance": "1m"})
	if err != nil || a.Status != http.StatusServiceUnavailable || a.Body != `{"message":"Service temporarily unavailable","status":"error"}`+"\n" {
		t.Errorf("%s, %v", a, err)
	}
}
