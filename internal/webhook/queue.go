package webhook

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/secret"
)

// The kinds of delivery queue. Every endpoint has one queue of kind events and one of kind
// retries, whose IDs equal their kinds. In addition, each replay has a queue until the replay is
// finished.
const (
	queueEvents  = "events"
	queueRetries = "retries"
	queueReplay  = "replay"
)

// queue is a delivery queue of an endpoint.
type queue struct {
	company    string    `db:"company_id,key"`
	endpoint   string    `db:"endpoint_id,key"`
	id         string    `db:"id,key"`
	kind       string    `db:"kind"`
	sequence   int64     `db:"sequence"` // events up to this number are finished
	through    int64     `db:"through"`  // the last event of a replay
	due        time.Time `db:"due_at"`   // when the queue is next processed; zero if the queue waits for new events
	LeaseUntil time.Time `db:"lease_until"`
	fence      int64     `db:"fence"` // increases with each lease, to detect a lost lease

	failures int64 // the endpoint's recent failures when the queue was read
}

func (q queue) key() string { return q.company + "/" + q.endpoint + "/" + q.id }

// isFailing reports whether the endpoint's last attempts have failed too often.
func (q queue) isFailing() bool { return q.failures >= tolerance }

// isIdle reports whether the queue has no lease and may have something to send.
func (q queue) isIdle(now time.Time) bool {
	return !q.LeaseUntil.After(now) && !q.due.After(now) && (!q.due.IsZero() || q.kind == queueEvents)
}

const (
	// lease is how long a lease lasts unless the program renews it. If the program dies, its
	// queues wait until their leases end.
	lease = 3 * timeout
	// pageSize is how many events are read at a time.
	pageSize = 200
	// together is how many retries of an endpoint are sent concurrently.
	together = 4
	// hold limits how many results of attempts are stored together. Results are stored after this
	// many milliseconds of sending. If a program dies, at most the results of that time are lost,
	// and their events are sent again.
	hold = 100
	// tolerance is the number of failures in a row after which an endpoint rests. New events wait
	// until the rest is over.
	tolerance = 3
	// turn is the time for which one queue is processed while no slot is free for other queues.
	// After that time, the queue must free its slot.
	turn = 500 * time.Millisecond
)

// visit is the processing of one queue, from the lease of the queue to its release.
type visit struct {
	*Service
	queue    queue
	endpoint Endpoint
	secrets  []secret.Text
	done     []Delivery // results of attempts that are not stored yet
	lost     []Delivery // retries without an attempt, because their events are archived; not stored yet
	held     int64      // milliseconds of sending since the last results were stored
	written  int64      // the stored position in the feed
	since    time.Time  // when the visit began, by the machine's own clock
}

// errOver ends a visit without a failure, for example because the lease is lost or the endpoint
// is not live.
var errOver = errors.New("webhook: the visit is over")

// work sends what is due in a leased queue, and then releases the queue.
func (s *Service) work(ctx context.Context, q queue) {
	v := &visit{Service: s, queue: q, written: q.sequence, since: time.Now()}
	var err error
	if q.kind == queueRetries {
		err = v.retries(ctx)
	} else {
		err = v.events(ctx)
	}
	// If the last results could not be stored, their events are sent again.
	v.queue.sequence = v.written
	after, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	if err == nil || errors.Is(err, errOver) {
		err = s.release(after, v.queue, v.queue.due)
	} else {
		s.Log.Warn("deliveries stopped", "company", q.company, "webhook", q.endpoint, "lane", q.id, "error", err)
		err = s.release(after, v.queue, s.Clock.Now().Add(5*time.Second))
	}
	if err != nil {
		// The lease will expire, and then a program leases the queue again.
		s.Log.Warn("a delivery queue was not released", "company", q.company, "webhook", q.endpoint, "lane", q.id, "error", err)
	}
}

// readEndpoint reads the endpoint and its secrets again, since they may have changed.
func (v *visit) readEndpoint(ctx context.Context) (err error) {
	if err = ctx.Err(); err != nil {
		return errOver
	}
	if v.endpoint, err = v.findEndpoint(ctx, v.queue.company, v.queue.endpoint); err != nil {
		return err
	}
	if !v.endpoint.isLive() {
		return errOver
	}
	v.secrets, err = v.Service.secrets(v.endpoint, v.Clock.Now())
	return err
}

