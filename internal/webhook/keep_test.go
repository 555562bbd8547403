package webhook

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/operator"
)

const day = 24 * time.Hour

// clears runs the recurring job once, and returns the time until the next run.
func (w *world) clears() time.Duration {
	w.t.Helper()
	next, err := w.Clear(w.t.Context(), job.Job{})
	must(w.t, err)
	return next.Sub(w.clock.Now()).Round(time.Minute)
}

// A run that is over its limit at an endpoint without old deliveries is followed by runs that go on after that endpoint. So the
// last endpoint is cleared too.
func TestTheLastEndpointIsClearedToo(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.found("acme")
		w.found("other")
		good := newReceiver(t)
		w.endpoint("acme", good.URL)
		last := w.endpoint("other", good.URL)
		w.start()
		w.tell("other", event.VTUSuccess, 1)
		w.settle(0)
		w.settle(31 * day)
		w.sweep.Limit = 0
		for run, left := range []int{1, 0} {
			if pause := w.clears(); pause != 0 || len(w.sent(last, "")) != left {
				t.Errorf("after run %d: %d are left, and the next run is in %v", run+1, len(w.sent(last, "")), pause)
			}
		}
		if pause := w.clears(); pause != time.Hour || w.sweep.Done() != (endpointKey{}) {
			t.Errorf("after the last endpoint: the next run is in %v, after %v", pause, w.sweep.Done())
		}
	})
}

// Finished deliveries are deleted after 30 days. Waiting deliveries and the events in the feed
// stay, so a company can still replay every event.
func TestOldDeliveriesGo(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.found("acme")
		w.found("other")
		good, bad, waits, theirs := newReceiver(t), newReceiver(t), newReceiver(t), newReceiver(t)
		bad.set(fail)
		waits.set(fail)
		a, b, c, d := w.endpoint("acme", good.URL), w.endpoint("acme", bad.URL), w.endpoint("acme", waits.URL), w.endpoint("other", theirs.URL)
		w.start()
		w.tell("acme", event.VTUSuccess, 3)
		w.tell("other", event.VTUSuccess, 1)
		w.settle(0)
		off := false
		_, err := w.Update(t.Context(), "acme", c.ID, Draft{Active: &off}, none)
		must(t, err)
		waiting := len(w.sent(c, Pending))
		w.settle(72 * time.Hour)
		if len(w.sent(b, GivenUp)) != 3 || waiting != 3 {
			t.Fatalf("%d given up, %d waiting", len(w.sent(b, GivenUp)), waiting)
		}
		must(t, w.Delete(t.Context(), "acme", b.ID))
		w.settle(27*day - time.Hour)
		w.tell("other", event.VTUSuccess, 1)
		w.settle(0)
		if w.clears() != time.Hour || len(w.sent(a, "")) < 3 {
			t.Errorf("too soon: %d are left", len(w.sent(a, "")))
		}
		w.settle(2 * time.Hour)
		w.clears()
		// The three deliveries to endpoint a are deleted. The delivery of the event that reported
		// endpoint b as failing is three days younger, so it stays.
		left := w.sent(a, "")
		if slices.ContainsFunc(left, func(d Delivery) bool { return d.Kind == event.VTUSuccess }) || len(left) != 1 {
			t.Errorf("left of those delivered: %+v", left)
		}
		if n := len(w.sent(c, Pending)); n != waiting {
			t.Errorf("%d of %d wait", n, waiting)
		}
		if list := w.sent(d, ""); len(list) != 1 || list[0].Sequence != 2 {
			t.Errorf("another company's: %+v", list)
		}
		w.settle(3 * day)
		w.clears()
		if n, err := w.deliveryCount(t.Context(), "acme", b.ID, ""); err != nil || n != 0 {
			t.Errorf("%d of a deleted endpoint, %v", n, err)
		}
		// An event whose delivery was deleted can be replayed from the feed.
		before := len(good.all())
		_, err = w.Replay(t.Context(), "acme", a.ID, 1, 3, none)
		must(t, err)
		w.settle(0)
		again := good.all()[before:]
		if len(again) != 3 || again[0].ID != good.all()[0].ID {
			t.Errorf("sent again: %+v", again)
		}
	})
}

// A retry whose event was archived meanwhile is given up, and does not block the other retries. The
// endpoint is not to blame. An archived event is not sent again.
func TestTheDeliveryOfAnArchivedEventIsGivenUp(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.found("acme")
		r := newReceiver(t)
		e := w.endpoint("acme", r.URL)
		w.start()
		w.tell("acme", event.VTUSuccess, 2*together)
		w.settle(0)
		r.set(fail)
		for _, d := range w.sent(e, Delivered) {
			_, err := w.Resend(t.Context(), "acme", d.ID, none)
			must(t, err)
		}
		w.settle(0)
		_, err := w.Events.Remove(t.Context(), "acme", together, 100)
		must(t, err)
		r.set(nil)
		w.settle(time.Minute)
		given, sent := w.sent(e, GivenUp), w.sent(e, Delivered)
		if len(given) != together || len(sent) != 3*together || w.now(e).State != Active {
			t.Fatalf("%d given up, %d delivered, the webhook is %s", len(given), len(sent), w.now(e).State)
		}
		for _, d := range given {
			if d.Trouble != "the event is archived" || d.Sequence > together || !d.NextAt.IsZero() {
				t.Errorf("%+v", d)
			}
		}
		_, err = w.Resend(t.Context(), "acme", given[0].ID, none)
		if !fault.Is(err, fault.Gone) || fault.Of(err).Extra["firstSequence"] != int64(together+1) {
			t.Errorf("an archived event is sent again: %v", err)
		}
		_, err = w.Resend(t.Context(), "acme", sent[0].ID, none)
		must(t, err)
		w.settle(0)
		if n := len(w.sent(e, Delivered)); n != 3*together+1 {
			t.Errorf("%d are delivered", n)
		}
	})
}

