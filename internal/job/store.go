package job

import (
	"context"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
)

const columns = `company_id, kind, subject, id, run_at, lease_until, fence, attempts, last_error, created_at, provider`

var table = db.Declare[Job]("job", db.Reads(columns), db.KeepFirst())

// routedQueues and routedTurns find a part of what queues and turns find. A routed database refuses recursive queries
// over all companies, and so it reads the due jobs in the order of an index, inPart at a time. The next part
// begins behind the last queue or company of this part, so a long queue and a company with many jobs are passed over.
const (
	routedQueues = `SELECT kind || '/' || provider AS name FROM job
		WHERE kind || '/' || provider > $1 AND run_at <= $2 AND lease_until <= $3 ORDER BY kind || '/' || provider LIMIT $4`
	routedTurns = `SELECT company_id, subject, run_at FROM job
		WHERE kind || '/' || provider = $1 AND company_id > $2 AND run_at <= $4 AND lease_until <= $4 ORDER BY company_id, run_at LIMIT $3`
)

const (
	inPart    = 256
	mostParts = 32 // of one look for turns
)

// queuesInParts does the work of queues for a routed database.
func queuesInParts(ctx context.Context, q db.Querier, now, free time.Time) (names []string, err error) {
	for after := ""; ; {
		part, err := db.All(ctx, q, db.Value[string], routedQueues, after, clock.Micros(now), clock.Micros(free), inPart)
		if err != nil {
			return nil, err
		}
		for _, name := range part {
			if name != after {
				names, after = append(names, name), name
			}
		}
		if len(part) < inPart {
			return names, nil
		}
	}
}

// turnsInParts does the work of turns for a routed database.
func turnsInParts(ctx context.Context, q db.Querier, queue, after string, now time.Time, limit int) (list []turn, more bool, err error) {
	for range mostParts {
		part, err := db.All(ctx, q, db.Fields[turn], routedTurns, queue, after, inPart, clock.Micros(now))
		if err != nil {
			return nil, false, err
		}
		for _, t := range part {
			if t.Company == after {
				continue // a further job of the company
			}
			if list, after = append(list, t), t.Company; len(list) == limit {
				return list, true, nil
			}
		}
		if len(part) < inPart {
			return list, false, nil
		}
	}
	return list, true, nil
}

// queues returns the names of the queues that have a due job, across all companies. Jobs with a
// lease count only if leased is true. It finds the names in an index and reads one row for each
// queue. So a long queue takes no more time than a short queue.
func queues(ctx context.Context, q db.Querier, routed bool, now time.Time, leased bool) ([]string, error) {
	free := now
	if leased {
		free = never
	}
	if routed {
		return queuesInParts(ctx, q, now, free)
	}
	return db.All(ctx, q, db.Value[string], `
		WITH RECURSIVE lane (name) AS (
			SELECT (SELECT kind || '/' || provider FROM job ORDER BY kind || '/' || provider LIMIT 1)
			UNION ALL
			SELECT (
				SELECT kind || '/' || provider FROM job WHERE kind || '/' || provider > lane.name
				ORDER BY kind || '/' || provider LIMIT 1
			) FROM lane WHERE lane.name IS NOT NULL
		)
		SELECT lane.name FROM lane WHERE lane.name IS NOT NULL AND (
			SELECT id FROM job WHERE kind || '/' || provider = lane.name AND run_at <= $1 AND lease_until <= $2
			ORDER BY run_at LIMIT 1
		) IS NOT NULL ORDER BY lane.name`, clock.Micros(now), clock.Micros(free))
}

// never is later than every lease.
var never = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)

// due returns the due jobs of a queue that have no lease, the most overdue first.
func due(ctx context.Context, q db.Querier, queue string, now time.Time, limit int) ([]Job, error) {
	return db.All(ctx, q, table.Scan, `
		SELECT `+columns+` FROM job
		WHERE kind || '/' || provider = $2 AND run_at <= $1 AND lease_until <= $1 ORDER BY run_at LIMIT $3`,
		clock.Micros(now), queue, limit)
}

// turns returns the companies after a company that have jobs in a queue, in the order of their IDs, each
// with its most overdue job without a lease. It reads two or three entries of an index for each company. With more,
// further companies may follow. A routed database leaves out a company without a due job.
func turns(ctx context.Context, q db.Querier, routed bool, queue, after string, now time.Time, limit int) (list []turn, more bool, err error) {
	if routed {
		return turnsInParts(ctx, q, queue, after, now, limit)
	}
	list, err = db.All(ctx, q, db.Fields[turn], `
		WITH RECURSIVE turn (company, visited) AS (
			SELECT (SELECT company_id FROM job WHERE kind || '/' || provider = $1 AND company_id > $2 ORDER BY company_id LIMIT 1), CAST(1 AS BIGINT)
			UNION ALL
			SELECT (
				SELECT company_id FROM job WHERE kind || '/' || provider = $1 AND company_id > turn.company ORDER BY company_id LIMIT 1
			), turn.visited + 1 FROM turn WHERE turn.company IS NOT NULL AND turn.visited < $3
		)
		SELECT turn.company, coalesce((
			SELECT subject FROM job WHERE kind || '/' || provider = $1 AND company_id = turn.company AND run_at <= $4 AND lease_until <= $4
			ORDER BY run_at LIMIT 1
		), ''), coalesce((
			SELECT run_at FROM job WHERE kind || '/' || provider = $1 AND company_id = turn.company AND run_at <= $4 AND lease_until <= $4
			ORDER BY run_at LIMIT 1
		), 0) FROM turn WHERE turn.company IS NOT NULL ORDER BY turn.visited`, queue, after, limit, clock.Micros(now))
	return list, len(list) == limit, err
}

