package webhook

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/secret"
)

// The public schedule is 5 s, 30 s, 2 min, 10 min, 30 min, 1 h, then every hour up to
// 72 h. Each retry is early by up to a tenth of the wait.
func TestTheSchedule(t *testing.T) {
	created := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	now, attempts, before := created, int64(1), time.Duration(0)
	for i, age := range ages {
		at, ok := next(created, now, attempts)
		if !ok || at.After(created.Add(age)) || at.Before(created.Add(age-(age-before)/10)) {
			t.Fatalf("try %d: %v %v, want %v", i+2, at.Sub(created), ok, age)
		}
		now, before = created.Add(age), age
		attempts++
	}
	if _, ok := next(created, now, attempts); ok {
		t.Error("it is tried after 72 hours")
	}
	if ages[len(ages)-1] != 72*time.Hour || fmt.Sprint(ages[:6]) != "[5s 30s 2m0s 10m0s 30m0s 1h0m0s]" {
		t.Error(ages)
	}
	for i, wait := range map[int]time.Duration{0: 5 * time.Second, 2: 90 * time.Second, 40: time.Hour} { // the clock was ahead at the creation
		if at, ok := next(created.Add(240*time.Hour), created, int64(i+1)); !ok || at.Sub(created) > wait || at.Sub(created) < wait*9/10 {
			t.Errorf("try %d of a delivery of the future: after %s, %v", i+2, at.Sub(created), ok)
		}
	}
	// Retries whose time passed while no program was running are skipped.
	if at, ok := next(created, created.Add(5*time.Hour+time.Minute), 1); !ok || at.Sub(created) > 6*time.Hour || at.Sub(created) < 5*time.Hour+54*time.Minute {
		t.Error(at.Sub(created), ok)
	}
}

// The results of attempts cannot be stored. Then the events are sent again: a failed attempt that nobody stored would
// otherwise never be repeated.
func TestAnEventWhoseResultWasNotStoredIsSentAgain(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.found("acme")
		r := newReceiver(t)
		e := w.endpoint("acme", r.URL)
		rename := func(from, to string) {
			if _, err := w.db.Exec(t.Context(), `ALTER TABLE `+from+` RENAME TO `+to); err != nil {
				t.Error(err)
			}
		}
		first := true
		r.set(func(to http.ResponseWriter, m received) {
			if first {
				first = false
				rename("webhook_attempt", "away")
				fail(to, m)
			}
		})
		w.start()
		w.tell("acme", event.VTUSuccess, 3)
		w.settle(0)
		if got := r.sequences(); got != "[1]" || len(w.sent(e, "")) != 0 {
			t.Fatalf("the first visit sent %s, and stored %d", got, len(w.sent(e, "")))
		}
		rename("away", "webhook_attempt")
		w.settle(5 * time.Second)
		if got := r.sequences(); got != "[1 1 2 3]" {
			t.Errorf("sent %s", got)
		}
		if n := len(w.sent(e, Delivered)); n != 3 {
			t.Errorf("%d of 3 are delivered", n)
		}
	})
}

// A program stores the results of attempts and gets no answer to the COMMIT, which the database has executed. So the
// program releases the queue with the position that it knows. The queue keeps the position of the database: otherwise it
// would send the events again, and could never store their results.
func TestAStoredPositionIsNotMovedBack(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.found("acme")
		r := newReceiver(t)
		e := w.endpoint("acme", r.URL)
		w.tell("acme", event.VTUSuccess, 2)
		open, err := w.open(t.Context(), nil)
		must(t, err)
		taken, err := w.take(t.Context(), "acme", open, w.clock.Now())
		must(t, err)
		v := &visit{Service: w.Service, queue: taken[0], written: taken[0].sequence, since: time.Now()}
		must(t, v.events(t.Context()))
		must(t, w.release(t.Context(), taken[0], taken[0].due)) // the position before the COMMIT
		w.start()
		w.tell("acme", event.VTUSuccess, 1)
		w.settle(0)
		if got := r.sequences(); got != "[1 2 3]" {
			t.Errorf("sent %s", got)
		}
		if n := len(w.sent(e, Delivered)); n != 3 {
			t.Errorf("%d of 3 are delivered", n)
		}
	})
}

