package job_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/ledger"
)

// office is the fixture of these tests: a job list, a company, and a clock that the test moves.
type office struct {
	t       *testing.T
	db      *db.DB
	book    *ledger.Book
	clock   *clock.Manual
	company string
	said    bytes.Buffer // the log; a test may read it only after the workers have ended
	log     *slog.Logger
}

func each(t *testing.T, f func(t *testing.T, o *office)) {
	dbtest.EachForm(t, func(t *testing.T, d *db.DB) {
		clk := clock.At(time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC))
		o := &office{t: t, db: d, book: ledger.New(d, clk), clock: clk, company: id.Cuid()}
		o.log = slog.New(slog.NewTextHandler(&o.said, nil))
		if err := o.book.Commit(t.Context(), ledger.Found(o.company)); err != nil {
			t.Fatal(err)
		}
		f(t, o)
	})
}

// want adds a job to the list in a ledger unit, as production code does.
func (o *office) want(kind, subject string, at time.Time) {
	o.t.Helper()
	u := ledger.For(o.company)
	u.Append(job.Job{Kind: kind, Subject: subject, RunAt: at}.For(u.Company))
	if err := o.book.Commit(o.t.Context(), u); err != nil {
		o.t.Fatal(err)
	}
}

// line is a row of the job list.
type line struct {
	kind, subject, trouble        string
	runAt, lease, fence, attempts int64
}

func (o *office) list() []line {
	o.t.Helper()
	lines, err := db.All(o.t.Context(), o.db, func(s db.Scanner) (line, error) {
		var l line
		err := s.Scan(&l.kind, &l.subject, &l.runAt, &l.lease, &l.fence, &l.attempts, &l.trouble)
		return l, err
	}, `SELECT kind, subject, run_at, lease_until, fence, attempts, last_error FROM job
		WHERE company_id = $1 ORDER BY kind, subject`, o.company)
	if err != nil {
		o.t.Fatal(err)
	}
	return lines
}

// hand is a handle to a running worker.
type hand struct {
	*job.Worker
	dismiss func()        // stops the worker from leasing more jobs
	gone    chan struct{} // closed when the worker has finished its jobs
}

// hire starts a worker for one kind of job. The worker stops at the end of the test.
func (o *office) hire(kind string, work job.Work) hand {
	o.t.Helper()
	return o.run(job.NewWorker(o.db, o.clock, o.log, job.Config{Kinds: map[string]job.Work{kind: work}}))
}

// run starts a worker and returns a handle to it.
func (o *office) run(w *job.Worker) hand {
	o.t.Helper()
	ctx, stop := context.WithCancel(context.WithoutCancel(o.t.Context()))
	h := hand{w, stop, make(chan struct{})}
	go func() {
		w.Run(ctx)
		close(h.gone)
	}()
	o.t.Cleanup(func() {
		stop()
		<-h.gone
	})
	return h
}

// settled waits until no job is due.
func (o *office) settled(w hand) {
	o.t.Helper()
	ctx, cancel := context.WithTimeout(o.t.Context(), time.Minute)
	defer cancel()
	if err := w.Settled(ctx); err != nil {
		o.t.Fatal(err)
	}
}

func await[T any](t *testing.T, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(time.Minute):
		t.Fatal("nothing came within 20 seconds")
		panic("unreachable")
	}
}

func TestAJobIsDoneWhenItIsDue(t *testing.T) {
	each(t, func(t *testing.T, o *office) {
		done := make(chan job.Job, 10)
		w := o.hire("greet", func(_ context.Context, j job.Job) (time.Time, error) {
			done <- j
			return time.Time{}, nil
		})
		now := o.clock.Now()
		o.want("greet", "ada", now)
		o.want("greet", "bob", now.Add(time.Hour))
		w.Wake()
		j := await(t, done)
		o.settled(w)
		if j.Company != o.company || j.Kind != "greet" || j.Subject != "ada" || !j.RunAt.Equal(now) || j.Attempts != 1 {
			t.Errorf("the job: %+v", j)
		}
		if left := o.list(); len(left) != 1 || left[0].subject != "bob" || left[0].fence != 0 {
			t.Errorf("left: %+v", left)
		}
		o.clock.Advance(time.Hour)
		o.settled(w)
		if j := await(t, done); j.Subject != "bob" || len(o.list()) != 0 {
			t.Errorf("an hour later: %+v, left %+v", j, o.list())
		}
		if !w.Healthy() {
			t.Error("a worker at work is not healthy")
		}
	})
}

