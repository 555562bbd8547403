package apptest_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/apptest"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/settlement"
)

// tampered is a program whose database somebody changes by hand.
type tampered struct {
	*apptest.Program
	t                *testing.T
	bundle           apptest.Bundle
	verifyID, cardID string
}

// alter changes the narration of the first credit of the client's settlement account, and returns the
// earlier narration.
func (x tampered) alter(narration string) (before string) {
	x.t.Helper()
	const first = ` WHERE company_id = $1 AND credit_account = $2
		AND leaf = (SELECT min(leaf) FROM ledger_transfer WHERE company_id = $1 AND credit_account = $2 AND kind = 'credit')`
	ctx, account := x.t.Context(), settlement.LedgerAccount(x.SettlementID)
	before, err := db.One(ctx, x.App.DB, db.Value[string], `SELECT narration FROM ledger_transfer`+first, x.Reference, account)
	if err != nil {
		x.t.Fatal(err)
	}
	n, err := x.App.DB.Exec(ctx, `UPDATE ledger_transfer SET narration = $3`+first, x.Reference, account, narration)
	if err != nil || n != 1 {
		x.t.Fatal(n, err)
	}
	return before
}

// walk runs the job that checks the ledgers until no walk is due.
func (x tampered) walk() {
	x.t.Helper()
	for range 100 {
		_, next, err := x.App.Reports.Walk(x.t.Context())
		if err != nil {
			x.t.Fatal(err)
		}
		if next.Sub(x.App.Clock.Now()) > time.Minute {
			return
		}
	}
	x.t.Fatal("a walk is due all the time")
}

// closed returns the closed accounts of all companies.
func (x tampered) closed() []string {
	x.t.Helper()
	list, err := db.All(x.t.Context(), x.App.DB, db.Value[string],
		`SELECT company_id || ' ' || id FROM ledger_account WHERE closed_at <> 0 ORDER BY 1`)
	if err != nil {
		x.t.Fatal(err)
	}
	return list
}

// debits sends an order of each kind, as a dry run and really.
func (x tampered) debits(key, suffix string) map[string]apptest.Answer {
	return map[string]apptest.Answer{
		"purchase": x.Do(http.MethodPost, apptest.PurchaseData+suffix, x.Order(x.bundle, key, "10")),
		"payout":   x.Do(http.MethodPost, "/api/v1/settlement/send-payout"+suffix, map[string]any{"verify_id": x.verifyID, "amount": 1000}),
		"funding":  x.Do(http.MethodPost, "/api/v1/card/fund-card"+suffix, map[string]any{"cardId": x.cardID, "amount": 700}),
	}
}

const closedText = "This settlement account is closed to debits. Contact support."

// A walk closes the account of an altered transfer, and nothing else. Money still comes in, and
// operations in flight end. Two operators open the account again. The same alteration does not close
// it again, and a further one does.
func TestAnAlteredTransferClosesOneAccount(t *testing.T) {
	each(t, func(t *testing.T, dialect db.Dialect) {
		p := apptest.Start(t, dialect)
		other, foreign := p.Account(p.Client, 100_000*money.Naira), p.Company(100_000*money.Naira)
		x := tampered{p, t, p.Bundle(), verify(t, p.Client, "10"), cardOf(t, p.Client)}
		delivered := p.Bought(p.Buy(p.Order(x.bundle, "delivered", "06")))
		refunded := p.Bought(p.Buy(p.Order(x.bundle, "refunded", "03")))
		original := x.alter("rent")
		x.walk()
		if list := x.closed(); !slices.Equal(list, []string{p.Reference + " " + settlement.LedgerAccount(p.SettlementID)}) {
			t.Fatalf("closed: %v", list)
		}
		for _, suffix := range []string{"?dry_run=true", ""} {
			for kind, a := range x.debits("closed"+suffix, suffix) {
				if a.Status != http.StatusBadRequest || !strings.Contains(a.Body, closedText) {
					t.Errorf("%s%s: %s", kind, suffix, a)
				}
			}
		}
		other.Bought(other.Buy(other.Order(x.bundle, "other", "10")))
		foreign.Bought(foreign.Buy(foreign.Order(x.bundle, "foreign", "10")))
		x.sees(delivered, "PENDING")
		x.sees(refunded, "PENDING")
		p.Advance(16 * time.Minute)
		x.sees(delivered, "SUCCESS")
		x.sees(refunded, "FAILED")
		before := p.Balance(p.SettlementID)
		pay(t, p.Client, p.SettlementAccountNumber, 1234, nil)
		apptest.Eventually(t, func() string {
			if got := p.Balance(p.SettlementID); got != before+1234*money.Naira {
				return "the balance is " + got.Decimal()
			}
			return ""
		})

		x.accept()
		if a := x.debits("open", "")["purchase"].Want(t, http.StatusOK); len(x.closed()) > 0 {
			t.Errorf("closed after two operators have opened it: %s", a)
		}
		p.Advance(25 * time.Hour)
		x.walk()
		opens(t, p, operation.BrokenChain, 0)
		if list := x.closed(); len(list) > 0 {
			t.Errorf("closed by the accepted rows: %v", list)
		}
		x.told("true", "false")

		x.alter("school fees")
		p.Advance(25 * time.Hour)
		x.walk()
		if list := x.closed(); len(list) != 1 {
			t.Errorf("closed by a further alteration: %v", list)
		}
		x.accept()
		x.told("true", "false", "true", "false")
		x.alter(original) // the harness verifies the ledger at the end
	})
}

// sees fails the test unless a purchase has a status.
func (x tampered) sees(bought apptest.Transaction, want string) {
	x.t.Helper()
	if now := x.Transaction(bought.TransactionID); now.Status != want {
		x.t.Errorf("%s is %s, want %s", now.IdempotencyKey, now.Status, want)
	}
}

// accept makes two operators accept the rows of all cases. Each side of the altered transfer has one.
func (x tampered) accept() {
	x.t.Helper()
	for _, c := range opens(x.t, x.Program, operation.BrokenChain, 2) {
		agree(x.t, x.Program, c.ID, operation.Finding{Outcome: operation.Accepted})
	}
}

// told fails the test unless the company was told these values of closedToDebits.
func (x tampered) told(want ...string) {
	x.t.Helper()
	var got []string
	for _, e := range x.Events(0) {
		if _, closed, is := strings.Cut(string(e.Data), `"closedToDebits":`); is && e.Event == "settlement.status_changed" {
			got = append(got, strings.TrimRight(closed, "}"))
		}
	}
	if !slices.Equal(got, want) {
		x.t.Errorf("told %v, want %v", got, want)
	}
}
