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

// The MAC leaves out running_until, which gives no right.
var table = db.Declare[row]("idempotency_key", db.Reads(columns),
	db.Rights("fingerprint", "state", "subject", "status", "body", "created_at", "reason"))

const columns = `company_id, value, fingerprint, state, subject, running_until, status, body, created_at, reason`

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
	Reason       string    `db:"reason,changes"`
}

func (s *Service) find(ctx context.Context, company, value string) (row, error) {
	return db.One(ctx, s.db, table.Scan, `SELECT `+columns+` FROM idempotency_key
		WHERE company_id = $1 AND value = $2`, company, value)
}

// removed reports whether the stored response has been removed. The row and the status stay.
func (r row) removed() bool { return r.State == done && r.Body == "" }

// nextCompany returns the next company that has a stored response, in the order of company IDs.
func (s *Service) nextCompany(ctx context.Context, after string) (string, error) {
	return db.One(ctx, s.db, db.Value[string], `SELECT company_id FROM idempotency_key
		WHERE company_id > $1 AND body <> '' ORDER BY company_id, created_at LIMIT 1`, after)
}

// oldest returns the Idempotency-Keys of a company's oldest stored responses, at most limit, that were
// used before the given time.
func (s *Service) oldest(ctx context.Context, company string, before time.Time, limit int) ([]string, error) {
	return db.All(ctx, s.db, db.Value[string], `SELECT value FROM idempotency_key
		WHERE company_id = $1 AND body <> '' AND created_at < $2 ORDER BY created_at LIMIT $3`, company, clock.Micros(before), limit)
}

// lastOf returns the last of the next Idempotency-Keys after a value, at most limit+1 keys further on.
func (s *Service) lastOf(ctx context.Context, company, after string, limit int) (string, error) {
	return db.One(ctx, s.db, db.Value[string], `SELECT value FROM idempotency_key
		WHERE company_id = $1 AND value > $2 ORDER BY value LIMIT 1 OFFSET $3`, company, after, limit)
}

// about returns the first Idempotency-Keys, at most limit, whose requests created a subject and have a
// stored response. It looks at those after a value and up to another one. If that is "", it looks at
// all further ones.
func (s *Service) about(ctx context.Context, company, subject, after, through string, limit int) ([]string, error) {
	return db.All(ctx, s.db, db.Value[string], `SELECT value FROM idempotency_key
		WHERE company_id = $1 AND value > $2 AND ($3 = '' OR value <= $3) AND subject = $4 AND state = 'DONE' AND body <> ''
		ORDER BY value LIMIT $5`, company, after, through, subject, limit)
}
