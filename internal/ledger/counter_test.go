package ledger

import (
	"sync"
	"testing"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/money"
)

// spend makes a transfer, and adds its amount and the number 1 to two limit counters.
func spend(b *Book, t testing.TB, amount money.Kobo, most, count int64) error {
	return b.Commit(t.Context(), Unit{
		Company:   "c1",
		counts:    []Count{{Name: "day/amount", Add: int64(amount), Limit: most}, {Name: "day/count", Add: 1, Limit: count}},
		transfers: []Transfer{{Reference: id.New(), Debit: settlement, Credit: clearing, Amount: amount, Kind: "payout"}},
	})
}

func counted(t testing.TB, b *Book, name Next) int64 {
	t.Helper()
	n, err := b.Last(t.Context(), "c1", name)
	must(t, err)
	return n
}

func TestConcurrentUnitsDoNotExceedALimit(t *testing.T) {
	dbtest.EachForm(t, func(t *testing.T, d *db.DB) {
		b := open(t, d)
		found(t, b, "c1")
		fund(t, b, "c1", 100_000)
		var all sync.WaitGroup
		var mu sync.Mutex
		accepted, over := 0, 0
		for range 100 {
			all.Go(func() {
				err := spend(b, t, 100, 1050, 0)
				mu.Lock()
				defer mu.Unlock()
				switch r := Refused(err); {
				case err == nil:
					accepted++
				case r != nil && r.Reason == Over && r.Count.Name == "day/amount":
					over++
				default:
					t.Error(err)
				}
			})
		}
		all.Wait()
		if accepted != 10 || over != 90 {
			t.Errorf("%d accepted, %d over the limit", accepted, over)
		}
		if got := balance(t, b, "c1", clearing); got != 1000 {
			t.Errorf("clearing holds %d", got)
		}
		if a, n := counted(t, b, "day/amount"), counted(t, b, "day/count"); a != 1000 || n != 10 {
			t.Errorf("counters %d and %d", a, n)
		}
		audit(t, d, "c1")
	})
}

func TestEachLimitCounterIsDecidedAlone(t *testing.T) {
	dbtest.EachForm(t, func(t *testing.T, d *db.DB) {
		b := open(t, d)
		found(t, b, "c1")
		fund(t, b, "c1", 1000)
		must(t, spend(b, t, 100, 0, 0)) // without a limit; the amount is still counted
		if r := Refused(spend(b, t, 100, 199, 0)); r == nil || r.Reason != Over {
			t.Errorf("above the sum: %v", r)
		}
		if r := Refused(spend(b, t, 100, 0, 1)); r == nil || r.Count.Name != "day/count" {
			t.Errorf("above the count: %v", r)
		}
		must(t, spend(b, t, 100, 200, 2))
		twice := Unit{Company: "c1", counts: []Count{{Name: "a", Add: 6, Limit: 10}, {Name: "a", Add: 6, Limit: 10}}, appended: []db.Record{thing("c1", id.New(), "", "NEW")}}
		if r := Refused(b.Commit(t.Context(), twice)); r == nil || r.Reason != Over {
			t.Errorf("twice in one unit: %v", r)
		}
		back := Unit{Company: "c1", counts: []Count{{Name: "day/amount", Add: -150}, {Name: "day/count", Add: -7}, {Name: "new", Add: -1}}, appended: []db.Record{thing("c1", id.New(), "", "NEW")}}
		must(t, b.Commit(t.Context(), back))
		if a, n, none := counted(t, b, "day/amount"), counted(t, b, "day/count"), counted(t, b, "new"); a != 50 || n != 0 || none != 0 {
			t.Errorf("given back: %d, %d and %d", a, n, none)
		}
	})
}

func TestAnAdditionOfNothingComparesTheSum(t *testing.T) {
	dbtest.EachForm(t, func(t *testing.T, d *db.DB) {
		b := open(t, d)
		found(t, b, "c1")
		unit := func(add, most int64) Unit {
			return Unit{Company: "c1", counts: []Count{{Name: "resets", Add: add, Limit: most}}, appended: []db.Record{thing("c1", id.New(), "", "NEW")}}
		}
		must(t, b.Commit(t.Context(), unit(0, 0)))
		must(t, b.Commit(t.Context(), unit(1, 0)))
		if r := Refused(b.Commit(t.Context(), unit(0, 0))); r == nil || r.Reason != Over || r.Count.Name != "resets" {
			t.Errorf("a sum of 1 is above 0: %v", r)
		}
		must(t, b.Commit(t.Context(), unit(0, 1)))
		if n := counted(t, b, "resets"); n != 1 {
			t.Errorf("the sum is %d", n)
		}
	})
}

// A batch keeps a limit for all its units together, and a unit keeps it for all its additions.
func TestABatchKeepsALimit(t *testing.T) {
	dbtest.EachForm(t, func(t *testing.T, d *db.DB) {
		b := open(t, d)
		found(t, b, "c1")
		adding := func(amounts ...int64) Unit {
			u := Unit{Company: "c1", appended: []db.Record{thing("c1", id.New(), "", "NEW")}}
			for _, add := range amounts {
				u.counts = append(u.counts, Count{Name: "day", Add: add, Limit: 10})
			}
			return u
		}
		told, batches := together(b, adding(3, 3), adding(3, 3), adding(2, 2), adding(1))
		for i, accepted := range []bool{true, false, true, false} {
			if r := Refused(told[i]); accepted && told[i] != nil || !accepted && (r == nil || r.Reason != Over) {
				t.Errorf("unit %d: %v", i, told[i])
			}
		}
		if n := counted(t, b, "day"); n != 10 || batches != 1 {
			t.Errorf("the sum is %d after %d batches", n, batches)
		}
	})
}
