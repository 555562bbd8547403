package job_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/job"
)

// owe adds n due jobs of a company to the queue ask/bank.
func (o *office) owe(company string, n int) {
	o.t.Helper()
	var rows []db.Record
	for i := range n {
		rows = append(rows, job.Job{Kind: "ask", Subject: fmt.Sprint(i), Provider: "bank", RunAt: o.clock.Now()}.For(company))
	}
	if err := o.db.Insert(o.t.Context(), rows...); err != nil {
		o.t.Fatal(err)
	}
	o.clock.Advance(time.Second) // later jobs are due later
}

// A company has 20,000 due jobs, and later others have a few. They are among the first that run, whether there are
// two or thirty such companies.
func TestALongQueueOfOneCompanyDelaysNoOther(t *testing.T) {
	for _, others := range []int{2, 30} {
		t.Run(fmt.Sprint(others), func(t *testing.T) {
			each(t, func(t *testing.T, o *office) {
				const long, few = 20_000, 3
				o.owe(o.company, long)
				for range others {
					o.owe(id.Cuid(), few)
				}
				ran := make(chan string, long+few*others)
				work := func(_ context.Context, j job.Job) (time.Time, error) {
					ran <- j.Company
					return time.Time{}, nil
				}
				o.run(job.NewWorker(o.db, o.clock, o.log, job.Config{Kinds: map[string]job.Work{"ask": work}}))
				own, left := 0, few*others
				for left > 0 {
					if await(t, ran) == o.company {
						own++
					} else {
						left--
					}
				}
				t.Logf("%d jobs of the long queue ran before the last of %d others", own, few*others)
				if own > long/20 {
					t.Errorf("%d jobs of the long queue ran first", own)
				}
			})
		})
	}
}

// All workers of a queue run long jobs of one company. Another company's job begins at once, and a second
// job of that company waits.
func TestLongJobsOfOneCompanyLeaveAPlaceToAnother(t *testing.T) {
	each(t, func(t *testing.T, o *office) {
		p := newPhone()
		limits := job.Limits{Workers: 3, Reserved: 1, PerProvider: 2}
		o.ask("ask", "slow", 20)
		o.staff(p, limits)
		for range 2 {
			await(t, p.held)
		}
		guest := id.Cuid()
		var rows []db.Record
		for i := range 2 {
			rows = append(rows, job.Job{Kind: "ask", Subject: fmt.Sprint(i), Provider: "slow", RunAt: o.clock.Now()}.For(guest))
		}
		if err := o.db.Insert(t.Context(), rows...); err != nil {
			t.Fatal(err)
		}
		if j := await(t, p.held); j.Company != guest {
			t.Errorf("a third job of the first company began: %+v", j)
		}
		o.ask("money", "bank", 1)
		if j := await(t, p.done); j.Kind != "money" { // the worker has looked again
			t.Errorf("%+v", j)
		}
		select {
		case j := <-p.held:
			t.Errorf("one more began: %+v", j)
		default:
		}
		if n := o.untouched("ask"); n != 18 {
			t.Errorf("%d jobs of the first company wait, not 18", n)
		}
	})
}

// A company has 100,000 due jobs, and some of them run and do not end. A job that another company then commits begins in
// the worker's next round: before one more of the long queue.
func TestAJobBesideALongQueueBeginsInTheNextRound(t *testing.T) {
	const long = 100_000
	each(t, func(t *testing.T, o *office) {
		var rows []db.Record
		for range long {
			rows = append(rows, job.Job{Kind: "ask", Subject: id.New(), Provider: "bank", RunAt: o.clock.Now()}.For(o.company))
		}
		for part := range slices.Chunk(rows, 5000) {
			if err := o.db.Insert(t.Context(), part...); err != nil {
				t.Fatal(err)
			}
		}
		begun, over := make(chan job.Job), make(chan struct{})
		work := func(_ context.Context, j job.Job) (time.Time, error) {
			select {
			case begun <- j:
				<-over
			case <-over:
			}
			return time.Time{}, nil
		}
		w := o.run(job.NewWorker(o.db, o.clock, o.log, job.Config{Kinds: map[string]job.Work{"ask": work}}))
		t.Cleanup(func() { close(over) })
		for range job.Usual.PerProvider {
			if j := await(t, begun); j.Company != o.company {
				t.Fatalf("%+v is not of the long queue", j)
			}
		}
		guest := id.Cuid()
		o.owe(guest, 1)
		w.Wake()
		if j := await(t, begun); j.Company != guest {
			t.Errorf("a further job of the long queue began first: %+v", j)
		}
		if n := o.untouched("ask"); n != long-job.Usual.PerProvider {
			t.Errorf("%d jobs of the long queue have not begun, not %d", n, long-job.Usual.PerProvider)
		}
	})
}
