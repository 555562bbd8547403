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

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/id"
)

// Job is one thing to do for a company.
type Job struct {
	Company  string
	ID       string
	Kind     string
	Subject  string // what it is about, such as an operation's id
	Provider string // the one that the work asks; "" if it asks none
	RunAt    time.Time
	Attempts int64 // how often it has been taken up, this time included
	fence    int64
}

// New is the row that puts a job on the list: a note of the unit that is the
// reason for it. While a job of the same kind for the same subject is there,
// another changes nothing; so a standing job, which no unit brings about, is
// inserted (db.Insert) by every program that starts, and is there once.
func New(company, kind, subject string, runAt time.Time) db.Record {
	return NewFor("", company, kind, subject, runAt)
}

// NewFor is New for work that asks a provider. One slow provider holds no more
// workers than its share (Limits.PerProvider).
func NewFor(provider, company, kind, subject string, runAt time.Time) db.Record {
	return db.Record{Table: table, Values: []any{
		company, kind, subject, id.New(), clock.Micros(runAt), int64(0), int64(0), int64(0), "", clock.Micros(runAt), provider,
	}}
}

// Work does a job once. Next says when to run it again; the zero time says that
// it is done. An error keeps the job, to be tried again after a pause.
type Work func(ctx context.Context, j Job) (next time.Time, err error)
