// Package job is the durable to-do list and its worker.
//
// The unit that needs work adds the job, so no work is forgotten. A worker does a job
// under a lease. When a worker dies, the lease ends and another worker takes the job. A
// worker without the lease cannot finish the job, since its fence is old. So the same
// work may be done twice, and must allow that.
package job

import (
	"context"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/id"
)

// Job is one thing to do for a company.
type Job struct {
	Company    string    `db:"company_id,key"`
	Kind       string    `db:"kind,key"`
	Subject    string    `db:"subject,key"` // such as an operation's id
	ID         string    `db:"id"`
	RunAt      time.Time `db:"run_at"`
	LeaseUntil time.Time `db:"lease_until"`
	fence      int64     `db:"fence"`
	Attempts   int64     `db:"attempts"` // including the present one
	LastError  string    `db:"last_error"`
	CreatedAt  time.Time `db:"created_at"`
	Provider   string    `db:"provider"` // the provider that the work calls; "" for none
}

// Record returns the row of a new job. While the list has a job of the same kind and subject, a
// new one changes nothing. So every program can insert a standing job at its start
// (db.Insert), and the list has it once.
//
// A job names the provider that it calls. A slow provider holds no more workers than its
// share (Limits.PerProvider).
func (j Job) Record() db.Record {
	j.ID, j.CreatedAt = id.New(), j.RunAt
	return table.Record(j)
}

// Work does a job once. Next is the time of the next run; the zero time ends the job. After
// an error the job runs again after a pause.
type Work func(ctx context.Context, j Job) (next time.Time, err error)

// For returns the row of a new job of a company. The unit that needs the work appends it.
func (j Job) For(company string) db.Record {
	j.Company = company
	return j.Record()
}
