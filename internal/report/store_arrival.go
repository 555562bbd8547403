package report

import (
	"context"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/settlement"
)

func creditsByID(ctx context.Context, q db.Querier, company string, ids []string) ([]begun, error) {
	return db.All(ctx, q, db.Fields[begun], `SELECT id, 'credit', provider, amount_kobo, created_at FROM settlement_credit
		WHERE company_id = $1 AND id = ANY($2)`, company, ids)
}

// banksOf returns the banks of virtual accounts, by the id of the collection.
func banksOf(ctx context.Context, q db.Querier, company string, ids []string) (map[string]string, error) {
	return db.Map[string, string](ctx, q, `SELECT id, provider FROM collection WHERE company_id = $1 AND id = ANY($2)`, company, ids)
}

// creditsBySession returns the credits of some sessions of a bank. Their ids are the sessions.
func creditsBySession(ctx context.Context, q db.Querier, company, bank string, sessions []string) ([]begun, error) {
	return db.All(ctx, q, db.Fields[begun], `SELECT session_id, 'credit', provider, amount_kobo, created_at FROM settlement_credit
		WHERE company_id = $1 AND provider = $2 AND session_id = ANY($3)`, company, bank, sessions)
}

// mostOwnerless is the number of credits of unknown accounts that an overview reads.
const mostOwnerless = 10_000

// ownerlessSince returns the newest credits of unknown accounts that nobody has assigned to a company.
func ownerlessSince(ctx context.Context, q db.Querier, from time.Time) ([]begun, error) {
	return db.All(ctx, q, db.Fields[begun], `SELECT id, 'credit', provider, amount_kobo, created_at FROM (
			SELECT id, provider, amount_kobo, created_at, `+creditState+` AS state FROM settlement_credit
			WHERE company_id = $1 AND created_at >= $2 ORDER BY created_at DESC, id DESC LIMIT $3
		) AS c WHERE state = 'OWNERLESS'`, settlement.House, clock.Micros(from), mostOwnerless)
}

// depositRow is a deposit on a chain as the counts read it.
type depositRow struct {
	id, network, asset string
	decimals           int64
	units              string
	createdAt          time.Time
}

func depositsByNumber(ctx context.Context, q db.Querier, company string, numbers []string) ([]depositRow, error) {
	ids := make([]int64, len(numbers))
	for i, n := range numbers {
		var err error
		if ids[i], err = strconv.ParseInt(n, 10, 64); err != nil {
			return nil, fmt.Errorf("report: an event names the deposit %q", n)
		}
	}
	return db.All(ctx, q, db.Fields[depositRow], `SELECT CAST(id AS TEXT), network_id, asset, decimals, units, created_at FROM crypto_transaction
		WHERE company_id = $1 AND id = ANY($2)`, company, ids)
}

// addDeposits adds to the counts of a cell. Units are larger than any number of the database, so they are added here: the
// first statement locks the row until the end of the transaction.
func addDeposits(ctx context.Context, q db.Querier, d Deposits) error {
	at := clock.Micros(d.At)
	was, err := db.One(ctx, q, db.Value[string], `INSERT INTO report_coin (company_id, hour_at, network_id, asset, decimals, outcome, deposits, units)
		VALUES ($1, $2, $3, $4, $5, $6, $7, '0')
		ON CONFLICT (company_id, hour_at, network_id, asset, decimals, outcome) DO UPDATE SET deposits = report_coin.deposits + excluded.deposits
		RETURNING units`, settlement.House, at, d.Provider, d.Asset, d.Decimals, d.Outcome, d.Count)
	if err != nil {
		return err
	}
	units, isNumber := new(big.Int).SetString(was, 10)
	if !isNumber {
		return fmt.Errorf("report: the sum of %s in the counts is no number", d.Asset)
	}
	_, err = q.Exec(ctx, `UPDATE report_coin SET units = $7
		WHERE company_id = $1 AND hour_at = $2 AND network_id = $3 AND asset = $4 AND decimals = $5 AND outcome = $6`,
		settlement.House, at, d.Provider, d.Asset, d.Decimals, d.Outcome, units.Add(units, d.Units).String())
	return err
}

func depositsBetween(ctx context.Context, q db.Querier, from, to time.Time) ([]Deposits, error) {
	return db.All(ctx, q, func(sc db.Scanner) (d Deposits, err error) {
		var at int64
		var units string
		err = sc.Scan(&at, &d.Provider, &d.Asset, &d.Decimals, &d.Outcome, &d.Count, &units)
		d.At, d.Kind, d.Units = clock.Time(at), depositKind, new(big.Int)
		if _, isNumber := d.Units.SetString(units, 10); err == nil && !isNumber {
			err = fmt.Errorf("report: the sum of %s in the counts is no number", d.Asset)
		}
		return d, err
	}, `SELECT hour_at, network_id, asset, decimals, outcome, deposits, units FROM report_coin
		WHERE company_id = $1 AND hour_at >= $2 AND hour_at < $3 AND deposits <> 0 ORDER BY hour_at, network_id, asset, decimals, outcome`,
		settlement.House, clock.Micros(from), clock.Micros(to))
}

// These parts read the deposits of all companies, newest first. The inner statement looks at a bounded number of rows in
// the order of an index, and the outer one filters them.
const (
	depositNewest = ` FROM crypto_transaction WHERE (created_at, company_id, id) < ($1, $2, $3) AND created_at >= $4 ORDER BY created_at DESC, company_id DESC, id DESC`
	depositList   = `SELECT company_id, CAST(id AS TEXT), state, network_id, asset, decimals, units, address, tx_hash, created_at FROM (
		SELECT company_id, id, kind, state, network_id, asset, decimals, units, address, tx_hash, created_at` + depositNewest + ` LIMIT $5
		) AS d WHERE kind = 'deposit' AND ($6 = '' OR company_id = $6) AND ($7 = '' OR state = $7 OR $7 = 'unconfirmed' AND state <> 'completed')
			AND ($8 = '' OR network_id = $8) AND ($9 = '' OR asset = $9)
		ORDER BY created_at DESC, company_id DESC, id DESC LIMIT $10`
	depositReached = `SELECT created_at, company_id || '-' || CAST(id AS TEXT)` + depositNewest + ` LIMIT 1 OFFSET $5 - CAST(1 AS BIGINT)`
)

// depositsNewest returns the first deposits after a position, one more than a page has. The position end is the last row
// that it has looked at. It is zero if there are no further rows.
func depositsNewest(ctx context.Context, q db.Querier, f DepositFilter, after position, depth int64) (rows []depositLine, end position, err error) {
	company, number, err := after.place()
	if err != nil {
		return nil, end, err
	}
	at := []any{after.at, company, number, clock.Micros(f.From), depth}
	rows, err = db.All(ctx, q, db.Fields[depositLine], depositList, append(at, f.Company, f.State, f.Network, f.Asset, int64(paymentRows+1))...)
	if err != nil || len(rows) > paymentRows {
		return rows, end, err
	}
	found, err := db.All(ctx, q, db.Fields[position], depositReached, at...)
	return rows, slices.Concat(found, []position{{}})[0], err
}
