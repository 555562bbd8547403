package webhook

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/fault"
)

// Endpoints that do not respond never delay a fast endpoint, even if they outnumber the slots.
// The fast endpoint gets its events while the attempts at the other endpoints still hang.
func TestManyHangingEndpointsDelayNobody(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		const slots, hanging, events = 3, 12, 30
		w.sender.healthy = make(chan struct{}, slots)
		over := make(chan struct{})
		var ended atomic.Int64
		silent := newReceiver(t)
		t.Cleanup(func() { close(over) })
		silent.set(func(http.ResponseWriter, received) { <-over; ended.Add(1) })
		for i := range hanging {
			company := "company-" + string(rune('a'+i))
			w.found(company)
			w.endpoint(company, silent.URL)
			w.tell(company, event.VTUSuccess, 3)
		}
		w.found("acme")
		r := newReceiver(t)
		w.endpoint("acme", r.URL)
		w.start()
		eventually(t, "an attempt at every hanging endpoint", func() bool { return len(silent.all()) >= hanging })
		var waits []time.Duration
		for i := range events {
			at := time.Now()
			w.tell("acme", event.VTUSuccess, 1)
			eventually(t, "a message at the healthy endpoint", func() bool { return len(r.all()) > i })
			waits = append(waits, time.Since(at))
		}
		slices.Sort(waits)
		// A single wait may be a pause of the machine, but a hanging attempt takes ten seconds.
		if half, longest := waits[events/2], waits[events-1]; half > time.Second || longest > 5*time.Second || ended.Load() > 0 {
			t.Errorf("the healthy one waits %v, half of the times %v; %d hanging ones have ended", longest, half, ended.Load())
		}
	})
}

// A visit is the processing of one queue. While slots are free, it has no time limit. If no slot is
// free, it ends after its turn. A visit to a slow endpoint must leave the slots for fast endpoints.
func TestAVisitEndsWithItsTurn(t *testing.T) {
	s := newSender()
	s.healthy = make(chan struct{}, 2)
	one, two := queue{company: "a", endpoint: "1", id: queueEvents, kind: queueEvents}, queue{company: "a", endpoint: "2", id: queueEvents, kind: queueEvents}
	long := time.Now().Add(-time.Hour)
	if !s.enter(one) || s.isOver(one, long) {
		t.Error("it ends while there is a free slot")
	}
	if !s.enter(two) || !s.isOver(one, long) || s.isOver(one, time.Now()) {
		t.Error("it does not end when its turn is over")
	}
	if s.enter(one) || s.enter(queue{company: "a", endpoint: "3", kind: queueEvents}) {
		t.Error("two in one queue, or in one slot")
	}
	s.leave(two)
	s.recordLatency(one, result{latency: slow})
	if !s.isOver(one, time.Now()) {
		t.Error("a slow one stays")
	}
	s.moveToSlow(one)
	if s.isOver(one, long) || len(s.healthy) != 0 || len(s.sluggish) != 1 {
		t.Error("a slow one has no place of its own")
	}
	s.leave(one)
	if s.enter(one); len(s.sluggish) != 1 {
		t.Error("that it is slow is forgotten")
	}
	s.leave(one)
	s.recordLatency(one, result{latency: slow - 1})
	if s.enter(one); len(s.healthy) != 1 || len(s.busy) != 1 {
		t.Error("that it is quick again is not seen")
	}
	s.leave(one)
	one.failures = tolerance
	if s.enter(one); len(s.failing) != 1 {
		t.Error("one in trouble takes the place of others")
	}
}

// The number of an endpoint's unfinished replays is limited.
func TestReplaysHaveALimit(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.found("acme")
		e := w.endpoint("acme", "http://127.0.0.1:9/")
		w.tell("acme", event.VTUSuccess, 1)
		for range mostReplays {
			_, err := w.Replay(t.Context(), "acme", e.ID, 1, 1, none)
			must(t, err)
		}
		if _, err := w.Replay(t.Context(), "acme", e.ID, 1, 1, none); !fault.Is(err, fault.Refused) {
			t.Error(err)
		}
	})
}

