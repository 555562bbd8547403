package batch_test

import (
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kobo-waas/kobo/internal/batch"
)

// owned changes the queue so that the first letter of an item's name is the item's owner.
func (h *held) owned(runners, share int) *held {
	h.Shared(runners, share, func(item *string) string { return (*item)[:1] })
	return h
}

// While two owners compete, each has only its share of a batch. Long after the last competition, an
// owner may fill a batch again.
func TestOwnersHaveShares(t *testing.T) {
	h := newHeld(8, 1000).owned(1, 2)
	h.add(t, "a1")
	h.compares(t, "a1")
	for _, name := range strings.Fields("a2 a3 a4 b1 b2 b3 a5") {
		h.add(t, name)
	}
	h.late <- nil
	h.runs(t, "b1 b2 a2 a3") // b waited for a batch of a, so b is first
	h.compares(t, "b3 a4 a5")
	for range 30*2 + 8 {
		h.add(t, "a")
	}
	h.late <- nil
	for range 30 { // 32 batches after b began to wait
		h.runs(t, "a a")
	}
	h.runs(t, "a a a a a a a a")
	h.Drain()
}

// Late items of an owner come first in the owner's next batch, and do not delay the other owners.
func TestLateItemsOfAnOwnerComeFirst(t *testing.T) {
	h := newHeld(10, 10).owned(1, 1)
	a1 := h.add(t, "a1")
	h.compares(t, "a1")
	h.add(t, "a2")
	h.add(t, "b1")
	h.late <- []*string{a1}
	h.runs(t, "b1 a1")
	h.runs(t, "a2")
	h.Drain()
}

// A second batch runs while the first one runs, but not with items of the same owner.
func TestBatchesOfOtherOwnersRunAtOnce(t *testing.T) {
	h := newHeld(10, 10).owned(2, 10)
	h.add(t, "a1")
	h.compares(t, "a1")
	h.add(t, "a2")
	h.add(t, "b1")
	h.compares(t, "b1")
	h.late <- nil
	h.late <- nil
	h.runs(t, "a2")
	h.Drain()
}

// With After, a batch begins beside another one only when that one has run for the time, and then the items of its
// owner wait on. Once the slow batch has ended, there is one batch at a time again.
func TestABatchBeginsBesideASlowOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHeld(10, 10).owned(2, 10)
		h.After(time.Second)
		began := time.Now()
		waited := func(want time.Duration) {
			t.Helper()
			if got := time.Since(began); got != want {
				t.Errorf("%s have passed, want %s", got, want)
			}
		}
		h.add(t, "a1")
		h.compares(t, "a1")
		h.add(t, "a2")
		h.add(t, "b1")
		h.compares(t, "b1")
		waited(time.Second)
		h.add(t, "c1")
		h.late <- nil // of a, which took long: the runner of b goes on
		synctest.Wait()
		h.late <- nil // of b
		h.compares(t, "c1 a2")
		waited(time.Second)
		h.add(t, "b2")
		h.late <- nil
		h.runs(t, "b2") // not beside the batch of c
		waited(time.Second)
		h.Drain()
	})
}

// However many senders there are, no owner is in two batches, and each item runs once.
func TestAnOwnerIsInOneBatch(t *testing.T) {
	for _, after := range []time.Duration{0, time.Nanosecond, time.Hour} {
		t.Run(after.String(), func(t *testing.T) { anOwnerIsInOneBatch(t, after) })
	}
}

func anOwnerIsInOneBatch(t *testing.T, after time.Duration) {
	var mu sync.Mutex
	running, served := map[string]bool{}, 0
	change := func(all []*string, to bool) {
		mu.Lock()
		defer mu.Unlock()
		for owner := range owners(all) {
			if to && running[owner] {
				t.Errorf("%s runs twice", owner)
			}
			running[owner] = to
		}
	}
	q := batch.New(3, 1000, func(all []*string) []*string {
		change(all, true)
		change(all, false)
		mu.Lock()
		defer mu.Unlock()
		served += len(all)
		return nil
	}, nil).Shared(2, 3, func(item *string) string { return *item }).After(after)
	var senders sync.WaitGroup
	for _, name := range []string{"a", "b", "c", "d"} {
		senders.Go(func() {
			for range 200 {
				item := name
				q.Add(&item)
			}
		})
	}
	senders.Wait()
	q.Drain()
	if served != 800 || q.Waiting() != 0 {
		t.Errorf("%d of 800 served", served)
	}
}

func owners(all []*string) map[string]bool {
	out := map[string]bool{}
	for _, item := range all {
		out[*item] = true
	}
	return out
}

// One owner can fill half of the queue. Items of other owners still find a place.
func TestAnOwnerFillsHalfOfTheQueue(t *testing.T) {
	h := newHeld(10, 4).owned(1, 10)
	h.add(t, "a1")
	h.compares(t, "a1")
	h.add(t, "a2")
	h.add(t, "a3")
	refused := "a4"
	if h.Add(&refused) {
		t.Error("one owner fills more than half of the queue")
	}
	h.add(t, "b1")
	h.late <- nil
	h.runs(t, "b1 a2 a3")
	h.Drain()
}
