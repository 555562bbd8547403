package console_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/webhook"
)

// A person sees what the endpoint answered, sends the event again, and replays a range.
func TestAWebhookIsFollowedAndSentAgain(t *testing.T) {
	each(t, func(w *world) {
		var posts, status atomic.Int64
		status.Store(http.StatusInternalServerError)
		endpoint := httptest.NewServer(http.HandlerFunc(func(to http.ResponseWriter, _ *http.Request) {
			posts.Add(1)
			to.WriteHeader(int(status.Load()))
			fmt.Fprint(to, "<b>away</b>")
		}))
		w.t.Cleanup(endpoint.Close)
		one, err := w.app.Webhooks.Create(w.t.Context(), w.company.Reference, webhook.Draft{URL: &endpoint.URL}, nil)
		if err != nil {
			w.t.Fatal(err)
		}
		w.ask("POST", "companies/"+w.company.Reference+"/payout-limits", `{"amount":5000,"payouts":3}`, nil)
		settle := func() {
			w.t.Helper()
			if err := w.app.Webhooks.Settled(w.t.Context()); err != nil {
				w.t.Fatal(err)
			}
		}
		settle()
		p := w.signIn("dev")
		company := "/console/companies/" + w.company.Reference
		text := p.read(company + "/webhooks")
		if !strings.Contains(text, endpoint.URL) || !strings.Contains(text, "status 500") || !strings.Contains(text, "To try again: 1.") {
			w.t.Error(text)
		}
		_, after, _ := strings.Cut(text, company+"/deliveries/")
		delivery := company + "/deliveries/" + strings.SplitN(after, `"`, 2)[0]
		if text := p.read(delivery); !strings.Contains(text, "&lt;b&gt;away") || strings.Contains(text, "<b>away") || inline.MatchString(text) {
			w.t.Error(text)
		}
		status.Store(http.StatusOK)
		w.advance(10 * time.Second) // Kobo sends each message again by itself, which a slow machine would see later
		settle()
		before := posts.Load()
		form := p.form(delivery, nil)
		first, again := p.send(delivery, form), p.send(delivery, form)
		settle()
		if first.location != again.location || first.location == delivery || posts.Load() != before+1 {
			w.t.Errorf("%s, and again %s: %d posts", first.location, again.location, posts.Load()-before)
		}
		if text := p.read(first.location); !strings.Contains(text, "Delivered") {
			w.t.Error(text)
		}
		replay := company + "/webhooks/" + one.ID + "/replay"
		p.submit(company+"/webhooks", replay, map[string]string{"from": "1", "to": "2"})
		settle()
		if posts.Load() < before+3 {
			w.t.Errorf("a replay of two events: %d posts", posts.Load()-before)
		}
		if g := p.send(replay, p.form(company+"/webhooks", map[string]string{"from": "all", "to": "2"})); g.status != http.StatusUnprocessableEntity {
			w.t.Errorf("no number: %d", g.status)
		}
		viewer := w.add("vera", operator.Viewer)
		if text := viewer.read(company + "/webhooks"); strings.Contains(text, "/replay") {
			w.t.Error("a viewer gets the form")
		}
		if g := viewer.send(delivery, viewer.form(delivery, nil)); g.status != http.StatusForbidden {
			w.t.Errorf("a viewer sends again: %d", g.status)
		}
	})
}

// Beside a delivery on the timeline of a payment, somebody in the role support sends the event again. A second click sends nothing.
func TestTheTimelineSendsADeliveryAgain(t *testing.T) {
	each(t, func(w *world) {
		var posts atomic.Int64
		endpoint := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { posts.Add(1) }))
		w.t.Cleanup(endpoint.Close)
		if _, err := w.app.Webhooks.Create(w.t.Context(), w.company.Reference, webhook.Draft{URL: &endpoint.URL}, nil); err != nil {
			w.t.Fatal(err)
		}
		page := "/console/p/" + w.payout("0123456710", 1500)
		settle := func() {
			w.t.Helper()
			if err := w.app.Webhooks.Settled(w.t.Context()); err != nil {
				w.t.Fatal(err)
			}
		}
		settle()
		viewer, support := w.add("vera", operator.Viewer), w.add("sam", operator.Support)
		action := regexp.MustCompile(`action="(/console/companies/[^"]+/deliveries/[^"]+)"`)
		if text := viewer.read(page); !strings.Contains(text, "Delivery") || action.MatchString(text) {
			w.t.Error("as a viewer:", text)
		}
		found := action.FindAllStringSubmatch(support.read(page), -1)
		if len(found) != 2 { // payout.pending and payout.success
			w.t.Fatalf("%d forms", len(found))
		}
		before := posts.Load()
		form := support.form(page, nil)
		first, again := support.send(found[0][1], form), support.send(found[0][1], form)
		settle()
		if first.status != http.StatusSeeOther || first.location != again.location || posts.Load() != before+1 {
			w.t.Errorf("%d to %s, and again %s: %d posts", first.status, first.location, again.location, posts.Load()-before)
		}
	})
}
