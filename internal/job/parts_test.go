package job_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/job"
)

// A routed database reads due jobs in parts. It passes over the rest of a long queue and of a company's many jobs, and
// says that companies may follow when it stops early.
func TestALookInPartsPassesOverLongQueues(t *testing.T) {
	dbtest.EachForm(t, func(t *testing.T, d *db.DB) {
		now := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
		add := func(company, kind string, n int, at time.Time) {
			t.Helper()
			var rows []db.Record
			for i := range n {
				rows = append(rows, job.Job{Kind: kind, Subject: fmt.Sprintf("%s%03d", kind, i), Provider: "bank", RunAt: at.Add(time.Duration(i) * time.Microsecond)}.For(company))
			}
			if err := d.Insert(t.Context(), rows...); err != nil {
				t.Fatal(err)
			}
		}
		past, future := now.Add(-time.Hour), now.Add(time.Hour)
		add("a", "ask", 600, past)
		add("b", "ask", 1, past)
		add("c", "ask", 300, past)
		add("d", "ask", 300, future)
		add("e", "ask", 2, past)
		add("a", "later", 1, future)
		add("a", "send", 1, past)
		names, companies, more, err := job.LookInParts(t.Context(), d, "ask/bank", now)
		if want := []string{"a ask000", "b ask000", "c ask000", "e ask000"}; err != nil || more || !slices.Equal(companies, want) {
			t.Errorf("%v, more: %v, %v, not %v", companies, more, err, want)
		}
		if want := []string{"ask/bank", "send/bank"}; !slices.Equal(names, want) {
			t.Errorf("%v, not %v", names, want)
		}
		for i := range job.MostParts {
			add(fmt.Sprintf("f%02d", i), "many", job.InPart, past)
		}
		add("g", "many", 1, past)
		_, companies, more, err = job.LookInParts(t.Context(), d, "many/bank", now)
		if len(companies) != job.MostParts || !more || err != nil {
			t.Errorf("%d companies, more: %v, %v", len(companies), more, err)
		}
	})
}
