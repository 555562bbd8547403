package payout

import (
	"context"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/provider"
)

var (
	verificationTable = &db.Table{
		Name: "payout_verification", Key: 2,
		Columns: []db.Column{
			{Name: "company_id"},
			{Name: "id"},
			{Name: "settlement_id", Type: db.Int},
			{Name: "provider"},
			{Name: "bank_code"},
			{Name: "bank_name"},
			{Name: "account_number"},
			{Name: "account_name"},
			{Name: "session"},
			{Name: "created_at", Type: db.Int},
			{Name: "credentials", Type: db.Int},
		},
	}
	payoutTable = &db.Table{
		Name: "payout", Key: 2,
		Columns: append(db.Texts("company_id", "id", "narration", "session"), db.Ints("created_at")...),
	}
	feeTable = &db.Table{
		Name: "payout_fee", Key: 3,
		Columns: append(db.Texts("company_id", "version"),
			db.Ints("from_kobo", "flat_kobo", "basis_points", "cap_kobo", "created_at")...),
	}
	limitTable = &db.Table{
		Name: "payout_limit", Key: 3,
		Columns: []db.Column{
			{Name: "company_id"},
			{Name: "settlement_id", Type: db.Int},
			{Name: "version"},
			{Name: "amount_kobo", Type: db.Int},
			{Name: "payouts", Type: db.Int},
			{Name: "created_at", Type: db.Int},
		},
	}
)

func (v Verification) record() db.Record {
	return db.Record{Table: verificationTable, Values: []any{
		v.Company, v.ID, v.SettlementID, v.Provider, v.BankCode, v.BankName, v.AccountNumber, v.AccountName, v.session,
		clock.Micros(v.CreatedAt), v.credentials,
	}}
}

func payoutRecord(o operation.Operation, narration, session string) db.Record {
	return db.Record{Table: payoutTable, Values: []any{o.Company, o.ID, narration, session, clock.Micros(o.CreatedAt)}}
}

func (b Band) record(company, version string, at time.Time) db.Record {
	return db.Record{Table: feeTable, Values: []any{
		company, version, int64(b.From), int64(b.Flat), b.BasisPoints, int64(b.Cap), clock.Micros(at),
	}}
}

func (l Limit) record(company string, settlementID int64, version string, at time.Time) db.Record {
	return db.Record{Table: limitTable, Values: []any{
		company, settlementID, version, int64(l.Amount), l.Payouts, clock.Micros(at),
	}}
}

const verificationColumns = `v.company_id, v.id, v.settlement_id, v.provider, v.bank_code, v.bank_name,
	v.account_number, v.account_name, v.session, v.credentials, v.created_at`

// targets are where Scan puts verificationColumns; created_at comes last.
func (v *Verification) targets(created *int64) []any {
	return []any{
		&v.Company, &v.ID, &v.SettlementID, &v.Provider, &v.BankCode, &v.BankName,
		&v.AccountNumber, &v.AccountName, &v.session, &v.credentials, created,
	}
}

func (s *Service) findVerification(ctx context.Context, company, verifyID string) (Verification, error) {
	return db.One(ctx, s.db, func(sc db.Scanner) (Verification, error) {
		var v Verification
		var created int64
		err := sc.Scan(v.targets(&created)...)
		v.CreatedAt = clock.Time(created)
		return v, err
	}, `SELECT `+verificationColumns+` FROM payout_verification AS v WHERE v.company_id = $1 AND v.id = $2`, company, verifyID)
}

// findPayout is to whom a payout goes, and what for.
func (s *Service) findPayout(ctx context.Context, company, reference string) (Verification, string, error) {
	var narration string
	v, err := db.One(ctx, s.db, func(sc db.Scanner) (Verification, error) {
		var v Verification
		var created int64
		err := sc.Scan(append(v.targets(&created), &narration)...)
		v.CreatedAt = clock.Time(created)
		return v, err
	}, `SELECT `+verificationColumns+`, payout.narration
		FROM payout JOIN payout_verification AS v ON v.company_id = payout.company_id AND v.id = payout.id
		WHERE payout.company_id = $1 AND payout.id = $2`, company, reference)
	return v, narration, err
}

