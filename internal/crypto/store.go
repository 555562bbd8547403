package crypto

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"time"

	"github.com/kobo-waas/kobo/internal/chain"
	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/inbox"
)

const (
	keyColumns     = `company_id, id, kind, version, xpub, source, created_at`
	addressColumns = `company_id, key_id, address_index, network_id, address, label, state, custody, reference, created_at,
	updated_at`
	transactionColumns = `company_id, id, seen, attempt, kind, state, network_id, asset, contract, decimals, units, address, counter,
	tx_hash, block_number, block_hash, custody, misses, lost_at, raw, created_at, updated_at`

	checkedColumns = `company_id, network_id, address, block_number, units, sent`

	transactionsWhere = `SELECT ` + transactionColumns + ` FROM crypto_transaction WHERE `
)

var (
	keyTable         = db.Declare[Key]("crypto_key", db.Reads(keyColumns))
	addressTable     = db.Declare[Address]("crypto_address", db.Reads(addressColumns))
	transactionTable = db.Declare[Transaction]("crypto_transaction", db.Reads(transactionColumns),
		db.Unique("company_id", "seen", "attempt"))

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

// draw returns the next number of a sequence that all companies share.
func (s *Service) draw(ctx context.Context, name string) (number int64, err error) {
	err = s.DB.Tx(ctx, func(q db.Querier) error {
		number, err = db.One(ctx, q, db.Value[int64], `
			INSERT INTO crypto_number (name, last) VALUES ($1, 1)
			ON CONFLICT (name) DO UPDATE SET last = crypto_number.last + 1 RETURNING last`, name)
		return err
	})
	return number, err
}

// highest returns the number of the company's latest transaction, or 0 if it has no transaction.
func (s *Service) highest(ctx context.Context, company string) (int64, error) {
	return db.One(ctx, s.DB, db.Value[int64], `SELECT coalesce(max(id), 0) FROM crypto_transaction WHERE company_id = $1`, company)
}

// enterKey adds a key to the directory of all companies and returns the key's owner. The owner is
// the company that added the key first.
func (s *Service) enterKey(ctx context.Context, k Key) (owner string, err error) {
	return db.Reserve(ctx, s.DB, `INSERT INTO crypto_owner (xpub, company_id) VALUES ($1, $2) ON CONFLICT DO NOTHING`,
		`SELECT company_id FROM crypto_owner WHERE xpub = $1`, k.Company, k.Public.String())
}

// findOwner returns the company that added a key to the directory of all companies.
func (s *Service) findOwner(ctx context.Context, public chain.Key) (string, error) {
	return db.One(ctx, s.DB, db.Value[string], `SELECT company_id FROM crypto_owner WHERE xpub = $1`, public.String())
}

const selectOwner = `SELECT company_id FROM crypto_directory WHERE network_id = $1 AND address = $2`

// enterAddress adds an address to the directory of all companies and returns the address's owner.
// The owner is the company that added the address first.
func (s *Service) enterAddress(ctx context.Context, networkID, address, company string) (owner string, err error) {
	return db.Reserve(ctx, s.DB, `
		INSERT INTO crypto_directory (network_id, address, company_id) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`,
		selectOwner, company, networkID, address)
}

func (s *Service) owner(ctx context.Context, networkID, address string) (string, error) {
	return db.One(ctx, s.DB, db.Value[string], selectOwner, networkID, address)
}

// ours returns which of the given addresses are in the directory. It always reads the database, so
// it immediately finds addresses that a different program has added.
func (s *Service) ours(ctx context.Context, networkID string, addresses []string) (map[string]bool, error) {
	found := map[string]bool{}
	if len(addresses) == 0 {
		return found, nil
	}
	list, err := db.All(ctx, s.DB, db.Value[string],
		`SELECT address FROM crypto_directory WHERE network_id = $1 AND address = ANY($2)`, networkID, addresses)
	for _, a := range list {
		found[a] = true
	}
	return found, err
}

func scanKey(r db.Scanner) (Key, error) {
	k, err := keyTable.Scan(r)
	if err != nil {
		return k, err
	}
	k.Public, err = chain.ReadKey(k.xpub)
	return k, err
}

func (s *Service) findKey(ctx context.Context, company string, kind chain.Kind) (Key, error) {
	return db.One(ctx, s.DB, scanKey,
		`SELECT `+keyColumns+` FROM crypto_key WHERE company_id = $1 AND kind = $2 ORDER BY version DESC LIMIT 1`, company, string(kind))
}

// Keys returns all keys of a company, sorted by kind. The key in force of each kind comes first.
func (s *Service) Keys(ctx context.Context, company string) ([]Key, error) {
	return db.All(ctx, s.DB, scanKey, `SELECT `+keyColumns+` FROM crypto_key WHERE company_id = $1 ORDER BY kind, version DESC`, company)
}

// nextIndex returns the first derivation index of a key for which no address is stored yet.
func (s *Service) nextIndex(ctx context.Context, k Key) (int64, error) {
	return db.One(ctx, s.DB, db.Value[int64],
		`SELECT coalesce(max(address_index), -1) + 1 FROM crypto_address WHERE company_id = $1 AND key_id = $2`, k.Company, k.ID)
}

func (s *Service) findAddress(ctx context.Context, company, keyID string, index int64) (Address, error) {
	a, err := db.One(ctx, s.DB, addressTable.Scan, `SELECT `+addressColumns+` FROM crypto_address
		WHERE company_id = $1 AND key_id = $2 AND address_index = $3`, company, keyID, index)
	n := s.networks[a.NetworkID]
	a.Chain, a.Name = n.Chain, n.Name
	return a, err
}

func (s *Service) addresses(ctx context.Context, company, networkID string) ([]Address, error) {
	return db.All(ctx, s.DB, addressTable.Scan, `SELECT `+addressColumns+` FROM crypto_address
		WHERE company_id = $1 AND network_id = $2 AND state = 'WATCHED' ORDER BY created_at, address_index`, company, networkID)
}

// watchedElsewhere returns the company's addresses on a network that a different custodian watches, in the order of their keys.
// They follow the address last.
func (s *Service) watchedElsewhere(ctx context.Context, company, networkID, custody string, last Address, limit int) ([]Address, error) {
	return db.All(ctx, s.DB, addressTable.Scan, `SELECT `+addressColumns+` FROM crypto_address
		WHERE company_id = $1 AND network_id = $2 AND custody <> $3 AND (key_id > $4 OR key_id = $4 AND address_index > $5)
		ORDER BY key_id, address_index LIMIT $6`, company, networkID, custody, last.KeyID, last.Index, limit)
}

func scanTransaction(r db.Scanner) (Transaction, error) {
	t, err := transactionTable.Scan(r)
	if err != nil {
		return t, err
	}
	var ok bool
	if t.Units, ok = new(big.Int).SetString(t.units, 10); !ok {
		return t, errors.New("crypto: units that are no number")
	}
	return t, nil
}

func (s *Service) findTransaction(ctx context.Context, company string, number int64) (Transaction, error) {
	return db.One(ctx, s.DB, scanTransaction, transactionsWhere+`company_id = $1 AND id = $2`, company, number)
}

// findSeen returns the latest transaction that was recorded for a movement. The parameter seen has
// the texts that may identify the movement.
func (s *Service) findSeen(ctx context.Context, company string, seen ...string) (Transaction, error) {
	return db.One(ctx, s.DB, scanTransaction,
		transactionsWhere+`company_id = $1 AND seen = ANY($2) ORDER BY attempt DESC LIMIT 1`, company, seen)
}

// inBlocks returns all companies' transactions in the blocks with these hashes.
func (s *Service) inBlocks(ctx context.Context, networkID string, hashes []string) ([]Transaction, error) {
	return db.All(ctx, s.DB, scanTransaction,
		transactionsWhere+`network_id = $1 AND block_hash = ANY($2) AND block_hash <> ''`, networkID, hashes)
}

// fromBlock returns all companies' transactions in the blocks from this number on.
func (s *Service) fromBlock(ctx context.Context, networkID string, number int64) ([]Transaction, error) {
	return db.All(ctx, s.DB, scanTransaction,
		transactionsWhere+`network_id = $1 AND block_number >= $2 AND block_hash <> '' AND state <> 'failed'`, networkID, number)
}

// filtered is the SQL condition for a TransactionFilter. It ignores an argument that is "" or 0. A hash is looked for as it is and
// in small letters, with and without 0x.
const filtered = `company_id = $1 AND (kind = $2 OR $2 = '') AND (state = $3 OR $3 = '') AND (network_id = $4 OR $4 = '')
		AND (asset = $5 OR $5 = '') AND (tx_hash IN ($6, $10, $11) OR $6 = '') AND (address = $7 OR $7 = '')
		AND (created_at >= $8 OR $8 = 0) AND (created_at < $9 OR $9 = 0) `

func (f TransactionFilter) args(company string) []any {
	with, without := chain.Network{Kind: chain.EVM}.FoldHash(f.Hash), chain.Network{Kind: chain.Tron}.FoldHash(f.Hash)
	return []any{company, f.Type, f.Status, f.NetworkID, f.Asset, f.Hash, f.Address, clock.Micros(f.From), clock.Micros(f.To), with, without}
}

// Transactions returns a page of the company's transactions, newest first, and the total count.
// Without a filter, a page is a range of the transactions' numbers, which have no gaps.
func (s *Service) Transactions(ctx context.Context, company string, f TransactionFilter, offset, limit int) ([]Transaction, int, error) {
	if f == (TransactionFilter{}) {
		last, err := s.highest(ctx, company)
		if err != nil {
			return nil, 0, err
		}
		high := last - int64(offset)
		list, err := db.All(ctx, s.DB, scanTransaction,
			transactionsWhere+`company_id = $1 AND id <= $2 AND id > $3 ORDER BY id DESC`, company, high, high-int64(limit))
		return list, int(last), err
	}
	list, total, err := db.Page(ctx, s.DB, company, scanTransaction, `SELECT count(*) FROM crypto_transaction WHERE `+filtered,
		transactionsWhere+filtered+`ORDER BY id DESC LIMIT $12 OFFSET $13`, limit, offset, f.args(company)...)
	return list, int(total), err
}

// Cursor returns the place of a transaction in the list of the company's transactions, which their numbers order.
func (t Transaction) Cursor() string { return db.Place{At: t.ID}.Cursor() }

// TransactionsAfter returns at most limit transactions of the company that match a filter, the newest first. They follow the
// transaction with the cursor after, which is "" for the newest ones. A wrong cursor is a fault of the kind Invalid.
func (s *Service) TransactionsAfter(ctx context.Context, company string, f TransactionFilter, after string, limit int) ([]Transaction, error) {
	at, err := db.PlaceOf(after)
	if err != nil {
		return nil, err
	}
	return db.All(ctx, s.DB, scanTransaction, transactionsWhere+filtered+`AND id < $12 ORDER BY id DESC LIMIT $13`, append(f.args(company), at.At, limit)...)
}

// takeCursor leases a custodian's cursor and returns it. The result mine is false if a different
// program has the lease. A lease that ends too late is over, because it began while a clock was ahead. A program that stops does not interrupt this, because without the reply to the COMMIT it could not give the lease back.
func (s *Service) takeCursor(ctx context.Context, custody string, now, until time.Time) (cursor string, mine bool, err error) {
	err = s.DB.Tx(context.WithoutCancel(ctx), func(q db.Querier) error {
		n, err := q.Exec(ctx, `
			INSERT INTO crypto_cursor (custody, cursor, reader, lease_until, updated_at) VALUES ($1, '', $2, $4, $3)
			ON CONFLICT (custody) DO UPDATE SET reader = excluded.reader, lease_until = excluded.lease_until
			WHERE crypto_cursor.lease_until <= $3 OR crypto_cursor.lease_until > $5 OR crypto_cursor.reader = $2`,
			custody, s.reader, clock.Micros(now), clock.Micros(until), clock.Micros(until.Add(time.Minute)))
		if mine = n == 1; err != nil || !mine {
			return err
		}
		cursor, err = db.One(ctx, q, db.Value[string], `SELECT cursor FROM crypto_cursor WHERE custody = $1`, custody)
		return err
	})
	return cursor, mine, err
}

// releaseCursor stores a custodian's cursor and ends the lease. The column updated_at keeps the time
// of the last read that succeeded. releaseCursor returns an error if a different program has taken
// the lease in the meantime.
func (s *Service) releaseCursor(ctx context.Context, custody, cursor string, succeeded bool) error {
	read := int64(0)
	if succeeded {
		read = clock.Micros(s.Clock.Now())
	}
	n, err := s.DB.Exec(context.WithoutCancel(ctx), `
		UPDATE crypto_cursor SET cursor = $3, lease_until = 0, updated_at = CASE WHEN $4 > updated_at THEN $4 ELSE updated_at END
		WHERE custody = $1 AND reader = $2`,
		custody, s.reader, cursor, read)
	if err == nil && n == 0 {
		err = fmt.Errorf("crypto: the reading of %s was taken by another program", custody)
	}
	return err
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
