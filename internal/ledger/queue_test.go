package ledger

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/batch"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/fault"
)

// hung makes the ledger's database hang until the test calls the function answer. When hung
// returns, one unit waits for the database. The result transactions points to the number of
// transactions that have begun so far.
func hung(t *testing.T, b *Book) (answer func(), transactions *int) {
	t.Helper()
	begun, hang := make(chan struct{}), make(chan struct{})
	var once sync.Once
	transactions = new(int) // only the batcher's goroutine writes this number, and the test reads it after Drain
	b.run = func(ctx context.Context, strokes func(db.Pipeline) error) error {
		once.Do(func() { close(begun) })
		<-hang
		*transactions++
		return b.db.Run(ctx, strokes)
	}
	go func() { _ = b.Commit(context.Background(), claiming("first")) }()
	<-begun
	return func() { close(hang) }, transactions
}

func claiming(id string) Unit {
	return Unit{Company: "c1", inserts: []db.Record{thing("c1", id, "", "NEW")}}
}

// If a caller gives up while the database hangs, its unit leaves the queue. Drain does not wait for
// a batch with that unit.
func TestAWithdrawnUnitLeavesTheQueue(t *testing.T) {
	dbtest.EachForm(t, func(t *testing.T, d *db.DB) {
		b := open(t, d)
		found(t, b, "c1")
		answer, transactions := hung(t, b)
		var all sync.WaitGroup
		for i := range 3 * maxUnits {
			all.Go(func() {
				if err := b.Commit(db.Within(t.Context(), time.Millisecond), claiming(fmt.Sprint("gone ", i))); !fault.Is(err, fault.Unavailable) {
					t.Errorf("told %v", err)
				}
			})
		}
		all.Wait()
		if waiting := b.waiting(); waiting != 0 {
			t.Errorf("%d units wait for nobody", waiting)
		}
		answer()
		b.Drain()
		if *transactions != 1 || state(t, b, "first") != "NEW" {
			t.Errorf("%d transactions for one unit", *transactions)
		}
	})
}

// A unit is not put back into the queue if its caller has stopped waiting.
func TestAWithdrawnUnitIsNotPutBack(t *testing.T) {
	gone := &pending{unit: claiming("gone"), done: make(chan error, 1)}
	if err := gone.leave(); !fault.Is(err, fault.Unavailable) || !gone.isGone() {
		t.Errorf("told %v", err)
	}
	here := []*pending{{unit: claiming("a")}, {unit: claiming("b")}}
	var batches [][]*pending
	l := batch.New(maxUnits, maxWaiting, func(all []*pending) []*pending {
		if batches = append(batches, all); len(batches) == 1 {
			return []*pending{here[0], gone, here[1]}
		}
		return nil
	}, (*pending).isGone)
	l.Add(&pending{unit: claiming("first")})
	l.Drain()
	if len(batches) != 2 || !slices.Equal(batches[1], here) {
		t.Errorf("the batches are %v", batches)
	}
}

// A full queue refuses units immediately. It accepts units again when it has room.
func TestAFullQueueRefuses(t *testing.T) {
	dbtest.EachForm(t, func(t *testing.T, d *db.DB) {
		b := open(t, d)
		found(t, b, "c1")
		l := b.newQueue(4) // one company can fill half of it
		b.queue = l
		b.elsewhere.Store(d.Place("c1"), l)
		answer, _ := hung(t, b)
		waiting := []*pending{{unit: claiming("a"), done: make(chan error, 1)}, {unit: claiming("b"), done: make(chan error, 1)}}
		for _, p := range waiting {
			if !l.Add(p) {
				t.Error("a queue with room refuses")
			}
		}
		if err := b.Commit(t.Context(), claiming("refused")); !fault.Is(err, fault.Unavailable) {
			t.Errorf("told %v", err)
		}
		answer()
		for _, p := range waiting {
			must(t, <-p.done)
		}
		b.Drain()
		must(t, b.Commit(t.Context(), claiming("later")))
		if state(t, b, "refused") != "" {
			t.Error("a refused unit has happened")
		}
	})
}
