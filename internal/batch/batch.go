// Package batch runs items that arrive at the same time in one batch, such as one
// transaction of the database.
package batch

import (
	"container/list"
	"slices"
	"sync"
)

// Queue runs its items in batches, one batch after the other. While one batch runs, the
// next one gathers, without a timer.
type Queue[T comparable] struct {
	most, room int
	run        func(batch []T) (late []T)
	isGone     func(item T) bool

	mu      sync.Mutex
	items   list.List           // the waiting items, of type T
	places  map[T]*list.Element // their places in the list
	running bool
	idle    sync.WaitGroup
}

// New is a queue with room for so many waiting items, and at most so many in a batch.
// Run returns the items that must wait for the next batch. They go back to the front of
// the queue, but for those that isGone is true of. Without late items isGone may be nil.
func New[T comparable](most, room int, run func(batch []T) (late []T), isGone func(item T) bool) *Queue[T] {
	return &Queue[T]{most: most, room: room, run: run, isGone: isGone, places: map[T]*list.Element{}}
}

// Add puts an item at the end of the queue. It is false if the queue is full.
func (q *Queue[T]) Add(item T) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.items.Len() >= q.room {
		return false
	}
	q.places[item] = q.items.PushBack(item)
	if !q.running {
		q.running = true
		q.idle.Go(q.runAll)
	}
	return true
}

// Withdraw removes a waiting item. So the item takes no memory and no part of a batch.
// Withdraw does nothing if the item is not waiting.
func (q *Queue[T]) Withdraw(item T) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if place := q.places[item]; place != nil {
		q.items.Remove(place)
		delete(q.places, item)
	}
}

// Waiting is the number of waiting items.
func (q *Queue[T]) Waiting() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.items.Len()
}

// Drain waits until no item waits and no batch runs. No item may be added after it.
func (q *Queue[T]) Drain() { q.idle.Wait() }

// runAll runs batches until the queue is empty.
func (q *Queue[T]) runAll() {
	for batch := q.next(); batch != nil; batch = q.next() {
		q.putBack(q.run(batch))
	}
}

// next takes the next batch out of the queue.
func (q *Queue[T]) next() []T {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.items.Len() == 0 {
		q.running = false
		return nil
	}
	batch := make([]T, min(q.items.Len(), q.most))
	for i := range batch {
		batch[i] = q.items.Remove(q.items.Front()).(T)
		delete(q.places, batch[i])
	}
	return batch
}

// putBack puts late items at the front of the queue, in their order. An item that was
// withdrawn meanwhile is gone and stays out.
func (q *Queue[T]) putBack(late []T) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, item := range slices.Backward(late) {
		if !q.isGone(item) {
			q.places[item] = q.items.PushFront(item)
		}
	}
}
