package apptest_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/apptest"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/settlement"
)

// The bank's documentation does not state that the lines of a statement contain our references.
// Reconciliation of a statement without them, in another order, opens cases and moves no money.
func TestAnAnonymousStatementMovesNoMoney(t *testing.T) {
	each(t, func(t *testing.T, dialect db.Dialect) {
		p := apptest.Start(t, dialect, apptest.Window(2*time.Second))
		charge(t, p)
		eventfulDay(t, p)
		held := func() money.Kobo {
			k, err := p.App.Book.Balance(t.Context(), p.Reference, settlement.LedgerAccount(p.SettlementID))
			if err != nil {
				t.Fatal(err)
			}
			return k
		}
		before := held()
		a, err := p.Raw(t.Context(), http.MethodPost, "/sandbox/bank-manners", map[string]any{"anonymous": true, "newest": true})
		if err != nil || a.Status != http.StatusOK {
			t.Fatalf("%s, %v", a, err)
		}
		p.Advance(23 * time.Hour)
		p.Advance(25 * time.Hour)
		apptest.Eventually(t, func() string {
			if len(cases(t, p)) == 0 {
				return "no case is open"
			}
			return ""
		})
		if after := held(); after != before {
			t.Errorf("%s became %s", before, after)
		}
		p.Sound(t)
	})
}

// A bank may list credits by account only. The credit poll then finds the credits of every kind of
// account whose notifications were lost, and books each of them once.
func TestLostCreditsOfABankThatListsByAccount(t *testing.T) {
	each(t, func(t *testing.T, dialect db.Dialect) {
		p := apptest.Start(t, dialect)
		sandboxed(t, p, "/sandbox/transfer-list", map[string]any{"accountId": "required"})
		accounts := openAll(t, p.Client, "2221234560")
		for i, number := range []string{accounts.own, accounts.customer, p.SettlementAccountNumber} {
			payAt(t, p, "", number, 40+10*i, true)
			payAt(t, p, "", number, 1, false)
		}
		payAt(t, p, "", accounts.virtual, 2500, true)
		p.Advance(6 * time.Minute)
		holds(t, p, p.Client, apptest.DevFloat+2653*money.Naira)
		p.Advance(6 * time.Hour)
		payAt(t, p, "", accounts.customer, 70, true)
		p.Advance(6 * time.Minute)
		holds(t, p, p.Client, apptest.DevFloat+2723*money.Naira)
		if list := breaks(t, p); len(list) > 0 {
			t.Errorf("%v", list)
		}
		p.Sound(t)
	})
}
