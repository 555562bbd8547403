package operator

import (
	"context"
	"encoding/json"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/ledger"
)

const auditColumns = `company_id, id, operator, action, subject, created_at, details, leaf, mac`

var audit = db.Declare[auditRow]("operator_audit", db.Reads(auditColumns), db.Evidence())

// auditRow is a line of the audit log with its details as JSON.
type auditRow struct {
	Line
	Text json.RawMessage `db:"details"`
	Leaf int64           `db:"leaf"`
	MAC  string          `db:"mac"`
}

// insertLine inserts a line of the audit log that belongs to no company, without a ledger unit.
func (s *Service) insertLine(ctx context.Context, q db.Querier, line db.Record) error {
	line, err := ledger.Sign(ctx, q, s.db.Signer(), line)
	if err != nil {
		return err
	}
	_, err = q.Exec(ctx, `INSERT INTO operator_audit (`+auditColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`, line.Values...)
	return err
}

// Audit returns a page of the audit log, the newest line first, and the total count. It returns
// the lines of one company, or of all companies if company is "".
func (s *Service) Audit(ctx context.Context, company string, limit, offset int) ([]Line, int64, error) {
	return db.Page(ctx, s.db, "", func(r db.Scanner) (Line, error) {
		row, err := audit.Scan(r)
		if err == nil {
			err = json.Unmarshal(row.Text, &row.Details)
		}
		return row.Line, err
	}, `SELECT count(*) FROM operator_audit WHERE ($1 = '' OR company_id = $1)`, `SELECT `+auditColumns+` FROM operator_audit
		WHERE ($1 = '' OR company_id = $1) ORDER BY id DESC LIMIT $2 OFFSET $3`, limit, offset, company)
}

// adoptions returns the numbered lines of the audit log that show that a company's rows are signed.
func adoptions(ctx context.Context, q db.Querier, company string) ([]db.Record, error) {
	return db.All(ctx, q, func(r db.Scanner) (db.Record, error) {
		row, err := audit.Scan(r)
		return audit.Record(row), err
	}, `SELECT `+auditColumns+` FROM operator_audit
		WHERE company_id = $1 AND action IN ('company.create', 'evidence.adopt') AND leaf > 0`, company)
}

// insertKey inserts a key, and returns the number of rows. It inserts no row if the name has a
// working key.
func insertKey(ctx context.Context, q db.Querier, k Key) (int64, error) {
	return q.Exec(ctx, `
		INSERT INTO operator_key (id, name, hash, state, created_at) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT DO NOTHING`, k.ID, k.Name, k.hash, k.State, clock.Micros(k.CreatedAt))
}

func revokeKey(ctx context.Context, q db.Querier, name string) (int64, error) {
	return q.Exec(ctx, `UPDATE operator_key SET state = $2 WHERE name = $1 AND state = $3`, name, revoked, active)
}

// Keys returns all keys, the oldest first.
func (s *Service) Keys(ctx context.Context) ([]Key, error) {
	return db.All(ctx, s.db, db.Fields[Key], `SELECT id, name, hash, state, created_at FROM operator_key ORDER BY created_at, id`)
}

// rehashKey replaces the hash of a key with a newer hash of the same key.
func (s *Service) rehashKey(ctx context.Context, k Key, hash string) error {
	_, err := s.db.Exec(ctx, `UPDATE operator_key SET hash = $3 WHERE id = $1 AND hash = $2`, k.ID, k.hash, hash)
	return err
}

func findAccess(ctx context.Context, q db.Querier) (Access, error) {
	return db.One(ctx, q, db.Fields[Access], `SELECT 1, reason, closed_at FROM operator_door WHERE id = 1`)
}

func closeAccess(ctx context.Context, q db.Querier, reason string, at time.Time) error {
	_, err := q.Exec(ctx, `
		INSERT INTO operator_door (id, reason, closed_at) VALUES (1, $1, $2)
		ON CONFLICT (id) DO UPDATE SET reason = excluded.reason`, reason, clock.Micros(at))
	return err
}

func openAccess(ctx context.Context, q db.Querier) (int64, error) {
	return q.Exec(ctx, `DELETE FROM operator_door WHERE id = 1`)
}

// proofs returns a hash, called proof, of each known master key, by the id of the key. The hash
// reveals nothing about the key.
func proofs(ctx context.Context, q db.Querier) (map[string]string, error) {
	return db.Map[string, string](ctx, q, `SELECT key_id, proof FROM operator_keyring`)
}

func insertProof(ctx context.Context, q db.Querier, keyID, proof string, at time.Time) error {
	_, err := q.Exec(ctx, `INSERT INTO operator_keyring (key_id, proof, seen_at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`,
		keyID, proof, clock.Micros(at))
	return err
}
