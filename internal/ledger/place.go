package ledger

import (
	"iter"

	"github.com/kobo-waas/kobo/internal/batch"
)

// queueOf returns the queue of a company's units. Each place (db.DB.Place) has a queue of its own, so
// a batch has only companies of one place, and a slow place delays no other one. While a company
// moves to another place, it may be in a batch of each. The lock row decides which batch is first.
//
// Each statement costs more at such a place, and a larger batch has fewer statements for each unit. So a second batch
// begins beside a running one only after the time slow. Meanwhile batches of other places run.
func (b *Book) queueOf(company string) *batch.Queue[*pending] {
	place := b.db.Place(company)
	if place == "" {
		return b.queue
	}
	if queue, known := b.elsewhere.Load(place); known {
		return queue.(*batch.Queue[*pending])
	}
	queue, _ := b.elsewhere.LoadOrStore(place, b.newQueue(maxWaiting).After(b.slow))
	return queue.(*batch.Queue[*pending])
}

// queues returns the queues of all places.
func (b *Book) queues() iter.Seq[*batch.Queue[*pending]] {
	return func(yield func(*batch.Queue[*pending]) bool) {
		if yield(b.queue) {
			b.elsewhere.Range(func(_, queue any) bool { return yield(queue.(*batch.Queue[*pending])) })
		}
	}
}

// waiting returns the number of units that wait in all queues.
func (b *Book) waiting() (n int) {
	for queue := range b.queues() {
		n += queue.Waiting()
	}
	return n
}