// A queue of retries is due and has none that are due. That happens after a COMMIT that was executed without an answer: the
// program sets the queue due in five seconds, and the retry is delivered by then. The queue is read once, and then waits.
func TestAQueueWithoutDueRetriesWaits(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.found("acme")
		r := newReceiver(t)
		e := w.endpoint("acme", r.URL)
		w.start()
		fence := func() int64 {
			q, err := w.findQueue(t.Context(), "acme", e.ID, queueRetries)
			must(t, err)
			return q.fence
		}
		must(t, w.bringForward(t.Context(), "acme", e.ID, queueRetries, w.Clock.Now()))
		w.settle(0)
		if n := fence(); n != 1 {
			t.Errorf("the queue was leased %d times for nothing", n)
		}
		r.set(fail)
		w.tell("acme", event.VTUSuccess, 1)
		w.settle(0)
		r.set(nil)
		must(t, w.bringForward(t.Context(), "acme", e.ID, queueRetries, w.Clock.Now())) // before the retry is due
		w.settle(0)
		if n := fence(); n != 2 {
			t.Errorf("the queue was leased %d times before its first retry", n)
		}
		w.settle(5 * time.Second)
		if n := len(w.sent(e, Delivered)); n != 1 {
			t.Errorf("%d of 1 are delivered", n)
		}
	})
}

// An endpoint that was down gets every event later. Failed deliveries are retried on the
// schedule, and new events wait in order.
func TestAnEndpointThatIsDownMissesNothing(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.found("acme")
		r := newReceiver(t)
		e := w.endpoint("acme", r.URL)
		r.set(fail)
		w.start()
		w.tell("acme", event.VTUSuccess, 10)
		w.settle(0)
		if got := r.sequences(); got != "[1 2 3]" {
			t.Errorf("after three failures the rest should wait: %s", got)
		}
		if now := w.now(e); now.Failures != 3 || now.FailingAt.IsZero() || now.State != Active {
			t.Errorf("%+v", now)
		}
		for _, by := range []time.Duration{5 * time.Second, 25 * time.Second, 90 * time.Second, 8 * time.Minute} {
			w.settle(by)
		}
		if n := len(w.sent(e, Pending)); n < 3 || n > 7 {
			t.Errorf("%d wait to be tried again", n)
		}
		first := w.sent(e, "")[len(w.sent(e, ""))-1]
		if first.Attempts != 5 || first.Status != 500 || first.Excerpt != "not today" {
			t.Errorf("the first delivery: %+v", first)
		}
		tried := len(r.all())
		r.set(nil)
		w.settle(21 * time.Minute)
		seen := map[string]int64{}
		for _, m := range r.all()[tried:] {
			if seen[m.ID] != 0 {
				t.Errorf("%d came twice", m.Sequence)
			}
			seen[m.ID] = m.Sequence
		}
		if len(seen) != 10 || len(w.sent(e, Delivered)) != 10 || len(w.sent(e, "")) != 10 {
			t.Errorf("%d of 10 came, %d delivered", len(seen), len(w.sent(e, Delivered)))
		}
		if now := w.now(e); now.Failures != 0 || !now.FailingAt.IsZero() {
			t.Errorf("%+v", now)
		}
	})
}

// After three days of failures, a delivery becomes FAILED and its endpoint FAILING, and an event
// reports that to the company. When the endpoint works again, the remaining events are sent.
func TestAnEndpointThatIsGoneIsFlagged(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.found("acme")
		r, witness := newReceiver(t), newReceiver(t)
		e := w.endpoint("acme", r.URL)
		r.set(fail)
		w.endpoint("acme", witness.URL, event.WebhookFailing)
		w.start()
		w.tell("acme", event.VTUSuccess, 2)
		w.settle(0)
		w.settle(71 * time.Hour)
		if now := w.now(e); now.State != Active {
			t.Errorf("after 71 hours it is %s", now.State)
		}
		w.settle(time.Hour)
		if now := w.now(e); now.State != Failing {
			t.Errorf("after 72 hours it is %s", now.State)
		}
		if n := len(w.sent(e, GivenUp)); n != 2 {
			t.Errorf("%d given up", n)
		}
		told := witness.all()
		if len(told) != 1 || !strings.Contains(told[0].Body, `"id":"`+e.ID+`"`) || !strings.Contains(told[0].Body, `"error":"the answer was 500"`) {
			t.Errorf("told: %+v", told)
		}
		r.set(nil)
		w.settle(2 * time.Hour)
		if now := w.now(e); now.State != Active || now.Failures != 0 {
			t.Errorf("back again it is %+v", now)
		}
		if got := w.sent(e, Delivered); len(got) != 1 || got[0].Kind != event.WebhookFailing {
			t.Errorf("delivered: %+v", got)
		}
		if b, err := w.Backlog(t.Context(), w.now(e)); err != nil || b.Behind != 0 || b.Failed != 2 {
			t.Errorf("backlog %+v, %v", b, err)
		}
	})
}

