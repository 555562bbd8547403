package apptest_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/apptest"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/payout"
	"github.com/kobo-waas/kobo/internal/settlement"
)

// fillBook creates rows of every kind in the ledger of a company, through the API. The rows include
// all outcomes of payouts, purchases and card fundings, returned money, and credits of every kind.
// They also include cases that were closed in each way, adjustments, used Idempotency-Keys, and
// open operations. After each step, fillBook checks that the ledger adds up.
func fillBook(t *testing.T, p *apptest.Program) {
	t.Helper()
	charge(t, p)
	if err := p.App.Payouts.SetLimit(t.Context(), operator.Local("test"), p.Reference, p.SettlementID, payout.Limit{Amount: 900_000 * money.Naira}); err != nil {
		t.Fatal(err)
	}
	for _, chapter := range []func(*testing.T, *apptest.Program){
		keyed, fundings, bills, eventfulDays, strangers, bookCorrections, unresolved, openOnes,
	} {
		chapter(t, p)
		settled(t, p)
		p.Sound(t)
	}
}

// keyed sends every POST with an Idempotency-Key twice. It also sends a request whose refusal is
// stored.
func keyed(t *testing.T, p *apptest.Program) {
	hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
	defer hook.Close()
	s := newStory(t, p, hook.URL)
	s.kept["meter"] = p.Verify(t, p.Category("Utility", "Ikeja Electric Payment - IKEDC"), "45012345610")
	for _, o := range posts {
		if o.wait > 0 {
			p.Advance(o.wait)
		}
		path, body := s.request(o)
		first := p.Do(http.MethodPost, path, body, header, "key of "+o.path).Want(t, http.StatusOK)
		p.Do(http.MethodPost, path, body, header, "key of "+o.path).Want(t, http.StatusOK)
		s.took(p, o, first)
	}
	var customer struct {
		BankAccount struct{ AccountNumber string }
	}
	p.Data("/api/v1/customer/"+s.kept["customer"], &customer)
	pay(t, p.Client, customer.BankAccount.AccountNumber, 1234, map[string]any{"duplicate": 2})
	var deposit struct{ Data struct{ Address string } }
	p.Do("POST", "/api/v1/crypto/generate-address/tron-testnet", nil).Want(t, 200).Into(t, &deposit)
	p.Do("POST", "/sandbox/crypto-deposit", map[string]string{"address": deposit.Data.Address, "asset": "USDT", "amount": "12.5"}).Want(t, 200)
	becomes(t, p, "deposit completed 12.5 USDT")
	refused := map[string]any{"verify_id": verify(t, p.Client, "10"), "amount": 999_999_999}
	p.Do(http.MethodPost, "/api/v1/settlement/send-payout", refused, header, "refused").Want(t, http.StatusBadRequest)
	failed := map[string]any{"verify_id": verify(t, p.Client, "01"), "amount": 4000}
	p.Do(http.MethodPost, "/api/v1/settlement/send-payout", failed, header, "failed").Want(t, http.StatusBadRequest)
	unknown := map[string]any{"verify_id": verify(t, p.Client, "02"), "amount": 4001}
	p.Do(http.MethodPost, "/api/v1/settlement/send-payout", unknown, header, "unknown").Want(t, http.StatusOK)
	p.Do(http.MethodPost, apptest.PurchaseData, p.Order(p.Bundle(), `a "key" <with> escapes`, "10"), header, "escaped").Want(t, http.StatusOK)
	p.Advance(time.Minute)
}

// fundings makes a card funding for each ending of the amount, which chooses what the sandbox does.
func fundings(t *testing.T, p *apptest.Program) {
	card := liveCard(t, p)
	for _, naira := range []int{5010, 5001, 5002, 5003, 5004, 5005, 5006, 5007} {
		p.Do(http.MethodPost, "/api/v1/card/fund-card", map[string]any{"cardId": card, "amount": naira})
	}
	p.Advance(time.Minute)
	p.Advance(16 * time.Minute)
}

