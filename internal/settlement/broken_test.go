package settlement_test

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/settlement"
)

// closed reports whether the ledger account is closed to debits.
func (h *house) closed(company, account string) bool {
	h.t.Helper()
	at, err := h.book.ClosedAt(h.t.Context(), company, account)
	if err != nil {
		h.t.Fatal(err)
	}
	return !at.IsZero()
}

// broken hands rows to the service, and returns the texts of the accepted ones.
func (h *house) broken(company string, breaks ...ledger.Break) []string {
	h.t.Helper()
	accepted, err := h.Broken(h.t.Context(), company, breaks)
	if err != nil {
		h.t.Fatal(err)
	}
	return accepted
}

// brokenCases returns the open cases about altered rows, ordered by subject.
func (h *house) brokenCases(want int) []operation.Case {
	h.t.Helper()
	list, _, err := h.operations.Cases(h.t.Context(), operation.CaseFilter{State: operation.Open, Reason: operation.BrokenChain}, 10, 0)
	if err != nil || len(list) != want {
		h.t.Fatalf("%d open cases, want %d: %+v, %v", len(list), want, list, err)
	}
	slices.SortFunc(list, func(a, b operation.Case) int { return strings.Compare(a.Subject, b.Subject) })
	return list
}

// says submits a finding about a case.
func (h *house) says(by operator.Operator, c operation.Case, outcome string) (operation.Case, error) {
	return h.operations.ResolveCase(h.t.Context(), c.ID, operation.Finding{Outcome: outcome}, "seen", by.Name, by.Note)
}

func (h *house) accepts(c operation.Case) {
	h.t.Helper()
	for _, by := range []operator.Operator{ada, bob} {
		var err error
		if c, err = h.says(by, c, operation.Accepted); err != nil {
			h.t.Fatal(err)
		}
	}
	if c.State != operation.Resolved {
		h.t.Fatalf("%+v", c)
	}
}

// Altered rows close their account once, however often a walk finds them. Two operators accept these
// rows, and a further alteration closes the account again.
func TestAlteredRowsCloseTheirAccount(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		one, two := h.company(), h.company()
		a := h.account(one)
		h.account(one)
		h.account(two)
		row := ledger.NewBreak("settlement/1", "entry 7", "content", one+": transfer x was altered")
		before, err := h.book.LastEvent(t.Context(), one)
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			h.broken(one, row, row)
		}
		c := h.brokenCases(1)[0]
		if c.Subject != "settlement/1" || c.Company != one || c.Detail != "transfer x was altered (rows: 1)" || !h.closed(one, "settlement/1") {
			t.Errorf("%+v", c)
		}
		if h.closed(one, "settlement/2") || h.closed(two, "settlement/1") {
			t.Error("another account is closed")
		}
		if after, _ := h.book.LastEvent(t.Context(), one); after != before+1 {
			t.Errorf("%d events", after-before)
		}
		if err := h.MayPay(t.Context(), one, a.ID); !fault.Is(err, fault.Refused) {
			t.Errorf("it may pay: %v", err)
		}
		if _, err := h.says(ada, c, operation.Dismissed); !fault.Is(err, fault.Refused) {
			t.Errorf("dismissed: %v", err)
		}
		h.accepts(c)
		if accepted := h.broken(one, row); len(accepted) != 1 || h.closed(one, "settlement/1") {
			t.Errorf("closed again by accepted rows: %v", accepted)
		}
		h.brokenCases(0)
		h.broken(one, row, ledger.NewBreak("settlement/1", "entry 7", "other content", one+": transfer x was altered"))
		if again := h.brokenCases(1)[0]; again.ID == c.ID || again.Turn != 1 || !h.closed(one, "settlement/1") {
			t.Errorf("a further alteration: %+v", again)
		}
	})
}

// A row that is found while operators decide ends their proposal. So nobody approves what the first
// operator has not seen.
func TestAFurtherRowEndsTheProposal(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		company := h.company()
		h.account(company)
		h.broken(company, ledger.NewBreak("settlement/1", "entry 7", "a", "seven"))
		c, err := h.says(ada, h.brokenCases(1)[0], operation.Accepted)
		if err != nil || c.ProposedBy != ada.Name {
			t.Fatal(c, err)
		}
		h.broken(company, ledger.NewBreak("settlement/1", "entry 8", "a", "eight"))
		if c, err = h.says(bob, c, operation.Accepted); err != nil || c.State != operation.Open || c.ProposedBy != bob.Name {
			t.Errorf("%+v, %v", c, err)
		}
		if _, err := h.says(ada, c, operation.Accepted); err != nil || h.closed(company, "settlement/1") {
			t.Errorf("still closed: %v", err)
		}
	})
}