// A successful test or a new address ends an endpoint's rest. All waiting events and retries are
// then sent immediately.
func TestARepairedEndpointNeedNotWait(t *testing.T) {
	for name, repair := range map[string]func(w *world, e Endpoint, down *receiver){
		"another address": func(w *world, e Endpoint, _ *receiver) {
			up := newReceiver(w.t)
			_, err := w.Update(w.t.Context(), "acme", e.ID, Draft{URL: &up.URL}, none)
			must(w.t, err)
		},
		"a test": func(w *world, e Endpoint, down *receiver) {
			down.set(nil)
			d, err := w.Test(w.t.Context(), "acme", e.ID, none)
			if must(w.t, err); d.State != Delivered {
				w.t.Errorf("the test: %+v", d)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, w *world) {
				w.found("acme")
				down := newReceiver(t)
				down.set(fail)
				e := w.endpoint("acme", down.URL)
				w.start()
				w.tell("acme", event.VTUSuccess, tolerance)
				w.settle(0)
				w.settle(12 * time.Hour)
				w.tell("acme", event.VTUSuccess, 2)
				w.settle(0)
				if now := w.now(e); now.Failures < tolerance {
					t.Fatalf("in trouble: %+v", now)
				}
				repair(w, e, down)
				w.settle(0)
				if b, err := w.Backlog(t.Context(), w.now(e)); err != nil || b.Behind != 0 || b.Retrying != 0 || w.now(e).Failures != 0 {
					t.Errorf("still to be told: %+v, %v", b, err)
				}
			})
		})
	}
}

// An event that an endpoint never accepts does not delay the other events.
func TestOnePoisonedEventHoldsNothingUp(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.found("acme")
		r := newReceiver(t)
		e := w.endpoint("acme", r.URL)
		r.set(func(rw http.ResponseWriter, m received) {
			if m.Sequence == 3 {
				fail(rw, m)
			}
		})
		w.start()
		w.tell("acme", event.VTUSuccess, 9)
		w.settle(0)
		if got := r.sequences(); got != "[1 2 3 4 5 6 7 8 9]" {
			t.Errorf("got %s", got)
		}
		w.settle(5 * time.Second)
		if d := w.sent(e, Pending); len(d) != 1 || d[0].Sequence != 3 || d[0].Attempts != 2 {
			t.Errorf("waiting: %+v", d)
		}
	})
}

// An endpoint that never responds and a slow endpoint do not delay fast endpoints. The fast
// endpoints have all events while the first request to the dead one still waits. On an idle machine they get 99 % of them within a second.
func TestADeadEndpointDelaysNobody(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.found("acme")
		over := make(chan struct{})
		dead, slow := newReceiver(t), newReceiver(t)
		dead.set(func(http.ResponseWriter, received) { <-over })
		slow.set(func(http.ResponseWriter, received) {
			select {
			case <-over:
			case <-time.After(300 * time.Millisecond):
			}
		})
		w.endpoint("acme", dead.URL)
		w.endpoint("acme", slow.URL)
		var healthy []*receiver
		for range 8 {
			r := newReceiver(t)
			w.endpoint("acme", r.URL)
			healthy = append(healthy, r)
		}
		stop := w.start()
		const events = 60
		told := map[string]time.Time{}
		for range events {
			at := time.Now()
			w.tell("acme", event.VTUSuccess, 1)
			feed, _, err := w.Events.Feed(t.Context(), "acme", int64(len(told)), 1, 0)
			must(t, err)
			told[feed[0].ID] = at
		}
		var waits []time.Duration
		for _, r := range healthy {
			eventually(t, "every event at a healthy endpoint", func() bool { return len(r.all()) >= events })
			for _, m := range r.all() {
				waits = append(waits, m.At.Sub(told[m.ID]))
			}
		}
		slices.Sort(waits)
		t.Logf("p50 %v, p99 %v", waits[len(waits)/2], waits[len(waits)*99/100])
		eventually(t, "a request to the dead endpoint", func() bool { return len(dead.all()) > 0 })
		if n := len(dead.all()); n != 1 {
			t.Errorf("the dead one was asked %d times", n)
		}
		close(over)
		stop()
	})
}

// Two processes on one database together send every event only once and in order.
func TestTwoProcessesSendTogether(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		keys, err := secret.Parse(secret.Generate())
		must(t, err)
		clk := &clock.Movable{}
		one, two := newWorld(t, d, clk, keys), newWorld(t, d, clk, keys)
		var ends []*receiver
		for i := range 4 {
			company := fmt.Sprint("company-", i)
			one.found(company)
			r := newReceiver(t)
			one.endpoint(company, r.URL)
			ends = append(ends, r)
		}
		one.start()
		two.start()
		var all sync.WaitGroup
		for i := range 4 {
			all.Go(func() {
				for range 10 {
					one.tell(fmt.Sprint("company-", i), event.VTUSuccess, 3)
					two.tell(fmt.Sprint("company-", i), event.VTUFailed, 2)
				}
			})
		}
		all.Wait()
		one.settle(0)
		two.settle(0)
		for i, r := range ends {
			got := r.all()
			if len(got) != 50 {
				t.Errorf("company %d: %d messages", i, len(got))
			}
			for j, m := range got {
				if m.Sequence != int64(j+1) {
					t.Fatalf("company %d: message %d has the number %d", i, j+1, m.Sequence)
				}
			}
		}
	})
}

