package crypto

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"time"

	"github.com/kobo-waas/kobo/internal/chain"
	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/ledger"
)

var (
	keyTable = &db.Table{
		Name: "crypto_key", Key: 2,
		Columns: []db.Column{
			{Name: "company_id"},
			{Name: "id"},
			{Name: "kind"},
			{Name: "version", Type: db.Int},
			{Name: "xpub"},
			{Name: "source"},
			{Name: "created_at", Type: db.Int},
		},
	}
	addressTable = &db.Table{
		Name: "crypto_address", Key: 3, State: "state",
		Columns: []db.Column{
			{Name: "company_id"},
			{Name: "key_id"},
			{Name: "address_index", Type: db.Int},
			{Name: "network_id"},
			{Name: "address"},
			{Name: "label"},
			{Name: "state"},
			{Name: "custody"},
			{Name: "reference"},
			{Name: "created_at", Type: db.Int},
			{Name: "updated_at", Type: db.Int},
		},
	}
	transactionTable = &db.Table{
		Name: "crypto_transaction", Key: 2, State: "state", Unique: []string{"company_id", "seen", "attempt"},
		Columns: []db.Column{
			{Name: "company_id"},
			{Name: "id", Type: db.Int},
			{Name: "seen"},
			{Name: "attempt", Type: db.Int},
			{Name: "kind"},
			{Name: "state"},
			{Name: "network_id"},
			{Name: "asset"},
			{Name: "contract"},
			{Name: "decimals", Type: db.Int},
			{Name: "units"},
			{Name: "address"},
			{Name: "counter"},
			{Name: "tx_hash"},
			{Name: "block_number", Type: db.Int},
			{Name: "block_hash"},
			{Name: "custody"},
			{Name: "misses", Type: db.Int},
			{Name: "lost_at", Type: db.Int},
			{Name: "raw"},
			{Name: "created_at", Type: db.Int},
			{Name: "updated_at", Type: db.Int},
		},
	}
)

func (k Key) record() db.Record {
	return db.Record{Table: keyTable, Values: []any{
		k.Company, k.ID, string(k.Kind), k.Version, k.Public.String(), k.Source, clock.Micros(k.CreatedAt),
	}}
}

func (a Address) record() db.Record {
	return db.Record{Table: addressTable, Values: []any{
		a.Company, a.KeyID, a.Index, a.NetworkID, a.Address, a.Label, reserved, a.custody, "",
		clock.Micros(a.CreatedAt), clock.Micros(a.CreatedAt),
	}}
}

func (a Address) watchedBy(reference string, at time.Time) ledger.Move {
	return ledger.Move{
		Table: addressTable, Key: []any{a.Company, a.KeyID, a.Index}, From: []string{reserved}, To: watched,
		Set: []ledger.Change{{Column: "reference", Value: reference}, {Column: "updated_at", Value: clock.Micros(at)}},
	}
}

func (t Transaction) record() db.Record {
	return db.Record{Table: transactionTable, Values: []any{
		t.Company, t.ID, t.seen, t.attempt, string(t.Type), string(t.Status), t.NetworkID, t.Asset, t.Contract,
		int64(t.Decimals), t.Units.String(), t.Address, t.Counter, t.Hash, t.Block, t.blockHash, t.custody,
		t.misses, clock.Micros(t.lostAt), string(t.Raw), clock.Micros(t.CreatedAt), clock.Micros(t.UpdatedAt),
	}}
}

// move leaves the state Pending, or stays in it, with other changes.
func (t Transaction) move(to Status, at time.Time, changes ...ledger.Change) ledger.Move {
	return ledger.Move{
		Table: transactionTable, Key: []any{t.Company, t.ID}, From: []string{string(Pending)}, To: string(to),
		Set: append(changes, ledger.Change{Column: "updated_at", Value: clock.Micros(at)}),
	}
}

// draw is the next number of a name in the whole installation.
func (s *Service) draw(ctx context.Context, name string) (number int64, err error) {
	err = s.DB.Tx(ctx, func(q db.Querier) error {
		number, err = db.One(ctx, q, db.Value[int64], `
			INSERT INTO crypto_number (name, last) VALUES ($1, 1)
			ON CONFLICT (name) DO UPDATE SET last = crypto_number.last + 1 RETURNING last`, name)
		return err
	})
	return number, err
}

// highest is the number of the company's last transaction; 0 before the first.
func (s *Service) highest(ctx context.Context, company string) (int64, error) {
	return db.One(ctx, s.DB, db.Value[int64], `SELECT coalesce(max(id), 0) FROM crypto_transaction WHERE company_id = $1`, company)
}

