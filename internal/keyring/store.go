package keyring

import (
	"context"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
)

// takeLock makes the statements of all programs about a ring wait for each other until the
// transaction ends.
func takeLock(ctx context.Context, q db.Querier, ring string) error {
	_, err := q.Exec(ctx, `INSERT INTO keyring (ring, turns) VALUES ($1, 1) ON CONFLICT (ring) DO UPDATE SET turns = keyring.turns + 1`, ring)
	return err
}

// findPrograms returns the programs that stated their keys after a time.
func findPrograms(ctx context.Context, q db.Querier, ring string, after time.Time) ([]Program, error) {
	return db.All(ctx, q, db.Fields[Program], `SELECT id, name, holds, writes, seen_at FROM keyring_program
		WHERE ring = $1 AND seen_at > $2 ORDER BY name, id`, ring, clock.Micros(after))
}

func upsertProgram(ctx context.Context, q db.Querier, ring string, p Program) error {
	_, err := q.Exec(ctx, `
		INSERT INTO keyring_program (ring, id, name, holds, writes, seen_at) VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (ring, id) DO UPDATE SET holds = excluded.holds, writes = excluded.writes, seen_at = excluded.seen_at`,
		ring, p.ID, p.Name, p.holds, p.Writes, clock.Micros(p.SeenAt))
	return err
}

func removeProgram(ctx context.Context, q db.Querier, programID string) error {
	_, err := q.Exec(ctx, `DELETE FROM keyring_program WHERE id = $1`, programID)
	return err
}

func forgetPrograms(ctx context.Context, q db.Querier, before time.Time) error {
	_, err := q.Exec(ctx, `DELETE FROM keyring_program WHERE seen_at < $1`, clock.Micros(before))
	return err
}

func findLines(ctx context.Context, q db.Querier, ring string) ([]Line, error) {
	return db.All(ctx, q, db.Fields[Line], `SELECT id, first_at, last_at, callback_at, revoke_at, told_at, revoked_at, removed_at
		FROM keyring_line WHERE ring = $1 ORDER BY first_at, id`, ring)
}

// upsertLine records that a program writes with a key now.
func upsertLine(ctx context.Context, q db.Querier, ring, keyID string, at time.Time) error {
	_, err := q.Exec(ctx, `
		INSERT INTO keyring_line (ring, id, first_at, last_at, callback_at, revoke_at, told_at, revoked_at, removed_at)
		VALUES ($1, $2, $3, $3, 0, 0, 0, 0, 0)
		ON CONFLICT (ring, id) DO UPDATE SET last_at = excluded.last_at`, ring, keyID, clock.Micros(at))
	return err
}

// noteCallback records that a provider used a callback address that follows from a key.
func noteCallback(ctx context.Context, q db.Querier, ring, keyID string, at time.Time) error {
	_, err := q.Exec(ctx, `UPDATE keyring_line SET callback_at = $3 WHERE ring = $1 AND id = $2`, ring, keyID, clock.Micros(at))
	return err
}

// removeLine records that nothing depends on a key, so that no program needs it.
func removeLine(ctx context.Context, q db.Querier, ring, keyID string, at time.Time) error {
	_, err := q.Exec(ctx, `UPDATE keyring_line SET removed_at = $3 WHERE ring = $1 AND id = $2`, ring, keyID, clock.Micros(at))
	return err
}

// dependents counts the rows that a key made, in each place. The parameters are a pattern for the
// values that the key made, and a time in microseconds if the place has a time limit.
var dependents = []Place{
	{Name: "API keys", Ends: AtUse, sql: `SELECT count(*) FROM company_api_key
		WHERE hash LIKE $1 AND state = 'ACTIVE' AND (expires_at = 0 OR expires_at > $2)`, since: -1},
	{Name: "transaction PINs", Ends: AtUse, sql: `SELECT count(*) FROM company_pin WHERE hash LIKE $1`},
	{Name: "operators' keys", Ends: AtUse, sql: `SELECT count(*) FROM operator_key WHERE hash LIKE $1 AND state = 'ACTIVE'`},
	{Name: "passkeys, passwords and one-time codes", Ends: ByRekey, sql: `SELECT count(*) FROM person_credential WHERE secret LIKE $1`},
	{Name: "open sessions of people", Ends: ByTime, sql: `SELECT count(*) FROM person_session WHERE hash LIKE $1 AND began_at > $2`, since: sessionLife},
	{Name: "codes of invitations", Ends: ByTime, sql: `SELECT count(*) FROM person_link WHERE code LIKE $1 AND used_at = 0 AND expires_at > $2`, since: -1},
	{Name: "BVNs", Ends: ByRekey, sql: `SELECT count(*) FROM identity_session WHERE bvn LIKE $1 OR subject LIKE $1`},
	{Name: "identities of erased customers", Ends: ByRekey, sql: `SELECT count(*) FROM erasure WHERE identity LIKE $1`},
	{Name: "webhook secrets", Ends: ByRekey, sql: `SELECT count(*) FROM webhook_endpoint WHERE secret LIKE $1 OR old_secret LIKE $1`},
	{Name: "stored responses with a secret", Ends: ByRekey, prefix: "sealed:", sql: `SELECT count(*) FROM idempotency_key WHERE body LIKE $1`},
	{Name: "notifications", Ends: ByRekey, sql: `SELECT count(*) FROM inbox_notification WHERE body LIKE $1`},
	{Name: "key and PIN tokens", Ends: ByTime, sql: `SELECT count(*) FROM company_token
		WHERE hash LIKE $1 AND state = 'OPEN' AND expires_at > $2`, since: -1},
	{Name: "OTP counters", Ends: ByTime, sql: `SELECT count(*) FROM identity_attempt WHERE subject LIKE $1 AND asked_at > $2`, since: otpLife},
	{Name: "Idempotency-Keys with a stored response", Ends: ByTime, sql: `SELECT count(*) FROM idempotency_key
		WHERE fingerprint LIKE $1 AND (body <> '' OR state = 'RUNNING')`},
}

