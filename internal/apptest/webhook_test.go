package apptest_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/apptest"
	"github.com/kobo-waas/kobo/internal/db"
)

// An endpoint goes down, and Kobo is killed while it sends messages. After both work again, each
// message arrives. A receiver that stores messages by their ID has each message exactly once.
func TestWebhooksLoseNothingInAKill(t *testing.T) {
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
		second.Kill() // during a delivery
		third := home.Start(t)
		third.Advance(5 * time.Minute) // the killed program's lease has expired, and the first retries are over
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

// A webhook message has the same bytes as the event in the feed. For a day after a rotation of the
// secret, messages are signed with both the old secret and the new secret.
func TestAMessageIsTheEventAsTheFeedShowsIt(t *testing.T) {
	each(t, func(t *testing.T, dialect db.Dialect) {
		p := apptest.Start(t, dialect)
		h := newHookServer(t)
		id, before := h.register(t, p.Client)
		p.Bought(p.Buy(p.Order(p.Bundle(), "hook-1", "10")))
		var rotated struct{ Data struct{ Secret string } }
		p.Do(http.MethodPost, "/api/v1/webhooks/"+id+"/rotate-secret", nil).Want(t, http.StatusOK).Into(t, &rotated)
		p.Bought(p.Buy(p.Order(p.Bundle(), "hook-2", "10"))) // the first secret still verifies messages
		events := p.Events(before)
		apptest.Eventually(t, func() string { return h.lacks(events) })
		h.trust(rotated.Data.Secret)
		p.Advance(25 * time.Hour) // the hourly checkpoint is an event already
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