// enterKey writes a key into the directory and tells whose it is: of two
// companies the first keeps it.
func (s *Service) enterKey(ctx context.Context, k Key) (owner string, err error) {
	err = s.DB.Tx(ctx, func(q db.Querier) error {
		_, err := q.Exec(ctx, `INSERT INTO crypto_owner (xpub, company_id) VALUES ($1, $2) ON CONFLICT DO NOTHING`,
			k.Public.String(), k.Company)
		if err != nil {
			return err
		}
		owner, err = db.One(ctx, q, db.Value[string], `SELECT company_id FROM crypto_owner WHERE xpub = $1`, k.Public.String())
		return err
	})
	return owner, err
}

// enterAddress does the same with an address.
func (s *Service) enterAddress(ctx context.Context, networkID, address, company string) (owner string, err error) {
	err = s.DB.Tx(ctx, func(q db.Querier) error {
		_, err := q.Exec(ctx, `INSERT INTO crypto_directory (network_id, address, company_id) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`,
			networkID, address, company)
		if err != nil {
			return err
		}
		owner, err = ownerOf(ctx, q, networkID, address)
		return err
	})
	return owner, err
}

func ownerOf(ctx context.Context, q db.Querier, networkID, address string) (string, error) {
	return db.One(ctx, q, db.Value[string],
		`SELECT company_id FROM crypto_directory WHERE network_id = $1 AND address = $2`, networkID, address)
}

func (s *Service) owner(ctx context.Context, networkID, address string) (string, error) {
	return ownerOf(ctx, s.DB, networkID, address)
}

// ours is which of some addresses are in the directory. Nothing is held in
// memory: an address that another program made a moment ago is found as well.
func (s *Service) ours(ctx context.Context, networkID string, addresses []string) (map[string]bool, error) {
	found := map[string]bool{}
	if len(addresses) == 0 {
		return found, nil
	}
	_, err := db.All(ctx, s.DB, func(r db.Scanner) (struct{}, error) {
		a, err := db.Value[string](r)
		found[a] = true
		return struct{}{}, err
	}, `SELECT address FROM crypto_directory WHERE network_id = $1 AND address = ANY($2)`, networkID, addresses)
	return found, err
}

const keyColumns = `SELECT company_id, id, kind, version, xpub, source, created_at FROM crypto_key `

func scanKey(r db.Scanner) (Key, error) {
	var k Key
	var xpub string
	var at int64
	if err := r.Scan(&k.Company, &k.ID, &k.Kind, &k.Version, &xpub, &k.Source, &at); err != nil {
		return k, err
	}
	k.CreatedAt = clock.Time(at)
	var err error
	k.Public, err = chain.ReadKey(xpub)
	return k, err
}

func (s *Service) findKey(ctx context.Context, company string, kind chain.Kind) (Key, error) {
	return db.One(ctx, s.DB, scanKey,
		keyColumns+`WHERE company_id = $1 AND kind = $2 ORDER BY version DESC LIMIT 1`, company, string(kind))
}

func (s *Service) keys(ctx context.Context, company string) ([]Key, error) {
	return db.All(ctx, s.DB, scanKey, keyColumns+`WHERE company_id = $1 ORDER BY kind, version DESC`, company)
}

// nextIndex is the first index of a key that has no address.
func (s *Service) nextIndex(ctx context.Context, k Key) (int64, error) {
	return db.One(ctx, s.DB, db.Value[int64],
		`SELECT coalesce(max(address_index), -1) + 1 FROM crypto_address WHERE company_id = $1 AND key_id = $2`, k.Company, k.ID)
}

const addressColumns = `SELECT company_id, key_id, address_index, network_id, address, label, state, custody, created_at FROM crypto_address `

func scanAddress(r db.Scanner) (Address, error) {
	var a Address
	var state string
	var at int64
	err := r.Scan(&a.Company, &a.KeyID, &a.Index, &a.NetworkID, &a.Address, &a.Label, &state, &a.custody, &at)
	a.watched, a.CreatedAt = state == watched, clock.Time(at)
	return a, err
}

func (s *Service) findAddress(ctx context.Context, company, keyID string, index int64) (Address, error) {
	a, err := db.One(ctx, s.DB, scanAddress,
		addressColumns+`WHERE company_id = $1 AND key_id = $2 AND address_index = $3`, company, keyID, index)
	n := s.networks[a.NetworkID]
	a.Chain, a.Name = n.Chain, n.Name
	return a, err
}

func (s *Service) addresses(ctx context.Context, company, networkID string) ([]Address, error) {
	return db.All(ctx, s.DB, scanAddress, addressColumns+`
		WHERE company_id = $1 AND network_id = $2 AND state = 'WATCHED' ORDER BY created_at, address_index`, company, networkID)
}

const transactionColumns = `
	SELECT company_id, id, seen, attempt, kind, state, network_id, asset, contract, decimals, units, address, counter, tx_hash,
		block_number, block_hash, custody, misses, lost_at, raw, created_at, updated_at FROM crypto_transaction `

