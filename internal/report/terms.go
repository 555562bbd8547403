package report

import (
	"context"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/payout"
)

// What a company's payouts cost and how far they go was set by somebody: the
// values are kept with the payouts, and who it was stands in the audit log, in a
// line of the same commit.

// FeesSet is a fee schedule that somebody gave a company.
type FeesSet struct {
	Schedule payout.Schedule // empty for no fees
	By       string
	At       time.Time
}

// FeesHistory are the schedules that a company was ever given, the newest first,
// and how many there are.
func (s *Service) FeesHistory(ctx context.Context, company string, limit, offset int) ([]FeesSet, int64, error) {
	total, err := feesCount(ctx, s.db, company)
	if err != nil {
		return nil, 0, err
	}
	bands, err := feesSet(ctx, s.db, company, limit, offset)
	var out []FeesSet
	for i, b := range bands {
		if i == 0 || bands[i-1].version != b.version {
			out = append(out, FeesSet{By: b.by, At: b.at})
		}
		last := &out[len(out)-1]
		last.Schedule = append(last.Schedule, b.Band)
	}
	for i := range out {
		out[i].Schedule = payout.Kept(out[i].Schedule)
	}
	return out, total, err
}

// LimitSet is a daily limit that somebody set.
type LimitSet struct {
	SettlementID int64 // 0 for the whole company
	payout.Limit
	By string
}

// LimitsHistory are the limits that were ever set of a company and of its
// settlement accounts, the newest first, and how many there are.
func (s *Service) LimitsHistory(ctx context.Context, company string, limit, offset int) ([]LimitSet, int64, error) {
	total, err := limitsCount(ctx, s.db, company)
	if err != nil {
		return nil, 0, err
	}
	list, err := limitsSet(ctx, s.db, company, limit, offset)
	return list, total, err
}

// bandSet is a band of a schedule, and who gave that.
type bandSet struct {
	payout.Band
	version, by string
	at          time.Time
}

func feesCount(ctx context.Context, q db.Querier, company string) (int64, error) {
	return db.One(ctx, q, db.Value[int64], `SELECT count(DISTINCT version) FROM payout_fee WHERE company_id = $1`, company)
}

// feesSet are the bands of a page of schedules.
func feesSet(ctx context.Context, q db.Querier, company string, limit, offset int) ([]bandSet, error) {
	return db.All(ctx, q, func(r db.Scanner) (bandSet, error) {
		var b bandSet
		var at int64
		err := r.Scan(&b.version, &b.From, &b.Flat, &b.BasisPoints, &b.Cap, &at, &b.by)
		b.at = clock.Time(at)
		return b, err
	}, `SELECT f.version, f.from_kobo, f.flat_kobo, f.basis_points, f.cap_kobo, f.created_at, coalesce((
			SELECT max(a.operator) FROM operator_audit AS a
			WHERE a.company_id = f.company_id AND a.action = 'payout.fees' AND a.subject = f.version), '')
		FROM payout_fee AS f
		WHERE f.company_id = $1 AND f.version IN (
			SELECT DISTINCT version FROM payout_fee WHERE company_id = $1 ORDER BY version DESC LIMIT $2 OFFSET $3)
		ORDER BY f.version DESC, f.from_kobo`, company, limit, offset)
}

func limitsCount(ctx context.Context, q db.Querier, company string) (int64, error) {
	return db.One(ctx, q, db.Value[int64], `SELECT count(*) FROM payout_limit WHERE company_id = $1`, company)
}

// limitsSet is a page of limits. The line of the log names the settlement account,
// and has the instant of the limit.
func limitsSet(ctx context.Context, q db.Querier, company string, limit, offset int) ([]LimitSet, error) {
	return db.All(ctx, q, func(r db.Scanner) (LimitSet, error) {
		var l LimitSet
		var at int64
		err := r.Scan(&l.SettlementID, &l.Amount, &l.Payouts, &at, &l.By)
		l.Since = clock.Time(at)
		return l, err
	}, `SELECT l.settlement_id, l.amount_kobo, l.payouts, l.created_at, coalesce((
			SELECT max(a.operator) FROM operator_audit AS a
			WHERE a.company_id = l.company_id AND a.action = 'payout.limit'
				AND a.subject = CAST(l.settlement_id AS TEXT) AND a.created_at = l.created_at), '')
		FROM payout_limit AS l WHERE l.company_id = $1
		ORDER BY l.version DESC LIMIT $2 OFFSET $3`, company, limit, offset)
}