// dueOf returns the due jobs of a company in a queue that have no lease, the most overdue first.
func dueOf(ctx context.Context, q db.Querier, company, queue string, now time.Time, limit int) ([]Job, error) {
	return db.All(ctx, q, table.Scan, `
		SELECT `+columns+` FROM job
		WHERE company_id = $1 AND kind || '/' || provider = $2 AND run_at <= $3 AND lease_until <= $3 ORDER BY run_at LIMIT $4`,
		company, queue, clock.Micros(now), limit)
}

// Subjects returns those of the given subjects for which this company has a job of this kind.
func Subjects(ctx context.Context, q db.Querier, company, kind string, subjects []string) (map[string]bool, error) {
	list, err := db.All(ctx, q, db.Value[string],
		`SELECT subject FROM job WHERE company_id = $1 AND kind = $2 AND subject = ANY($3)`, company, kind, subjects)
	there := map[string]bool{}
	for _, subject := range list {
		there[subject] = true
	}
	return there, err
}

// Waiting returns the subjects of all jobs of a company and a kind.
func Waiting(ctx context.Context, q db.Querier, company, kind string) ([]string, error) {
	return db.All(ctx, q, db.Value[string], `SELECT subject FROM job WHERE company_id = $1 AND kind = $2`, company, kind)
}

// end is the end of one run of a job.
type end struct {
	Job
	next    time.Time // the time of the next run; zero if the job is done
	trouble string    // the error of the run
}

// store stores the ends of runs and leases the given due jobs, in one transaction. It returns the
// leased jobs. It changes no job that another worker has leased, and drops the end of a run that
// has lost its lease.
//
// It never waits for a row that another transaction has locked, such as the job of an operation
// whose outcome is being written. So it cannot get into a deadlock. It returns the ends that it
// could not store for this reason.
func store(ctx context.Context, d *db.DB, ends []end, due []Job, now, until time.Time) (leased []Job, blocked []end, err error) {
	keys := make([][]any, 0, len(ends)+len(due))
	for _, e := range ends {
		keys = append(keys, e.key())
	}
	for _, j := range due {
		keys = append(keys, j.key())
	}
	err = d.Apply(ctx, func(ctx context.Context, p db.Pipeline) error {
		locked, seen := map[Job]Job{}, map[Job]Job{}
		if err := p.Read(ctx, find(keys, true, locked), find(keys[:len(ends)], false, seen)); err != nil {
			return err
		}
		var c changes
		leased, blocked = nil, nil
		for _, e := range ends {
			switch {
			case e.isOf(locked[e.name()]):
				c.end(e)
			case e.isOf(seen[e.name()]):
				blocked = append(blocked, e)
			}
			delete(locked, e.name()) // the job is leased again after its next look-up at the earliest
		}
		for _, j := range due {
			if j, free := locked[j.name()]; free && !j.LeaseUntil.After(now) && !j.RunAt.After(now) {
				leased = append(leased, c.lease(j, until))
			}
		}
		if len(c.done)+len(c.again)+len(c.leases) == 0 {
			p.Rollback()
			return nil
		}
		return p.Commit(ctx, c.writes()...)
	})
	if err != nil {
		return nil, nil, err
	}
	return leased, blocked, nil
}

// find returns the look-up of the jobs with these keys. It puts them into found, by their names.
func find(keys [][]any, lock bool, found map[Job]Job) db.Lookup {
	by := table.KeyNames()
	return db.Lookup{
		Table: table.Table, By: by, Columns: table.Names()[len(by):], Keys: keys, Lock: lock, Free: lock,
		Found: func(row []any) error {
			j, err := table.Value(db.Record{Table: table.Table, Values: row})
			found[j.name()] = j
			return err
		},
	}
}

// isOf reports whether the worker still has the lease of the run, according to the job's row.
func (e end) isOf(j Job) bool { return j.ID == e.ID && j.fence == e.fence }

// changes are the rows that store writes.
type changes struct{ done, again, leases, fences [][]any }

func (c *changes) end(e end) {
	if e.next.IsZero() {
		c.done = append(c.done, e.key())
		return
	}
	c.again = append(c.again, append(e.key(), clock.Micros(e.next), int64(0), e.trouble))
}

