package apptest_test

import (
	"context"
	"encoding/json"
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
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/provider/safehaven"
)

// evilBank is a bank whose replies to payments and to requeries (requests for a payment's status)
// are chosen by the test. It forwards name enquiries to the sandbox.
type evilBank struct {
	provider.Bank
	plug *safehaven.Plug

	mu       sync.Mutex
	pay, ask string // status and body; REF is replaced by the reference of the request
	payments int
}

func newEvilBank(t *testing.T) *evilBank {
	t.Helper()
	e := &evilBank{}
	server := httptest.NewServer(http.HandlerFunc(e.serve))
	t.Cleanup(server.Close)
	var err error
	e.plug, err = safehaven.New(safehaven.Config{
		ClientConfig: provider.ClientConfig{BaseURL: server.URL, PayDeadline: 10 * time.Second, ReadDeadline: 10 * time.Second},
		ClientID:     "client", Assertion: "assertion", DebitAccount: "0100000001",
	}, clock.System{})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func (e *evilBank) around(b provider.Bank) provider.Bank {
	e.Bank = b
	return e
}

func (e *evilBank) Transfer(ctx context.Context, t provider.TransferOrder) provider.TransferAnswer {
	return e.plug.Transfer(ctx, t)
}

func (e *evilBank) RequeryTransfer(ctx context.Context, reference string) provider.TransferAnswer {
	return e.plug.RequeryTransfer(ctx, reference)
}

// says sets the bank's replies from now on.
func (e *evilBank) says(pay, ask string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.pay, e.ask, e.payments = pay, ask, 0
}

func (e *evilBank) serve(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/oauth2/token" {
		_, _ = io.WriteString(w, `{"access_token":"t","token_type":"Bearer","expires_in":3600,"ibs_client_id":"ibs"}`)
		return
	}
	var asked struct{ PaymentReference string }
	_ = json.NewDecoder(r.Body).Decode(&asked) // without a body the reference is empty
	e.mu.Lock()
	answer := e.ask
	if r.URL.Path == "/transfers" {
		answer = e.pay
		e.payments++
	}
	e.mu.Unlock()
	var status int
	body := strings.ReplaceAll(answer[4:], "REF", asked.PaymentReference)
	if _, err := fmt.Sscan(answer[:3], &status); err != nil {
		panic(err)
	}
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body)
}

const (
	bankPaid    = `200 {"statusCode":200,"responseCode":"00","data":{"_id":"1","sessionId":"s","paymentReference":"REF","amount":1000,"responseCode":"00","status":"Completed"}}`
	bankFailed  = `200 {"statusCode":200,"responseCode":"00","data":{"_id":"1","sessionId":"s","paymentReference":"REF","amount":1000,"responseCode":"05","status":"Failed"}}`
	bankBack    = `200 {"statusCode":200,"responseCode":"00","data":{"_id":"1","sessionId":"s","paymentReference":"REF","amount":1000,"responseCode":"00","status":"Completed","isReversed":true}}`
	bankQueued  = `200 {"statusCode":200,"responseCode":"00","data":{"_id":"64f0c2a9e1b2c3d4e5f60718","paymentReference":"REF","amount":1000,"queued":true,"status":"Created"}}`
	bankUnaware = `400 {"statusCode":400,"message":"Unable to locate record"}`
	bankDown    = `503 {"statusCode":503,"message":"Service unavailable"}`
)

