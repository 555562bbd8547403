// Package batch runs items that arrive at the same time in one batch, such as one
// transaction of the database.
package batch

import (
	"slices"
	"sync"
	"time"
)

// Queue runs its items in batches. While a batch runs, the queue collects the items of the next
// batch. It needs no timer, except with After.
//
// Each item belongs to an owner. The owners take turns, and the items of one owner never run in two
// batches at once.
type Queue[T comparable] struct {
	most, room int
	each       int // the largest number of waiting items of one owner
	runners    int
	after      time.Duration
	share      int
	owner      func(item T) string
	run        func(batch []T) (late []T)
	isGone     func(item T) bool

	mu      sync.Mutex
	lines   map[string]*line[T] // the lines with waiting or running items, by owner
	turns   []*line[T]          // the lines with waiting items and without running items, in the order of their turns
	waiting int
	running int
	begun   int  // the number of batches that have begun
	timed   bool // a timer runs (wait)
	crowded int  // the number of next batches in which no owner has more than its share
	idle    sync.WaitGroup
}

// line contains the waiting items of one owner.
type line[T comparable] struct {
	owner   string
	waiting []T
	running bool
}

// calm is the number of batches without competition after which an owner may fill a batch again. An
// owner with few callers often has no waiting item when a batch begins, but sends one during it.
const calm = 32

// New returns a queue of a single owner, which runs one batch after the other. Room is the largest
// number of waiting items, and most is the largest number of items in a batch. The function run
// returns the late items, which must wait for the next batch. Late items go back to the front of
// the queue, except those for which isGone returns true. If run never returns late items, isGone
// may be nil.
func New[T comparable](most, room int, run func(batch []T) (late []T), isGone func(item T) bool) *Queue[T] {
	return &Queue[T]{
		most: most, room: room, each: room, runners: 1, share: most, run: run, isGone: isGone,
		owner: func(T) string { return "" }, lines: map[string]*line[T]{},
	}
}

// Shared changes the queue so that it runs several batches at once and has several owners. While
// owners compete for a place in a batch, each has at most share items in a batch. One owner can fill
// at most half of the room, so the items of other owners still find a place.
func (q *Queue[T]) Shared(runners, share int, owner func(item T) string) *Queue[T] {
	q.runners, q.share, q.owner, q.each = runners, share, owner, (q.room+1)/2
	return q
}

// After changes the queue so that a batch begins beside a running one only if no batch has begun for the time d. So
// batches are larger, and one that takes long does not hold back the items of other owners.
func (q *Queue[T]) After(d time.Duration) *Queue[T] {
	q.after = d
	return q
}

// Add puts an item at the end of its owner's line. It returns false if the queue or the owner's part
// of it is full.
func (q *Queue[T]) Add(item T) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.waiting >= q.room {
		return false
	}
	owner := q.owner(item)
	l := q.lines[owner]
	if l == nil {
		l = &line[T]{owner: owner}
		q.lines[owner] = l
	}
	if len(l.waiting) >= q.each {
		return false
	}
	l.waiting = append(l.waiting, item)
	if q.waiting++; !l.running && len(l.waiting) == 1 {
		q.turns = append(q.turns, l)
		if q.running == q.runners || q.running > 0 && q.after > 0 {
			q.crowded = calm // this owner waits for a batch of other owners
		}
	}
	q.start()
	return true
}

// Withdraw removes a waiting item, so that the item uses no memory and no place in a batch. If the
// item is not waiting, Withdraw does nothing.
func (q *Queue[T]) Withdraw(item T) {
	q.mu.Lock()
	defer q.mu.Unlock()
	l := q.lines[q.owner(item)]
	if l == nil {
		return
	}
	i := slices.Index(l.waiting, item)
	if i < 0 {
		return
	}
	q.waiting--
	if l.waiting = slices.Delete(l.waiting, i, i+1); len(l.waiting) == 0 && !l.running {
		q.turns = slices.DeleteFunc(q.turns, func(other *line[T]) bool { return other == l })
		delete(q.lines, l.owner)
	}
}

// Waiting returns the number of waiting items.
func (q *Queue[T]) Waiting() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.waiting
}

// Drain waits until no item waits and no batch runs. After Drain, no item may be added.
func (q *Queue[T]) Drain() { q.idle.Wait() }

// runAll runs batches until no item waits that another batch does not hold back. After a batch that took long, it leaves
// the rest to the runner that began beside it.
func (q *Queue[T]) runAll() {
	for batch, lines := q.next(nil, nil, 0); batch != nil; {
		began := time.Now()
		late := q.run(batch)
		batch, lines = q.next(late, lines, time.Since(began))
	}
}

// next ends a batch of the given lines, which took some time, and takes the next batch. It puts late items back to the
// front of their lines, in their order. A late item for which isGone returns true is dropped.
func (q *Queue[T]) next(late []T, ended []*line[T], took time.Duration) (batch []T, lines []*line[T]) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i := len(late) - 1; i >= 0; i-- {
		if !q.isGone(late[i]) {
			l := q.lines[q.owner(late[i])]
			l.waiting = slices.Insert(l.waiting, 0, late[i])
			q.waiting++
		}
	}
	for _, l := range ended {
		if l.running = false; len(l.waiting) > 0 {
			q.turns = append(q.turns, l)
		} else {
			delete(q.lines, l.owner)
		}
	}
	if q.after > 0 && took >= q.after && q.running > 1 {
		q.running--
		q.start()
		return nil, nil
	}
	share := q.most
	if q.crowded > 0 {
		q.crowded--
		share = q.share
	}
	for len(q.turns) > 0 && len(batch) < q.most {
		l := q.turns[0]
		n := min(len(l.waiting), share, q.most-len(batch))
		batch = append(batch, l.waiting[:n]...)
		l.waiting, l.running = slices.Delete(l.waiting, 0, n), true
		q.turns, lines = q.turns[1:], append(lines, l)
	}
	if q.waiting -= len(batch); len(batch) == 0 {
		q.running--
		return nil, nil
	}
	q.begun++
	q.start() // for lines that did not fit
	return batch, lines
}

// start starts a runner if there is work for one more.
func (q *Queue[T]) start() {
	switch {
	case q.running == q.runners || len(q.turns) == 0:
	case q.running > 0 && q.after > 0:
		q.wait()
	default:
		q.running++
		q.idle.Go(q.runAll)
	}
}

// wait starts a runner beside the running ones if no batch begins for the time after.
func (q *Queue[T]) wait() {
	if q.timed {
		return
	}
	q.timed = true
	begun := q.begun
	time.AfterFunc(q.after, func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.timed = false
		if q.begun == begun && len(q.turns) > 0 && q.running < q.runners {
			q.running++
			q.idle.Go(q.runAll)
			return
		}
		q.start()
	})
}