// countPlace counts the rows of a place that a key made.
func countPlace(ctx context.Context, q db.Querier, p Place, keyID string, now time.Time) (int64, error) {
	args := []any{p.prefix + keyID + "$%"}
	switch {
	case p.since < 0:
		args = append(args, clock.Micros(now))
	case p.since > 0:
		args = append(args, clock.Micros(now.Add(-p.since)))
	}
	return db.One(ctx, q, db.Value[int64], p.sql, args...)
}

// countTokens counts the refresh tokens that may be signed with a key: those from the time in which
// programs wrote with the key, which may be longer than they have stated, and after an instant.
func countTokens(ctx context.Context, q db.Querier, l Line, after time.Time) (int64, error) {
	return db.One(ctx, q, db.Value[int64], `SELECT count(*) FROM company_refresh_token
		WHERE issued_at >= $1 AND issued_at <= $2 AND issued_at > $3`,
		clock.Micros(l.FirstAt.Add(-unstated)), clock.Micros(l.LastAt.Add(unstated)), clock.Micros(after))
}

// sealedRows reads the sealed values of each table, in the order of its primary key. A row has
// the company, the key, two sealed values and the rest that the rewriting needs.
var sealedRows = map[string]string{
	"identity_session": `SELECT company_id, id, bvn, subject, purpose FROM identity_session
		WHERE (company_id, id) > ($1, $2) ORDER BY company_id, id LIMIT $3`,
	"erasure": `SELECT company_id, customer_id, identity, '', '' FROM erasure
		WHERE (company_id, customer_id) > ($1, $2) ORDER BY company_id, customer_id LIMIT $3`,
	"person_credential": `SELECT company, id, secret, '', '' FROM person_credential
		WHERE (company, id) > ($1, $2) ORDER BY company, id LIMIT $3`,
	"webhook_endpoint": `SELECT company_id, id, secret, old_secret, '' FROM webhook_endpoint
		WHERE (company_id, id) > ($1, $2) ORDER BY company_id, id LIMIT $3`,
	"idempotency_key": `SELECT company_id, value, CASE WHEN body LIKE 'sealed:%' THEN body ELSE '' END, '', '' FROM idempotency_key
		WHERE (company_id, value) > ($1, $2) ORDER BY company_id, value LIMIT $3`,
	"inbox_notification": `SELECT company_id, id, body, '', '' FROM inbox_notification
		WHERE (company_id, id) > ($1, $2) ORDER BY company_id, id LIMIT $3`,
}

// counts counts the rows of each table with sealed values.
var counts = map[string]string{
	"identity_session":   `SELECT count(*) FROM identity_session`,
	"erasure":            `SELECT count(*) FROM erasure`,
	"person_credential":  `SELECT count(*) FROM person_credential`,
	"webhook_endpoint":   `SELECT count(*) FROM webhook_endpoint`,
	"idempotency_key":    `SELECT count(*) FROM idempotency_key`,
	"inbox_notification": `SELECT count(*) FROM inbox_notification`,
}

