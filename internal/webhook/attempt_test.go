package webhook

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/fault"
)

// history returns the attempts of an endpoint's delivery in short form.
func (w *world) history(e Endpoint, deliveryID string) (out []string) {
	w.t.Helper()
	d, err := w.Delivery(context.Background(), e.Company, e.ID, deliveryID)
	must(w.t, err)
	var before clock.Instant
	for _, a := range d.History {
		if a.Company != e.Company || a.Delivery != d.ID || a.Latency < 0 || a.At.Before(before.Time) {
			w.t.Errorf("%+v after %v", a, before)
		}
		before = a.At
		out = append(out, fmt.Sprintf("%d %d %q %q", a.Number, a.Status, a.Response, a.Trouble))
	}
	return out
}

func (w *world) attemptCount(company string) int64 {
	w.t.Helper()
	n, err := db.One(context.Background(), w.db, db.Value[int64], `SELECT count(*) FROM webhook_attempt WHERE company_id = $1`, company)
	must(w.t, err)
	return n
}

// Each attempt of a delivery is kept with its time, its answer and its trouble. Only the company sees them.
func TestEachAttemptIsKept(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.found("acme")
		w.found("other")
		r := newReceiver(t)
		e := w.endpoint("acme", r.URL)
		answers := []string{`{"error":"Ada Obi is unknown","amount":500}`, "call 08031234567 " + strings.Repeat("é", 2000)}
		r.set(func(out http.ResponseWriter, _ received) {
			n := len(r.all())
			if n > len(answers) {
				out.WriteHeader(http.StatusNoContent)
				return
			}
			out.WriteHeader(499 + n)
			_, _ = out.Write([]byte(answers[n-1]))
		})
		w.start()
		w.tell("acme", event.VTUSuccess, 1)
		for _, by := range []time.Duration{0, 5 * time.Second, 25 * time.Second} {
			w.settle(by)
		}
		d := w.sent(e, Delivered)[0]
		got := w.history(e, d.ID)
		if len(got) != 3 || got[0] != `1 500 "{\"amount\":500,\"error\":\"<18 characters>\"}" "the answer was 500"` ||
			!strings.HasPrefix(got[1], `2 501 "call <number> éé`) || len(got[1]) > 1024+40 || got[2] != `3 204 "" ""` {
			t.Errorf("%v", got)
		}
		if d.History != nil {
			t.Errorf("the list has attempts: %+v", d.History)
		}
		other := w.endpoint("other", r.URL)
		second := w.endpoint("acme", r.URL)
		for _, wrong := range []struct{ company, endpoint, delivery string }{
			{"other", other.ID, d.ID}, {"other", e.ID, d.ID}, {"acme", second.ID, d.ID}, {"acme", e.ID, "nothing"},
		} {
			if got, err := w.Delivery(t.Context(), wrong.company, wrong.endpoint, wrong.delivery); !fault.Is(err, fault.Missing) {
				t.Errorf("%+v: %+v, %v", wrong, got, err)
			}
		}
	})
}

// A delivery that succeeds at once writes no further row. Its only attempt is shown nevertheless.
func TestASuccessIsOneRow(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.found("acme")
		r := newReceiver(t)
		e := w.endpoint("acme", r.URL)
		r.set(func(out http.ResponseWriter, _ received) { _, _ = out.Write([]byte("thank you, ada@example.com")) })
		w.start()
		w.tell("acme", event.VTUSuccess, 5)
		w.settle(0)
		if n := w.attemptCount("acme"); n != 0 {
			t.Errorf("%d rows", n)
		}
		list := w.sent(e, Delivered)
		if got := w.history(e, list[0].ID); len(list) != 5 || fmt.Sprint(got) != `[1 200 "thank you, <address>" ""]` {
			t.Errorf("%d deliveries, %v", len(list), got)
		}
	})
}

// A delivery without an attempt has no history. A failed test has one attempt, and so has a delivery of a
// release that kept only the last one.
func TestAHistoryMayBeShort(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.found("acme")
		r := newReceiver(t)
		e := w.endpoint("acme", r.URL)
		r.set(fail)
		test, err := w.Test(t.Context(), "acme", e.ID, none)
		must(t, err)
		if got := w.history(e, test.ID); fmt.Sprint(got) != `[1 500 "not today" "the answer was 500"]` {
			t.Errorf("a test: %v", got)
		}
		stop := w.start()
		w.tell("acme", event.VTUSuccess, 1)
		w.settle(0)
		w.settle(5 * time.Second)
		d := w.sent(e, Pending)[0]
		_, err = w.db.Exec(t.Context(), `DELETE FROM webhook_attempt WHERE company_id = 'acme' AND delivery_id = $1`, d.ID)
		must(t, err)
		if got := w.history(e, d.ID); fmt.Sprint(got) != `[2 500 "not today" "the answer was 500"]` {
			t.Errorf("before the upgrade: %v", got)
		}
		stop()
		again, err := w.Resend(t.Context(), "acme", d.ID, none)
		must(t, err)
		if got := w.history(e, again.ID); got != nil {
			t.Errorf("not sent yet: %v", got)
		}
	})
}

// The attempts of three days are all kept, and are deleted with their delivery and not before.
func TestAttemptsGoWithTheirDelivery(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.found("acme")
		r := newReceiver(t)
		e := w.endpoint("acme", r.URL, event.VTUSuccess)
		r.set(fail)
		w.start()
		w.tell("acme", event.VTUSuccess, 1)
		w.settle(0)
		for _, age := range ages {
			w.settle(age - w.clock.Offset())
		}
		d := w.sent(e, GivenUp)[0]
		if got := w.history(e, d.ID); len(got) != int(d.Attempts) || len(got) < 70 {
			t.Errorf("%d attempts of %d", len(got), d.Attempts)
		}
		w.settle(30*day - time.Hour)
		w.clears()
		if n := w.attemptCount("acme"); n != d.Attempts {
			t.Errorf("%d attempts are left too early", n)
		}
		w.settle(2 * time.Hour)
		w.clears()
		if n := w.attemptCount("acme"); n != 0 || len(w.sent(e, "")) != 0 {
			t.Errorf("%d attempts are left", n)
		}
	})
}
