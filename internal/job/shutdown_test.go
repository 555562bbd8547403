package job_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/ledger"
)

// A transaction holds the row of a job, such as a COMMIT that waits for a standby which never comes. A worker that stops
// gives the end of that job up after a while. Otherwise the program would never end.
func TestAWorkerEndsAlthoughARowIsHeld(t *testing.T) {
	d := dbtest.New(t, db.Postgres)
	o := &office{t: t, db: d, book: ledger.New(d, clock.System{}), company: id.Cuid(), log: slog.New(slog.DiscardHandler)}
	if err := o.book.Commit(t.Context(), ledger.Found(o.company)); err != nil {
		t.Fatal(err)
	}
	begun, locked, finish, free := make(chan bool), make(chan bool), make(chan bool), make(chan bool)
	w := job.NewWorker(d, clock.System{}, o.log, job.Config{Kinds: map[string]job.Work{"greet": func(context.Context, job.Job) (time.Time, error) {
		begun <- true
		<-finish
		return time.Time{}, nil
	}}})
	o.want("greet", "held", time.Now())
	ctx, stop := context.WithCancel(t.Context())
	gone, told := make(chan bool), make(chan error, 1)
	go func() {
		w.Run(ctx)
		close(gone)
	}()
	<-begun
	go func() {
		told <- d.Tx(context.WithoutCancel(t.Context()), func(q db.Querier) error {
			_, err := db.One(t.Context(), q, db.Value[string], `SELECT id FROM job WHERE company_id = $1 AND kind = 'greet' AND subject = 'held' FOR UPDATE`, o.company)
			close(locked)
			<-free
			return err
		})
	}()
	<-locked
	close(finish)
	stop()
	select {
	case <-gone:
	case <-time.After(15 * time.Second):
		t.Error("the worker waits for the row")
	}
	close(free)
	if err := <-told; err != nil {
		t.Error(err)
	}
	<-gone
}