// liveCard returns the ID of a card that is not terminated. It makes one if there is none.
func liveCard(t *testing.T, p *apptest.Program) string {
	t.Helper()
	var list struct {
		Data []struct{ ID, CustomerID, Status string }
	}
	p.Data("/api/v1/card", &list)
	for _, c := range list.Data {
		if c.Status == "active" {
			return c.ID
		}
	}
	var made struct{ Data struct{ ID string } }
	body := map[string]any{"customerId": list.Data[0].CustomerID, "type": "virtual"}
	p.Do(http.MethodPost, "/api/v1/card/generate-card", body).Want(t, http.StatusOK).Into(t, &made)
	return made.Data.ID
}

// bills makes purchases of TV and power. Some are delivered. Others are refused, and then their
// verification can be used again.
func bills(t *testing.T, p *apptest.Program) {
	tv, power := p.Category("Cable TV", "DSTV"), p.Category("Utility", "Ikeja Electric Payment - IKEDC")
	pack := p.Product(tv, "DStv Compact + French Touch").Product
	smartcard := p.Verify(t, tv, "7012345678")
	p.Pay(p.TV(smartcard, pack, "tv-refused", "7012345601")).Want(t, http.StatusBadRequest)
	p.Pay(p.TV(smartcard, pack, "tv-good", "7012345610")).Want(t, http.StatusOK)
	p.Pay(p.Power(p.Verify(t, power, "45012345678"), "power", 2000*money.Naira)).Want(t, http.StatusOK)
	p.Pay(p.Power(p.Verify(t, power, "45012345601"), "power-refused", 2100*money.Naira)).Want(t, http.StatusBadRequest)
	p.Pay(p.Airtime(p.Category("Airtime", "MTN"), "airtime", "08012345678", 150*money.Naira+5)).Want(t, http.StatusOK)
}

// eventfulDays makes the same days as the reconciliation test. Two operators close each case: they
// book the money, assign the money to the company, or dismiss the case.
func eventfulDays(t *testing.T, p *apptest.Program) {
	references, _ := eventfulDay(t, p)
	plantLine(t, p, "Credit", straySession, 300, "")
	plantLine(t, p, "Credit", "stray-session", 700, "")
	plantLine(t, p, "Debit", references["10"], 10_000, "")
	plantLine(t, p, "Debit", "sms-1", 4, "SMS alert charge")
	p.Advance(48 * time.Hour)
	for _, c := range opens(t, p, "", 4) {
		f := operation.Finding{Outcome: operation.Dismissed}
		switch {
		case c.Reason == operation.UnbookedCharge:
			f.Outcome = operation.Booked
		case c.Subject == "safehaven/"+straySession:
			f = operation.Finding{Outcome: operation.Assigned, Target: p.Reference, TargetID: p.SettlementID}
		}
		agree(t, p, c.ID, f)
	}
}

// opens waits until there are this many open cases with the reason. If the reason is "", cases with
// any reason count.
func opens(t *testing.T, p *apptest.Program, reason operation.Reason, n int) (list []operation.Case) {
	t.Helper()
	apptest.Eventually(t, func() (wrong string) {
		var err error
		list, _, err = p.App.Operations.Cases(t.Context(), operation.CaseFilter{State: operation.Open, Reason: reason}, 100, 0)
		if err != nil || len(list) != n {
			wrong = fmt.Sprintf("%+v, %v", list, err)
		}
		return wrong
	})
	return list
}

// agree makes two operators submit the same decision on a case.
func agree(t *testing.T, p *apptest.Program, caseID string, f operation.Finding) {
	t.Helper()
	for _, by := range []operator.Operator{operator.Local("ada"), operator.Local("bob")} {
		if _, err := p.App.Operations.ResolveCase(t.Context(), caseID, f, "seen", by.Name, by.Note); err != nil {
			t.Fatal(err)
		}
	}
}