// bankStories are replies of a bank to a payment of 1,000 naira and to the later requeries. Each
// has the state in which the payout must end.
var bankStories = []struct {
	name       string
	pay, first string
	ask, end   string
	asks       string // the reason of the case that stays open, or "" for no case
}{
	{"yes", bankPaid, "SUCCESS", bankPaid, "SUCCESS", ""},
	{"yes, of another reference", strings.ReplaceAll(bankPaid, "REF", "another"), "PENDING", bankPaid, "SUCCESS", ""},
	{"yes, of another amount", strings.ReplaceAll(bankPaid, "1000", "10"), "SUCCESS", bankPaid, "SUCCESS", "AMOUNT_DIFFERS"},
	{"yes, of another amount, when asked", bankDown, "PENDING", strings.ReplaceAll(bankPaid, "1000", "999.99"), "SUCCESS", "AMOUNT_DIFFERS"},
	{"yes, with the price in the amount", strings.ReplaceAll(bankPaid, `"amount":1000`, `"amount":1010.75,"fees":10,"vat":0.75`), "SUCCESS", bankPaid, "SUCCESS", ""},
	{"yes, in the queue", strings.ReplaceAll(bankPaid, `"amount"`, `"queued":true,"amount"`), "PENDING", bankPaid, "SUCCESS", ""},
	{"yes, in the queue without a session", bankQueued, "PENDING", bankPaid, "SUCCESS", ""},
	{"a code that denies its word", strings.ReplaceAll(bankPaid, `"responseCode":"00","data"`, `"responseCode":"51","data"`), "PENDING", bankPaid, "SUCCESS", ""},
	{"a duplicate", `200 {"statusCode":400,"responseCode":"94","message":"Duplicate record"}`, "PENDING", bankPaid, "SUCCESS", ""},
	{"a duplicate that failed", `409 {"statusCode":409,"message":"Duplicate paymentReference"}`, "PENDING", bankFailed, "FAILED", ""},
	{"a breakdown, and executed", `500 ` + bankPaid[4:], "PENDING", bankPaid, "SUCCESS", ""},
	{"a breakdown, and not executed", bankDown, "PENDING", bankUnaware, "FAILED", ""},
	{"yes, then no", bankPaid, "SUCCESS", bankFailed, "SUCCESS", "CONTRADICTION"},
	{"no, then yes", `400 {"statusCode":400,"message":"Do not honour"}`, "FAILED", bankPaid, "FAILED", "CONTRADICTION"},
	{"no, then back", `400 {"statusCode":400,"message":"Do not honour"}`, "FAILED", bankBack, "FAILED", ""},
	{"yes, then back", bankPaid, "SUCCESS", bankBack, "REVERSED", ""},
	{"back before it was a yes", bankDown, "PENDING", bankBack, "FAILED", ""},
	// In the cases below, the program never stops sending requeries. So these cases come last.
	{"yes, of another reference whenever asked", bankDown, "PENDING", strings.ReplaceAll(bankPaid, "REF", "another"), "PENDING", ""},
	{"a breakdown, and a gateway that knows nothing", bankDown, "PENDING", `404 <html>Not Found</html>`, "PENDING", ""},
	{"yes, in the queue without a session, and then no trace of it", bankQueued, "PENDING", bankUnaware, "PENDING", "UNRESOLVED"},
}

// The program sends a payout only once, whatever the bank replies and however often. The payout's
// money is always in exactly one account.
func TestAnEvilBankIsNeverBelievedTooSoon(t *testing.T) {
	each(t, func(t *testing.T, dialect db.Dialect) {
		e := newEvilBank(t)
		p := apptest.Start(t, dialect, apptest.AroundBanks(e.around), apptest.Window(20*time.Second))
		charge(t, p)
		want, wanted := money.Kobo(apptest.DevFloat), map[string]string{}
		for _, c := range bankStories {
			e.says(c.pay, c.ask)
			id := verify(t, p.Client, "10")
			send(p.Client, id, 1000)
			if got := status(p.Client, id); got.Status != c.first {
				t.Errorf("%s: %+v", c.name, got)
			}
			p.Advance(time.Minute)
			p.Advance(15 * time.Minute)
			for range 3 { // a bank may repeat its notification at any time
				if err := p.App.Payouts.Notified(t.Context(), id); err != nil {
					t.Errorf("%s: %v", c.name, err)
				}
			}
			got := status(p.Client, id)
			if got.Status != c.end || got.Refunded != (c.end == "FAILED" || c.end == "REVERSED") || e.payments != 1 {
				t.Errorf("%s: in the end, after %d payments, %+v", c.name, e.payments, got)
			}
			if !got.Refunded {
				want -= 1020 * money.Naira
			}
			if c.asks != "" {
				wanted[id] = c.asks
			}
		}
		holds(t, p, p.Client, want)
		list, _, err := p.App.Operations.Cases(t.Context(), operation.CaseFilter{State: operation.Open}, 100, 0)
		if err != nil || len(list) != len(wanted) {
			t.Errorf("cases %+v, %v", list, err)
		}
		for _, c := range list {
			if wanted[c.Subject] != string(c.Reason) {
				t.Errorf("the case %+v", c)
			}
		}
	})
}
