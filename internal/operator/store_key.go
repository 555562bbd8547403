package operator

import (
	"context"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/ledger"
)

const keyColumns = `id, name, hash, state, created_at, role, expires_at, used_at`

// The MAC leaves out used_at, which gives no right.
var keyTable = db.Declare[Key]("operator_key", db.Reads(keyColumns),
	db.Rights("name", "hash", "state", "created_at", "role", "expires_at"))

// row returns the row of a key, with its MAC.
func (k Key) row() []any { return keyTable.Record(k).Put("mac", k.mac).Values }

// Keys returns all keys, the oldest first.
func (s *Service) Keys(ctx context.Context) ([]Key, error) {
	return db.All(ctx, s.db, db.Fields[Key], `SELECT `+keyColumns+`, mac FROM operator_key ORDER BY created_at, id`)
}

// insertKey inserts a key, and returns the number of rows. It inserts no row if the name has a
// working key.
func (s *Service) insertKey(ctx context.Context, q db.Querier, k Key) (int64, error) {
	signer := s.db.Signer()
	if signer == nil {
		return 0, ledger.ErrNoSigner
	}
	k.mac = signer.MAC(db.Content(nil, keyTable.Table, k.row()))
	return q.Exec(ctx, `
		INSERT INTO operator_key (`+keyColumns+`, mac) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
		ON CONFLICT DO NOTHING`, k.row()...)
}

// changeKey changes the working key of a person, and signs its row again. It returns the number of
// rows.
func (s *Service) changeKey(ctx context.Context, q db.Querier, name string, change func(k *Key)) (int64, error) {
	before, err := db.One(ctx, q, db.Fields[Key], `SELECT `+keyColumns+`, mac FROM operator_key WHERE name = $1 AND state = $2`, name, active)
	if err != nil {
		_, err = db.OrZero(before, err)
		return 0, err
	}
	after := before
	change(&after)
	n, err := s.replaceKey(ctx, q, before, after)
	if n == 0 && err == nil {
		err = fault.Newf(fault.Conflict, "The key of %s has just changed: try again", name)
	}
	return n, err
}

// renewKey stores that a key is used now, and replaces its hash with a newer hash of the same key.
func (s *Service) renewKey(ctx context.Context, k Key, hash string, now time.Time) error {
	used := k
	used.hash, used.UsedAt = hash, now
	_, err := s.replaceKey(ctx, s.db, k, used)
	return err
}

// replaceKey writes a key with a new MAC over a row that is unchanged since it was read. It returns the
// number of rows.
func (s *Service) replaceKey(ctx context.Context, q db.Querier, before, after Key) (int64, error) {
	signer := s.db.Signer()
	if signer == nil {
		return 0, ledger.ErrNoSigner
	}
	mac, _ := db.Renew(signer, keyTable.Table, before.row(), after.row(), nil)
	return q.Exec(ctx, `
		UPDATE operator_key SET hash = $6, state = $7, role = $8, used_at = $9, mac = $10
		WHERE id = $1 AND hash = $2 AND state = $3 AND role = $4 AND mac = $5`,
		before.ID, before.hash, before.State, string(before.Role), before.mac,
		after.hash, after.State, string(after.Role), clock.Micros(after.UsedAt), mac)
}

// adoptKeys signs the keys that programs of earlier schemas wrote, and returns their number.
func (s *Service) adoptKeys(ctx context.Context) (n int, err error) {
	keys, err := s.Keys(ctx)
	for _, k := range keys {
		if err != nil || ledger.Signed(s.db.Signer(), keyTable.Table, k.row()) {
			continue
		}
		var changed int64
		changed, err = s.db.Exec(ctx, `UPDATE operator_key SET mac = $6 WHERE id = $1 AND hash = $2 AND state = $3 AND role = $4 AND mac = $5`,
			k.ID, k.hash, k.State, string(k.Role), k.mac, s.db.Signer().MAC(db.Content(nil, keyTable.Table, k.row())))
		if n += int(changed); changed == 0 && err == nil {
			err = fault.Newf(fault.Conflict, "the key of %s has just changed", k.Name)
		}
	}
	return n, err
}
