package ledger

import (
	"context"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/money"
)

// together commits units in one batch, and the late units in the next batch. It returns the result
// of each unit and the number of batches.
func together(b *Book, units ...Unit) (told []error, batches int) {
	all := make([]*pending, len(units))
	for i, u := range units {
		all[i] = &pending{unit: u, done: make(chan error, 1)}
	}
	for late := all; len(late) > 0; batches++ {
		late = b.commit(late)
	}
	for _, p := range all {
		told = append(told, <-p.done)
	}
	return told, batches
}

func moving(id, to string, more ...Transfer) Unit {
	return Unit{Company: "c1", transfers: more, transitions: []Transition{changing("c1", id, "NEW", to)}}
}

func paying(reference, step string, amount money.Kobo) Transfer {
	return Transfer{Reference: reference, Step: step, Debit: settlement, Credit: clearing, Amount: amount, Kind: "vtu"}
}

// A unit sees the changes of earlier units of its batch. So only one of several units can insert a
// row, and only one can move a row out of a state.
func TestABatchDecidesItsUnitsInTheirOrder(t *testing.T) {
	dbtest.EachForm(t, func(t *testing.T, d *db.DB) {
		b := open(t, d)
		found(t, b, "c1")
		fund(t, b, "c1", 1000)
		must(t, b.Commit(t.Context(), Unit{Company: "c1", inserts: []db.Record{thing("c1", "old", "", "NEW")}}))

		told, batches := together(b, moving("old", "FAILED"), moving("old", "SUCCESS", paying("old", "", 100)))
		if r := Refused(told[1]); told[0] != nil || r == nil || r.Reason != Moved || r.State != "FAILED" || batches != 2 {
			t.Errorf("two outcomes: %v in %d batches", told, batches)
		}
		told, batches = together(b,
			Unit{Company: "c1", inserts: []db.Record{thing("c1", "fresh", "", "NEW")}}, moving("fresh", "SUCCESS", paying("fresh", "", 10)))
		if told[0] != nil || told[1] != nil || batches != 2 {
			t.Errorf("a claim and its outcome: %v in %d batches", told, batches)
		}
		told, batches = together(b,
			Unit{Company: "c1", inserts: []db.Record{thing("c1", "1", "same", "NEW")}}, Unit{Company: "c1", inserts: []db.Record{thing("c1", "2", "same", "NEW")}})
		if r := Refused(told[1]); told[0] != nil || r == nil || r.Rows[0].Value("id") != "1" || batches != 1 {
			t.Errorf("two equal claims: %v in %d batches", told, batches)
		}
		if got := balance(t, b, "c1", settlement); got != 990 {
			t.Errorf("balance %d", got)
		}
		audit(t, d, "c1")
	})
}

// If the database refuses one unit of a batch, each other unit of the batch is still committed,
// exactly once.
func TestAWrongUnitHarmsNoNeighbour(t *testing.T) {
	dbtest.EachForm(t, func(t *testing.T, d *db.DB) {
		b := open(t, d)
		found(t, b, "c1")
		fund(t, b, "c1", 1000)
		must(t, b.Commit(t.Context(), Unit{Company: "c1", transfers: []Transfer{paying("taken", "settle", 1)}}))
		spent := money.Kobo(1)
		for name, wrong := range map[string]Unit{
			"a step that was taken":       {transfers: []Transfer{paying("taken", "settle", 5)}},
			"a step the batch takes":      {transfers: []Transfer{paying("a step the batch takes, before", "", 5)}},
			"a step that it takes itself": {transfers: []Transfer{paying("twice", "", 5), paying("twice", "", 5)}},
			"a row that breaks a CHECK": {transfers: []Transfer{paying("x", "", 5)}, appended: []db.Record{
				{Table: thingTable, Values: []any{"c1", "check", "", "NEW", int64(-1)}},
			}},
		} {
			wrong.Company = "c1"
			told, _ := together(b,
				Unit{Company: "c1", transfers: []Transfer{paying(name+", before", "", 10)}}, wrong,
				Unit{Company: "c1", transfers: []Transfer{paying(name+", after", "", 10)}})
			spent += 20
			if told[0] != nil || told[1] == nil || told[2] != nil {
				t.Errorf("%s: %v", name, told)
			}
			if got := balance(t, b, "c1", settlement); got != 1000-spent {
				t.Errorf("%s: %d left of %d", name, got, 1000-spent)
			}
		}
		audit(t, d, "c1")
	})
}

