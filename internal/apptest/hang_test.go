package apptest_test

import (
	"context"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/app"
	"github.com/kobo-waas/kobo/internal/apptest"
	"github.com/kobo-waas/kobo/internal/provider"
)

// impatient sets the time that a request waits for the database to three seconds, instead of ten.
func impatient(c *app.Config) { c.DatabaseTimeout = 3 * time.Second }

// enough is the time within which the function soon expects a response. It is three times the wait
// for the database, since a machine may be slow.
const enough = 9 * time.Second

// soon sends a request, and fails the test if the response is late.
func soon(t *testing.T, c *apptest.Client, method, path string, body any, headers ...string) apptest.Answer {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), enough)
	defer cancel()
	a, err := c.Raw(ctx, method, path, body, headers...)
	if err != nil {
		t.Errorf("%s %s: %v", method, path, err)
	}
	return a
}

// bearer returns a header with an access token of the development company.
func bearer(t *testing.T, p *apptest.Program) []string {
	t.Helper()
	token, a, err := p.Tokens(t.Context())
	if err != nil || a.Status != http.StatusOK {
		t.Fatalf("%s, %v", a, err)
	}
	return []string{"Authorization", "Bearer " + token.AccessToken}
}

// While the database does not respond, each request of a company or an operator gets a 503 within
// the time limit and has no effect.
func TestASilentDatabaseKeepsNobodyWaiting(t *testing.T) {
	t.Parallel()
	p, proxy := behind(t, impatient)
	order := p.Order(p.Bundle(), "while-silent", "10")
	verified := verify(t, p.Client, "00")
	login, admin := bearer(t, p), []string{"Authorization", "Bearer " + p.AdminKey}
	type question struct {
		method, path string
		body         any
		headers      []string
	}
	questions := []question{
		{http.MethodPost, apptest.PurchaseData, order, login},
		{http.MethodPost, apptest.PurchaseData, order, append([]string{header, "silent"}, login...)},
		{http.MethodPost, sendPayout, map[string]any{"verify_id": verified, "amount": 100}, login},
		{http.MethodPost, "/api/v1/settlement/validate-account", map[string]any{
			"bank_code": "000014", "account_number": "0123456700", "pin": p.PIN, "fromSettlementId": p.SettlementID,
		}, login},
		{http.MethodGet, "/admin/v1/companies", nil, admin},
		{http.MethodGet, "/admin/v1/companies/" + p.Reference, nil, admin},
		{http.MethodPost, "/admin/v1/companies", map[string]any{"name": "Silent Ltd"}, admin},
	}
	for _, q := range append(absences(p.Client, order), quiet...) {
		if q.method == http.MethodGet {
			questions = append(questions, question{q.method, q.path, nil, login})
		}
	}
	proxy.Silence()
	var all sync.WaitGroup
	for _, q := range questions {
		all.Go(func() {
			if a := soon(t, p.Client, q.method, q.path, q.body, q.headers...); a.Status != http.StatusServiceUnavailable {
				t.Errorf("%s %s: %s", q.method, q.path, a)
			}
		})
	}
	all.Wait()
	proxy.Mend()
	apptest.Eventually(t, func() string {
		if a, err := p.Raw(t.Context(), http.MethodGet, "/readyz", nil); err != nil || a.Status != http.StatusOK {
			return a.String()
		}
		return ""
	})
	if n := len(p.Audit(t, apptest.DevFloat)); n != 0 {
		t.Errorf("%d purchases", n)
	}
	p.Bought(p.Buy(order))
	p.Audit(t, apptest.DevFloat)
}

