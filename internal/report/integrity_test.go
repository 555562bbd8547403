package report_test

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/report"
)

// audited creates a company with one credit of 100 naira and one open operation of 30 naira.
func audited(t *testing.T, d *db.DB) (r *report.Service, company, reference string) {
	t.Helper()
	clk := clock.At(time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC))
	book := ledger.New(d, clk)
	s := operation.NewService(d, book, clk, slog.New(slog.DiscardHandler), time.Second)
	s.Handle("test", operation.Kind{Route: func(operation.Operation) operation.Route {
		return operation.Route{Settlement: "settlement/1", Clearing: "clearing/test", Provider: "provider/test"}
	}})
	company = id.Cuid()
	o := s.Start(operation.Operation{Company: company, Kind: "test", IdempotencyKey: "k", SettlementID: 1, Amount: 30 * money.Naira})
	began := s.Unit(o, 0, "test")
	event.Emit(&began, event.VTUPending, map[string]string{})
	founding := ledger.Found(company)
	founding.OpenAccounts(ledger.Account{ID: "settlement/1"}, ledger.Account{ID: "capital", Floor: money.NoFloor})
	founding.Transfer(ledger.Transfer{Reference: id.New(), Debit: "capital", Credit: "settlement/1", Amount: 100 * money.Naira, Kind: "credit"})
	event.Emit(&founding, event.KYBChanged, map[string]string{})
	for _, u := range []ledger.Unit{founding, began} {
		if err := book.Commit(t.Context(), u); err != nil {
			t.Fatal(err)
		}
	}
	return report.New(d, clk), company, o.ID
}

func TestALedgerThatAddsUp(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		r, company, reference := audited(t, d)
		found, err := r.Integrity(t.Context(), company)
		if err != nil || !found.Intact() || found.Sequence != 2 || found.Entries != 4 {
			t.Errorf("found %+v, %v", found, err)
		}
		if want := (report.InFlight{Clearing: 3000, Operations: 1, Amount: 3000}); found.InFlight != want {
			t.Errorf("in flight: %+v", found.InFlight)
		}
		for _, a := range found.Accounts {
			if a.Balance != a.Recomputed {
				t.Errorf("account: %+v", a)
			}
		}
		o, err := r.Outcome(t.Context(), company, reference)
		if err != nil || o.Status != "PENDING" || o.Amount != 3000 || o.NeedsDecision || o.LastAnswer != "" {
			t.Errorf("outcome: %+v, %v", o, err)
		}
		open, n, err := r.Outcomes(t.Context(), company, nil, 0, 10)
		if err != nil || n != 1 || len(open) != 1 || open[0] != o {
			t.Errorf("open: %+v %d, %v", open, n, err)
		}
		if _, err := r.Outcome(t.Context(), id.Cuid(), reference); !fault.Is(err, fault.Missing) {
			t.Errorf("another company's outcome: %v", err)
		}
		if all, err := r.Heads(t.Context()); err != nil || len(all) != 1 || all[0].Company != company {
			t.Errorf("companies: %v, %v", all, err)
		}
	})
}

// byHand changes a row of audited by hand. The text found is a part of what Integrity then says.
var byHand = map[string]struct{ statement, found string }{
	"a balance":           {`UPDATE ledger_account SET balance_kobo = balance_kobo + 1 WHERE company_id = $1 AND id = 'settlement/1'`, "account settlement/1 holds"},
	"two balances":        {`UPDATE ledger_account SET balance_kobo = balance_kobo + 1 WHERE company_id = $1 AND id <> 'settlement/1'`, "account clearing/test holds"},
	"an entry":            {`UPDATE ledger_entry SET amount_kobo = amount_kobo + 1, current_kobo = current_kobo + 1 WHERE company_id = $1 AND account_id = 'clearing/test'`, "account clearing/test holds"},
	"a chain":             {`UPDATE ledger_entry SET previous_kobo = previous_kobo + 1, current_kobo = current_kobo + 1 WHERE company_id = $1 AND account_id = 'settlement/1' AND sequence = 1`, "begins at"},
	"a missing entry":     {`DELETE FROM ledger_entry WHERE company_id = $1 AND account_id = 'clearing/test'`, "transfers have"},
	"a transfer":          {`UPDATE ledger_transfer SET amount_kobo = amount_kobo + 1 WHERE company_id = $1 AND debit_account = 'settlement/1'`, "does not have exactly its debit and its credit"},
	"an entry too many":   {`INSERT INTO ledger_entry SELECT company_id, account_id, 2, reference, step, -amount_kobo, current_kobo, previous_kobo, created_at FROM ledger_entry WHERE company_id = $1 AND account_id = 'capital'`, "does not have exactly its debit and its credit"},
	"a mark of a page":    {"UPDATE ledger_entry SET reference = reference || '\x1e\x1f' WHERE company_id = $1 AND account_id = 'clearing/test'", "does not have exactly its debit and its credit"},
	"an operation":        {`UPDATE operation SET state = 'SUCCESS' WHERE company_id = $1`, "clearing holds 3000 kobo for open operations of 0 kobo"},
	"an operation's sum":  {`UPDATE operation SET amount_kobo = 1 WHERE company_id = $1`, "clearing holds 3000 kobo for open operations of 1 kobo"},
	"an event in between": {`DELETE FROM event WHERE company_id = $1 AND sequence = 1`, "there are 1 events, the last numbered 2"},
	"the last event":      {`DELETE FROM event WHERE company_id = $1 AND sequence = 2`, "there are 1 events, the last numbered 1"},
}

