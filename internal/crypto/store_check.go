package crypto

import (
	"context"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/inbox"
)

const checkedColumns = `company_id, network_id, address, block_number, units, sent`

var (
	checkedTable = db.Declare[checked]("crypto_balance", db.Reads(checkedColumns))
	nativeTable  = db.Declare[seenMovement]("crypto_transaction", db.Reads(`kind, state, units`))
	noticeTable  = db.Declare[notice]("crypto_notice", db.Reads(`id, body`))
	ownedTable   = db.Declare[owned]("crypto_directory", db.Reads(`address, company_id`))
)

// owned is an address in the directory of all companies, and its owner.
type owned struct {
	address string `db:"address"`
	company string `db:"company_id"`
}

// directory returns the addresses of a network after an address, in order.
func (s *Service) directory(ctx context.Context, networkID, after string, limit int) ([]owned, error) {
	return db.All(ctx, s.DB, ownedTable.Scan, `SELECT address, company_id FROM crypto_directory
		WHERE network_id = $1 AND address > $2 ORDER BY address LIMIT $3`, networkID, after, limit)
}

// readUntil returns the cursor of a custodian, or "" if the custodian was never read.
func (s *Service) readUntil(ctx context.Context, custody string) (string, error) {
	return db.One(ctx, s.DB, db.Value[string], `SELECT coalesce(max(cursor), '') FROM crypto_cursor WHERE custody = $1`, custody)
}

func (s *Service) lastBalance(ctx context.Context, company, networkID, address string) (checked, error) {
	return db.One(ctx, s.DB, checkedTable.Scan, `SELECT `+checkedColumns+` FROM crypto_balance
		WHERE company_id = $1 AND network_id = $2 AND address = $3`, company, networkID, address)
}

// setBalances stores the results of a check.
func (s *Service) setBalances(ctx context.Context, all []checked) error {
	at := clock.Micros(s.Clock.Now())
	return s.DB.Tx(ctx, func(q db.Querier) error {
		for _, c := range all {
			_, err := q.Exec(ctx, `
				INSERT INTO crypto_balance (company_id, network_id, address, block_number, units, sent, checked_at)
				VALUES ($1, $2, $3, $4, $5, $6, $7)
				ON CONFLICT (company_id, network_id, address) DO UPDATE
				SET block_number = excluded.block_number, units = excluded.units, sent = excluded.sent, checked_at = excluded.checked_at`,
				c.company, c.network, c.address, c.block, c.units, c.sent, at)
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// nativeMovements returns the movements of the native asset on an address, in the blocks after one
// block and up to the block of the check. A failed transaction moved nothing.
func (s *Service) nativeMovements(ctx context.Context, now checked, after int64) ([]seenMovement, error) {
	return db.All(ctx, s.DB, nativeTable.Scan, `SELECT kind, state, units FROM crypto_transaction
		WHERE company_id = $1 AND address = $3 AND contract = '' AND block_number > $4 AND block_number <= $5
		AND network_id = $2 AND state <> 'failed'`, now.company, now.network, now.address, after, now.block)
}

// addNotice stores a notification, and reports whether it is new.
func (s *Service) addNotice(ctx context.Context, custody, id, body string) (added bool, err error) {
	n, err := s.DB.Exec(ctx, `
		INSERT INTO crypto_notice (company_id, custody, id, body, state, received_at, read_at)
		VALUES ($1, $2, $3, $4, 'NEW', $5, 0) ON CONFLICT DO NOTHING`, inbox.House, custody, id, body, clock.Micros(s.Clock.Now()))
	return n == 1, err
}

// newNotices returns the notifications of a custodian that are not read yet.
func (s *Service) newNotices(ctx context.Context, custody string) ([]notice, error) {
	return db.All(ctx, s.DB, noticeTable.Scan,
		`SELECT id, body FROM crypto_notice WHERE company_id = $1 AND custody = $2 AND state = 'NEW' ORDER BY id`, inbox.House, custody)
}

func (s *Service) endNotice(ctx context.Context, custody, id string) error {
	_, err := s.DB.Exec(ctx, `UPDATE crypto_notice SET state = 'READ', read_at = $4 WHERE company_id = $1 AND custody = $2 AND id = $3`,
		inbox.House, custody, id, clock.Micros(s.Clock.Now()))
	return err
}
