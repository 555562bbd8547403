package webhook

import (
	"context"
	"slices"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/ledger"
)

// health describes an endpoint's failed attempts since its last success: their number, and the
// time of the first failure.
type health struct {
	failures  int64
	failingAt time.Time
}

// after returns the health after one more attempt, whose result is in d.
func (h health) after(d Delivery) health {
	if d.State == Delivered {
		return health{}
	}
	h.failures++
	if h.failingAt.IsZero() {
		h.failingAt = d.UpdatedAt.Time
	}
	return h
}

// rest returns the time until which new events to an endpoint wait, or the zero time if new events
// need not wait. The rest is as long as the failures have lasted, but at least five seconds and at
// most an hour.
func (h health) rest(now time.Time) time.Time {
	if h.failures < tolerance {
		return time.Time{}
	}
	return now.Add(min(max(now.Sub(h.failingAt), 5*time.Second), longestWait))
}

// flush stores the results of attempts and the queue's position in the feed. It stores them even
// while the program stops. It returns errOver if the endpoint has changed since the visit read it, so
// that nothing more goes to an address that the company has moved, paused or deleted. The next visit
// then begins at once, because the results so far tell nothing about the new address.
func (v *visit) flush(ctx context.Context) error {
	if len(v.done) == 0 && len(v.lost) == 0 && v.queue.sequence == v.written {
		return nil
	}
	ctx = context.WithoutCancel(ctx)
	for _, d := range v.done {
		if d.State == GivenUp {
			// The endpoint is marked as FAILING before the delivery is stored. In the opposite
			// order, the company might never be notified after a crash, since a FAILED delivery is
			// not retried.
			if err := v.markFailing(ctx, d); err != nil {
				return err
			}
			break
		}
	}
	before, now, changed, err := v.record(ctx)
	if err != nil {
		return err
	}
	worked := slices.ContainsFunc(v.done, func(d Delivery) bool { return d.State == Delivered })
	v.figures.count(v.done)
	v.hours.add(v.done)
	v.queue.due = time.Time{}
	if v.queue.kind != queueRetries && len(v.done) > 0 && !changed {
		v.queue.due = now.rest(v.Clock.Now())
	}
	v.done, v.lost, v.held, v.written = v.done[:0], v.lost[:0], 0, v.queue.sequence
	if worked && v.endpoint.State == Failing {
		if err := v.markActive(ctx); err != nil {
			return err
		}
	}
	if worked && before.failures >= tolerance {
		now := v.Clock.Now()
		if err := v.sendWaiting(ctx, v.endpoint.key(), now, now); err != nil {
			return err
		}
	}
	if changed {
		return errOver
	}
	return nil
}

// record stores the deliveries, the endpoint's health and the queue's position in one
// transaction. It stores nothing if another program has leased the queue meanwhile. That program
// sends the same events again, with the same message IDs. It also reports whether the endpoint has
// changed since the visit read it.
func (v *visit) record(ctx context.Context) (before, after health, changed bool, err error) {
	q := v.queue
	err = v.DB.Run(ctx, func(p db.Pipeline) error {
		held, retriesDue := false, int64(0)
		before, changed = health{}, false
		err := p.Read(ctx,
			db.Lookup{
				Table: endpointTable.Table, By: endpointTable.KeyNames(), Columns: []string{"failures", "failed_at", "state", "url", "kinds", "secret"}, Lock: true,
				Keys: [][]any{{q.company, q.endpoint}},
				Found: func(row []any) error {
					before = health{row[2].(int64), clock.Time(row[3].(int64))}
					changed = v.endpoint.hasChanged(Endpoint{State: State(row[4].(string)), URL: row[5].(string), kinds: row[6].(string), secret: row[7].(string)})
					return nil
				},
			},
			db.Lookup{
				Table: queueTable.Table, By: queueTable.KeyNames(), Columns: []string{"fence", "due_at"}, Lock: true,
				Keys: v.queues(),
				Found: func(row []any) error {
					if row[2] == q.id {
						held = row[3] == q.fence
					}
					if row[2] == queueRetries {
						retriesDue = row[4].(int64)
					}
					return nil
				},
			})
		if err != nil {
			return err
		}
		if !held {
			p.Rollback()
			return errOver
		}
		after = before
		for _, d := range v.done {
			after = after.after(d)
		}
		return p.Commit(ctx, v.writes(before, after, retriesDue)...)
	})
	return before, after, changed, err
}