func TestThereIsOneLiveJobForAKindAndSubject(t *testing.T) {
	each(t, func(t *testing.T, o *office) {
		now := o.clock.Now()
		o.want("greet", "ada", now.Add(time.Hour))
		o.want("greet", "ada", now) // the existing job stays
		o.want("fetch", "ada", now)
		left := o.list()
		if len(left) != 2 || left[1].runAt != clock.Micros(now.Add(time.Hour)) {
			t.Fatalf("the list: %+v", left)
		}
		if err := job.Reschedule(t.Context(), o.db, o.company, "greet", "ada", now.Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		if left := o.list(); left[1].runAt != clock.Micros(now.Add(time.Minute)) {
			t.Errorf("rescheduled: %+v", left)
		}
	})
}

func TestAJobMayAskToRunAgain(t *testing.T) {
	each(t, func(t *testing.T, o *office) {
		start := o.clock.Now()
		var runs atomic.Int64
		w := o.hire("poll", func(context.Context, job.Job) (time.Time, error) {
			if n := runs.Add(1); n < 3 {
				return start.Add(time.Duration(n) * time.Hour), nil
			}
			return time.Time{}, nil
		})
		o.want("poll", "x", start)
		for want := int64(1); want <= 3; want++ {
			o.settled(w)
			if n := runs.Load(); n != want {
				t.Fatalf("after %d hours: %d runs", want-1, n)
			}
			o.clock.Advance(time.Hour)
		}
		if left := o.list(); len(left) != 0 {
			t.Errorf("left: %+v", left)
		}
	})
}

// A job that fails or panics is retried after 1 s, 2 s, 4 s …, and other jobs still run. Each
// failure is logged only once.
func TestAFailedJobIsTriedAgainAfterAPause(t *testing.T) {
	each(t, func(t *testing.T, o *office) {
		var runs atomic.Int64
		w := o.hire("fail", func(_ context.Context, j job.Job) (time.Time, error) {
			switch {
			case j.Subject == "good":
				return time.Time{}, nil
			case runs.Add(1) == 1:
				panic("a bad day")
			case runs.Load() == 2:
				return time.Time{}, errors.New("another one")
			}
			return time.Time{}, nil
		})
		now := o.clock.Now()
		o.want("fail", "bad", now)
		o.want("fail", "good", now)
		for i, trouble := range []string{"panic: a bad day", "another one"} {
			pause := time.Second << i
			o.settled(w)
			left := o.list()
			if len(left) != 1 || left[0].trouble != trouble || left[0].runAt != clock.Micros(o.clock.Now().Add(pause)) || left[0].lease != 0 {
				t.Fatalf("after %d failures: %+v", i+1, left)
			}
			o.clock.Advance(pause)
		}
		o.settled(w)
		if left := o.list(); len(left) != 0 || runs.Load() != 3 {
			t.Errorf("%d runs, left %+v", runs.Load(), left)
		}
		w.dismiss()
		<-w.gone
		said := o.said.String()
		if strings.Count(said, "\n") != 2 || !strings.Contains(said, "a bad day") || !strings.Contains(said, "another one") || strings.Count(said, "company="+o.company) != 2 {
			t.Errorf("the log of two failures: %s", said)
		}
	})
}

// A worker does not run a job of an unknown kind, which a newer version of the program may know.
func TestUnknownKindsAreLeftAlone(t *testing.T) {
	each(t, func(t *testing.T, o *office) {
		w := o.hire("known", func(context.Context, job.Job) (time.Time, error) { return time.Time{}, nil })
		o.want("known", "x", o.clock.Now())
		o.want("new", "x", o.clock.Now())
		o.settled(w)
		if left := o.list(); len(left) != 1 || left[0].kind != "new" || left[0].fence != 0 || left[0].attempts != 0 {
			t.Errorf("left: %+v", left)
		}
	})
}

// A worker that follows the ledger is woken when a due job is appended, and knows the job without
// reading the list. A job that is due later does not wake it. If there are too many due jobs to
// remember, the worker reads the list.
func TestAWorkerFollowsTheLedger(t *testing.T) {
	each(t, func(t *testing.T, o *office) {
		w := job.NewWorker(o.db, o.clock, o.log, job.Config{})
		w.Follow(o.book)
		u := ledger.For(o.company)
		u.OpenAccounts(ledger.Account{ID: "no job"})
		if err := o.book.Commit(t.Context(), u); err != nil {
			t.Fatal(err)
		}
		o.want("greet", "later", o.clock.Now().Add(time.Microsecond))
		if told, woken := w.Told(); len(told) != 0 || woken {
			t.Errorf("a job that is due later wakes the worker: %q", told)
		}
		o.want("greet", "now", o.clock.Now())
		if told, woken := w.Told(); fmt.Sprint(told) != "[now]" || !woken || w.HasNews() {
			t.Errorf("a due job: told %q, woken %v, reads the list %v", told, woken, w.HasNews())
		}
		many := ledger.For(o.company)
		for i := range job.MostTold {
			many.Append(job.Job{Kind: "greet", Subject: fmt.Sprint(i), RunAt: o.clock.Now()}.For(o.company))
		}
		if err := o.book.Commit(t.Context(), many); err != nil {
			t.Fatal(err)
		}
		if told, _ := w.Told(); len(told) != job.MostTold || !w.HasNews() {
			t.Errorf("of many due jobs: told %d, reads the list %v", len(told), w.HasNews())
		}
	})
}

// The list decides whether a job of which the ledger has told may run. A job that the list has with a
// later time does not run, and a job that was removed does not run. Another job runs once.
func TestAToldJobRunsOnlyAsTheListSays(t *testing.T) {
	each(t, func(t *testing.T, o *office) {
		var mu sync.Mutex
		runs := map[string]int{}
		w := job.NewWorker(o.db, o.clock, o.log, job.Config{Kinds: map[string]job.Work{"greet": func(_ context.Context, j job.Job) (time.Time, error) {
			mu.Lock()
			defer mu.Unlock()
			runs[j.Subject]++
			return time.Time{}, nil
		}}})
		w.Follow(o.book)
		o.want("greet", "later", o.clock.Now().Add(time.Hour))
		o.want("greet", "later", o.clock.Now()) // the list keeps the first
		o.want("greet", "removed", o.clock.Now())
		o.want("other", "unknown", o.clock.Now())
		u := ledger.For(o.company)
		u.Remove(job.Row(o.company, "greet", "removed"))
		if err := o.book.Commit(t.Context(), u); err != nil {
			t.Fatal(err)
		}
		o.want("greet", "once", o.clock.Now())
		o.want("greet", "once", o.clock.Now())
		o.settled(o.run(w))
		mu.Lock()
		defer mu.Unlock()
		if fmt.Sprint(runs) != "map[once:1]" {
			t.Errorf("runs: %v", runs)
		}
		if left := o.list(); len(left) != 2 || left[0].subject != "later" || left[1].subject != "unknown" {
			t.Errorf("left: %+v", left)
		}
	})
}

// A unit that removes a job while the job runs leaves nothing behind: neither the end of the run
// nor its next run restores the job.
func TestARemovedJobStaysRemoved(t *testing.T) {
	each(t, func(t *testing.T, o *office) {
		taken, goOn := make(chan job.Job, 2), make(chan struct{})
		w := o.hire("greet", func(_ context.Context, j job.Job) (time.Time, error) {
			taken <- j
			<-goOn
			if j.Subject == "again" {
				return o.clock.Now(), nil
			}
			return time.Time{}, nil
		})
		u := ledger.For(o.company)
		for _, subject := range []string{"again", "done"} {
			o.want("greet", subject, o.clock.Now())
			await(t, taken)
			u.Remove(job.Row(o.company, "greet", subject))
		}
		u.Remove(job.Row(o.company, "greet", "missing"))
		if err := o.book.Commit(t.Context(), u); err != nil {
			t.Fatal(err)
		}
		close(goOn)
		o.settled(w)
		w.dismiss()
		await(t, w.gone)
		if left := o.list(); len(left) != 0 {
			t.Errorf("left: %+v", left)
		}
	})
}