// figuresOf returns the values of the service's metrics, by name and labels.
func figuresOf(t *testing.T, w *world) map[string]float64 {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(w.Metrics()...)
	families, err := registry.Gather()
	must(t, err)
	out := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			name := strings.TrimPrefix(f.GetName(), "kobo_webhook_")
			for _, l := range m.GetLabel() {
				name += " " + l.GetValue()
			}
			out[name] = m.GetGauge().GetValue() + m.GetCounter().GetValue() + float64(m.GetHistogram().GetSampleCount())
		}
	}
	return out
}

func TestFiguresSayHowSendingGoes(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.found("acme")
		good, bad := newReceiver(t), newReceiver(t)
		bad.set(fail)
		w.endpoint("acme", good.URL)
		e := w.endpoint("acme", bad.URL)
		paused, off := w.endpoint("acme", bad.URL), false
		_, err := w.Update(t.Context(), "acme", paused.ID, Draft{Active: &off}, none)
		must(t, err)
		gone := w.endpoint("acme", bad.URL)
		must(t, w.Delete(t.Context(), "acme", gone.ID))
		check := func(when string, want map[string]float64) {
			t.Helper()
			got := figuresOf(t, w)
			for name, n := range want {
				if got[name] != n {
					t.Errorf("%s: %s is %v, not %v", when, name, got[name], n)
				}
			}
		}
		w.tell("acme", event.VTUSuccess, 5)
		w.clock.MoveTo(10 * time.Second)
		check("before anything is sent", map[string]float64{
			"endpoints ACTIVE": 2, "endpoints PAUSED": 1, "endpoints FAILING": 0,
			"waiting events": 10, "waiting retries": 0, "overdue_seconds": 0, "oldest_seconds resting": 0,
		})
		if age := figuresOf(t, w)["oldest_seconds answering"]; age < 10 || age > 30 {
			t.Errorf("the oldest event waits %v seconds", age)
		}
		w.start()
		w.settle(0)
		check("when one has failed", map[string]float64{
			"deliveries_total delivered": 5, "deliveries_total retry": 3, "attempt_seconds": 8,
			"waiting events": 2, "waiting retries": 3, "oldest_seconds answering": 0, "overdue_seconds": 0,
		})
		if age := figuresOf(t, w)["oldest_seconds resting"]; age < 10 || age > 30 {
			t.Errorf("the oldest event at a resting endpoint waits %v seconds", age)
		}
		w.settle(72 * time.Hour)
		got := figuresOf(t, w)
		if got["deliveries_total failed"] == 0 || got["endpoints FAILING"] != 1 || w.now(e).State != Failing {
			t.Errorf("given up: %v", got)
		}
		w.db.Close()
		if got := figuresOf(t, w); got["deliveries_total delivered"] == 0 || len(got) != 4 {
			t.Errorf("without a database: %v", got)
		}
	})
}

// The metrics show how long a retry is overdue.
func TestAnOverdueRetryIsSeen(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.found("acme")
		r := newReceiver(t)
		r.set(fail)
		w.endpoint("acme", r.URL)
		w.tell("acme", event.VTUSuccess, 1)
		stop := w.start()
		w.settle(0)
		stop()
		w.clock.MoveTo(w.clock.Offset() + time.Minute)
		if late := figuresOf(t, w)["overdue_seconds"]; late < 54 || late > 80 {
			t.Errorf("%v seconds", late)
		}
		_, err := w.waiting(context.Background())
		must(t, err)
	})
}

// A read that is older than the last visit of a queue begins no visit. So no event is sent while its endpoint rests.
func TestAnOldReadBeginsNoVisit(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		r := newReceiver(t)
		r.set(fail)
		w.found("acme")
		w.endpoint("acme", r.URL)
		w.tell("acme", event.VTUSuccess, tolerance+1)
		old, err := w.open(t.Context(), nil)
		if err != nil || len(old) != 1 {
			t.Fatalf("%d queues are open, %v", len(old), err)
		}
		must(t, w.poll(t.Context()))
		w.sender.visits.Wait()
		if got := len(r.all()); got != tolerance {
			t.Errorf("%d attempts before the rest", got)
		}
		must(t, w.visitAll(t.Context(), old))
		w.sender.visits.Wait()
		if got := len(r.all()); got != tolerance {
			t.Errorf("%d attempts after the old read", got)
		}
	})
}