// queues returns the primary keys of the queue rows that the visit writes, in the order in which
// the rows are locked.
func (v *visit) queues() [][]any {
	q := v.queue
	keys := [][]any{{q.company, q.endpoint, q.id}}
	if q.kind != queueRetries {
		keys = append(keys, []any{q.company, q.endpoint, queueRetries})
	}
	if q.id > queueRetries {
		slices.Reverse(keys)
	}
	return keys
}

// writes returns the database writes that record commits. If a first attempt failed, its delivery
// needs a retry. So the writes also make the endpoint's queue of retries due at the time of that
// retry.
func (v *visit) writes(before, after health, retriesDue int64) []db.Write {
	q, now := v.queue, v.Clock.Now()
	var rows [][]any
	for _, d := range slices.Concat(v.done, v.lost) {
		rows = append(rows, deliveryTable.Record(d).Values)
	}
	deliveries := db.Write{Table: deliveryTable.Table, Rows: rows}
	if q.kind == queueRetries {
		deliveries.By, deliveries.Set = deliveryTable.KeyNames(), deliveryTable.Names()[deliveryTable.Key:]
	}
	writes := []db.Write{deliveries, {Table: attemptTable.Table, Rows: attemptRows(v.done)}, {
		Table: queueTable.Table, By: queueTable.KeyNames(), Set: []string{"sequence", "lease_until"},
		Rows: [][]any{{q.company, q.endpoint, q.id, q.sequence, clock.Micros(now.Add(lease))}},
	}}
	if after != before {
		writes = append(writes, db.Write{
			Table: endpointTable.Table, By: endpointTable.KeyNames(), Set: []string{"failures", "failed_at"},
			Rows: [][]any{{q.company, q.endpoint, after.failures, clock.Micros(after.failingAt)}},
		})
	}
	due := retriesDue
	for _, d := range v.done {
		if at := clock.Micros(d.NextAt.Time); at != 0 && (due == 0 || at < due) {
			due = at
		}
	}
	if due != retriesDue && q.kind != queueRetries {
		writes = append(writes, db.Write{
			Table: queueTable.Table, By: queueTable.KeyNames(), Set: []string{"due_at"},
			Rows: [][]any{{q.company, q.endpoint, queueRetries, due}},
		})
	}
	return writes
}

// failing is the data of the event that reports a failing endpoint.
type failing struct {
	ID        string        `json:"id"`
	URL       string        `json:"url"`
	Status    State         `json:"status"`
	Delivery  string        `json:"deliveryId"`
	EventID   string        `json:"eventId"`
	Trouble   string        `json:"error"`
	FailingAt clock.Instant `json:"failingSince"`
}

// markFailing marks the endpoint of a FAILED delivery as FAILING and emits an event for the
// company. If the endpoint is marked already, it does nothing.
func (v *visit) markFailing(ctx context.Context, d Delivery) error {
	if v.endpoint.State != Active {
		return nil
	}
	e := v.endpoint
	since := e.FailingAt
	if since.IsZero() {
		since = d.CreatedAt
	}
	u := e.transition(Failing)
	event.Emit(&u, event.WebhookFailing, failing{e.ID, e.URL, Failing, d.ID, d.EventID, string(d.Trouble), since})
	err := v.Book.Commit(ctx, u)
	if ledger.Is(err, ledger.Moved) {
		return nil // the endpoint was marked, paused or deleted meanwhile
	}
	if err == nil {
		v.endpoint.State = Failing
		v.Log.Warn("a webhook is failing", "company", e.Company, "webhook", e.ID, "since", since.Time, "trouble", d.Trouble)
	}
	return err
}

// markActive sets a FAILING endpoint to ACTIVE, because the endpoint accepts deliveries again.
func (v *visit) markActive(ctx context.Context) error {
	e := v.endpoint
	err := v.Book.Commit(ctx, e.transition(Active))
	if ledger.Is(err, ledger.Moved) {
		return nil
	}
	if err == nil {
		v.endpoint.State = Active
		v.Log.Info("a webhook works again", "company", e.Company, "webhook", e.ID)
	}
	return err
}

// transition returns a unit that changes the endpoint's state and no other column.
func (e Endpoint) transition(to State) ledger.Unit {
	u, from := ledger.For(e.Company), e.State
	e.State = to
	u.Transition(endpointTable.Record(e), string(from)).Only()
	return u
}
