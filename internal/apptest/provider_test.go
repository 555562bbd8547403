package apptest_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/apptest"
	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/provider/safehaven"
)

// evil is a provider whose replies are chosen by the test. The program calls it through Safe
// Haven's plug. Only the catalogue comes from the sandbox.
type evil struct {
	provider.Biller // the biller of the sandbox
	plug            *safehaven.Plug
	server          *httptest.Server

	mu       sync.Mutex
	pay, ask http.HandlerFunc
	paid     int
}

func newEvil(t *testing.T) *evil {
	t.Helper()
	e := &evil{}
	e.server = httptest.NewServer(http.HandlerFunc(e.serve))
	t.Cleanup(e.server.Close)
	var err error
	e.plug, err = safehaven.New(safehaven.Config{
		ClientConfig: provider.ClientConfig{BaseURL: e.server.URL, PayDeadline: 500 * time.Millisecond, ReadDeadline: 300 * time.Millisecond},
		ClientID:     "client", Assertion: "assertion", DebitAccount: "0100000001",
	}, clock.System{})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func (e *evil) around(b provider.Biller) provider.Biller {
	if b.Name() != "Safe Haven" {
		return b
	}
	e.Biller = b
	return e
}

func (e *evil) Pay(ctx context.Context, p provider.Purchase) provider.Answer {
	return e.plug.Pay(ctx, p)
}

func (e *evil) Requery(ctx context.Context, s provider.Sale) provider.Answer {
	return e.plug.Requery(ctx, s)
}

// does sets the provider's replies to a payment and to a requery (a request for the status), from
// now on.
func (e *evil) does(pay, ask http.HandlerFunc) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.pay, e.ask, e.paid = pay, ask, 0
}

// requests returns the number of payment requests since the last call of does.
func (e *evil) requests() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.paid
}

func (e *evil) serve(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/oauth2/token" {
		_, _ = io.WriteString(w, `{"access_token":"t","token_type":"Bearer","expires_in":3600,"ibs_client_id":"ibs"}`)
		return
	}
	// The test server notices that the caller has closed the connection only after it has read the
	// whole request.
	_, _ = io.Copy(io.Discard, r.Body)
	e.mu.Lock()
	do := e.ask
	if r.Method == http.MethodPost {
		do = e.pay
		e.paid++
	}
	e.mu.Unlock()
	do(w, r)
}

// says returns a handler that replies with a status and a body.
func says(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// recalls returns a handler that replies with the record of a sale.
func recalls(status string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		reference := r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]
		fmt.Fprintf(w, `{"statusCode":200,"message":"ok","data":{"_id":"1","externalReference":%q,"transactionStatus":%q}}`, reference, status)
	}
}

// cut begins a response and closes the connection in the middle.
func cut(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Length", "500")
	_, _ = io.WriteString(w, `{"statusCode":200,"message":"Data Bundle purch`)
	_ = http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}

// hang does not respond until the caller has closed the connection.
func hang(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

const delivered = `{"statusCode":200,"message":"ok","data":{"id":"1","status":"successful"}}`

var evils = []struct {
	name     string
	pay      http.HandlerFunc
	first    string // the state of the order
	requests int
}{
	{"silence", hang, "PENDING", 1},
	{"a closed connection", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "PENDING", 1},
	{"a connection cut in the answer", cut, "PENDING", 1},
	{"a page", says(200, "<html><body>Success!</body></html>"), "PENDING", 1},
	{"nothing", says(200, ""), "PENDING", 1},
	{"null", says(200, "null"), "PENDING", 1},
	{"a list", says(200, `["successful"]`), "PENDING", 1},
	{"an answer without data", says(200, `{"statusCode":200,"message":"ok"}`), "PENDING", 1},
	{"a word nobody knows", says(200, `{"statusCode":200,"data":{"id":"1","status":"maybe"}}`), "PENDING", 1},
	{"two answers in one", says(200, `{"statusCode":400}`+delivered), "PENDING", 1},
	{"two megabytes", says(200, strings.Repeat(" ", 2<<20)+delivered), "PENDING", 1},
	{"a redirect", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/elsewhere", http.StatusFound) }, "PENDING", 1},
	{"a redirect that keeps the method", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, r.URL.Path, http.StatusTemporaryRedirect)
	}, "PENDING", 1},
	{"too many requests", says(429, `{"statusCode":429,"message":"slow down"}`), "PENDING", 1},
	{"a gateway's 502", says(502, "<html>Bad Gateway</html>"), "PENDING", 1},
	{"a 500 with a success in it", says(500, delivered), "PENDING", 1},
	{"a duplicate we never sent", says(409, `{"statusCode":409,"message":"Duplicate reference"}`), "PENDING", 1},
	{"a definite no", says(400, `{"statusCode":400,"message":"Invalid phone number"}`), "FAILED", 1},
	{"a shut door", says(401, `{"statusCode":401,"message":"Unauthorized"}`), "FAILED", 2},
	{"a success", says(200, delivered), "SUCCESS", 1},
}

