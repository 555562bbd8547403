// Package batch runs items that arrive at the same time in one batch, such as one
// transaction of the database.
package batch

import (
	"slices"
	"sync"
)

// Queue runs its items in batches, one batch after the other. While one batch runs, the queue
// collects the items of the next batch. It needs no timer.
type Queue[T comparable] struct {
	most, room int
	run        func(batch []T) (late []T)
	isGone     func(item T) bool

	mu      sync.Mutex
	waiting []T
	running bool
	idle    sync.WaitGroup
}

// New returns a queue. Room is the largest number of waiting items, and most is the largest number
// of items in a batch. The function run returns the late items, which must wait for the next batch.
// Late items go back to the front of the queue, except those for which isGone returns true. If run
// never returns late items, isGone may be nil.
func New[T comparable](most, room int, run func(batch []T) (late []T), isGone func(item T) bool) *Queue[T] {
	return &Queue[T]{most: most, room: room, run: run, isGone: isGone}
}

// Add puts an item at the end of the queue. It returns false if the queue is full.
func (q *Queue[T]) Add(item T) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) >= q.room {
		return false
	}
	q.waiting = append(q.waiting, item)
	if !q.running {
		q.running = true
		q.idle.Go(q.runAll)
	}
	return true
}

// Withdraw removes a waiting item, so that the item uses no memory and no place in a batch. If the
// item is not waiting, Withdraw does nothing.
func (q *Queue[T]) Withdraw(item T) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if i := slices.Index(q.waiting, item); i >= 0 {
		q.waiting = slices.Delete(q.waiting, i, i+1)
	}
}

// Waiting returns the number of waiting items.
func (q *Queue[T]) Waiting() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.waiting)
}

// Drain waits until no item waits and no batch runs. After Drain, no item may be added.
func (q *Queue[T]) Drain() { q.idle.Wait() }

// runAll runs batches until the queue is empty.
func (q *Queue[T]) runAll() {
	for batch := q.next(nil); batch != nil; {
		batch = q.next(q.run(batch))
	}
}

// next puts late items back to the front of the queue, in their order. It then takes the next
// batch. A late item for which isGone returns true is dropped.
func (q *Queue[T]) next(late []T) []T {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(late) > 0 {
		q.waiting = slices.Insert(q.waiting, 0, slices.DeleteFunc(late, q.isGone)...)
	}
	n := min(len(q.waiting), q.most)
	if n == 0 {
		q.running = false
		return nil
	}
	batch := slices.Clone(q.waiting[:n])
	q.waiting = slices.Delete(q.waiting, 0, n)
	return batch
}
