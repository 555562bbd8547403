package report

import (
	"context"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/payout"
)

// The tables of package payout hold a company's fees and limits. A line of the audit log, written
// in the same commit, names the operator who set them.

// FeesSet is a fee schedule that an operator has set.
type FeesSet struct {
	Schedule payout.Schedule // empty if there are no fees
	By       string
	At       time.Time
}

// FeesHistory returns a page of all fee schedules that a company has ever had, newest first, and
// the total count.
func (s *Service) FeesHistory(ctx context.Context, company string, limit, offset int) ([]FeesSet, int64, error) {
	type band struct {
		version     string
		from, flat  money.Kobo
		basisPoints int64
		most        money.Kobo
		at          time.Time
		by          string
	}
	bands, total, err := db.Page(ctx, s.db, company, db.Fields[band], `SELECT count(DISTINCT version) FROM payout_fee WHERE company_id = $1`,
		`SELECT f.version, f.from_kobo, f.flat_kobo, f.basis_points, f.cap_kobo, f.created_at, coalesce((
			SELECT max(a.operator) FROM operator_audit AS a
			WHERE a.company_id = f.company_id AND a.action = 'payout.fees' AND a.subject = f.version), '')
		FROM payout_fee AS f
		WHERE f.company_id = $1 AND f.version IN (
			SELECT DISTINCT version FROM payout_fee WHERE company_id = $1 ORDER BY version DESC LIMIT $2 OFFSET $3)
		ORDER BY f.version DESC, f.from_kobo`, limit, offset, company)
	var out []FeesSet
	for i, b := range bands {
		if i == 0 || bands[i-1].version != b.version {
			out = append(out, FeesSet{By: b.by, At: b.at})
		}
		last := &out[len(out)-1]
		last.Schedule = append(last.Schedule, payout.Band{From: b.from, Flat: b.flat, BasisPoints: b.basisPoints, Cap: b.most})
	}
	for i := range out {
		out[i].Schedule = payout.Kept(out[i].Schedule)
	}
	return out, total, err
}

// LimitSet is a daily limit that an operator has set.
type LimitSet struct {
	SettlementID int64 // 0 for the whole company
	Amount       money.Kobo
	Payouts      int64
	Since        time.Time
	By           string
}

// LimitsHistory returns a page of all limits that a company and its settlement accounts have ever
// had, newest first, and the total count. It reads the operator from the audit log, in the line
// that has the settlement account as its subject and was written at the same instant.
func (s *Service) LimitsHistory(ctx context.Context, company string, limit, offset int) ([]LimitSet, int64, error) {
	return db.Page(ctx, s.db, company, db.Fields[LimitSet], `SELECT count(*) FROM payout_limit WHERE company_id = $1`,
		`SELECT l.settlement_id, l.amount_kobo, l.payouts, l.created_at, coalesce((
			SELECT max(a.operator) FROM operator_audit AS a
			WHERE a.company_id = l.company_id AND a.action = 'payout.limit'
				AND a.subject = CAST(l.settlement_id AS TEXT) AND a.created_at = l.created_at), '')
		FROM payout_limit AS l WHERE l.company_id = $1
		ORDER BY l.version DESC LIMIT $2 OFFSET $3`, limit, offset, company)
}
