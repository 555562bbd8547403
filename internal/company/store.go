package company

import (
	"context"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
)

var (
	companyTable = &db.Table{
		Name: "company", Key: 1, State: "kyb_status",
		Columns: append(db.Texts("company_id", "name", "kyb_status"), db.Ints("live", "created_at", "updated_at")...),
	}
	keyTable = &db.Table{
		Name: "company_api_key", Key: 2, State: "state",
		Columns: append(db.Texts("company_id", "id", "hash", "state"), db.Ints("created_at", "expires_at")...),
	}
	pinTable = &db.Table{
		Name: "company_pin", Key: 1, State: "state",
		Columns: append(db.Texts("company_id", "hash", "state"), db.Ints("failures", "updated_at")...),
	}
)

func (c Company) record() db.Record {
	return db.Record{Table: companyTable, Values: []any{
		c.Reference, c.Name, string(c.KYB), db.Flag(c.Live), clock.Micros(c.CreatedAt), clock.Micros(c.UpdatedAt),
	}}
}

func (k Key) record() db.Record {
	return db.Record{Table: keyTable, Values: []any{
		k.Company, k.ID, k.hash, k.State, clock.Micros(k.CreatedAt), clock.Micros(k.ExpiresAt),
	}}
}

const columns = `SELECT company_id, name, kyb_status, live, created_at, updated_at FROM company `

func scan(s db.Scanner) (Company, error) {
	var c Company
	var live, created, updated int64
	err := s.Scan(&c.Reference, &c.Name, &c.KYB, &live, &created, &updated)
	c.Live, c.CreatedAt, c.UpdatedAt = live == 1, clock.Time(created), clock.Time(updated)
	return c, err
}

func (s *Service) find(ctx context.Context, reference string) (Company, error) {
	return db.One(ctx, s.db, scan, columns+`WHERE company_id = $1`, reference)
}

// count and page go over all companies: they answer operators.
func (s *Service) count(ctx context.Context) (int64, error) {
	return db.One(ctx, s.db, db.Value[int64], `SELECT count(*) FROM company`)
}

func (s *Service) page(ctx context.Context, limit, offset int) ([]Company, error) {
	return db.All(ctx, s.db, scan, columns+`ORDER BY created_at DESC, company_id LIMIT $1 OFFSET $2`, limit, offset)
}

func scanKey(s db.Scanner) (Key, error) {
	var k Key
	var created, expires int64
	err := s.Scan(&k.Company, &k.ID, &k.hash, &k.State, &created, &expires)
	k.CreatedAt, k.ExpiresAt = clock.Time(created), clock.Time(expires)
	return k, err
}

func (s *Service) findKeys(ctx context.Context, reference string) ([]Key, error) {
	return db.All(ctx, s.db, scanKey, `
		SELECT company_id, id, hash, state, created_at, expires_at FROM company_api_key
		WHERE company_id = $1 ORDER BY created_at, id`, reference)
}

// rehashKey changes nothing but how the same key is hashed, and only if nobody
// was faster.
func (s *Service) rehashKey(ctx context.Context, k Key, hash string) error {
	_, err := s.db.Exec(ctx, `
		UPDATE company_api_key SET hash = $4 WHERE company_id = $1 AND id = $2 AND hash = $3`, k.Company, k.ID, k.hash, hash)
	return err
}

func (s *Service) replaceRefresh(ctx context.Context, reference, tokenID, keyID string, now time.Time) error {
	_, err := s.db.Exec(ctx, `
		INSERT INTO company_refresh_token (company_id, token_id, api_key_id, issued_at) VALUES ($1, $2, $3, $4)
		ON CONFLICT (company_id) DO UPDATE
		SET token_id = excluded.token_id, api_key_id = excluded.api_key_id, issued_at = excluded.issued_at`,
		reference, tokenID, keyID, clock.Micros(now))
	return err
}

// workingRefresh is the id of the refresh token that works: the latest, as long
// as its API key is neither revoked nor expired.
func (s *Service) workingRefresh(ctx context.Context, reference string, now time.Time) (string, error) {
	return db.One(ctx, s.db, db.Value[string], `
		SELECT t.token_id FROM company_refresh_token t
		JOIN company_api_key k ON k.company_id = t.company_id AND k.id = t.api_key_id
		WHERE t.company_id = $1 AND k.state = $2 AND (k.expires_at = 0 OR k.expires_at > $3)`, reference, keyActive, clock.Micros(now))
}

// lockPIN reads the PIN's row and keeps others from it until the transaction
// ends.
func lockPIN(ctx context.Context, q db.Querier, reference string) (pin, error) {
	return db.One(ctx, q, func(s db.Scanner) (pin, error) {
		var p pin
		err := s.Scan(&p.hash, &p.state, &p.failures)
		return p, err
	}, `SELECT hash, state, failures FROM company_pin WHERE company_id = $1 FOR UPDATE`, reference)
}

func (s *Service) pinState(ctx context.Context, reference string) (string, error) {
	return db.One(ctx, s.db, db.Value[string], `SELECT state FROM company_pin WHERE company_id = $1`, reference)
}

func savePIN(ctx context.Context, q db.Querier, reference string, p pin, now time.Time) error {
	_, err := q.Exec(ctx, `
		UPDATE company_pin SET hash = $2, state = $3, failures = $4, updated_at = $5 WHERE company_id = $1`,
		reference, p.hash, p.state, p.failures, clock.Micros(now))
	return err
}
