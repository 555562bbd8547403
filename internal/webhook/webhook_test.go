package webhook

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/fault"
)

// An endpoint gets all events after its creation. The messages are signed, in order, and equal to
// the events in the feed.
func TestAnEndpointIsToldInOrder(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.found("acme")
		w.found("other")
		w.tell("acme", event.VTUPending, 3)
		r := newReceiver(t)
		e := w.endpoint("acme", r.URL)
		r.trust(e)
		w.start()
		w.tell("acme", event.VTUSuccess, 30)
		w.tell("other", event.VTUSuccess, 5)
		eventually(t, "30 messages", func() bool { return len(r.all()) >= 30 })
		w.settle(0)
		feed, _, err := w.Events.Feed(t.Context(), "acme", 3, 100, 0)
		must(t, err)
		got := r.all()
		if len(got) != len(feed) {
			t.Fatalf("%d messages for %d events", len(got), len(feed))
		}
		for i, v := range feed {
			shown, err := json.Marshal(v)
			must(t, err)
			if got[i].Body != string(shown) {
				t.Errorf("message %d is %s, the event is %s", i, got[i].Body, shown)
			}
		}
		rows := w.sent(e, "")
		if len(rows) != 30 || rows[0].Sequence != 33 || rows[0].State != Delivered || rows[0].Status != 204 || rows[0].Attempts != 1 {
			t.Errorf("%d deliveries, the newest %+v", len(rows), rows[0])
		}
		if b, err := w.Backlog(t.Context(), w.now(e)); err != nil || b != (Backlog{Sequence: 33}) {
			t.Errorf("backlog %+v, %v", b, err)
		}
	})
}

func TestAnEndpointHearsOnlyWhatItAskedFor(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.found("acme")
		r := newReceiver(t)
		w.endpoint("acme", r.URL, event.VTUFailed, event.KYBChanged)
		w.start()
		for range 5 {
			w.tell("acme", event.VTUPending, 3)
			w.tell("acme", event.VTUFailed, 1)
		}
		eventually(t, "5 messages", func() bool { return len(r.all()) >= 5 })
		w.settle(0)
		if got := r.sequences(); got != "[4 8 12 16 20]" {
			t.Errorf("got %s", got)
		}
	})
}

// For a day after a rotation, messages are signed with both secrets. After that they are signed
// only with the new secret.
func TestTwoSecretsSignDuringARotation(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.found("acme")
		r := newReceiver(t)
		first := w.endpoint("acme", r.URL)
		second, err := w.Rotate(t.Context(), "acme", first.ID, none)
		must(t, err)
		if first.Secret.Reveal() == second.Secret.Reveal() || !strings.HasPrefix(second.Secret.Reveal(), "whsec_") {
			t.Fatal("not rotated")
		}
		r.trust(first, second)
		w.start()
		w.tell("acme", event.VTUSuccess, 1)
		w.settle(0)
		w.settle(24 * time.Hour)
		r.trust(second)
		w.tell("acme", event.VTUSuccess, 1)
		w.settle(0)
		got := r.all()
		if len(got) != 2 {
			t.Fatalf("%d messages", len(got))
		}
		for i, want := range []int{2, 1} {
			if n := len(strings.Fields(got[i].Header.Get("webhook-signature"))); n != want {
				t.Errorf("message %d has %d signatures", i+1, n)
			}
		}
	})
}

// The database holds a secret only in encrypted form.
func TestSecretsAreSealed(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.found("acme")
		e := w.endpoint("acme", "http://127.0.0.1:9/")
		kept := w.now(e)
		if kept.secret == "" || strings.Contains(kept.secret, e.Secret.Reveal()[6:20]) {
			t.Errorf("kept as %q", kept.secret)
		}
		kept.Company = "other"
		if _, err := w.secrets(kept, w.clock.Now()); err == nil {
			t.Error("a secret opens in another company")
		}
	})
}

