package ledger

import (
	"sync"
	"testing"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
)

// states returns the states of a company's things by their IDs.
func states(t *testing.T, d *db.DB, company string) map[string]string {
	t.Helper()
	list, err := db.Map[string, string](t.Context(), d, `SELECT id, state FROM ledger_thing WHERE company_id = $1 AND claim = 'k' || id`, company)
	must(t, err)
	return list
}

// A unit deletes rows by their keys. A row that does not exist is ignored, and rows of other
// companies stay.
func TestAUnitRemovesRows(t *testing.T) {
	dbtest.EachForm(t, func(t *testing.T, d *db.DB) {
		b := open(t, d)
		for _, company := range []string{"c1", "c2"} {
			found(t, b, company)
			u := For(company)
			u.Append(thing(company, "a", "ka", "NEW"), thing(company, "b", "kb", "NEW"))
			must(t, b.Commit(t.Context(), u))
		}
		u := For("c1")
		u.Remove(thing("c1", "a", "", ""), thing("c1", "missing", "", ""))
		must(t, b.Commit(t.Context(), u))
		must(t, b.Commit(t.Context(), u))
		if c1, c2 := states(t, d, "c1"), states(t, d, "c2"); len(c1) != 1 || c1["b"] == "" || len(c2) != 2 {
			t.Errorf("left: %v and %v", c1, c2)
		}
		u = For("c1")
		u.Remove(thing("c1", "b", "", ""))
		u.Append(thing("c1", "b", "kb", "AGAIN"))
		must(t, b.Commit(t.Context(), u))
		if c1 := states(t, d, "c1"); len(c1) != 1 || c1["b"] != "AGAIN" {
			t.Errorf("a row that was removed and appended: %v", c1)
		}
		u = For("c1")
		u.Remove(thing("c2", "a", "", ""))
		if err := b.Commit(t.Context(), u); err == nil {
			t.Error("a unit removes a row of another company")
		}
	})
}

// A refused unit removes no row.
func TestARefusedUnitRemovesNothing(t *testing.T) {
	dbtest.EachForm(t, func(t *testing.T, d *db.DB) {
		b := open(t, d)
		found(t, b, "c1")
		u := For("c1")
		u.Append(thing("c1", "a", "ka", "NEW"))
		must(t, b.Commit(t.Context(), u))
		u = For("c1")
		u.Remove(thing("c1", "a", "", ""))
		u.Expect(thing("c1", "a", "", ""), "OLD")
		if err := b.Commit(t.Context(), u); !Is(err, Moved) || len(states(t, d, "c1")) != 1 {
			t.Errorf("%v, left %v", err, states(t, d, "c1"))
		}
	})
}

// A unit that requires a row's state is accepted or refused, and does not change the row. Any
// number of these units may run concurrently.
func TestAUnitRequiresAState(t *testing.T) {
	dbtest.EachForm(t, func(t *testing.T, d *db.DB) {
		b := open(t, d)
		found(t, b, "c1")
		u := For("c1")
		u.Append(thing("c1", "a", "ka", "NEW"))
		must(t, b.Commit(t.Context(), u))
		var all sync.WaitGroup
		for i := range 40 {
			all.Go(func() {
				u := For("c1")
				r := u.Expect(thing("c1", "a", "", "ignored"), "NEW", "OLD")
				switch i % 4 {
				case 0:
					r.Expect("price_kobo", int64(8))
				case 1:
					r.Expect("price_kobo", int64(7))
				case 2:
					u.Append(said("c1", "something"))
				}
				if err := b.Commit(t.Context(), u); (err == nil) == (i%4 == 0) || err != nil && !Is(err, Moved) {
					t.Errorf("unit %d: %v", i, err)
				}
			})
		}
		all.Wait()
		if n, err := b.LastEvent(t.Context(), "c1"); err != nil || n != 10 || states(t, d, "c1")["a"] != "NEW" {
			t.Errorf("%d events, %v, %v", n, err, states(t, d, "c1"))
		}
		u = For("c1")
		u.Expect(thing("c1", "missing", "", ""), "NEW")
		if err := b.Commit(t.Context(), u); !Is(err, Moved) {
			t.Errorf("a row that does not exist: %v", err)
		}
		for id, fits := range map[string]bool{"missing": true, "a": false} {
			u = For("c1")
			u.Expect(thing("c1", id, "", ""), "")
			if err := b.Commit(t.Context(), u); (err == nil) != fits || err != nil && !Is(err, Moved) {
				t.Errorf("%s is expected not to exist: %v", id, err)
			}
		}
	})
}

// A row that one unit requires in its old state, and another unit changes, has a definite order.
// The unit that comes second sees the change.
func TestARequiredRowMayChangeOnce(t *testing.T) {
	dbtest.EachForm(t, func(t *testing.T, d *db.DB) {
		b := open(t, d)
		found(t, b, "c1")
		u := For("c1")
		u.Append(thing("c1", "a", "ka", "NEW"))
		must(t, b.Commit(t.Context(), u))
		change, expect := For("c1"), For("c1")
		change.Transition(thing("c1", "a", "", "OLD"), "NEW")
		expect.Expect(thing("c1", "a", "", ""), "NEW")
		first, second := &pending{unit: change, done: make(chan error, 1)}, &pending{unit: expect, done: make(chan error, 1)}
		late := b.commit([]*pending{first, second})
		if len(late) != 1 || late[0] != second || <-first.done != nil {
			t.Fatalf("late: %v", late)
		}
		b.commit(late)
		if err := <-second.done; !Is(err, Moved) {
			t.Errorf("required the old state after the change: %v", err)
		}
	})
}

// The ledger reports the rows that it has inserted into a table, and no others.
func TestTheLedgerReportsAppendedRows(t *testing.T) {
	dbtest.EachForm(t, func(t *testing.T, d *db.DB) {
		b := open(t, d)
		var seen [][]any
		b.Appended(thingTable, func(rows [][]any) { seen = append(seen, rows...) })
		found(t, b, "c1")
		seen = nil
		fund(t, b, "c1", 100)
		u := For("c1")
		u.Append(said("c1", "a"), thing("c1", "a", "ka", "NEW"))
		must(t, b.Commit(t.Context(), u))
		if len(seen) != 1 || seen[0][1] != "a" {
			t.Errorf("reported: %v", seen)
		}
	})
}
