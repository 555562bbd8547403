// Package job provides a durable job list and the worker that runs the jobs.
//
// The ledger unit that causes the work also adds the job, so no work is forgotten. A worker runs
// a job under a lease. When a worker dies, its lease expires and another worker takes the job.
// Each lease has a new fence number, so a worker whose lease expired cannot finish the job. A
// job's work may therefore run twice, and must tolerate that.
package job

import (
	"context"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/id"
)

// Job is one piece of work for a company.
type Job struct {
	Company    string    `db:"company_id,key"`
	Kind       string    `db:"kind,key"`
	Subject    string    `db:"subject,key"` // what the job is about, such as an operation's ID
	ID         string    `db:"id"`
	RunAt      time.Time `db:"run_at"`
	LeaseUntil time.Time `db:"lease_until"`
	fence      int64     `db:"fence"`
	Attempts   int64     `db:"attempts"` // including the current attempt
	LastError  string    `db:"last_error"`
	CreatedAt  time.Time `db:"created_at"`
	Provider   string    `db:"provider"` // the provider that the work calls; "" for none
}

// Record returns the row of a new job. If the list already has a job of the same company, kind
// and subject, inserting the row changes nothing. So every program can insert a recurring job at
// its start (db.Insert), and the list contains that job only once.
//
// A job names the provider that it calls, so that a slow provider occupies at most
// Limits.PerProvider workers.
func (j Job) Record() db.Record {
	j.ID, j.CreatedAt = id.New(), j.RunAt
	return table.Record(j)
}

// Row returns a row with the key of a job. The ledger unit that makes the job needless removes this
// row. A worker that is running the job then ends without an effect on the list.
func Row(company, kind, subject string) db.Record {
	return table.Record(Job{Company: company, Kind: kind, Subject: subject})
}

// Work runs a job once. It returns the time of the job's next run, or the zero time if the job is
// done. After an error the job runs again after a pause.
type Work func(ctx context.Context, j Job) (next time.Time, err error)

// For returns the row of a new job of a company. The ledger unit that causes the work appends
// this row.
func (j Job) For(company string) db.Record {
	j.Company = company
	return j.Record()
}
