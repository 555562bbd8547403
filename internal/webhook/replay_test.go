package webhook

import (
	"net/http"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/event"
)

// The result of a replay's last event cannot be stored. Then the replay goes on, and sends the event again. Otherwise nobody
// would know whether the event arrived.
func TestAReplayWhoseResultWasNotStoredGoesOn(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.found("acme")
		r := newReceiver(t)
		e := w.endpoint("acme", r.URL)
		rename := func(from, to string) {
			if _, err := w.db.Exec(t.Context(), `ALTER TABLE `+from+` RENAME TO `+to); err != nil {
				t.Error(err)
			}
		}
		w.start()
		w.tell("acme", event.VTUSuccess, 1)
		w.settle(0)
		first := true
		r.set(func(to http.ResponseWriter, m received) {
			if first {
				first = false
				rename("webhook_attempt", "away")
				fail(to, m)
			}
		})
		_, err := w.Replay(t.Context(), "acme", e.ID, 1, 1, none)
		must(t, err)
		w.settle(0)
		rename("away", "webhook_attempt")
		w.settle(5 * time.Second)
		if got := r.sequences(); got != "[1 1 1]" {
			t.Errorf("sent %s", got)
		}
		if n := len(w.sent(e, Delivered)); n == 0 {
			t.Error("no delivery is stored")
		}
	})
}
