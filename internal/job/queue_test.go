package job_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/ledger"
)

// ask adds n jobs of a kind to the list. Each job calls this provider.
func (o *office) ask(kind, provider string, n int) {
	o.t.Helper()
	u := ledger.For(o.company)
	for i := range n {
		u.Append(job.Job{Kind: kind, Subject: fmt.Sprint(provider, i), Provider: provider, RunAt: o.clock.Now()}.For(u.Company))
	}
	if err := o.book.Commit(o.t.Context(), u); err != nil {
		o.t.Fatal(err)
	}
	o.clock.Advance(time.Second) // later jobs are due later
}

// phone is work that ends immediately, except for the provider "slow". Jobs of that provider wait
// until answer is called.
type phone struct {
	held   chan job.Job // the running jobs of the slow provider
	done   chan job.Job
	wait   chan struct{} // closed when the slow provider replies
	answer func()
}

func newPhone() *phone {
	p := &phone{held: make(chan job.Job, 100), done: make(chan job.Job, 100), wait: make(chan struct{})}
	p.answer = sync.OnceFunc(func() { close(p.wait) })
	return p
}

func (p *phone) work(_ context.Context, j job.Job) (time.Time, error) {
	if j.Provider == "slow" {
		p.held <- j
		<-p.wait
	}
	p.done <- j
	return time.Time{}, nil
}

// staff starts a worker for the job kinds "ask", "other" and "money". The worker reserves capacity
// for the kind "money". Parameter sharing lists the providers that share this capacity.
func (o *office) staff(p *phone, l job.Limits, sharing ...string) hand {
	h := o.run(job.NewWorker(o.db, o.clock, o.log, job.Config{
		Kinds: map[string]job.Work{"ask": p.work, "other": p.work, "money": p.work}, Reserved: []string{"money"}, Sharing: sharing, Limits: l,
	}))
	o.t.Cleanup(p.answer)
	return h
}

// untouched returns the number of jobs that never ran, and fails the test if such a job has a
// lease.
func (o *office) untouched(kind string) (n int) {
	o.t.Helper()
	for _, l := range o.list() {
		if l.kind != kind || l.attempts > 0 {
			continue
		}
		n++
		if l.lease != 0 || l.fence != 0 {
			o.t.Errorf("waits under a lease: %+v", l)
		}
	}
	return n
}

// For each kind of job, a slow provider occupies at most Limits.PerProvider workers, and other jobs
// run. The slow provider's waiting jobs have no lease, so another program can take them.
func TestASlowProviderHoldsItsShare(t *testing.T) {
	each(t, func(t *testing.T, o *office) {
		p, limits := newPhone(), job.Limits{Workers: 16, Reserved: 2, PerProvider: 3}
		o.ask("ask", "slow", 40)
		o.ask("other", "slow", 40)
		o.ask("ask", "quick", 30)
		o.ask("ask", "", 10)
		first := o.staff(p, limits)
		for range 40 {
			if j := await(t, p.done); j.Provider == "slow" {
				t.Fatalf("done: %+v", j)
			}
		}
		for range 6 {
			await(t, p.held)
		}
		if n, m := o.untouched("ask"), o.untouched("other"); n != 37 || m != 37 {
			t.Errorf("%d and %d jobs wait", n, m)
		}
		second := o.staff(p, limits)
		for range 6 {
			await(t, p.held)
		}
		if n, m := o.untouched("ask"), o.untouched("other"); n != 34 || m != 34 {
			t.Errorf("with two programs %d and %d jobs wait", n, m)
		}
		p.answer()
		o.settled(first)
		o.settled(second)
		if left := o.list(); len(left) != 0 {
			t.Errorf("left: %+v", left)
		}
	})
}

// Jobs of other kinds never occupy the reserved workers, even if their provider is slow.
func TestReservedKindsFindAFreeWorker(t *testing.T) {
	each(t, func(t *testing.T, o *office) {
		p := newPhone()
		o.ask("ask", "slow", 10)
		o.staff(p, job.Limits{Workers: 5, Reserved: 2, PerProvider: 5})
		for range 3 {
			await(t, p.held)
		}
		o.ask("ask", "quick", 2)
		o.ask("money", "quick", 20)
		for range 20 {
			if j := await(t, p.done); j.Kind != "money" {
				t.Fatalf("done: %+v", j)
			}
		}
		o.ask("money", "slow", 4)
		for range 2 {
			if j := await(t, p.held); j.Kind != "money" {
				t.Fatalf("taken up: %+v", j)
			}
		}
		if n, m := o.untouched("ask"), o.untouched("money"); n != 9 || m != 2 {
			t.Errorf("%d and %d jobs wait", n, m)
		}
		p.answer()
	})
}

// A slow provider leaves a reserved worker free for the jobs of a different provider.
func TestASlowProviderLeavesAWorkerToAnother(t *testing.T) {
	each(t, func(t *testing.T, o *office) {
		p := newPhone()
		o.ask("money", "slow", 10)
		o.ask("other", "slow", 10)
		o.staff(p, job.Limits{Workers: 5, Reserved: 3, PerProvider: 5}, "quick", "slow")
		for range 4 {
			await(t, p.held)
		}
		o.ask("money", "quick", 20)
		for range 20 {
			if j := await(t, p.done); j.Provider != "quick" {
				t.Fatalf("done: %+v", j)
			}
		}
		if n, m := o.untouched("other"), o.untouched("money"); n+m != 16 {
			t.Errorf("%d and %d jobs wait", n, m)
		}
		p.answer()
	})
}

// A job without a provider is run too. Jobs of older releases have no provider.
func TestAJobWithoutAProviderIsDone(t *testing.T) {
	each(t, func(t *testing.T, o *office) {
		p := newPhone()
		now := o.clock.Now().UnixMicro()
		_, err := o.db.Exec(t.Context(), `INSERT INTO job (company_id, kind, subject, id, run_at, lease_until, fence, attempts, last_error, created_at)
			VALUES ($1, 'ask', 'x', 'x', $2, 0, 0, 0, '', $2)`, o.company, now)
		if err != nil {
			t.Fatal(err)
		}
		o.settled(o.staff(p, job.Usual))
		if j := await(t, p.done); j.Subject != "x" || j.Provider != "" {
			t.Errorf("done: %+v", j)
		}
	})
}
