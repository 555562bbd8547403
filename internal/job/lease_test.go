package job_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/job"
)

// Until a lease ends, no other worker takes the job. After another worker has taken the job, the
// first worker can no longer finish it.
func TestALeaseIsTakenOverAndItsFenceKeepsTheFirstOut(t *testing.T) {
	each(t, func(t *testing.T, o *office) {
		taken, goOn := make(chan job.Job, 1), make(chan struct{})
		first := o.hire("slow", func(_ context.Context, j job.Job) (time.Time, error) {
			taken <- j
			<-goOn
			return time.Time{}, nil // the worker whose lease has ended reports that the job is done
		})
		start := o.clock.Now()
		o.want("slow", "x", start)
		await(t, taken)
		held := o.list()
		if len(held) != 1 || held[0].lease != clock.Micros(start.Add(2*time.Minute)) || held[0].fence != 1 {
			t.Fatalf("held: %+v", held)
		}
		if err := job.Reschedule(t.Context(), o.db, o.company, "slow", "x", start.Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
		if now := o.list(); now[0] != held[0] {
			t.Errorf("a job in hand was rescheduled: %+v", now)
		}
		first.dismiss()
		o.clock.Advance(2*time.Minute - time.Microsecond)
		later := start.Add(time.Hour)
		o.hire("slow", func(_ context.Context, j job.Job) (time.Time, error) {
			taken <- j
			return later, nil
		})
		// The worker takes the most overdue job first, and the older job is more overdue. So the
		// younger job can run first only while the older job still has its lease.
		o.want("slow", "younger", o.clock.Now())
		if j := await(t, taken); j.Subject != "younger" {
			t.Fatalf("taken although the lease holds: %+v", j)
		}
		o.clock.Advance(time.Microsecond)
		if j := await(t, taken); j.Subject != "x" || j.Attempts != 2 {
			t.Errorf("taken over: %+v", j)
		}
		close(goOn)
		await(t, first.gone)
		o.eventually(func(left []line) bool {
			return len(left) == 2 && left[0].subject == "x" && left[0].runAt == clock.Micros(later) && left[0].fence == 2 && left[0].lease == 0
		})
	})
}

// Long work keeps its job by renewing the lease. Renew returns an error if another worker has
// taken the job.
func TestALeaseIsRenewed(t *testing.T) {
	each(t, func(t *testing.T, o *office) {
		step, held := make(chan struct{}), make(chan error)
		var first hand
		ready := make(chan struct{})
		first = o.hire("long", func(ctx context.Context, j job.Job) (time.Time, error) {
			<-ready
			for range step {
				held <- first.Renew(context.WithoutCancel(ctx), j)
			}
			return time.Time{}, nil
		})
		close(ready)
		o.want("long", "x", o.clock.Now())
		for range 3 {
			o.clock.Advance(time.Minute)
			step <- struct{}{}
			if err := await(t, held); err != nil {
				t.Fatal(err)
			}
			if l := o.list(); len(l) != 1 || l[0].lease != clock.Micros(o.clock.Now().Add(2*time.Minute)) || l[0].fence != 1 {
				t.Fatalf("after a renewal: %+v", l)
			}
		}
		first.dismiss()
		o.clock.Advance(2 * time.Minute)
		taken := make(chan job.Job, 1)
		o.hire("long", func(_ context.Context, j job.Job) (time.Time, error) {
			taken <- j
			return o.clock.Now().Add(time.Hour), nil
		})
		await(t, taken)
		step <- struct{}{}
		if err := await(t, held); !errors.Is(err, job.ErrLost) {
			t.Errorf("renewed after it was taken over: %v", err)
		}
		close(step)
	})
}

// A new job may have the same kind and subject as a finished job. A worker whose lease of the
// finished job expired cannot finish the new job, even if both jobs have the same fence number.
func TestWhoWasTooSlowDoesNotFinishALaterJobOfTheName(t *testing.T) {
	each(t, func(t *testing.T, o *office) {
		taken, goOn := make(chan job.Job, 1), make(chan struct{})
		slow := o.hire("name", func(_ context.Context, j job.Job) (time.Time, error) {
			taken <- j
			<-goOn
			return time.Time{}, nil
		})
		o.want("name", "x", o.clock.Now())
		await(t, taken)
		slow.dismiss()
		o.clock.Advance(2 * time.Minute)
		runs := 0
		quick := o.hire("name", func(_ context.Context, j job.Job) (time.Time, error) {
			if runs++; runs == 1 {
				return time.Time{}, nil
			}
			taken <- j
			return o.clock.Now().Add(time.Hour), nil
		})
		o.settled(quick)
		o.want("name", "x", o.clock.Now())
		await(t, taken)
		o.settled(quick)
		if l := o.list(); len(l) != 1 || l[0].fence != 1 {
			t.Fatalf("the second: %+v", l)
		}
		close(goOn)
		await(t, slow.gone)
		if l := o.list(); len(l) != 1 {
			t.Errorf("after who was too slow: %+v", l)
		}
	})
}

// eventually waits until right returns true for the rows of the job list, and fails the test after
// a minute.
func (o *office) eventually(right func([]line) bool) {
	o.t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	limit := time.After(time.Minute)
	for !right(o.list()) {
		select {
		case <-tick.C:
		case <-limit:
			o.t.Fatalf("the list after 20 seconds: %+v", o.list())
		}
	}
}

// Two workers that have read the same list do not both get a job of it.
func TestAJobIsLeasedOnce(t *testing.T) {
	each(t, func(t *testing.T, o *office) {
		for i := range 3 {
			o.want("count", fmt.Sprint(i), o.clock.Now())
		}
		first, second, err := job.LeaseTwice(t.Context(), o.db, "count/", o.clock.Now())
		if err != nil || len(first) != 3 || len(second) != 0 {
			t.Errorf("%d and %d jobs, %v", len(first), len(second), err)
		}
	})
}

// A worker that was too slow does not end the run of the worker that has taken the job over.
func TestARunThatWasTakenOverEndsNothing(t *testing.T) {
	each(t, func(t *testing.T, o *office) {
		o.want("slow", "x", o.clock.Now())
		if err := job.EndTooLate(t.Context(), o.db, "slow/", o.clock.Now()); err != nil {
			t.Fatal(err)
		}
		if left := o.list(); len(left) != 1 || left[0].fence != 2 || left[0].lease == 0 {
			t.Errorf("left: %+v", left)
		}
	})
}

// Several workers that share one job list run each job only once.
func TestManyWorkersDoEachJobOnce(t *testing.T) {
	each(t, func(t *testing.T, o *office) {
		var mu sync.Mutex
		runs := map[string]int{}
		work := func(_ context.Context, j job.Job) (time.Time, error) {
			mu.Lock()
			defer mu.Unlock()
			runs[j.Subject]++
			return time.Time{}, nil
		}
		const jobs = 100
		for i := range jobs {
			o.want("count", fmt.Sprint(i), o.clock.Now())
		}
		var last hand
		for range 4 {
			last = o.hire("count", work)
		}
		o.settled(last)
		mu.Lock()
		defer mu.Unlock()
		if len(runs) != jobs || len(o.list()) != 0 {
			t.Errorf("%d of %d jobs were done, %d are left", len(runs), jobs, len(o.list()))
		}
		for subject, n := range runs {
			if n != 1 {
				t.Errorf("job %s was done %d times", subject, n)
			}
		}
	})
}