// All old deliveries are deleted, in batches of clearMost.
func TestManyOldDeliveriesGoInBatches(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.found("acme")
		e := w.endpoint("acme", "http://127.0.0.1:9/")
		n := 2*clearMost + 7
		w.old(t, e, n)
		if more, err := w.clear(t.Context(), w.now(e), w.clock.Now()); err != nil || !more {
			t.Errorf("%v, %v", more, err)
		}
		if left, err := w.deliveryCount(t.Context(), "acme", e.ID, Delivered); err != nil || left != int64(n-clearMost) {
			t.Errorf("%d are left, %v", left, err)
		}
		w.clears()
		if left, err := w.deliveryCount(t.Context(), "acme", e.ID, ""); err != nil || left != 0 {
			t.Errorf("%d are left, %v", left, err)
		}
	})
}

// The audit log contains every change of a company to its endpoints, but no secrets.
func TestChangesAreInTheAuditLog(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.found("acme")
		first := w.endpoint("acme", "http://127.0.0.1:9/path?token=hush", event.VTUSuccess)
		off := false
		_, err := w.Update(t.Context(), "acme", first.ID, Draft{Active: &off}, none)
		must(t, err)
		second, err := w.Rotate(t.Context(), "acme", first.ID, none)
		must(t, err)
		must(t, w.Delete(t.Context(), "acme", first.ID))
		lines, n, err := operator.New(w.db, w.Keys, w.clock).Audit(t.Context(), "acme", 10, 0)
		must(t, err)
		var got []string
		for _, l := range lines {
			got = append(got, l.Action+" "+l.Details["status"])
			said := fmt.Sprint(l)
			for _, hidden := range []string{"hush", first.Secret.Reveal(), second.Secret.Reveal()} {
				if strings.Contains(said, hidden) {
					t.Errorf("the log tells %s: %s", hidden, said)
				}
			}
			if l.Operator != operator.Self("acme").Name || l.Subject != first.ID || l.Details["host"] != "http://127.0.0.1:9" || l.Details["events"] != event.VTUSuccess {
				t.Errorf("%+v", l)
			}
		}
		want := []string{"webhook.delete DELETED", "webhook.rotate_secret PAUSED", "webhook.update PAUSED", "webhook.create ACTIVE"}
		if n != 4 || !slices.Equal(got, want) {
			t.Errorf("%d lines: %v", n, got)
		}
		// A refused change is not in the audit log.
		bad := "http://10.0.0.1/"
		if _, err := w.Create(t.Context(), "acme", Draft{URL: &bad}, none); err == nil {
			t.Error("taken")
		}
		if _, n, err := operator.New(w.db, w.Keys, w.clock).Audit(t.Context(), "acme", 10, 0); err != nil || n != 4 {
			t.Errorf("%d lines, %v", n, err)
		}
	})
}

// Deleted endpoints leave no queue behind, so that the sender does not read them for ever. A company creates a
// limited number of endpoints on a day.
func TestDeletedEndpointsLeaveNoQueues(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		ctx, address := t.Context(), "http://127.0.0.1:9/hook"
		w.found("acme")
		w.endpoint("acme", address)
		w.tell("acme", event.VTUSuccess, 2)
		queues := func() (n int64) {
			t.Helper()
			n, err := db.One(ctx, w.db, db.Value[int64], `SELECT count(*) FROM webhook_lane`)
			must(t, err)
			return n
		}
		for i := range mostNew - 1 {
			e := w.endpoint("acme", address)
			if i == 0 {
				_, err := w.Replay(ctx, "acme", e.ID, 1, 2, none)
				must(t, err)
				_, err = w.take(ctx, "acme", []queue{{company: "acme", endpoint: e.ID, id: queueEvents}}, w.clock.Now())
				must(t, err)
			}
			must(t, w.Delete(ctx, "acme", e.ID))
		}
		if n := queues(); n != 2 {
			t.Errorf("%d queues of one endpoint", n)
		}
		if _, err := w.Create(ctx, "acme", Draft{URL: &address}, none); fault.Of(err).Reason() != fault.QuotaReached || !strings.Contains(err.Error(), "on a day") {
			t.Errorf("one more on this day: %v", err)
		}
		w.clock.MoveTo(w.clock.Offset() + day)
		e := w.endpoint("acme", address)
		must(t, w.Delete(ctx, "acme", e.ID))
		must(t, w.db.Insert(ctx, queueTable.Record(queue{company: "acme", endpoint: e.ID, id: "late", kind: queueReplay})))
		w.clears()
		if n := queues(); n != 2 {
			t.Errorf("%d queues of one endpoint after a replay that came late", n)
		}
	})
}