// strangers makes credits to virtual accounts and to unknown accounts. The credits to virtual
// accounts come in time, late and twice. One credit to an unknown account is assigned to the
// company.
func strangers(t *testing.T, p *apptest.Program) {
	numbers := map[string]string{}
	for _, reference := range []string{"late", "paid"} {
		var said struct {
			Data struct{ AccountNumber string }
		}
		body := map[string]any{"amount": 2500, "externalReference": "fill-" + reference}
		p.Do(http.MethodPost, "/api/v1/virtual-account/generate", body).Want(t, http.StatusOK).Into(t, &said)
		if numbers[reference] = said.Data.AccountNumber; reference == "late" {
			p.Advance(16 * time.Minute)
		}
	}
	pay(t, p.Client, numbers["paid"], 2500, nil)
	apptest.Eventually(t, func() string {
		if !slices.ContainsFunc(p.Events(0), func(e apptest.Event) bool { return e.Event == "virtual_account.success" }) {
			return "not paid"
		}
		return ""
	})
	pay(t, p.Client, numbers["paid"], 2500, nil)
	pay(t, p.Client, numbers["late"], 2500, nil)
	pay(t, p.Client, "8000000098", 777, map[string]any{"stray": true})
	pay(t, p.Client, "8000000099", 888, map[string]any{"stray": true, "duplicate": 1})
	pay(t, p.Client, p.SettlementAccountNumber, 999, nil)
	open := opens(t, p, operation.UnknownAccount, 2)
	agree(t, p, open[0].ID, operation.Finding{Outcome: operation.Assigned, Target: p.Reference, TargetID: p.SettlementID})
	p.Advance(20 * time.Minute)
}

