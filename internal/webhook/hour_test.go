package webhook

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/event"
)

// countsOf returns the attempts of an endpoint as they are stored, by hour and class.
func (w *world) countsOf(e Endpoint) map[string]int64 {
	w.t.Helper()
	type row struct {
		answer         string
		took, attempts int64
	}
	list, err := db.All(w.t.Context(), w.db, db.Fields[row], `SELECT answer, took_ms, attempts FROM webhook_hour WHERE company_id = $1 AND endpoint_id = $2`, e.Company, e.ID)
	must(w.t, err)
	out := map[string]int64{}
	for _, r := range list {
		if r.took < 1 {
			w.t.Errorf("an attempt took %d ms", r.took)
		}
		out[r.answer] += r.attempts
	}
	return out
}

// Each attempt counts once, in the class of its answer, however many programs and queues send. Counts that cannot be written stay for the
// next time. The counts go with the deliveries of their time.
func TestAttemptsAreCountedByHour(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.found("acme")
		good, bad := newReceiver(t), newReceiver(t)
		bad.set(fail)
		a, b := w.endpoint("acme", good.URL), w.endpoint("acme", bad.URL)
		stop := w.start()
		w.tell("acme", event.VTUSuccess, 3)
		w.settle(0)
		tries := w.countsOf(b)["5xx"]
		if got := w.countsOf(a); got["2xx"] != 3 || len(got) != 1 || tries != 3 {
			t.Errorf("%v, and %d failed", got, tries)
		}
		w.settle(time.Minute)
		if got := w.countsOf(b); got["5xx"] <= tries || got["2xx"] != 0 {
			t.Errorf("the retries do not count: %v after %d", got, tries)
		}
		bad.set(func(to http.ResponseWriter, _ received) { to.WriteHeader(http.StatusGone) })
		w.settle(10 * time.Minute)
		if got := w.countsOf(b); got["4xx"] == 0 {
			t.Errorf("%v", got)
		}
		stop()

		ended, cancel := context.WithCancel(t.Context())
		cancel()
		w.hours.add([]Delivery{{Company: "acme", Endpoint: a.ID, Status: 200, Latency: 7}, {Company: "acme", Endpoint: a.ID, Latency: 90_000}})
		if err := w.writeHours(ended); err == nil {
			t.Error("nothing was written, and nobody is told")
		}
		w.writeLastHours(ended) // a program that stops
		if got := w.countsOf(a); got["2xx"] != 4 || got["none"] != 1 {
			t.Errorf("after a write that failed: %v", got)
		}
		w.clock.MoveTo(w.clock.Offset() + 31*day)
		w.clears()
		if got := w.countsOf(a); len(got) != 0 {
			t.Errorf("old counts stay: %v", got)
		}
	})
}
