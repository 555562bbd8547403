package request

import (
	"context"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
)

const columns = `company_id, id, method, path, status, reason, request_id, idempotency_key, api_key_id, address, body, took_micros, created_at, subject`

var entries = db.Declare[Entry]("request_log", db.Reads(columns))

func (s *Service) insert(ctx context.Context, list []Entry) error {
	rows := make([]db.Record, len(list))
	for i, e := range list {
		rows[i] = entries.Record(e)
	}
	return s.DB.Insert(ctx, rows...)
}

// page returns the newest entries that match a filter, among the first entries below an ID and not
// below another.
func (s *Service) page(ctx context.Context, company string, f Filter, after, before string, limit int) ([]Entry, error) {
	return db.All(ctx, s.DB, entries.Scan, `SELECT `+columns+` FROM (
			SELECT `+columns+` FROM request_log WHERE company_id = $1 AND id >= $2 AND id < $3 ORDER BY id DESC LIMIT $4) AS newest
		WHERE ($5 = '' OR method = $5) AND status >= $6 AND status <= $7 AND ($8 = '' OR request_id = $8) AND ($9 = '' OR idempotency_key = $9)
		ORDER BY id DESC LIMIT $10`,
		company, after, before, reach, f.Method, f.Least, f.Most, f.RequestID, f.IdempotencyKey, limit)
}

// seen returns the number of the entries at which page looks, and the lowest of their IDs.
func (s *Service) seen(ctx context.Context, company, after, before string) (n int64, lowest string, err error) {
	type answer struct {
		n      int64
		lowest string
	}
	a, err := db.One(ctx, s.DB, db.Fields[answer], `SELECT count(*), coalesce(min(id), '') FROM (
		SELECT id FROM request_log WHERE company_id = $1 AND id >= $2 AND id < $3 ORDER BY id DESC LIMIT $4) AS newest`,
		company, after, before, reach)
	return a.n, a.lowest, err
}

// companyAfter returns the next company with entries, in the order of references.
func (s *Service) companyAfter(ctx context.Context, company string) (string, error) {
	return db.One(ctx, s.DB, db.Value[string],
		`SELECT company_id FROM request_log WHERE company_id > $1 ORDER BY company_id LIMIT 1`, company)
}

// oldest returns the ID of the oldest of a company's newest entries, or "" if the company has no more
// entries than that.
func (s *Service) oldest(ctx context.Context, company string, most int) (string, error) {
	return db.OrZero(db.One(ctx, s.DB, db.Value[string],
		`SELECT id FROM request_log WHERE company_id = $1 ORDER BY id DESC LIMIT 1 OFFSET $2`, company, most-1))
}

// remove deletes the oldest entries below an ID, and returns how many it deleted.
func (s *Service) remove(ctx context.Context, company, before string, limit int) (int64, error) {
	return s.DB.Exec(ctx, `DELETE FROM request_log WHERE company_id = $1 AND id IN (
		SELECT id FROM request_log WHERE company_id = $1 AND id < $2 ORDER BY id LIMIT $3)`, company, before, limit)
}

// storeUses stores uses in one transaction, unless later ones are stored.
func (s *Service) storeUses(ctx context.Context, keys []keyOf, last map[keyOf]Use) error {
	return s.DB.Tx(ctx, func(q db.Querier) error {
		for _, k := range keys {
			_, err := q.Exec(ctx, `INSERT INTO request_key_use (company_id, key_id, used_at, address) VALUES ($1, $2, $3, $4)
				ON CONFLICT (company_id, key_id) DO UPDATE SET used_at = excluded.used_at, address = excluded.address
				WHERE request_key_use.used_at < excluded.used_at`, k.company, k.id, clock.Micros(last[k].At), last[k].Address)
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// storedUses returns the stored uses of some keys.
func (s *Service) storedUses(ctx context.Context, company string, keys []string) (map[string]Use, error) {
	type row struct {
		id      string
		used    int64
		address string
	}
	list, err := db.All(ctx, s.DB, db.Fields[row], `SELECT key_id, used_at, address FROM request_key_use WHERE company_id = $1 AND key_id = ANY($2)`, company, keys)
	out := map[string]Use{}
	for _, r := range list {
		out[r.id] = Use{clock.Time(r.used), r.address}
	}
	return out, err
}