func TestEndpointsBelongToTheirCompany(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.found("acme")
		w.found("other")
		r := newReceiver(t)
		e := w.endpoint("acme", r.URL)
		ctx := t.Context()
		for name, try := range map[string]func() error{
			"find":       func() error { _, err := w.Find(ctx, "other", e.ID); return err },
			"update":     func() error { _, err := w.Update(ctx, "other", e.ID, Draft{}, none); return err },
			"rotate":     func() error { _, err := w.Rotate(ctx, "other", e.ID, none); return err },
			"test":       func() error { _, err := w.Test(ctx, "other", e.ID, none); return err },
			"delete":     func() error { return w.Delete(ctx, "other", e.ID) },
			"replay":     func() error { _, err := w.Replay(ctx, "other", e.ID, 1, 9, none); return err },
			"deliveries": func() error { _, _, err := w.Deliveries(ctx, "other", e.ID, "", 10, 0); return err },
		} {
			if err := try(); !fault.Is(err, fault.Missing) {
				t.Errorf("%s: %v", name, err)
			}
		}
		must(t, w.Delete(ctx, "acme", e.ID))
		if _, err := w.Find(ctx, "acme", e.ID); !fault.Is(err, fault.Missing) {
			t.Errorf("deleted: %v", err)
		}
		if list, err := w.List(ctx, "acme"); err != nil || len(list) != 0 {
			t.Errorf("list: %v, %v", list, err)
		}
		for i := range most {
			w.endpoint("acme", fmt.Sprintf("http://127.0.0.1:%d/", 1000+i))
		}
		url := "http://127.0.0.1/"
		if _, err := w.Create(ctx, "acme", Draft{URL: &url}, none); !fault.Is(err, fault.Refused) {
			t.Errorf("one more: %v", err)
		}
	})
}

// A paused endpoint keeps its position in the feed and continues from there.
func TestAPausedEndpointGoesOnWhereItWas(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.found("acme")
		r := newReceiver(t)
		e := w.endpoint("acme", r.URL)
		w.start()
		w.tell("acme", event.VTUSuccess, 2)
		w.settle(0)
		off, on := false, true
		_, err := w.Update(t.Context(), "acme", e.ID, Draft{Active: &off}, none)
		must(t, err)
		w.tell("acme", event.VTUSuccess, 3)
		w.settle(time.Hour)
		if got := r.sequences(); got != "[1 2]" || w.now(e).State != Paused {
			t.Errorf("while paused: %s", got)
		}
		_, err = w.Replay(t.Context(), "acme", e.ID, 1, 2, none)
		if !fault.Is(err, fault.Refused) {
			t.Errorf("replay while paused: %v", err)
		}
		_, err = w.Update(t.Context(), "acme", e.ID, Draft{Active: &on}, none)
		must(t, err)
		w.settle(0)
		if got := r.sequences(); got != "[1 2 3 4 5]" {
			t.Errorf("afterwards: %s", got)
		}
	})
}

// A test message returns the endpoint's response, and adds no event to the feed.
func TestATestSaysWhatTheEndpointAnswers(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.found("acme")
		r := newReceiver(t)
		e := w.endpoint("acme", r.URL)
		r.trust(e)
		d, err := w.Test(t.Context(), "acme", e.ID, none)
		must(t, err)
		if d.State != Delivered || d.Status != 204 || d.Kind != TestKind {
			t.Errorf("%+v", d)
		}
		r.set(fail)
		d, err = w.Test(t.Context(), "acme", e.ID, none)
		must(t, err)
		if d.State != GivenUp || d.Status != 500 || d.Excerpt != "not today" || d.Trouble != "the answer was 500" {
			t.Errorf("%+v", d)
		}
		if head, err := w.Book.LastEvent(t.Context(), "acme"); err != nil || head != 0 {
			t.Errorf("%d events, %v", head, err)
		}
		if _, err := w.Resend(t.Context(), "acme", d.ID, none); !fault.Is(err, fault.Refused) {
			t.Errorf("a test is sent again: %v", err)
		}
	})
}

