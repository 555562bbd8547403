package job_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/job"
)

// A program whose clock is ten days ahead plans jobs far in the future. After its clock is right again, recurring jobs and
// jobs that follow something run as if it had never been ahead. A lease of that time ends too.
func TestWhatAClockAheadHasPlannedIsBroughtForward(t *testing.T) {
	each(t, func(t *testing.T, o *office) {
		now := o.clock.Now()
		later, due := now.Add(10*24*time.Hour), now.Add(time.Hour)
		for _, kind := range []string{"ask", "expire", "sign", "leased", "held"} {
			o.want(kind, "x", later)
		}
		o.want("ask", "soon", now.Add(90*time.Minute))
		lease := func(kind string, until time.Time) {
			t.Helper()
			if _, err := o.db.Exec(t.Context(), `UPDATE job SET lease_until = $3 WHERE company_id = $1 AND kind = $2`, o.company, kind, clock.Micros(until)); err != nil {
				t.Fatal(err)
			}
		}
		lease("leased", later.Add(2*time.Minute))
		lease("held", now.Add(2*time.Minute))
		for range 2 {
			if err := job.Plan(t.Context(), o.db, job.Job{Company: o.company, Kind: "sign", Subject: "x", RunAt: due}, job.Job{Company: o.company, Kind: "new", RunAt: due}); err != nil {
				t.Fatal(err)
			}
			if err := job.Recover(t.Context(), o.db, now, "ask", "held"); err != nil {
				t.Fatal(err)
			}
		}
		want := map[string]time.Time{
			"ask/soon": now.Add(90 * time.Minute), "ask/x": now, "expire/x": later, "held/x": later, "leased/x": now, "new/": due, "sign/x": due,
		}
		for _, l := range o.list() {
			if name := l.kind + "/" + l.subject; l.runAt != clock.Micros(want[name]) || (l.lease > 0) != (l.kind == "held") {
				t.Errorf("%s runs at %s, leased until %d", name, clock.Time(l.runAt), l.lease)
			}
		}
	})
}

// The queued payouts of a clock ahead return to their time in the future after each run. However many there are, the other jobs of that
// clock run in the same round. Jobs are not older than the round, so their age is true from then on.
func TestJobsThatReturnToTheirTimeHoldNoOtherUp(t *testing.T) {
	each(t, func(t *testing.T, o *office) {
		now := o.clock.Now()
		later := now.Add(10 * 24 * time.Hour)
		var rows []db.Record
		for i := range job.MostAhead + 1 {
			rows = append(rows, job.Job{Kind: "ask", Subject: fmt.Sprintf("queued %04d", i), RunAt: later}.For(o.company))
		}
		if err := o.db.Insert(t.Context(), rows...); err != nil {
			t.Fatal(err)
		}
		o.want("ask", "unknown", later.Add(-time.Hour))
		if err := job.Recover(t.Context(), o.db, now, "ask"); err != nil {
			t.Fatal(err)
		}
		for _, l := range o.list() {
			if l.runAt != clock.Micros(now) {
				t.Errorf("%s runs at %s", l.subject, clock.Time(l.runAt))
			}
		}
		young, err := db.One(t.Context(), o.db, db.Value[int64], `SELECT count(*) FROM job WHERE company_id = $1 AND created_at > $2`, o.company, clock.Micros(now))
		if err != nil || young > 0 {
			t.Errorf("%d jobs begin in the future, %v", young, err)
		}
	})
}
