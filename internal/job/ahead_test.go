package job_test

import (
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
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