// Only a settlement account is closed. Rows of other accounts, and rows without an account, have a case.
func TestOtherAccountsStayOpen(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		company := h.company()
		a := h.account(company)
		if err := h.Fund(t.Context(), ada, company, a.ID, 100*money.Naira, "bank", "test"); err != nil {
			t.Fatal(err)
		}
		bank := settlement.ProviderAccount("bank")
		h.broken(company,
			ledger.NewBreak(bank, "entry 1", "a", "bank"), ledger.NewBreak("", "event 1", "a", "event"),
			ledger.NewBreak("settlement/9", "account", "missing", "an account that was deleted"))
		all := h.brokenCases(3)
		if all[0].Subject != operation.BrokenRows || all[1].Subject != bank || all[2].Subject != "settlement/9" {
			t.Errorf("%+v", all)
		}
		if h.closed(company, bank) || h.closed(company, "settlement/1") {
			t.Error("an account is closed")
		}
		for _, c := range all {
			h.accepts(c)
		}
		h.broken(company, ledger.NewBreak(bank, "entry 1", "a", "bank"), ledger.NewBreak("", "event 1", "a", "event"))
		h.brokenCases(0)
	})
}

// A writer of the database cannot open an account: neither by a row that says accepted, nor by a
// resolved case, nor by the account's mark.
func TestTheDatabaseCannotAcceptARow(t *testing.T) {
	for _, statement := range []string{
		`UPDATE settlement_finding SET state = 'ACCEPTED' WHERE company_id = $1`,
		`UPDATE operation_case SET state = 'RESOLVED', outcome = 'accepted' WHERE company_id = $1`,
	} {
		each(t, func(t *testing.T, h *house) {
			company := h.company()
			h.account(company)
			row := ledger.NewBreak("settlement/1", "entry 7", "a", "seven")
			h.broken(company, row)
			for _, sql := range []string{statement, `UPDATE ledger_account SET closed_at = 0 WHERE company_id = $1`} {
				if n, err := h.db.Exec(t.Context(), sql, company); err != nil || n == 0 {
					t.Fatal(n, err)
				}
			}
			if accepted := h.broken(company, row); len(accepted) > 0 || !h.closed(company, "settlement/1") {
				t.Errorf("open after %s: %v", statement, accepted)
			}
			h.accepts(h.brokenCases(1)[0])
			if accepted := h.broken(company, row); len(accepted) != 1 || h.closed(company, "settlement/1") {
				t.Errorf("closed after two operators have accepted the row: %v", accepted)
			}
		})
	}
}

// Operators correct the balance of a closed account before they open it.
func TestAClosedAccountIsAdjusted(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		company := h.company()
		a := h.account(company)
		if err := h.Fund(t.Context(), ada, company, a.ID, 100*money.Naira, "bank", "test"); err != nil {
			t.Fatal(err)
		}
		h.broken(company, ledger.NewBreak("settlement/1", "entry 1", "a", "forged"))
		j, err := h.Adjust(t.Context(), ada, settlement.Adjustment{
			Company: company, SettlementID: a.ID, Amount: 40 * money.Naira, Direction: settlement.DirectionDebit, Reason: "a forged credit",
		})
		if err == nil {
			_, err = h.Approve(t.Context(), bob, j.ID)
		}
		if err != nil {
			t.Error(err)
		}
		h.holds(a, 60*money.Naira)
	})
}

// Several programs that find the same rows open one case, and tell the company once.
func TestSeveralProgramsFindTheSameRows(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		company := h.company()
		h.account(company)
		before, err := h.book.LastEvent(t.Context(), company)
		if err != nil {
			t.Fatal(err)
		}
		rows := []ledger.Break{
			ledger.NewBreak("settlement/1", "entry 7", "a", "seven"), ledger.NewBreak("settlement/1", "entry 8", "a", "eight"),
		}
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				if _, err := h.Broken(t.Context(), company, rows); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		h.brokenCases(1)
		if after, err := h.book.LastEvent(t.Context(), company); err != nil || after != before+1 || !h.closed(company, "settlement/1") {
			t.Errorf("%d events, %v", after-before, err)
		}
	})
}
