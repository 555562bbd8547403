package batch_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/kobo-waas/kobo/internal/batch"
)

// held is a queue whose batches wait until the test lets them finish. Its items are pointers to
// their names.
type held struct {
	*batch.Queue[*string]
	begun chan []*string
	late  chan []*string
	gone  sync.Map
}

func newHeld(most, room int) *held {
	h := &held{begun: make(chan []*string), late: make(chan []*string)}
	h.Queue = batch.New(most, room, func(all []*string) []*string {
		h.begun <- all
		return <-h.late
	}, func(item *string) bool { _, gone := h.gone.Load(item); return gone })
	return h
}

func (h *held) add(t *testing.T, name string) *string {
	t.Helper()
	if !h.Add(&name) {
		t.Errorf("%s does not fit", name)
	}
	return &name
}

// runs waits for the next batch, compares its items with want, and ends the batch.
func (h *held) runs(t *testing.T, want string, late ...*string) {
	t.Helper()
	h.compares(t, want)
	h.late <- late
}

func (h *held) compares(t *testing.T, want string) {
	t.Helper()
	var names []string
	for _, item := range <-h.begun {
		names = append(names, *item)
	}
	if got := strings.Join(names, " "); got != want {
		t.Errorf("the batch has %q, not %q", got, want)
	}
}

// Items that arrive while a batch runs share the next batch, up to its maximum size.
func TestItemsShareABatch(t *testing.T) {
	h := newHeld(2, 10)
	h.add(t, "a")
	h.compares(t, "a")
	for _, name := range []string{"b", "c", "d"} {
		h.add(t, name)
	}
	h.late <- nil
	h.runs(t, "b c")
	h.runs(t, "d")
	h.Drain()
	h.add(t, "e")
	h.runs(t, "e")
	h.Drain()
}

// A full queue refuses an item. A withdrawn item frees its place and is in no batch.
func TestWithdrawnItemsMakeRoom(t *testing.T) {
	h := newHeld(10, 2)
	h.add(t, "a")
	h.compares(t, "a")
	b := h.add(t, "b")
	h.add(t, "c")
	refused := "refused"
	if h.Add(&refused) || h.Waiting() != 2 {
		t.Error("the queue has no limit")
	}
	h.Withdraw(b)
	h.Withdraw(b)
	h.Withdraw(&refused)
	h.add(t, "d")
	h.late <- nil
	h.runs(t, "c d")
	h.Drain()
}

// Late items come first in the next batch, in their order. A late item for which isGone returns
// true is dropped. A late item can still be withdrawn.
func TestLateItemsComeFirst(t *testing.T) {
	h := newHeld(3, 10)
	a := h.add(t, "a")
	h.runs(t, "a", a) // the batch contains only a, and returns it as late
	h.compares(t, "a")
	b, c, d := h.add(t, "b"), h.add(t, "c"), h.add(t, "d")
	h.late <- nil
	h.compares(t, "b c d")
	h.add(t, "e")
	h.gone.Store(c, true)
	h.late <- []*string{b, c, d}
	h.compares(t, "b d e")
	h.late <- []*string{b, d}
	h.runs(t, "b d")
	h.Drain()
	if h.Waiting() != 0 {
		t.Error("items wait after the end")
	}
}

// The queue serves all items of many concurrent senders.
func TestManySenders(t *testing.T) {
	var mu sync.Mutex
	served := map[string]int{}
	q := batch.New(7, 1000, func(all []*string) (late []*string) {
		mu.Lock()
		defer mu.Unlock()
		for i, item := range all {
			if served[*item]++; i == 0 && served[*item] == 1 {
				late = append(late, item)
			}
		}
		return late
	}, func(*string) bool { return false })
	var senders sync.WaitGroup
	for i := range 200 {
		senders.Go(func() {
			name := fmt.Sprint(i)
			q.Add(&name)
		})
	}
	senders.Wait()
	q.Drain()
	if len(served) != 200 || q.Waiting() != 0 {
		t.Errorf("%d of 200 served", len(served))
	}
}
