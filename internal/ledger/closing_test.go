package ledger

import (
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/money"
)

// A closed account pays nothing, but it receives credits, and operators may correct its balance. The
// company's other account goes on.
func TestAClosedAccountRefusesDebits(t *testing.T) {
	dbtest.EachForm(t, func(t *testing.T, d *db.DB) {
		clk := clock.At(time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC))
		book := New(d, clk)
		t.Cleanup(book.Drain)
		company := id.Cuid()
		founding := Found(company)
		founding.OpenAccounts(Account{ID: "settlement/1"}, Account{ID: "settlement/2"}, Account{ID: "capital", Floor: money.NoFloor})
		must(t, book.Commit(t.Context(), founding))
		move := func(from, to string, correction bool) error {
			u := For(company)
			u.Transfer(Transfer{Reference: id.New(), Debit: from, Credit: to, Amount: 10, Kind: "test", Correction: correction})
			return book.Commit(t.Context(), u)
		}
		must(t, move("capital", "settlement/1", false))
		must(t, move("capital", "settlement/2", false))
		mark := func(set func(u *Unit)) {
			u := For(company)
			set(&u)
			must(t, book.Commit(t.Context(), u))
		}
		mark(func(u *Unit) { u.CloseDebits("settlement/1") })
		closed := clk.Now()
		clk.Advance(time.Hour)
		mark(func(u *Unit) { u.CloseDebits("settlement/1") })
		if at, err := book.ClosedAt(t.Context(), company, "settlement/1"); err != nil || at.Sub(closed).Abs() > time.Millisecond { // on Citus each batch has an instant of its own
			t.Errorf("closed at %s, %v; want %s", at, err, closed)
		}
		if err := move("settlement/1", "capital", false); !Is(err, Closed) || Refused(err).Account != "settlement/1" {
			t.Errorf("a debit: %v", err)
		}
		must(t, move("settlement/2", "capital", false))
		must(t, move("capital", "settlement/1", false))
		must(t, move("settlement/1", "capital", true))
		mark(func(u *Unit) { u.OpenDebits("settlement/1") })
		must(t, move("settlement/1", "capital", false))
		nobody := For(company)
		nobody.CloseDebits("settlement/3")
		if err := book.Commit(t.Context(), nobody); !Is(err, NoAccount) {
			t.Errorf("an account that does not exist: %v", err)
		}
		both := For(company)
		both.OpenAccounts(Account{ID: "settlement/4", Floor: money.NoFloor})
		both.Transfer(Transfer{Reference: id.New(), Debit: "settlement/4", Credit: "capital", Amount: 10, Kind: "test"})
		must(t, book.Commit(t.Context(), both))
	})
}