// The program sends the payment for an order at most once, whatever the provider replies. Only a
// definite reply gives the order its outcome.
func TestAnEvilProviderIsNeverBelievedTooSoon(t *testing.T) {
	each(t, func(t *testing.T, dialect db.Dialect) {
		e := newEvil(t)
		p := apptest.Start(t, dialect, apptest.Around(e.around), apptest.Window(2*time.Second))
		bundle := p.Bundle()
		for i, c := range evils {
			e.does(c.pay, recalls("successful"))
			key := fmt.Sprintf("evil-%d", i)
			a := p.Buy(p.Order(bundle, key, "10"))
			if tr := p.Transaction(key); tr.Status != c.first || (a.Status == http.StatusOK) != (c.first != "FAILED") {
				t.Errorf("%s: %s, and then %+v", c.name, a, tr)
			}
			if n := e.requests(); n != c.requests {
				t.Errorf("%s: %d requests to pay", c.name, n)
			}
		}
		p.Advance(10 * time.Second)
		resolved(t, p.Client)
		for i, c := range evils {
			want := c.first
			if want == "PENDING" {
				want = "SUCCESS"
			}
			if tr := p.Transaction(fmt.Sprintf("evil-%d", i)); tr.Status != want {
				t.Errorf("%s: in the end %+v", c.name, tr)
			}
		}
	})
}

// If no connection to the provider is possible, the provider has not received the order. So the
// purchase fails and the company gets a refund.
func TestAProviderThatIsNotThere(t *testing.T) {
	each(t, func(t *testing.T, dialect db.Dialect) {
		e := newEvil(t)
		e.server.Close()
		p := apptest.Start(t, dialect, apptest.Around(e.around))
		a := p.Buy(p.Order(p.Bundle(), "absent", "10")).Want(t, http.StatusBadRequest)
		if a.Message() != "Data purchase failed. Your balance has been refunded." {
			t.Errorf("answer: %s", a)
		}
		p.Audit(t, apptest.DevFloat)
	})
}

// A 404 from a gateway between Kobo and the provider does not count as a reply of the provider. It
// never causes a refund, however often it comes. After 72 hours a case opens.
func TestOnlyTheProvidersOwnWordCounts(t *testing.T) {
	each(t, func(t *testing.T, dialect db.Dialect) {
		e := newEvil(t)
		p := apptest.Start(t, dialect, apptest.Around(e.around), apptest.Window(2*time.Second))
		e.does(says(502, ""), says(404, "<html>404 Not Found</html>"))
		tr := p.Bought(p.Buy(p.Order(p.Bundle(), "gateway", "10")))
		for _, d := range []time.Duration{20 * time.Minute, 3 * time.Hour, 24 * time.Hour} {
			p.Advance(d)
			if o := p.Outcome(tr.TransactionID); o.Status != "PENDING" || o.NextTryAt == nil || o.NeedsDecision {
				t.Errorf("after another %s: %+v", d, o)
			}
		}
		p.Advance(46 * time.Hour)
		apptest.Eventually(t, func() string {
			if o := p.Outcome(tr.TransactionID); o.Status != "PENDING" || o.NextTryAt != nil || !o.NeedsDecision {
				return fmt.Sprintf("after 72 hours: %+v", o)
			}
			return ""
		})
		p.Decide(t, "UNRESOLVED", "rejected")
		if after := p.Transaction("gateway"); after.Status != "FAILED" || !after.Refunded {
			t.Errorf("after the decision: %+v", after)
		}
		p.Audit(t, apptest.DevFloat)
	})
}

// The provider replies to a status request that it does not know a purchase, and the company gets a
// refund. Then the provider's reply to the payment request arrives late and reports a success. A
// case opens, and no money moves automatically.
func TestALateContradictionIsACase(t *testing.T) {
	each(t, func(t *testing.T, dialect db.Dialect) {
		g := newGate()
		p := apptest.Start(t, dialect, apptest.Around(g.around))
		answer := ask(t, p.Client, p.Order(p.Bundle(), "late", "10"))
		await(t, g.entered)
		p.Advance(20 * time.Minute)
		apptest.Eventually(t, func() string {
			if tr := p.Transaction("late"); tr.Status != "FAILED" {
				return tr.Status
			}
			return ""
		})
		close(g.open)
		await(t, answer).Want(t, http.StatusBadRequest)
		tr := p.Transaction("late")
		if sale := p.Sales()[tr.TransactionID]; sale.Executions != 1 || tr.Status != "FAILED" {
			t.Fatalf("no contradiction: %+v, %+v", tr, sale)
		}
		if o := p.Outcome(tr.TransactionID); !o.NeedsDecision {
			t.Errorf("outcome: %+v", o)
		}
		if got := p.Balance(p.SettlementID); got != apptest.DevFloat {
			t.Errorf("the balance is %s", got)
		}
		p.Decide(t, "CONTRADICTION", "dismissed")
		if o := p.Outcome(tr.TransactionID); o.NeedsDecision || o.Status != "FAILED" {
			t.Errorf("outcome after the decision: %+v", o)
		}
	})
}
