package idempotency

import (
	"context"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
)

const (
	running = "RUNNING"
	done    = "DONE"
)

var table = &db.Table{
	Name: "idempotency_key", Key: 2, State: "state",
	Columns: []db.Column{
		{Name: "company_id"},
		{Name: "value"},
		{Name: "fingerprint"},
		{Name: "state"},
		{Name: "subject"},
		{Name: "running_until", Type: db.Int},
		{Name: "status", Type: db.Int},
		{Name: "body"},
		{Name: "created_at", Type: db.Int},
	},
}

func (k *Key) record(state, subject string, until time.Time, a Answer) []db.Record {
	return []db.Record{{Table: table, Values: []any{
		k.company, k.value, k.fingerprint, state, subject,
		clock.Micros(until), int64(a.Status), k.body(a), clock.Micros(k.now),
	}}}
}

type row struct {
	fingerprint, state, subject, body string
	status                            int64
	runningUntil, createdAt           time.Time
}

func (s *Service) find(ctx context.Context, company, value string) (row, error) {
	return db.One(ctx, s.db, func(sc db.Scanner) (row, error) {
		var r row
		var until, created int64
		err := sc.Scan(&r.fingerprint, &r.state, &r.subject, &r.body, &r.status, &until, &created)
		r.runningUntil, r.createdAt = clock.Time(until), clock.Time(created)
		return r, err
	}, `SELECT fingerprint, state, subject, body, status, running_until, created_at FROM idempotency_key
		WHERE company_id = $1 AND value = $2`, company, value)
}