func (c *changes) lease(j Job, until time.Time) Job {
	c.fences = append(c.fences, []any{j.fence})
	j.LeaseUntil, j.fence, j.Attempts = until, j.fence+1, j.Attempts+1
	c.leases = append(c.leases, append(j.key(), clock.Micros(until), j.fence, j.Attempts))
	return j
}

func (c *changes) writes() []db.Write {
	by := table.KeyNames()
	return []db.Write{
		{Table: table.Table, Delete: true, By: by, Rows: c.done},
		{Table: table.Table, By: by, Set: []string{"run_at", "lease_until", "last_error"}, Rows: c.again},
		{Table: table.Table, By: by, Set: []string{"lease_until", "fence", "attempts"}, Rows: c.leases, Still: []string{"fence"}, Was: c.fences},
	}
}

// name returns a job with only the fields of the primary key.
func (j Job) name() Job { return Job{Company: j.Company, Kind: j.Kind, Subject: j.Subject} }

func (j Job) key() []any { return []any{j.Company, j.Kind, j.Subject} }

// renew extends a lease. It returns false if the worker no longer has the lease.
func renew(ctx context.Context, q db.Querier, j Job, until time.Time) (bool, error) {
	n, err := q.Exec(ctx, `
		UPDATE job SET lease_until = $6
		WHERE company_id = $1 AND kind = $2 AND subject = $3 AND id = $4 AND fence = $5`,
		j.Company, j.Kind, j.Subject, j.ID, j.fence, clock.Micros(until))
	return n > 0, err
}

// Reschedule changes the time of the next run of a job. It does not change a running job.
func Reschedule(ctx context.Context, d *db.DB, company, kind, subject string, at time.Time) error {
	_, err := d.Exec(ctx, `
		UPDATE job SET run_at = $4
		WHERE company_id = $1 AND kind = $2 AND subject = $3 AND lease_until = 0`, company, kind, subject, clock.Micros(at))
	return err
}

// bringForward lets a job run at a time, unless it runs earlier. It ends a lease that lasts too long, and leaves other leased jobs alone.
// A job was not created after that time, so its age is counted from then at the latest.
func bringForward(ctx context.Context, q db.Querier, j Job, at time.Time) error {
	_, err := q.Exec(ctx, `
		UPDATE job SET run_at = CASE WHEN run_at > $4 THEN $4 ELSE run_at END, lease_until = 0,
			created_at = CASE WHEN created_at > $4 THEN $4 ELSE created_at END
		WHERE company_id = $1 AND kind = $2 AND subject = $3 AND (run_at > $4 AND lease_until = 0 OR lease_until > $5)`,
		j.Company, j.Kind, j.Subject, clock.Micros(at), clock.Micros(at.Add(longest)))
	return err
}

// planned returns at most mostAhead jobs of all companies whose lease ends after leased, or that are of these kinds and run after run. They
// are in the order of their keys, and follow the job after.
func planned(ctx context.Context, q db.Querier, leased, run time.Time, kinds []string, after Job) ([]Job, error) {
	return db.All(ctx, q, table.Scan, `
		SELECT `+columns+` FROM job WHERE (company_id, kind, subject) > ($5, $6, $7)
			AND (lease_until > $1 OR run_at > $2 AND lease_until = 0 AND kind = ANY($3))
		ORDER BY company_id, kind, subject LIMIT $4`,
		clock.Micros(leased), clock.Micros(run), kinds, mostAhead, after.Company, after.Kind, after.Subject)
}

// Providers returns the providers of all companies' jobs, except the fintech's own jobs (company
// "house").
func Providers(ctx context.Context, q db.Querier) ([]string, error) {
	return db.All(ctx, q, db.Value[string],
		`SELECT DISTINCT provider FROM job WHERE provider <> '' AND company_id <> 'house' ORDER BY provider`)
}

// failing returns the job with this id whose last run has failed, of any company.
func failing(ctx context.Context, q db.Querier, jobID string) (Job, error) {
	return db.One(ctx, q, table.Scan, `SELECT `+columns+` FROM job WHERE id = $1 AND last_error <> ''`, jobID)
}

// hastenFailing lets a failing job run at an instant, unless a worker has leased it since it was read.
func hastenFailing(ctx context.Context, q db.Querier, j Job, at int64) (bool, error) {
	n, err := q.Exec(ctx, `
		UPDATE job SET run_at = $6, lease_until = 0
		WHERE company_id = $1 AND kind = $2 AND subject = $3 AND id = $4 AND fence = $5 AND lease_until <= $6 AND last_error <> ''`,
		j.Company, j.Kind, j.Subject, j.ID, j.fence, at)
	return n == 1, err
}

// Add adds a job in a transaction. It returns false if the list has the job already.
func (j Job) Add(ctx context.Context, q db.Querier) (added bool, err error) {
	n, err := q.Exec(ctx, `INSERT INTO job (`+columns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) ON CONFLICT DO NOTHING`, j.Record().Values...)
	return n > 0, err
}
