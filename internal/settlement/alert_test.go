package settlement_test

import (
	"encoding/json"
	"sync"
	"testing"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/settlement"
)

// alert sets the low-balance alert of an account.
func (h *house) alert(a settlement.Account, below money.Kobo) {
	h.t.Helper()
	if set, err := h.AlertOwn(h.t.Context(), a.Company, a.ID, below, nil); err != nil || set.LowBalance != below {
		h.t.Fatalf("%+v, %v", set, err)
	}
}

// corrected adjusts the balance of an account: ada requests the adjustment and bob approves it.
func (h *house) corrected(a settlement.Account, amount money.Kobo, direction settlement.Direction) {
	h.t.Helper()
	asked, err := h.Adjust(h.t.Context(), ada, settlement.Adjustment{
		Company: a.Company, SettlementID: a.ID, Amount: amount, Direction: direction, Reason: "counted again",
	})
	if err == nil {
		_, err = h.Approve(h.t.Context(), bob, asked.ID)
	}
	if err != nil {
		h.t.Fatal(err)
	}
}

// lows returns the data of the company's low-balance events.
func (h *house) lows(company string) (out []string) {
	h.t.Helper()
	for _, e := range h.events(company) {
		if e.Kind == event.SettlementLowBalance {
			out = append(out, string(e.Data))
		}
	}
	return out
}

// The event contains the account exactly as GET returns it at that moment.
func TestALowBalanceEmitsAnEvent(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		a := h.fed("0123456789")
		second, other := h.account(a.Company), h.fed("0123456780")
		for _, one := range []settlement.Account{a, second, other} {
			h.corrected(one, 100*money.Naira, settlement.DirectionCredit)
		}
		h.alert(a, 100*money.Naira)
		h.alert(second, 40*money.Naira)
		h.corrected(second, 50*money.Naira, settlement.DirectionDebit)
		h.corrected(other, 50*money.Naira, settlement.DirectionDebit)
		if told := append(h.lows(a.Company), h.lows(other.Company)...); len(told) != 0 {
			t.Fatalf("told %s", told)
		}
		for n, one := range []settlement.Account{a, second} {
			h.corrected(one, 30*money.Naira, settlement.DirectionDebit)
			shown, err := h.Find(t.Context(), one.Company, one.ID)
			want, wrong := json.Marshal(shown)
			if err != nil || wrong != nil {
				t.Fatal(err, wrong)
			}
			if told := h.lows(a.Company); len(told) != n+1 || told[n] != string(want) {
				t.Fatalf("told\n%s, want\n%s", told, want)
			}
		}
		h.corrected(a, 1, settlement.DirectionDebit)
		h.alert(a, 0)
		h.corrected(a, 40*money.Naira, settlement.DirectionCredit)
		h.corrected(a, 40*money.Naira, settlement.DirectionDebit)
		if told := h.lows(a.Company); len(told) != 2 {
			t.Errorf("told %s", told)
		}
	})
}

// When sixteen concurrent transfers lower the balance of one account, only one event is emitted.
func TestConcurrentTransfersEmitOneLowBalance(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		a := h.fed("0123456789")
		h.corrected(a, 16*money.Naira, settlement.DirectionCredit)
		h.alert(a, 10*money.Naira)
		var all sync.WaitGroup
		for range 16 {
			all.Go(func() {
				u := ledger.For(a.Company)
				u.Transfer(ledger.Transfer{
					Reference: id.New(), Debit: settlement.LedgerAccount(a.ID), Credit: "adjustment", Amount: money.Naira, Kind: "test",
				})
				if err := h.book.Commit(t.Context(), u); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		var told struct{ Balance money.Kobo }
		lows := h.lows(a.Company)
		if len(lows) != 1 || json.Unmarshal([]byte(lows[0]), &told) != nil || told.Balance != 9*money.Naira {
			t.Errorf("told %s", lows)
		}
	})
}

func TestACompanySetsAlertsOnlyOnItsOwnAccounts(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		a, other := h.account(h.company()), h.foreign()
		for _, foreign := range []int64{other.ID, 0, -1, 1 << 62} {
			if _, err := h.Alert(t.Context(), ada, a.Company, foreign, money.Naira); !fault.Is(err, fault.Missing) {
				t.Errorf("account %d: %v", foreign, err)
			}
		}
		for _, below := range []money.Kobo{-1, money.Max + 1} {
			if _, err := h.Alert(t.Context(), ada, a.Company, a.ID, below); !fault.Is(err, fault.Invalid) {
				t.Errorf("%d: %v", below, err)
			}
		}
		h.alert(a, money.Max)
		if found, err := h.Find(t.Context(), a.Company, a.ID); err != nil || found.LowBalance != money.Max {
			t.Errorf("%+v, %v", found, err)
		}
		if _, err := h.Alert(t.Context(), ada, a.Company, a.ID, 5*money.Naira); err != nil {
			t.Fatal(err)
		}
		audited, err := db.All(t.Context(), h.db, db.Value[string],
			`SELECT operator || ' ' || details FROM operator_audit WHERE company_id = $1 AND action = 'settlement.alert' ORDER BY id`, a.Company)
		if err != nil || len(audited) != 2 || audited[0] != `company:`+a.Company+` {"lowBalance":"100000000000.00"}` || audited[1] != `ada {"lowBalance":"5.00"}` {
			t.Errorf("the audit log has %q, %v", audited, err)
		}
	})
}