// Integrity finds every change that was made to a row by hand.
func TestALedgerThatWasChangedByHand(t *testing.T) {
	for name, c := range byHand {
		t.Run(name, func(t *testing.T) {
			dbtest.Each(t, func(t *testing.T, d *db.DB) {
				r, company, _ := audited(t, d)
				if n, err := d.Exec(t.Context(), c.statement, company); err != nil || n == 0 {
					t.Fatalf("%d rows, %v", n, err)
				}
				found, err := r.Integrity(t.Context(), company)
				if err != nil || found.Intact() || !strings.Contains(strings.Join(found.Wrongs, "\n"), c.found) {
					t.Errorf("found %q, %v", found.Wrongs, err)
				}
			})
		})
	}
}

// A company does not see the ledger accounts for a bank's charges. The accounts that the company
// sees still add up to zero.
func TestACompanySeesNoCharges(t *testing.T) {
	found := report.Integrity{Accounts: []report.AccountCheck{
		{Name: "charge/bank", Entries: 1, Balance: -1075, Recomputed: -1075},
		{Name: "clearing/payout", Entries: 2},
		{Name: "provider/bank", Entries: 3, Balance: -8925, Recomputed: -8926},
		{Name: "settlement/1", Entries: 2, Balance: 10_000, Recomputed: 10_000},
	}}
	want := "[{clearing/payout 2 ₦0.00 ₦0.00} {provider/bank 4 ₦-100.00 ₦-100.01} {settlement/1 2 ₦100.00 ₦100.00}]"
	if got := fmt.Sprint(found.Own()); got != want {
		t.Errorf("shown: %s", got)
	}
	if len(found.Accounts) != 4 {
		t.Error("an operator sees fewer, too")
	}
}

// The clearing account holds the amount and the fee of an open operation.
func TestTheFeesOfOpenOperationsAreInClearing(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		clk := clock.At(time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC))
		book := ledger.New(d, clk)
		s := operation.NewService(d, book, clk, slog.New(slog.DiscardHandler), time.Second)
		s.Handle("test", operation.Kind{Route: func(operation.Operation) operation.Route {
			return operation.Route{Settlement: "settlement/1", Clearing: "clearing/test", Provider: "provider/test", Fee: "fee"}
		}})
		company := id.Cuid()
		founding := ledger.Found(company)
		founding.OpenAccounts(ledger.Account{ID: "settlement/1"}, ledger.Account{ID: "capital", Floor: money.NoFloor})
		founding.Transfer(ledger.Transfer{Reference: id.New(), Debit: "capital", Credit: "settlement/1", Amount: 100 * money.Naira, Kind: "credit"})
		o := s.Start(operation.Operation{Company: company, Kind: "test", IdempotencyKey: "k", SettlementID: 1, Amount: 30 * money.Naira, Fee: 2 * money.Naira})
		for _, u := range []ledger.Unit{founding, s.Unit(o, 0, "test")} {
			if err := book.Commit(t.Context(), u); err != nil {
				t.Fatal(err)
			}
		}
		r := report.New(d, clk)
		found, err := r.Integrity(t.Context(), company)
		if want := (report.InFlight{Clearing: 3200, Operations: 1, Amount: 3200}); err != nil || !found.Intact() || found.InFlight != want {
			t.Errorf("%+v, %q, %v", found.InFlight, found.Wrongs, err)
		}
		if _, err := d.Exec(t.Context(), `UPDATE operation SET fee_kobo = 0 WHERE company_id = $1`, company); err != nil {
			t.Fatal(err)
		}
		found, err = r.Integrity(t.Context(), company)
		if err != nil || !strings.Contains(strings.Join(found.Wrongs, "\n"), "clearing holds 3200 kobo for open operations of 3000 kobo") {
			t.Errorf("without its fee: %q, %v", found.Wrongs, err)
		}
	})
}