// A transfer that would overflow a balance, of the debited or of the credited account, is refused.
func TestABalanceDoesNotOverflow(t *testing.T) {
	dbtest.EachForm(t, func(t *testing.T, d *db.DB) {
		b := open(t, d)
		found(t, b, "c1")
		must(t, b.Commit(t.Context(), Unit{Company: "c1", open: []Account{{"other", money.NoFloor}}}))
		pour := func(reference, from, to string) error {
			return b.Commit(t.Context(), Unit{Company: "c1", transfers: []Transfer{
				{Reference: reference, Debit: from, Credit: to, Amount: math.MaxInt64, Kind: "credit"},
			}})
		}
		must(t, pour("1", outside, settlement))
		for reference, from := range map[string]string{"2": "other", "3": outside} {
			to := map[string]string{"2": settlement, "3": clearing}[reference]
			if err := pour(reference, from, to); err == nil || Refused(err) != nil {
				t.Errorf("%s → %s: %v", from, to, err)
			}
		}
		audit(t, d, "c1")
	})
}

// Many callers have read the same row, and each wants to change the row without changing its state.
// Only the first change is made. The others are refused, because the row now has other values.
func TestARowThatWasChangedMeanwhileIsNotChangedAgain(t *testing.T) {
	dbtest.EachForm(t, func(t *testing.T, d *db.DB) {
		b := open(t, d)
		found(t, b, "c1")
		must(t, b.Commit(t.Context(), Unit{Company: "c1", inserts: []db.Record{thing("c1", "a", "key", "PENDING"), thing("c1", "b", "", "PENDING")}}))
		write := func(id string, seen ...change) error {
			m := changing("c1", id, "PENDING", "PENDING", change{"price_kobo", int64(8)})
			m.expected = seen
			return b.Commit(context.Background(), Unit{Company: "c1", transitions: []Transition{m}})
		}
		var won atomic.Int64
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				err := write("a", change{"price_kobo", int64(7)}, change{"claim", "key"})
				if r := Refused(err); err == nil {
					won.Add(1)
				} else if r == nil || r.Reason != Moved || r.State != "PENDING" {
					t.Error(err)
				}
			})
			all.Go(func() { must(t, write("b")) }) // a change that expects no values is always made
		}
		all.Wait()
		if won.Load() != 1 {
			t.Errorf("%d have changed it", won.Load())
		}
		for _, seen := range []change{{"price_kobo", int64(7)}, {"claim", "another"}} {
			if r := Refused(write("a", seen)); r == nil || r.Reason != Moved {
				t.Errorf("%v: %v", seen, r)
			}
		}
		must(t, write("a", change{"price_kobo", int64(8)}))
	})
}

// A batch keeps an account's floor, and the balance that a transfer must leave, for all its units
// together. It does so by itself: the database refuses a balance below the floor too, but then each
// unit gets a batch of its own.
func TestABatchKeepsTheFloorAndWhatMustStay(t *testing.T) {
	dbtest.EachForm(t, func(t *testing.T, d *db.DB) {
		b := open(t, d)
		found(t, b, "c1")
		for name, c := range map[string]struct {
			leave   money.Kobo
			amounts [3]money.Kobo
		}{
			"the floor":      {0, [3]money.Kobo{60, 60, 40}},
			"what must stay": {1, [3]money.Kobo{50, 50, 49}},
		} {
			fund(t, b, "c1", 100-balance(t, b, "c1", settlement))
			var units []Unit
			for i, amount := range c.amounts {
				pays := paying(fmt.Sprint(name, " ", i), "", amount)
				pays.Leave = c.leave
				units = append(units, Unit{Company: "c1", transfers: []Transfer{pays}})
			}
			transactions := 0
			b.run = func(ctx context.Context, strokes func(db.Pipeline) error) error {
				transactions++
				return d.Run(ctx, strokes)
			}
			told, _ := together(b, units...)
			if r := Refused(told[1]); told[0] != nil || r == nil || r.Reason != Short || told[2] != nil {
				t.Errorf("%s: %v", name, told)
			}
			if got := balance(t, b, "c1", settlement); got != c.leave || transactions != 1 {
				t.Errorf("%s: %d left after %d transactions, want %d after one", name, got, transactions, c.leave)
			}
		}
		audit(t, d, "c1")
	})
}