// replacements replaces the sealed values of a row, unless the row has changed since it was read. Only
// the ledger changes the rows of idempotency_key, because it signs them.
var replacements = map[string]string{
	"identity_session": `UPDATE identity_session SET bvn = $5, subject = $6
		WHERE company_id = $1 AND id = $2 AND bvn = $3 AND subject = $4 AND ($6 = '' OR NOT EXISTS (
			SELECT 1 FROM identity_session AS other WHERE other.company_id = $1 AND other.purpose = $7 AND other.subject = $6 AND other.subject <> '' AND other.id <> $2))`,
	"erasure": `UPDATE erasure SET identity = $5
		WHERE company_id = $1 AND customer_id = $2 AND identity = $3 AND $4 = '' AND $6 = '' AND $7 = ''`,
	"person_credential": `UPDATE person_credential SET secret = $5
		WHERE company = $1 AND id = $2 AND secret = $3 AND $4 = '' AND $6 = '' AND $7 = ''`,
	"webhook_endpoint": `UPDATE webhook_endpoint SET secret = $5, old_secret = $6
		WHERE company_id = $1 AND id = $2 AND secret = $3 AND old_secret = $4 AND $7 = ''`,
	"inbox_notification": `UPDATE inbox_notification SET body = $5
		WHERE company_id = $1 AND id = $2 AND body = $3 AND $4 = '' AND $6 = '' AND $7 = ''`,
}

func countRows(ctx context.Context, q db.Querier, table string) (int64, error) {
	return db.One(ctx, q, db.Value[int64], counts[table])
}

func findRows(ctx context.Context, q db.Querier, table string, at cursor, limit int) ([]row, error) {
	return db.All(ctx, q, db.Fields[row], sealedRows[table], at.Company, at.Row, int64(limit))
}

// replaceRow reports whether the row was unchanged, so that the new values are written.
func replaceRow(ctx context.Context, q db.Querier, table string, old, next row) (bool, error) {
	n, err := q.Exec(ctx, replacements[table], old.Company, old.ID, old.First, old.Second, next.First, next.Second, old.Rest)
	return n == 1, err
}

// findCursor returns the last row that an earlier run has sealed with the key.
func findCursor(ctx context.Context, q db.Querier, table, keyID string) (cursor, error) {
	return db.OrZero(db.One(ctx, q, db.Fields[cursor], `SELECT company, row_id FROM keyring_progress WHERE place = $1 AND key_id = $2`, table, keyID))
}

func saveCursor(ctx context.Context, q db.Querier, table, keyID string, at cursor) error {
	_, err := q.Exec(ctx, `INSERT INTO keyring_progress (place, key_id, company, row_id) VALUES ($1, $2, $3, $4)
		ON CONFLICT (place) DO UPDATE SET key_id = excluded.key_id, company = excluded.company, row_id = excluded.row_id`,
		table, keyID, at.Company, at.Row)
	return err
}

func forgetCursor(ctx context.Context, q db.Querier, table string) error {
	_, err := q.Exec(ctx, `DELETE FROM keyring_progress WHERE place = $1`, table)
	return err
}

// planRevocation sets the time at which all keys but the current one are revoked.
func planRevocation(ctx context.Context, q db.Querier, ring, current string, at time.Time) error {
	_, err := q.Exec(ctx, `UPDATE keyring_line SET revoke_at = $3, told_at = 0
		WHERE ring = $1 AND id <> $2 AND removed_at = 0 AND revoked_at = 0`, ring, current, clock.Micros(at))
	return err
}

func noteTold(ctx context.Context, q db.Querier, ring, keyID string, at time.Time) error {
	_, err := q.Exec(ctx, `UPDATE keyring_line SET told_at = $3 WHERE ring = $1 AND id = $2`, ring, keyID, clock.Micros(at))
	return err
}

func noteRevoked(ctx context.Context, q db.Querier, ring, keyID string, at time.Time) error {
	_, err := q.Exec(ctx, `UPDATE keyring_line SET revoked_at = $3 WHERE ring = $1 AND id = $2`, ring, keyID, clock.Micros(at))
	return err
}

// companiesOf returns the companies with an API key or a PIN that a master key has hashed.
func companiesOf(ctx context.Context, q db.Querier, keyID string) ([]string, error) {
	return db.All(ctx, q, db.Value[string], `SELECT company_id FROM company_api_key WHERE hash LIKE $1 AND state = 'ACTIVE'
		UNION SELECT company_id FROM company_pin WHERE hash LIKE $1 AND state = 'SET' ORDER BY company_id`, keyID+"$%")
}

// keysOf returns the IDs of a company's valid API keys that a master key has hashed.
func keysOf(ctx context.Context, q db.Querier, company, keyID string, now time.Time) ([]string, error) {
	return db.All(ctx, q, db.Value[string], `SELECT id FROM company_api_key
		WHERE company_id = $1 AND hash LIKE $2 AND state = 'ACTIVE' AND (expires_at = 0 OR expires_at > $3) ORDER BY id`,
		company, keyID+"$%", clock.Micros(now))
}

// hasPINOf reports whether a company has an unlocked PIN that a master key has hashed.
func hasPINOf(ctx context.Context, q db.Querier, company, keyID string) (bool, error) {
	n, err := db.One(ctx, q, db.Value[int64], `SELECT count(*) FROM company_pin
		WHERE company_id = $1 AND hash LIKE $2 AND state = 'SET'`, company, keyID+"$%")
	return n > 0, err
}