// A process that has lost its lease stores nothing. The process with the new lease sends the same
// events again, with the same message IDs.
func TestALostLeaseWritesNothing(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.found("acme")
		r := newReceiver(t)
		e := w.endpoint("acme", r.URL)
		w.tell("acme", event.VTUSuccess, 5)
		open, err := w.open(t.Context(), nil)
		must(t, err)
		stale, err := w.take(t.Context(), "acme", open, w.clock.Now())
		must(t, err)
		w.clock.MoveTo(lease + time.Second)
		open, err = w.open(t.Context(), nil)
		must(t, err)
		fresh, err := w.take(t.Context(), "acme", open, w.clock.Now())
		must(t, err)
		if again, err := w.take(t.Context(), "acme", open, w.clock.Now()); err != nil || again[0].fence != 0 {
			t.Errorf("a held queue was taken: %+v, %v", again, err)
		}
		w.work(t.Context(), stale[0])
		if n := len(w.sent(e, "")); n != 0 {
			t.Errorf("%d deliveries written under a lost lease", n)
		}
		w.work(t.Context(), fresh[0])
		if n := len(w.sent(e, Delivered)); n != 5 {
			t.Errorf("%d deliveries", n)
		}
		ids := map[string]int{}
		for _, m := range r.all() {
			ids[m.ID]++
		}
		if len(ids) != 5 {
			t.Errorf("%d ids", len(ids))
		}
	})
}

// A program may die after storing a delivery but before making the delivery's queue due. The
// service later finds and sends that delivery.
func TestForgottenRetriesAreFound(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.found("acme")
		r := newReceiver(t)
		e := w.endpoint("acme", r.URL)
		w.tell("acme", event.VTUSuccess, 1)
		w.start()
		w.settle(0)
		_, err := w.Resend(t.Context(), "acme", w.sent(e, "")[0].ID, none)
		must(t, err)
		w.settle(0)
		forgotten := w.now(e).fresh(event.Event{ID: r.all()[0].ID, Kind: event.VTUSuccess, Sequence: 1}, w.clock.Now())
		forgotten.NextAt.Time = w.clock.Now()
		_, err = w.db.Exec(t.Context(), `INSERT INTO webhook_delivery (company_id, id, endpoint_id, event_id, kind, sequence, state,
			attempts, status, latency_ms, excerpt, trouble, next_at, created_at, updated_at)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)`, deliveryTable.Record(forgotten).Values...)
		must(t, err)
		w.settle(0)
		if n := len(r.all()); n != 2 {
			t.Fatalf("%d messages", n)
		}
		must(t, w.recoverRetries(t.Context(), w.clock.Now()))
		w.settle(0)
		if n := len(r.all()); n != 3 {
			t.Errorf("%d messages after the recovery", n)
		}
		// A program held the queues while its clock was ahead.
		_, err = w.db.Exec(t.Context(), `UPDATE webhook_lane SET lease_until = $1 WHERE endpoint_id = $2`, clock.Micros(w.clock.Now().Add(240*time.Hour)), e.ID)
		must(t, err)
		must(t, w.recoverRetries(t.Context(), w.clock.Now()))
		held, err := db.One(t.Context(), w.db, db.Value[int64], `SELECT count(*) FROM webhook_lane WHERE lease_until > 0`)
		if must(t, err); held != 0 {
			t.Errorf("%d queues are held", held)
		}
	})
}

// A program whose clock was ten days ahead has failed to send. The events and the retries wait for no more than the hour of the schedule.
func TestWhatAClockAheadHasPutOffIsSent(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		var ahead clock.Movable
		ahead.MoveTo(10 * 24 * time.Hour)
		w.found("acme")
		r := newReceiver(t)
		e := w.endpoint("acme", r.URL)
		r.set(fail)
		w.tell("acme", event.VTUSuccess, 5)
		other := newWorld(t, w.db, &ahead, w.Keys)
		stop := other.start()
		other.settle(0)
		stop()
		if got := r.sequences(); got != "[1 2 3]" {
			t.Fatalf("the program with the clock ahead has sent %s", got)
		}
		r.set(nil)
		w.start()
		must(t, w.recoverRetries(t.Context(), w.clock.Now()))
		w.settle(0)
		if n := len(w.sent(e, Delivered)); n != 5 {
			t.Errorf("%d of 5 are delivered", n)
		}
	})
}
