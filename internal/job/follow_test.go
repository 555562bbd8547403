package job_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/ledger"
)

// After a commit with a due job, the job runs without a query over all companies. The worker looks at
// the list of all companies only from time to time, and such a look may fall into a run of the test.
// So the test counts the runs without one.
func TestACommitCausesNoQueryOverAllCompanies(t *testing.T) {
	for name, routed := range map[string]bool{"postgres": false, "postgres-routed": true} {
		t.Run(name, func(t *testing.T) {
			d, since := dbtest.Recorded(t, db.Pools{Routed: routed})
			fanOuts := dbtest.FanOuts(t, func(string) bool { return true })
			o := &office{t: t, db: d, book: ledger.New(d, clock.System{}), company: id.Cuid(), log: slog.New(slog.DiscardHandler)}
			if err := o.book.Commit(t.Context(), ledger.Found(o.company)); err != nil {
				t.Fatal(err)
			}
			var said []string
			ran := make(chan string)
			w := job.NewWorker(d, clock.System{}, o.log, job.Config{Kinds: map[string]job.Work{"ask": func(_ context.Context, j job.Job) (time.Time, error) {
				said = since()
				ran <- j.Subject
				return time.Time{}, nil
			}}})
			w.Follow(o.book)
			o.run(w)
			clean := 0
			for i := range 30 {
				since()
				subject := fmt.Sprint(i)
				o.want("ask", subject, time.Now())
				if got := <-ran; got != subject {
					t.Fatalf("ran %s", got)
				}
				if len(said) == 0 {
					t.Fatal("no statement was recorded")
				}
				if routed && len(fanOuts(said)) == 0 || !routed && !slices.ContainsFunc(said, func(s string) bool { return strings.Contains(s, "lane (name)") }) {
					clean++
				}
			}
			t.Logf("%d of 30", clean)
			if clean < 10 {
				t.Errorf("after %d of 30 commits there was no query over all companies", clean)
			}
		})
	}
}
