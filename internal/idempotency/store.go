package idempotency

import (
	"context"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
)

const (
	running = "RUNNING"
	done    = "DONE"
)

var table = db.Declare[row]("idempotency_key", db.Reads(columns))

const columns = `company_id, value, fingerprint, state, subject, running_until, status, body, created_at`

type row struct {
	Company      string    `db:"company_id,key"`
	Value        string    `db:"value,key"`
	Fingerprint  string    `db:"fingerprint"`
	State        string    `db:"state,state"`
	Subject      string    `db:"subject"`
	RunningUntil time.Time `db:"running_until,changes"`
	Status       int64     `db:"status,changes"`
	Body         string    `db:"body,changes"`
	CreatedAt    time.Time `db:"created_at"`
}

func (s *Service) find(ctx context.Context, company, value string) (row, error) {
	return db.One(ctx, s.db, table.Scan, `SELECT `+columns+` FROM idempotency_key
		WHERE company_id = $1 AND value = $2`, company, value)
}
