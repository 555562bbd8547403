package webhook

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/secret"
)

// begin leases the queue of a company's events, as a program does, and returns the visit. The visit has been sending for so long
// that it stores the result of its next attempt.
func (w *world) begin(company string) *visit {
	w.t.Helper()
	open, err := w.open(w.t.Context(), []string{company})
	must(w.t, err)
	taken, err := w.take(w.t.Context(), company, open, w.clock.Now())
	must(w.t, err)
	return &visit{Service: w.Service, queue: taken[0], written: taken[0].sequence, held: hold, since: time.Now()}
}

// A company changes a webhook while a visit has a page of events for it. The visit ends at its next stored result. So nothing more goes
// to the address that is gone, nothing is lost, and nothing is sent twice.
func TestAVisitEndsWhenItsEndpointChanges(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		ctx, elsewhere, off, on, kinds := t.Context(), newReceiver(t), false, true, []string{event.VTUFailed}
		update := func(d Draft) func(e Endpoint) error {
			return func(e Endpoint) error { _, err := w.Update(ctx, e.Company, e.ID, d, none); return err }
		}
		visited := func(company string, change func(e Endpoint) error, answer func(http.ResponseWriter, received)) (*receiver, Endpoint) {
			r := newReceiver(t)
			w.found(company)
			e := w.endpoint(company, r.URL)
			w.tell(company, event.VTUSuccess, 4)
			r.set(func(to http.ResponseWriter, m received) {
				if m.Sequence == 1 {
					if err := change(e); err != nil {
						t.Errorf("%s: %v", company, err)
					}
				}
				answer(to, m)
			})
			v := w.begin(company)
			if err := v.events(ctx); !errors.Is(err, errOver) {
				t.Errorf("%s: the visit ended with %v", company, err)
			}
			must(t, w.release(ctx, v.queue, v.queue.due))
			return r, e
		}
		accept := func(to http.ResponseWriter, _ received) { to.WriteHeader(http.StatusNoContent) }
		got := map[string]*receiver{}
		got["deleted"], _ = visited("deleted", func(e Endpoint) error { return w.Delete(ctx, e.Company, e.ID) }, accept)
		got["moved"], _ = visited("moved", update(Draft{URL: &elsewhere.URL}), accept)
		got["chosen"], _ = visited("chosen", update(Draft{Kinds: &kinds}), accept)
		got["refused"], _ = visited("refused", update(Draft{URL: &elsewhere.URL}), fail)
		paused, e := visited("paused", update(Draft{Active: &off}), accept)
		rotated, _ := visited("rotated", func(e Endpoint) error { _, err := w.Rotate(ctx, e.Company, e.ID, none); return err }, accept)
		if a, b := paused.sequences(), rotated.sequences(); a != "[1]" || b != "[1]" {
			t.Errorf("paused: %s, rotated: %s", a, b)
		}
		w.start()
		w.settle(0)
		for company, r := range got {
			if r.sequences() != "[1]" {
				t.Errorf("%s: the old address got %s", company, r.sequences())
			}
		}
		if got := rotated.sequences(); got != "[1 2 3 4]" || paused.sequences() != "[1]" {
			t.Errorf("rotated: %s, paused: %s", got, paused.sequences())
		}
		must(t, update(Draft{Active: &on})(e))
		w.settle(5 * time.Second)
		if got := paused.sequences(); got != "[1 2 3 4]" || len(w.sent(e, Delivered)) != 4 {
			t.Errorf("active again: %s", got)
		}
		if n := len(elsewhere.all()); n != 7 {
			t.Errorf("the new addresses got %d messages, with one retry", n)
		}
	})
}

// An endpoint rests after failures in a row. If the company has moved it meanwhile, the new address need not wait for the end of the rest.
func TestAMovedEndpointDoesNotRest(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		r, elsewhere := newReceiver(t), newReceiver(t)
		w.found("acme")
		e := w.endpoint("acme", r.URL)
		w.tell("acme", event.VTUSuccess, 5)
		r.set(func(to http.ResponseWriter, m received) {
			if m.Sequence == tolerance {
				if _, err := w.Update(t.Context(), "acme", e.ID, Draft{URL: &elsewhere.URL}, none); err != nil {
					t.Error(err)
				}
			}
			fail(to, m)
		})
		v := w.begin("acme")
		if err := v.events(t.Context()); !errors.Is(err, errOver) || !v.queue.due.IsZero() {
			t.Errorf("the visit ended with %v, and the next one is due at %v", err, v.queue.due)
		}
		must(t, w.release(t.Context(), v.queue, v.queue.due))
		w.start()
		w.settle(0)
		if old, n := r.sequences(), len(elsewhere.all()); old != "[1 2 3]" || n != 5 {
			t.Errorf("the old address got %s, the new one %d messages", old, n)
		}
	})
}

// A visit that stores results has locked the endpoint, and goes on to lock its queues. A deletion at this moment holds no queue while
// it waits for the endpoint. Otherwise each would wait for the other, and the payments of the company with them.
func TestADeletionLocksNoQueueBeforeItsEndpoint(t *testing.T) {
	keys, err := secret.Parse(secret.Generate())
	must(t, err)
	w := newWorld(t, dbtest.New(t, db.Postgres), &clock.Movable{}, keys)
	w.found("acme")
	e := w.endpoint("acme", newReceiver(t).URL)
	count := func(query string, args ...any) int64 {
		n, err := db.One(t.Context(), w.db, db.Value[int64], query, args...)
		must(t, err)
		return n
	}
	deleted := make(chan error, 1)
	must(t, w.db.Tx(t.Context(), func(q db.Querier) error {
		_, err := db.All(t.Context(), q, db.Value[string], `SELECT id FROM webhook_endpoint WHERE company_id = $1 AND id = $2 FOR UPDATE`, "acme", e.ID)
		must(t, err)
		go func() { deleted <- w.Delete(t.Context(), "acme", e.ID) }()
		eventually(t, "the deletion waits for the endpoint", func() bool {
			return count(`SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`) > 0
		})
		_, err = db.All(t.Context(), q, db.Value[string], `SELECT id FROM webhook_lane WHERE company_id = $1 AND endpoint_id = $2 FOR UPDATE NOWAIT`, "acme", e.ID)
		must(t, err)
		return nil
	}))
	must(t, <-deleted)
	if n := count(`SELECT count(*) FROM webhook_lane`); n != 0 {
		t.Errorf("%d queues are left", n)
	}
}
