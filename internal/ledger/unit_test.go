package ledger

import (
	"fmt"
	"testing"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/money"
)

// The ledger fills numbers and instants into copies of the rows. So a unit stays unchanged and can
// be decided again.
func TestACommitDoesNotChangeTheUnit(t *testing.T) {
	dbtest.EachForm(t, func(t *testing.T, d *db.DB) {
		b := open(t, d)
		found(t, b, "c1")
		row, event := thing("c1", "n", "", "NEW"), said("c1", "a")
		row.Values[4] = Next("thing")
		for range 2 {
			before := fmt.Sprint(row.Values, event.Values)
			must(t, b.Commit(t.Context(), Unit{Company: "c1", appended: []db.Record{row, event}}))
			if after := fmt.Sprint(row.Values, event.Values); after != before || row.Values[4] != any(Next("thing")) || event.Values[5] != any(Now) {
				t.Errorf("was %s, is %s", before, after)
			}
			row.Values[1], event.Values[2] = "m", "another"
		}
		if last, err := b.Last(t.Context(), "c1", "thing"); err != nil || last != 2 {
			t.Errorf("the last number is %d, %v", last, err)
		}
	})
}

// A unit may move money through an account that it opens itself, as long as the account's floor
// allows it.
func TestAnAccountIsOpenedWithItsOwnFloor(t *testing.T) {
	dbtest.EachForm(t, func(t *testing.T, d *db.DB) {
		b := open(t, d)
		found(t, b, "c1")
		for i, u := range []Unit{
			{open: []Account{{"deep", money.NoFloor}, {"flat", 0}}, transfers: []Transfer{{Reference: "r", Debit: "flat", Credit: "deep", Amount: 1}}},
			{open: []Account{{"flat", 0}, {"deep", money.NoFloor}}, transfers: []Transfer{{Reference: "r", Debit: "flat", Credit: "deep", Amount: 1}}},
		} {
			u.Company = "c1"
			if err := b.Commit(t.Context(), u); !Is(err, Short) || Refused(err).Account != "flat" {
				t.Errorf("unit %d: %v", i, err)
			}
		}
		must(t, b.Commit(t.Context(), Unit{
			Company: "c1", open: []Account{{"flat", 0}, {"deep", money.NoFloor}},
			transfers: []Transfer{{Reference: "r", Debit: "deep", Credit: "flat", Amount: 5}},
		}))
		// An account that exists already keeps its old floor.
		err := b.Commit(t.Context(), Unit{
			Company: "c1", open: []Account{{"flat", money.NoFloor}},
			transfers: []Transfer{{Reference: "s", Debit: "flat", Credit: "deep", Amount: 6}},
		})
		if !Is(err, Short) || balance(t, b, "c1", "flat") != 5 {
			t.Errorf("below the floor: %v, %s", err, balance(t, b, "c1", "flat"))
		}
		audit(t, d, "c1")
	})
}

// Founding an existing company again changes nothing, and its event numbers continue.
func TestACompanyIsFoundedOnce(t *testing.T) {
	dbtest.EachForm(t, func(t *testing.T, d *db.DB) {
		b := open(t, d)
		found(t, b, "c1")
		for range 2 {
			must(t, b.Commit(t.Context(), Unit{Company: "c1", found: true, appended: []db.Record{said("c1", "a")}}))
			must(t, b.Commit(t.Context(), Unit{Company: "c1", found: true}))
		}
		if n, err := b.LastEvent(t.Context(), "c1"); err != nil || n != 2 {
			t.Errorf("the last event is %d, %v", n, err)
		}
	})
}

// A refusal names its reason and, for some reasons, a table.
func TestARefusalNamesItsTable(t *testing.T) {
	dbtest.EachForm(t, func(t *testing.T, d *db.DB) {
		b := open(t, d)
		found(t, b, "c1")
		must(t, b.Commit(t.Context(), Unit{Company: "c1", inserts: []db.Record{thing("c1", "a", "key", "NEW")}}))
		again := b.Commit(t.Context(), Unit{Company: "c1", inserts: []db.Record{thing("c1", "b", "key", "NEW")}})
		wrong := b.Commit(t.Context(), Unit{
			Company: "c1", transitions: []Transition{changing("c1", "a", "OLD", "NEW")},
		})
		for i, c := range []struct{ got, want bool }{
			{Is(again, Exists), true},
			{Is(again, Exists, thingTable), true},
			{Is(again, Exists, eventTable), false},
			{Is(again, Exists, eventTable, thingTable), true},
			{Is(again, Moved), false},
			{Is(wrong, Moved, thingTable), true},
			{Is(wrong, Moved, eventTable), false},
			{Is(fmt.Errorf("around it: %w", wrong), Moved), true},
			{Is(nil, Moved), false},
		} {
			if c.got != c.want {
				t.Errorf("case %d: %v (%v, %v)", i, c.got, again, wrong)
			}
		}
	})
}