// The COMMIT that stores a purchase's intent hangs, so the caller gets a 503 that states when to
// repeat the request. A second request with the same Idempotency-Key makes no second purchase. When
// the COMMIT is executed, a request with that key gets the outcome of the purchase.
func TestAnIntentOfUnknownFateIsFollowedByItsKey(t *testing.T) {
	t.Parallel()
	p, proxy := behind(t, impatient)
	order := p.Order(p.Bundle(), "hangs", "10")
	login := append([]string{header, "hangs"}, bearer(t, p)...)
	hangs, release := make(chan struct{}), make(chan struct{})
	proxy.AtCommitOf("vtu_purchase", func(forward, _ func()) { close(hangs); <-release; forward() })
	freed := sync.OnceFunc(func() { close(release) })
	t.Cleanup(freed)
	first := make(chan apptest.Answer, 1)
	go func() { first <- soon(t, p.Client, http.MethodPost, apptest.PurchaseData, order, login...) }()
	await(t, hangs)
	twin := soon(t, p.Client, http.MethodPost, apptest.PurchaseData, order, login...)
	if a := await(t, first); a.Status != http.StatusServiceUnavailable || a.Header.Get("Retry-After") == "" {
		t.Errorf("the first: %s", a)
	}
	if twin.Status != http.StatusServiceUnavailable && twin.Status != http.StatusConflict {
		t.Errorf("its twin: %s", twin)
	}
	freed()
	apptest.Eventually(t, func() string {
		if a := p.Do(http.MethodGet, "/api/v1/vtu/transaction/hangs", nil); a.Status != http.StatusOK {
			return a.String()
		}
		return ""
	})
	for range 3 {
		p.Advance(10 * time.Minute) // the resolver asks the biller for the status; the biller never got the payment
	}
	resolved(t, p.Client)
	if n := len(p.Audit(t, apptest.DevFloat)); n != 1 {
		t.Errorf("%d purchases", n)
	}
	if a := p.Buy(order, header, "hangs"); a.Status >= http.StatusInternalServerError {
		t.Errorf("followed by its key: %s", a)
	}
	if n := len(p.Audit(t, apptest.DevFloat)); n != 1 {
		t.Errorf("%d purchases after it was followed", n)
	}
}

// The intent of a purchase is committed and the provider has been called. Then the database stops
// responding. The response to the caller states that the outcome is pending.
func TestAnOutcomeThatCannotBeWrittenIsPending(t *testing.T) {
	t.Parallel()
	buying, paying := newGate(), &bankGate{entered: make(chan struct{}, 100), open: make(chan struct{})}
	p, proxy := behind(t, impatient, apptest.Around(buying.around), apptest.AroundBanks(paying.around))
	order := p.Order(p.Bundle(), "pending", "10")
	verified := verify(t, p.Client, "00")
	login := bearer(t, p)
	bought, paid := make(chan apptest.Answer, 1), make(chan apptest.Answer, 1)
	go func() { bought <- held(t, p, apptest.PurchaseData, order, login) }()
	go func() { paid <- held(t, p, sendPayout, map[string]any{"verify_id": verified, "amount": 100}, login) }()
	await(t, buying.entered)
	await(t, paying.entered)
	proxy.Silence()
	close(buying.open)
	close(paying.open)
	late := time.AfterFunc(enough, func() { t.Error("the answers are late") })
	answers := []apptest.Answer{await(t, bought), await(t, paid)}
	late.Stop()
	if tr := p.Bought(answers[0]); tr.Status != "PENDING" {
		t.Errorf("the purchase: %+v", tr)
	}
	var payout struct{ Data struct{ Status string } }
	if answers[1].Want(t, http.StatusOK).Into(t, &payout); payout.Data.Status != "PENDING" {
		t.Errorf("the payout: %+v", payout)
	}
	proxy.Mend()
	apptest.Eventually(t, func() string {
		if a := p.Do(http.MethodGet, "/api/v1/vtu/transaction/pending", nil); a.Status != http.StatusOK {
			return a.String()
		}
		return ""
	})
	p.Advance(time.Minute)
	resolved(t, p.Client)
	if tr := p.Transaction("pending"); tr.Status != "SUCCESS" {
		t.Errorf("the purchase in the end: %+v", tr)
	}
	if got := status(p.Client, verified); got.Status != "SUCCESS" {
		t.Errorf("the payout in the end: %+v", got)
	}
}

// held sends a request and returns the response. The provider call of the request waits until the
// test releases it.
func held(t *testing.T, p *apptest.Program, path string, body any, login []string) apptest.Answer {
	t.Helper()
	a, err := p.Raw(context.Background(), http.MethodPost, path, body, login...)
	if err != nil {
		t.Errorf("%s: %v", path, err)
	}
	return a
}

// bankGate is a bank that delays transfers until the test releases them.
type bankGate struct {
	provider.Bank
	entered, open chan struct{}
}

func (g *bankGate) around(b provider.Bank) provider.Bank {
	g.Bank = b
	return g
}

func (g *bankGate) Transfer(ctx context.Context, o provider.TransferOrder) provider.TransferAnswer {
	g.entered <- struct{}{}
	select {
	case <-g.open:
	case <-ctx.Done():
	}
	return g.Bank.Transfer(ctx, o)
}