// events sends the events after the queue's position, one after the other. It ends when no event is
// left or when new events to the endpoint must wait after failures.
func (v *visit) events(ctx context.Context) error {
	for more := true; more; {
		if err := v.readEndpoint(ctx); err != nil {
			return err
		}
		var page []event.Event
		var err error
		page, more, err = v.Events.Feed(ctx, v.queue.company, v.queue.sequence, pageSize, 0)
		if fault.Is(err, fault.Gone) {
			// kobo archive was faster than a replay. The queue goes on with the first event that is kept.
			var first int64
			if first, err = v.Events.First(ctx, v.queue.company); err == nil {
				v.queue.sequence = first - 1
				page, more, err = v.Events.Feed(ctx, v.queue.company, v.queue.sequence, pageSize, 0)
			}
		}
		if err != nil {
			return err
		}
		for _, e := range page {
			if v.queue.kind == queueReplay && e.Sequence > v.queue.through {
				more = false
				break
			}
			if err := v.event(ctx, e); err != nil {
				return err
			}
		}
		if err := v.flush(ctx); err != nil {
			return err
		}
		if v.queue.kind == queueReplay && v.queue.sequence >= v.queue.through {
			return nil
		}
		if err := v.turn(); err != nil {
			return err
		}
	}
	return nil
}

// event makes the first attempt to deliver one event.
func (v *visit) event(ctx context.Context, e event.Event) error {
	if !v.endpoint.wants(e.Kind) {
		v.queue.sequence = e.Sequence
		return nil
	}
	d, err := v.send(ctx, v.endpoint.fresh(e, v.Clock.Now()), e)
	if err != nil {
		return errors.Join(err, v.flush(ctx))
	}
	v.queue.sequence = e.Sequence
	v.add(d)
	if d.State == Delivered && v.held < hold && len(v.done) < pageSize {
		return nil
	}
	if err := v.flush(ctx); err != nil {
		return err
	}
	if !v.queue.due.IsZero() && v.queue.due.After(v.Clock.Now()) {
		return errOver // new events wait until the endpoint's rest is over
	}
	return v.turn()
}

// turn returns errOver if the visit must free its slot for other queues. All results must be stored
// before turn is called. After errOver, the queue is processed again when a slot is free.
func (v *visit) turn() error {
	if v.sender.isOver(v.queue, v.since) {
		return errOver
	}
	return nil
}

// send makes one attempt to deliver an event. If the attempt fails because the program stops, the
// attempt does not count.
func (v *visit) send(ctx context.Context, d Delivery, e event.Event) (Delivery, error) {
	body, err := message(e)
	if err != nil {
		return d, err
	}
	late := time.AfterFunc(slow*time.Millisecond, func() { v.sender.moveToSlow(v.queue) })
	r := v.post(ctx, v.endpoint.URL, e.ID, body, v.secrets)
	late.Stop()
	v.sender.recordLatency(v.queue, r)
	if !r.isSuccess() && ctx.Err() != nil {
		return d, errOver
	}
	return d.after(r, v.Clock.Now()), nil
}

func (v *visit) add(d Delivery) {
	v.done = append(v.done, d)
	v.held += d.Latency
}

// retries sends the retries that are due, a few concurrently, the most overdue first. If an event was
// archived meanwhile, its delivery is given up, so that it does not block the other retries.
func (v *visit) retries(ctx context.Context) error {
	for {
		if err := v.readEndpoint(ctx); err != nil {
			return err
		}
		list, err := v.dueDeliveries(ctx, v.queue.company, v.queue.endpoint, v.Clock.Now(), together)
		if err == nil && len(list) == 0 {
			v.queue.due = time.Time{} // the queue waits for its first retry, and not for a time that has passed
		}
		if err != nil || len(list) == 0 {
			return err
		}
		errs := make([]error, len(list))
		var all sync.WaitGroup
		for i := range list {
			all.Go(func() {
				var e event.Event
				if e, errs[i] = v.Events.Find(ctx, v.queue.company, list[i].EventID); errs[i] == nil {
					list[i], errs[i] = v.send(ctx, list[i], e)
				}
			})
		}
		all.Wait()
		for i, d := range list {
			switch {
			case errs[i] == nil:
				v.add(d)
			case fault.Is(errs[i], fault.Missing):
				v.lost, errs[i] = append(v.lost, d.withoutEvent(v.Clock.Now())), nil
			}
		}
		if err := errors.Join(append(errs, v.flush(ctx))...); err != nil {
			return err
		}
		if err := v.turn(); err != nil {
			return err
		}
	}
}
