package operation_test

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/provider"
)

// The commit of the outcome removes the resolver's job. An unknown outcome keeps the job, and a
// recheck has its own job.
func TestTheOutcomeRemovesTheJob(t *testing.T) {
	each(t, func(t *testing.T, p *plant) {
		begun := p.begin()
		if got := p.jobs(); len(got) != 1 {
			t.Fatalf("after step one the jobs are %q", got)
		}
		for _, a := range []provider.Answer{confirmed, rejected} {
			p.run(begun, a)
			if got := p.jobs(); len(got) != 0 {
				t.Errorf("after %s the jobs are %q", a.Outcome, got)
			}
			begun = p.begin()
		}
		o := p.run(begun, provider.Answer{Code: provider.CodeTimeout})
		if got := p.jobs(); len(got) != 1 {
			t.Errorf("after an unknown outcome the jobs are %q", got)
		}
		p.says(missing)
		p.clock.Advance(20 * time.Minute)
		for range 3 {
			p.poll(o)
			p.clock.Advance(25 * time.Second)
		}
		rechecks, err := job.Waiting(t.Context(), p.db, p.company, operation.RecheckJob)
		p.must(err)
		if got := p.jobs(); len(got) != 0 || len(rechecks) != 1 || rechecks[0] != o.ID {
			t.Errorf("after a failure by absence the jobs are %q and %q", got, rechecks)
		}
	})
}

// A resolver that is asking while the request writes the outcome ends without an effect. Neither of
// them leaves a job.
func TestAResolverThatIsOvertakenEndsQuietly(t *testing.T) {
	for name, said := range map[string]provider.Answer{"with the same outcome": confirmed, "without an outcome": silence} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, p *plant) {
				asking, goOn := make(chan bool), make(chan bool)
				p.answer = func(operation.Operation) provider.Answer {
					asking <- true
					<-goOn
					return said
				}
				o := p.unknown()
				p.clock.Advance(5 * time.Second)
				w := job.NewWorker(p.db, p.clock, slog.New(slog.DiscardHandler), job.Config{Kinds: map[string]job.Work{operation.ResolveJob: p.Resolve}})
				ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
				gone := make(chan bool)
				go func() {
					w.Run(ctx)
					close(gone)
				}()
				<-asking
				_, err := p.Notified(t.Context(), p.company, o.ID, confirmed)
				p.must(err)
				if got := p.jobs(); len(got) != 0 {
					t.Errorf("after the outcome the jobs are %q", got)
				}
				close(goOn)
				p.must(w.Settled(t.Context()))
				stop()
				<-gone
				p.stands(o, operation.Success)
				if got, cases := p.jobs(), p.open(); len(got) != 0 || len(cases) != 0 {
					t.Errorf("in the end the jobs are %q, the cases %+v", got, cases)
				}
			})
		})
	}
}

// RestoreLost finds a lost job by the money in clearing, and a lost case too.
func TestLostWorkIsFoundByItsMoney(t *testing.T) {
	each(t, func(t *testing.T, p *plant) {
		p.says(silence)
		kept, lost := p.unknown(), p.unknown()
		p.must(p.RestoreLost(t.Context()))
		before := fmt.Sprint(p.jobs())
		p.lose(lost)
		p.must(p.RestoreLost(t.Context()))
		if after := fmt.Sprint(p.jobs()); after != before {
			t.Errorf("the jobs were %s, and are %s", before, after)
		}
		p.clock.Advance(73 * time.Hour)
		for next := p.clock.Now(); !next.IsZero(); {
			next = p.poll(lost)
		}
		p.lose(lost)
		_, err := p.db.Exec(t.Context(), `DELETE FROM operation_case WHERE company_id = $1`, p.company)
		p.must(err)
		for range 2 {
			p.must(p.RestoreLost(t.Context()))
		}
		if cases := p.open(); len(cases) != 1 || cases[0].Subject != lost.ID {
			t.Errorf("the cases are %+v", cases)
		}
		pending, err := operation.PendingOf(t.Context(), p.db, p.company, "test", price)
		p.must(err)
		if len(pending) != 2 || pending[0] != kept.ID && pending[1] != kept.ID {
			t.Errorf("open: %q", pending)
		}
	})
}

// While operations begin and end, neither Restore nor RestoreLost takes one for lost.
func TestOperationsInFlightAreNotLost(t *testing.T) {
	each(t, func(t *testing.T, p *plant) {
		done := make(chan bool)
		go func() {
			defer close(done)
			for range 60 {
				o := p.begin()
				_, err := p.Run(context.WithoutCancel(t.Context()), o, func(context.Context) provider.Answer { return rejected }, nil)
				if err != nil {
					t.Error(err)
				}
			}
		}()
		for running := true; running; {
			p.must(p.Restore(t.Context()))
			p.must(p.RestoreLost(t.Context()))
			select {
			case <-done:
				running = false
			default:
			}
		}
		n, err := db.One(t.Context(), p.db, db.Value[int64], `SELECT count(*) FROM job WHERE company_id = $1`, p.company)
		p.must(err)
		if n != 0 {
			t.Errorf("%d jobs are left", n)
		}
	})
}
