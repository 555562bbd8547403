package apptest_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/kobo-waas/kobo/internal/apptest"
	"github.com/kobo-waas/kobo/internal/db"
)

// hookServer is a company's own server. It verifies with the library that the
// specification publishes, and keeps what it takes by its id.
type hookServer struct {
	*httptest.Server
	t testing.TB

	mu     sync.Mutex
	secret string
	down   bool
	taken  map[string]string // webhook-id → body
	times  int
}

func newHookServer(t testing.TB) *hookServer {
	h := &hookServer{t: t, taken: map[string]string{}}
	h.Server = httptest.NewServer(h)
	t.Cleanup(h.Close)
	return h
}

// ServeHTTP takes one message.
func (h *hookServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	h.mu.Lock()
	defer h.mu.Unlock()
	if err != nil || h.down {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	verifier, err := standardwebhooks.NewWebhook(h.secret)
	if err == nil {
		err = verifier.Verify(body, r.Header)
	}
	id := r.Header.Get("webhook-id")
	if err != nil || h.taken[id] != "" && h.taken[id] != string(body) {
		h.t.Errorf("%s: %v: %s", id, err, body)
	}
	h.taken[id] = string(body)
	h.times++
}

func (h *hookServer) set(down bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.down = down
}

// lacks says which of the events were not taken, or "".
func (h *hookServer) lacks(events []apptest.Event) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	missing := 0
	for _, e := range events {
		if h.taken[e.ID] == "" {
			missing++
		}
	}
	if missing > 0 {
		return fmt.Sprintf("%d of %d events have not come", missing, len(events))
	}
	return ""
}

// register has a company's events posted to the server, and returns how many it
// had before.
func (h *hookServer) register(t testing.TB, c *apptest.Client) (id string, before int64) {
	t.Helper()
	var made struct{ Data struct{ ID, Secret string } }
	before = int64(len(c.Events(0)))
	c.Do(http.MethodPost, "/api/v1/webhooks", map[string]string{"url": h.URL}).Want(t, http.StatusOK).Into(t, &made)
	h.mu.Lock()
	h.secret = made.Data.Secret
	h.mu.Unlock()
	return made.Data.ID, before
}

// The endpoint goes away, Kobo is killed in the middle of sending, both come back:
// nothing is missing, and nothing is there twice for who keeps it by its id.
func TestWebhooksLoseNothingWhoeverDies(t *testing.T) {
	each(t, func(t *testing.T, dialect db.Dialect) {
		home := apptest.NewHome(t, dialect)
		h := newHookServer(t)
		first := home.Spawn(t, apptest.Never, 4*time.Second)
		_, before := h.register(t, first.Client)
		bundle := first.Bundle()
		buy := func(c *apptest.Client, from, to int) {
			for i := from; i < to; i++ {
				c.Bought(c.Buy(c.Order(bundle, fmt.Sprint("hook-", i), "10")))
			}
		}
		buy(first.Client, 0, 10)
		h.set(true)
		buy(first.Client, 10, 15)
		first.Kill()
		h.set(false)
		second := home.Spawn(t, apptest.Never, 4*time.Second)
		buy(second.Client, 15, 25)
		second.Kill() // while it sends
		third := home.Start(t)
		third.Advance(5 * time.Minute) // past the lease of the dead, and the first retries
		events := third.Events(before)
		if len(events) != 50 {
			t.Fatalf("%d events", len(events))
		}
		apptest.Eventually(t, func() string { return h.lacks(events) })
		h.mu.Lock()
		defer h.mu.Unlock()
		if len(h.taken) != len(events) {
			t.Errorf("%d messages for %d events", len(h.taken), len(events))
		}
		t.Logf("%d messages for %d events", h.times, len(events))
	})
}

// What is posted is what the feed shows, to the byte, and a rotation is two
// secrets for a day.
func TestAMessageIsTheEventAsTheFeedShowsIt(t *testing.T) {
	each(t, func(t *testing.T, dialect db.Dialect) {
		p := apptest.Start(t, dialect)
		h := newHookServer(t)
		id, before := h.register(t, p.Client)
		p.Bought(p.Buy(p.Order(p.Bundle(), "hook-1", "10")))
		var rotated struct{ Data struct{ Secret string } }
		p.Do(http.MethodPost, "/api/v1/webhooks/"+id+"/rotate-secret", nil).Want(t, http.StatusOK).Into(t, &rotated)
		p.Bought(p.Buy(p.Order(p.Bundle(), "hook-2", "10"))) // still verified with the first
		events := p.Events(before)
		apptest.Eventually(t, func() string { return h.lacks(events) })
		p.Advance(25 * time.Hour)
		h.mu.Lock()
		h.secret = rotated.Data.Secret
		h.mu.Unlock()
		p.Bought(p.Buy(p.Order(p.Bundle(), "hook-3", "10")))
		events = p.Events(before)
		apptest.Eventually(t, func() string { return h.lacks(events) })
		for _, e := range events {
			var shown struct{ Data json.RawMessage }
			p.Do(http.MethodGet, "/api/v1/events/"+e.ID, nil).Want(t, http.StatusOK).Into(t, &shown)
			if h.taken[e.ID] != string(shown.Data) {
				t.Errorf("posted %s\nshown  %s", h.taken[e.ID], shown.Data)
			}
		}
	})
}