func scanTransaction(r db.Scanner) (Transaction, error) {
	var t Transaction
	var units, raw string
	var lost, created, updated int64
	err := r.Scan(&t.Company, &t.ID, &t.seen, &t.attempt, &t.Type, &t.Status, &t.NetworkID, &t.Asset, &t.Contract, &t.Decimals, &units,
		&t.Address, &t.Counter, &t.Hash, &t.Block, &t.blockHash, &t.custody, &t.misses, &lost, &raw, &created, &updated)
	if err != nil {
		return t, err
	}
	var ok bool
	if t.Units, ok = new(big.Int).SetString(units, 10); !ok {
		return t, errors.New("crypto: units that are no number")
	}
	t.Raw, t.lostAt = json.RawMessage(raw), clock.Time(lost)
	t.CreatedAt, t.UpdatedAt = clock.Time(created), clock.Time(updated)
	return t, nil
}

func (s *Service) findTransaction(ctx context.Context, company string, number int64) (Transaction, error) {
	return db.One(ctx, s.DB, scanTransaction, transactionColumns+`WHERE company_id = $1 AND id = $2`, company, number)
}

// findSeen is the last attempt of a movement.
func (s *Service) findSeen(ctx context.Context, company, seen string) (Transaction, error) {
	return db.One(ctx, s.DB, scanTransaction,
		transactionColumns+`WHERE company_id = $1 AND seen = $2 ORDER BY attempt DESC LIMIT 1`, company, seen)
}

// inBlocks is what was in some blocks of a network, of all companies.
func (s *Service) inBlocks(ctx context.Context, networkID string, hashes []string) ([]Transaction, error) {
	return db.All(ctx, s.DB, scanTransaction,
		transactionColumns+`WHERE network_id = $1 AND block_hash = ANY($2) AND block_hash <> ''`, networkID, hashes)
}

// filtered takes a filter in which an empty text or a 0 asks for nothing.
const filtered = `
	WHERE company_id = $1 AND (kind = $2 OR $2 = '') AND (state = $3 OR $3 = '') AND (network_id = $4 OR $4 = '')
		AND (asset = $5 OR $5 = '') AND (tx_hash = $6 OR $6 = '') AND (address = $7 OR $7 = '')
		AND (created_at >= $8 OR $8 = 0) AND (created_at < $9 OR $9 = 0) `

func (f TransactionFilter) args(company string) []any {
	return []any{company, f.Type, f.Status, f.NetworkID, f.Asset, f.Hash, f.Address, clock.Micros(f.From), clock.Micros(f.To)}
}

func (s *Service) countTransactions(ctx context.Context, company string, f TransactionFilter) (int64, error) {
	return db.One(ctx, s.DB, db.Value[int64], `SELECT count(*) FROM crypto_transaction `+filtered, f.args(company)...)
}

func (s *Service) transactions(ctx context.Context, company string, f TransactionFilter, offset, limit int) ([]Transaction, error) {
	return db.All(ctx, s.DB, scanTransaction, transactionColumns+filtered+`ORDER BY id DESC LIMIT $10 OFFSET $11`,
		append(f.args(company), limit, offset)...)
}

// takeCursor takes the reading of a custodian, unless another program has it, and
// tells how far it was read.
func (s *Service) takeCursor(ctx context.Context, custody string, now, until time.Time) (cursor string, mine bool, err error) {
	err = s.DB.Tx(ctx, func(q db.Querier) error {
		n, err := q.Exec(ctx, `
			INSERT INTO crypto_cursor (custody, cursor, reader, lease_until, updated_at) VALUES ($1, '', $2, $4, $3)
			ON CONFLICT (custody) DO UPDATE SET reader = excluded.reader, lease_until = excluded.lease_until
			WHERE crypto_cursor.lease_until <= $3 OR crypto_cursor.reader = $2`,
			custody, s.reader, clock.Micros(now), clock.Micros(until))
		if mine = n == 1; err != nil || !mine {
			return err
		}
		cursor, err = db.One(ctx, q, db.Value[string], `SELECT cursor FROM crypto_cursor WHERE custody = $1`, custody)
		return err
	})
	return cursor, mine, err
}

// releaseCursor writes how far a custodian was read, if it is still ours to read,
// and lets go of it.
func (s *Service) releaseCursor(ctx context.Context, custody, cursor string) error {
	n, err := s.DB.Exec(context.WithoutCancel(ctx), `
		UPDATE crypto_cursor SET cursor = $3, lease_until = 0, updated_at = $4 WHERE custody = $1 AND reader = $2`,
		custody, s.reader, cursor, clock.Micros(s.Clock.Now()))
	if err == nil && n == 0 {
		err = fmt.Errorf("crypto: the reading of %s was taken by another program", custody)
	}
	return err
}