// bookCorrections makes adjustments in every state.
func bookCorrections(t *testing.T, p *apptest.Program) {
	ada, bob := operator.Local("ada"), operator.Local("bob")
	for i, direction := range []settlement.Direction{settlement.DirectionCredit, settlement.DirectionDebit, settlement.DirectionCredit, settlement.DirectionDebit} {
		a, err := p.App.Settlements.Adjust(t.Context(), ada, settlement.Adjustment{
			Company: p.Reference, SettlementID: p.SettlementID, Amount: 4100 + money.Kobo(i), Direction: direction, Reason: "as agreed",
		})
		switch {
		case err == nil && i < 2:
			_, err = p.App.Settlements.Approve(t.Context(), bob, a.ID)
		case err == nil && i == 2:
			_, err = p.App.Settlements.Reject(t.Context(), bob, a.ID, "not agreed")
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// unresolved makes three purchases that have no outcome after three days. Operators confirm the
// first and reject the second, and the third keeps its open case. It also opens a case about a
// successful purchase that a later reply of the provider contradicts.
func unresolved(t *testing.T, p *apptest.Program) {
	for i := range 3 {
		p.Buy(p.Order(p.Bundle(), fmt.Sprint("silent-", i), "08")).Want(t, http.StatusOK)
	}
	p.Advance(80 * time.Hour)
	open := opens(t, p, operation.Unresolved, 3)
	agree(t, p, open[0].ID, operation.Finding{Outcome: operation.FoundConfirmed})
	agree(t, p, open[1].ID, operation.Finding{Outcome: operation.FoundRejected})
	delivered := p.Bought(p.Buy(p.Order(p.Bundle(), "contradicted", "10")))
	if err := p.App.Operations.OpenCase(t.Context(), p.Reference, delivered.TransactionID, operation.Contradiction, "a later answer says rejected"); err != nil {
		t.Fatal(err)
	}
}

// openOnes makes operations that stay open, with different amounts.
func openOnes(t *testing.T, p *apptest.Program) {
	p.Do(http.MethodPost, "/api/v1/card/fund-card", map[string]any{"cardId": liveCard(t, p), "amount": 6008})
	for i, bundle := range p.Bundles()[:2] {
		p.Buy(p.Order(bundle, fmt.Sprint("open-", i), "08")).Want(t, http.StatusOK)
	}
	p.Do(http.MethodPost, "/api/v1/virtual-account/generate", map[string]any{"amount": 2500, "externalReference": "fill-open"}).Want(t, http.StatusOK)
	for i := range 2 {
		body := map[string]any{"verify_id": verify(t, p.Client, "08"), "amount": 3000 + i}
		p.Do(http.MethodPost, "/api/v1/settlement/send-payout", body, header, fmt.Sprint("open-payout-", i)).Want(t, http.StatusOK)
	}
}

// While a program serves and changes the database, verify finds no contradiction, on either
// database engine.
func TestVerifyBesideTrafficFindsNothing(t *testing.T) {
	each(t, func(t *testing.T, dialect db.Dialect) {
		p := apptest.Start(t, dialect, apptest.Window(4*time.Second))
		charge(t, p)
		bundle := p.Bundle()
		ctx, stop := context.WithCancel(t.Context())
		var traffic, looking sync.WaitGroup
		looks := 0
		looking.Go(func() {
			for ctx.Err() == nil {
				p.Sound(t)
				looks++
			}
		})
		for i := range 4 {
			verifyIDs := make([]string, len(stories))
			for n, s := range stories {
				verifyIDs[n] = verify(t, p.Client, s.ending)
			}
			traffic.Go(func() {
				for n, s := range stories {
					key := fmt.Sprintf("traffic-%d-%d", i, n)
					asks(t, p, apptest.PurchaseData, p.Order(bundle, key, s.ending), key)
					asks(t, p, "/api/v1/settlement/send-payout", map[string]any{"verify_id": verifyIDs[n], "amount": 1000 + n}, "payout "+key)
					asks(t, p, "/sandbox/credit", map[string]any{"accountNumber": p.SettlementAccountNumber, "amount": 50 + n}, "")
				}
			})
		}
		traffic.Wait()
		apptest.Eventually(t, func() (open string) {
			if p.Advance(5 * time.Minute); len(p.Open()) > 0 {
				open = fmt.Sprint(p.Open())
			}
			return open
		})
		stop()
		looking.Wait()
		t.Logf("%d looks", looks)
	})
}

// asks sends a request and accepts any response, since a program on a busy machine may respond 503.
func asks(t *testing.T, p *apptest.Program, path string, body any, key string) {
	var headers []string
	if key != "" {
		headers = []string{header, key}
	}
	if _, err := p.Try(t.Context(), http.MethodPost, path, body, headers...); err != nil {
		t.Error(err)
	}
}

// A purchase comes back after its success. The answer that was kept under its key was true when it was sent, so it is no finding.
func TestVerifyKnowsThatAPurchaseMayComeBack(t *testing.T) {
	each(t, func(t *testing.T, dialect db.Dialect) {
		p := apptest.Start(t, dialect)
		first := p.Buy(p.Order(p.Bundle(), "came-back", "10"), header, "came-back").Want(t, http.StatusOK)
		bought := p.Bought(first)
		if err := p.App.Operations.Open(t.Context(), operation.Case{Company: p.Reference, Subject: bought.TransactionID, Reason: operation.Contradiction, Detail: "the biller returned it"}); err != nil {
			t.Fatal(err)
		}
		p.Decide(t, string(operation.Contradiction), operation.FoundRejected)
		if got := p.Transaction(bought.TransactionID).Status; got != "REVERSED" {
			t.Fatalf("the purchase is %s", got)
		}
		p.Sound(t)
		if again := p.Buy(p.Order(p.Bundle(), "came-back", "10"), header, "came-back"); again.Body != first.Body {
			t.Errorf("the key answers %s, first %s", again, first)
		}
	})
}
