// Package job is the durable to-do list and its worker.
//
// A job is written in the same commit as the reason for it, so work is never
// forgotten. It is held by a lease: a worker that dies loses it, another takes
// it up, and a worker whose lease was taken finishes nothing (its fence is
// old). A job's work must therefore be fit to be done twice.
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
	Subject    string    `db:"subject,key"` // what it is about, such as an operation's id
	ID         string    `db:"id"`
	RunAt      time.Time `db:"run_at"`
	LeaseUntil time.Time `db:"lease_until"`
	fence      int64     `db:"fence"`
	Attempts   int64     `db:"attempts"` // how often it has been taken up, this time included
	LastError  string    `db:"last_error"`
	CreatedAt  time.Time `db:"created_at"`
	Provider   string    `db:"provider"` // the one that the work asks; "" if it asks none
}

// Record is the row that puts a new job on the list: a part of the unit that is the
// reason for it. While a job of the same kind for the same subject is there,
// another changes nothing; so a standing job, which no unit brings about, is
// inserted (db.Insert) by every program that starts, and is there once.
//
// One slow provider holds no more workers than its share (Limits.PerProvider), and
// so a job says which provider it asks.
func (j Job) Record() db.Record {
	j.ID, j.CreatedAt = id.New(), j.RunAt
	return table.Record(j)
}

// Work does a job once. Next says when to run it again; the zero time says that
// it is done. An error keeps the job, to be tried again after a pause.
type Work func(ctx context.Context, j Job) (next time.Time, err error)

// New is a Job's record.
func New(company, kind, subject string, runAt time.Time) db.Record {
	return NewFor("", company, kind, subject, runAt)
}

// NewFor is New for work that asks a provider.
func NewFor(provider, company, kind, subject string, runAt time.Time) db.Record {
	return Job{Company: company, Kind: kind, Subject: subject, Provider: provider, RunAt: runAt}.Record()
}