// When a company resends a message or replays a part of the feed, each message keeps its ID.
func TestResendAndReplayKeepTheID(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.found("acme")
		r := newReceiver(t)
		e := w.endpoint("acme", r.URL, event.VTUSuccess)
		r.trust(e)
		w.start()
		w.tell("acme", event.VTUSuccess, 4)
		w.tell("acme", event.VTUPending, 1)
		w.tell("acme", event.VTUSuccess, 2)
		w.settle(0)
		again, err := w.Resend(t.Context(), "acme", w.sent(e, "")[5].ID, none)
		must(t, err)
		w.settle(0)
		if got := r.sequences(); got != "[1 2 3 4 6 7 1]" {
			t.Fatalf("after a resend: %s", got)
		}
		got := r.all()
		if got[0].ID != got[6].ID || got[0].Body != got[6].Body {
			t.Error("a resend is another message")
		}
		if d := w.sent(e, "")[0]; d.ID != again.ID || d.State != Delivered || d.Attempts != 1 {
			t.Errorf("the resend: %+v", d)
		}
		replay, err := w.Replay(t.Context(), "acme", e.ID, 3, 1000, none)
		must(t, err)
		if replay.First != 3 || replay.Last != 7 {
			t.Errorf("the replay: %+v", replay)
		}
		w.settle(0)
		if got := r.sequences(); got != "[1 2 3 4 6 7 1 3 4 6 7]" {
			t.Errorf("after a replay: %s", got)
		}
		if _, err := w.Replay(t.Context(), "acme", e.ID, 8, 9, none); !fault.Is(err, fault.Refused) {
			t.Errorf("a replay of nothing: %v", err)
		}
		queues, err := w.idleQueues(t.Context(), nil, w.clock.Now())
		if err != nil || len(queues) != 1 {
			t.Errorf("the replay's queue is still there: %+v, %v", queues, err)
		}
	})
}

// An update of an endpoint's address also applies to events and retries that already wait.
func TestAnUpdateTakesEffect(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.found("acme")
		one, two := newReceiver(t), newReceiver(t)
		one.set(func(rw http.ResponseWriter, m received) {
			if m.Sequence > 1 {
				fail(rw, m)
			}
		})
		e := w.endpoint("acme", one.URL)
		w.start()
		w.tell("acme", event.VTUSuccess, 3)
		w.settle(0)
		_, err := w.Update(context.Background(), "acme", e.ID, Draft{URL: &two.URL}, none)
		must(t, err)
		w.settle(5 * time.Second)
		if got := two.sequences(); got != "[2 3]" && got != "[3 2]" {
			t.Errorf("the new address got %s", got)
		}
	})
}

// If two requests change an endpoint concurrently, the second request is refused. So every secret
// that a response shows is valid, and each change stays.
func TestTwoChangesAtOnceAreOne(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.found("c1")
		e, ctx := w.endpoint("c1", "http://127.0.0.1:9/old"), t.Context()
		inner, address, words := Endpoint{}, "http://127.0.0.1:9/new", "Orders"
		_, err := w.Rotate(ctx, "c1", e.ID, w.during("c1", func() {
			var err error
			inner, err = w.Rotate(ctx, "c1", e.ID, none)
			must(t, err)
		}))
		if !fault.Is(err, fault.Conflict) {
			t.Errorf("the second rotation: %v", err)
		}
		signing, err := w.secrets(w.now(e), w.Clock.Now())
		if must(t, err); len(signing) != 2 || signing[0].Reveal() != inner.Secret.Reveal() || signing[1].Reveal() != e.Secret.Reveal() {
			t.Error("the secret that was shown does not sign, or the one before does not any more")
		}
		_, err = w.Update(ctx, "c1", e.ID, Draft{Description: &words}, w.during("c1", func() {
			_, err := w.Update(ctx, "c1", e.ID, Draft{URL: &address}, none)
			must(t, err)
		}))
		if now := w.now(e); !fault.Is(err, fault.Conflict) || now.URL != address || now.Description != "" {
			t.Errorf("the second update: %v, and now %+v", err, now)
		}
		_, err = w.Update(ctx, "c1", e.ID, Draft{Description: &words}, none)
		must(t, err)
	})
}

// Concurrent requests cannot create more endpoints than a company may have. After an endpoint is
// deleted, the company can create another endpoint.
func TestNoMoreEndpointsThanACompanyMayHave(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.found("c1")
		address, e := "http://127.0.0.1:9/hook", w.endpoint("c1", "http://127.0.0.1:9/first")
		var all sync.WaitGroup
		for range most + 10 {
			all.Go(func() {
				_, err := w.Create(context.Background(), "c1", Draft{URL: &address}, none)
				if err != nil && !fault.Is(err, fault.Refused) {
					t.Error(err)
				}
			})
		}
		all.Wait()
		have := func() int {
			list, err := w.List(t.Context(), "c1")
			must(t, err)
			return len(list)
		}
		if n := have(); n != most {
			t.Errorf("%d endpoints", n)
		}
		must(t, w.Delete(t.Context(), "c1", e.ID))
		w.endpoint("c1", address)
		if _, err := w.Create(t.Context(), "c1", Draft{URL: &address}, none); !fault.Is(err, fault.Refused) || have() != most {
			t.Errorf("%d endpoints, %v", have(), err)
		}
	})
}
