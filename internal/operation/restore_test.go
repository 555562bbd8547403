package operation_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/provider"
)

// jobs returns the company's resolver jobs, each as "subject run_at lease fence provider".
func (p *plant) jobs() []string {
	p.t.Helper()
	list, err := db.All(p.t.Context(), p.db, func(s db.Scanner) (string, error) {
		var subject, by string
		var runAt, lease, fence int64
		err := s.Scan(&subject, &runAt, &lease, &fence, &by)
		return fmt.Sprint(subject, " ", runAt, " ", lease, " ", fence, " ", by), err
	}, `SELECT subject, run_at, lease_until, fence, provider FROM job WHERE company_id = $1 AND kind = $2 ORDER BY subject`,
		p.company, operation.ResolveJob)
	p.must(err)
	return list
}

// lose deletes the job of an operation.
func (p *plant) lose(o operation.Operation) {
	p.t.Helper()
	n, err := p.db.Exec(p.t.Context(), `DELETE FROM job WHERE company_id = $1 AND subject = $2`, p.company, o.ID)
	p.must(err)
	if n != 1 {
		p.t.Fatalf("%d jobs of %s were deleted", n, o.ID)
	}
}

// Restore adds a job to a PENDING operation that has no job. The job is due at the next requery.
// Restore does not change an existing job.
func TestALostJobIsRestored(t *testing.T) {
	each(t, func(t *testing.T, p *plant) {
		p.says(silence)
		lost, kept := p.unknown(), p.unknown()
		_, err := p.db.Exec(t.Context(), `UPDATE job SET lease_until = 7, fence = 9, run_at = 3 WHERE company_id = $1 AND subject = $2`, p.company, kept.ID)
		p.must(err)
		p.lose(lost)
		want := []string{
			fmt.Sprint(lost.ID, " ", clock.Micros(lost.NextAt), " 0 0 bank"),
			fmt.Sprint(kept.ID, " 3 7 9 bank"),
		}
		var all sync.WaitGroup
		for range 3 { // as if several programs ran Restore
			all.Go(func() {
				if err := p.Restore(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		slices.Sort(want)
		if got := p.jobs(); !slices.Equal(slices.Sorted(slices.Values(got)), want) {
			t.Errorf("jobs %q, not %q", got, want)
		}
		if asked := p.open(); p.asked != 0 || len(asked) != 0 {
			t.Errorf("asked %d times, cases %+v", p.asked, asked)
		}
	})
}

// Restore adds no job for an operation with an outcome. For an operation that waits for
// operators, it opens a case but adds no job.
func TestADecidedOperationGetsNoJob(t *testing.T) {
	each(t, func(t *testing.T, p *plant) {
		p.says(silence)
		o := p.unknown()
		p.clock.Advance(73 * time.Hour)
		for next := p.clock.Now(); !next.IsZero(); {
			next = p.poll(o)
		}
		p.lose(o)
		first := p.open()
		p.run(p.begin(), provider.Answer{Outcome: provider.Confirmed}) // the outcome removes the job
		p.must(p.Restore(t.Context()))
		if got, cases := p.jobs(), p.open(); len(got) != 0 || len(cases) != 1 || cases[0] != first[0] {
			t.Errorf("jobs %q, cases %+v", got, cases)
		}
		_, err := p.db.Exec(t.Context(), `DELETE FROM operation_case WHERE company_id = $1`, p.company)
		p.must(err)
		for range 2 {
			p.must(p.Restore(t.Context()))
		}
		cases := p.open()
		if len(p.jobs()) != 0 || len(cases) != 1 || cases[0].Subject != o.ID || cases[0].Reason != operation.Unresolved {
			t.Errorf("jobs %q, cases %+v", p.jobs(), cases)
		}
	})
}

// Restore reads the operations of all companies, even if they need several batches.
func TestRestoreReadsAllCompanies(t *testing.T) {
	each(t, func(t *testing.T, p *plant) {
		const many = 1300
		_, err := p.db.Exec(t.Context(), `INSERT INTO operation (`+strings.ReplaceAll(operation.Columns, "operation.", "")+`)
			WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $1)
			SELECT 'company-' || i % 3, 'operation-' || i, 'test', '', CASE WHEN i % 10 = 0 THEN 'SUCCESS' ELSE 'PENDING' END, 'bank', 1, 100, 0,
				0, 0, 0, 0, $2, '', '', '', '', '', '', 0, 0, 0 FROM n`, int64(many), clock.Micros(p.clock.Now()))
		p.must(err)
		for range 2 {
			p.must(p.Restore(t.Context()))
			n, err := db.One(t.Context(), p.db, db.Value[int64], `SELECT count(company_id) FROM job WHERE run_at = $1 AND kind = $2 AND provider = 'bank'`,
				clock.Micros(p.clock.Now()), operation.ResolveJob)
			p.must(err)
			if n != many*9/10 {
				t.Errorf("%d jobs, not %d", n, many*9/10)
			}
		}
	})
}