// owner is whose a payout is. A bank that tells of one names only its reference.
func (s *Service) owner(ctx context.Context, reference string) (string, error) {
	return db.One(ctx, s.db, db.Value[string], `SELECT company_id FROM payout WHERE id = $1`, reference)
}

// bandSince is a band of a schedule, and when that was given.
type bandSince struct {
	Band
	since time.Time
}

func (s *Service) bands(ctx context.Context, company string) ([]bandSince, error) {
	return db.All(ctx, s.db, func(sc db.Scanner) (bandSince, error) {
		var b bandSince
		var created int64
		err := sc.Scan(&b.From, &b.Flat, &b.BasisPoints, &b.Cap, &created)
		b.since = clock.Time(created)
		return b, err
	}, `SELECT from_kobo, flat_kobo, basis_points, cap_kobo, created_at FROM payout_fee
		WHERE company_id = $1 AND version = (SELECT max(version) FROM payout_fee WHERE company_id = $1)
		ORDER BY from_kobo`, company)
}

func (s *Service) findLimit(ctx context.Context, company string, settlementID int64) (Limit, error) {
	return db.One(ctx, s.db, func(sc db.Scanner) (Limit, error) {
		var l Limit
		var created int64
		err := sc.Scan(&l.Amount, &l.Payouts, &created)
		l.Since = clock.Time(created)
		return l, err
	}, `SELECT amount_kobo, payouts, created_at FROM payout_limit
		WHERE company_id = $1 AND settlement_id = $2 ORDER BY version DESC LIMIT 1`, company, settlementID)
}

func (s *Service) banks(ctx context.Context, from string) ([]Bank, error) {
	return db.All(ctx, s.db, func(sc db.Scanner) (Bank, error) {
		var b Bank
		err := sc.Scan(&b.Name, &b.Code)
		return b, err
	}, `SELECT name, code FROM payout_bank WHERE provider = $1 AND active = 1`, from)
}

// bankName is the name of a bank, or "" when it is not on the list.
func (s *Service) bankName(ctx context.Context, from, code string) (string, error) {
	return db.OrZero(db.One(ctx, s.db, db.Value[string],
		`SELECT name FROM payout_bank WHERE provider = $1 AND code = $2`, from, code))
}

func saveBank(ctx context.Context, q db.Querier, from string, b provider.BankCode, at time.Time) error {
	_, err := q.Exec(ctx, `
		INSERT INTO payout_bank (provider, code, name, active, updated_at) VALUES ($1, $2, $3, 1, $4)
		ON CONFLICT (provider, code) DO UPDATE SET name = excluded.name, active = 1, updated_at = excluded.updated_at`,
		from, b.Code, b.Name, clock.Micros(at))
	return err
}

// retireBanks takes out of the list what the bank no longer has; nothing is
// deleted, since payouts were made to it.
func retireBanks(ctx context.Context, q db.Querier, from string, at time.Time) error {
	_, err := q.Exec(ctx, `UPDATE payout_bank SET active = 0 WHERE provider = $1 AND updated_at < $2`, from, clock.Micros(at))
	return err
}

// takeSync moves the next sync ahead, for one of the programs that find it due;
// it tells whether this is the one.
func takeSync(ctx context.Context, q db.Querier, from string, now, next time.Time) (bool, error) {
	n, err := q.Exec(ctx, `
		INSERT INTO payout_sync (provider, due_at) VALUES ($1, $3)
		ON CONFLICT (provider) DO UPDATE SET due_at = excluded.due_at WHERE payout_sync.due_at <= $2`,
		from, clock.Micros(now), clock.Micros(next))
	return n == 1, err
}

// dueSync moves the next sync to a time of its own, after one that failed.
func dueSync(ctx context.Context, q db.Querier, from string, at time.Time) error {
	_, err := q.Exec(ctx, `UPDATE payout_sync SET due_at = $2 WHERE provider = $1`, from, clock.Micros(at))
	return err
}
