package report

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/payout"
)

// PayoutFilter narrows a list of payouts. A field that is zero does not filter.
type PayoutFilter struct {
	Status       string
	SettlementID int64
	From, To     time.Time // created at From or later, and before To
	Marks        []string  // the marks of labels (operation.Mark), which a payout must all have
}

// payoutFilter selects from the alias p the payouts that match a filter, apart from their state and
// labels. One index has all its columns. A row from before schema 97 has no settlement account, so its
// verification is read.
const payoutFilter = ` p.company_id = $1 AND p.created_at >= $2 AND p.created_at < $3
	AND ($4 = CAST(0 AS BIGINT) OR CASE WHEN p.settlement_id <> 0 THEN p.settlement_id
		ELSE (SELECT v.settlement_id FROM payout_verification AS v WHERE v.company_id = $1 AND v.id = p.id) END = $4) `

// These parts select payouts by their state $5, in the same way as ofState selects purchases.
const (
	payoutsInState = ` FROM (
			SELECT u.subject AS id FROM (` + undecided + `) AS u
			WHERE (SELECT o.kind FROM operation AS o WHERE o.company_id = $1 AND o.id = u.subject AND o.state = 'PENDING') = 'payout'
				AND $5 IN ('PENDING', 'SUCCESS')
			UNION ALL SELECT e.reference FROM ledger_entry AS e
			WHERE e.company_id = $1 AND e.amount_kobo > 0 AND substr(e.account_id, 1, 11) = 'settlement/'
				AND (e.step = 'refund' AND $5 IN ('FAILED', 'SUCCESS') OR e.step = 'reverse' AND $5 IN ('REVERSED', 'SUCCESS'))
		) AS x JOIN payout AS p ON p.id = x.id WHERE` + payoutFilter
	// labelled selects the payouts that have all $7 marks of the list $6.
	labelled = ` FROM (
			SELECT m.subject AS id FROM operation_mark AS m
			WHERE m.company_id = $1 AND m.mark = ANY($6) GROUP BY m.subject HAVING count(*) = $7
		) AS x JOIN payout AS p ON p.id = x.id
		WHERE ($5 = '' OR (SELECT o.state FROM operation AS o WHERE o.company_id = $1 AND o.id = x.id) = $5) AND` + payoutFilter
)

// These SQL statements count the payouts that match a filter.
const (
	payoutCount          = `SELECT count(*) FROM payout AS p WHERE ($5 = '') AND` + payoutFilter
	payoutsInStateCount  = `SELECT count(*)` + payoutsInState
	payoutsPaidCount     = `SELECT (SELECT count(*) FROM payout AS p WHERE` + payoutFilter + `) - (` + payoutsInStateCount + `)`
	payoutsLabelledCount = `SELECT count(*)` + labelled
)

// These parts make the SQL statements that read a page. The inner one selects the keys of the page, so
// that the rows before the page are skipped in an index.
const (
	payoutBegin = `SELECT ` + operation.Columns + `, ` + operation.LabelColumns + `, ` + payout.RowColumns + ` FROM (SELECT p.id `
	payoutOrder = ` ORDER BY p.created_at DESC, p.id DESC `
	payoutEnd   = `) AS k
		JOIN payout ON payout.company_id = $1 AND payout.id = k.id
		JOIN payout_verification AS v ON v.company_id = payout.company_id AND v.id = payout.id
		JOIN operation ON operation.company_id = payout.company_id AND operation.id = payout.id` + operation.LabelJoin + `
		ORDER BY payout.created_at DESC, payout.id DESC`
	payoutEnd5 = payoutOrder + `LIMIT $6 OFFSET $7` + payoutEnd
	payoutEnd7 = payoutOrder + `LIMIT $8 OFFSET $9` + payoutEnd

	payoutAfter5 = ` AND (p.created_at, p.id) < ($6, $7)` + payoutOrder + `LIMIT $8` + payoutEnd
	payoutAfter7 = ` AND (p.created_at, p.id) < ($8, $9)` + payoutOrder + `LIMIT $10` + payoutEnd

	payoutPage          = payoutBegin + `FROM payout AS p WHERE ($5 = '') AND` + payoutFilter + payoutEnd5
	payoutsInStatePage  = payoutBegin + payoutsInState + payoutEnd5
	payoutsLabelledPage = payoutBegin + labelled + payoutEnd7
	payoutsPaidPage     = payoutBegin + `FROM payout AS p WHERE` + payoutFilter + ` AND (SELECT o.state FROM operation AS o
		WHERE o.company_id = $1 AND o.id = p.id) = $5` + payoutEnd5

	payoutsAfter         = payoutBegin + `FROM payout AS p WHERE ($5 = '') AND` + payoutFilter + payoutAfter5
	payoutsInStateAfter  = payoutBegin + payoutsInState + payoutAfter5
	payoutsLabelledAfter = payoutBegin + labelled + payoutAfter7
	payoutsPaidAfter     = payoutBegin + `FROM payout AS p WHERE` + payoutFilter + ` AND (SELECT o.state FROM operation AS o
		WHERE o.company_id = $1 AND o.id = p.id) = $5` + payoutAfter5
)

func scanPayout(sc db.Scanner) (payout.Payout, error) {
	var o operation.Operation
	var r payout.Row
	err := sc.Scan(slices.Concat(o.Targets(), o.Labels.Targets(), r.Targets())...)
	return r.Of(o), err
}

// Payouts returns a page of the company's payouts, newest first, and the total count. The count is a
// heavy read, because the entries of clearing do not give it: only a payout with a fee has a third
// entry.
func (s *Service) Payouts(ctx context.Context, company string, f PayoutFilter, offset, limit int) ([]payout.Payout, int, error) {
	to := int64(math.MaxInt64)
	if !f.To.IsZero() {
		to = clock.Micros(f.To)
	}
	args := []any{company, clock.Micros(f.From), to, f.SettlementID, f.Status}
	count, rows := payoutCount, payoutPage
	switch {
	case len(f.Marks) > 0:
		count, rows, args = payoutsLabelledCount, payoutsLabelledPage, append(args, f.Marks, int64(len(f.Marks)))
	case f.Status == "":
	case f.Status == string(payout.Success):
		count, rows = payoutsPaidCount, payoutsPaidPage
	default:
		count, rows = payoutsInStateCount, payoutsInStatePage
	}
	list, total, err := db.Page(ctx, s.db, company, scanPayout, count, rows, limit, offset, args...)
	return list, int(total), err
}

// PayoutsAfter returns at most limit payouts of the company that match a filter, the newest first. They follow the payout with
// the cursor after, which is "" for the newest ones. A wrong cursor is a fault of the kind Invalid.
func (s *Service) PayoutsAfter(ctx context.Context, company string, f PayoutFilter, after string, limit int) ([]payout.Payout, error) {
	at, err := db.PlaceOf(after)
	if err != nil {
		return nil, err
	}
	args := []any{company, clock.Micros(f.From), untilOf(f.To), f.SettlementID, f.Status}
	if len(f.Marks) > 0 {
		return heavyAfter(ctx, s.db, company, scanPayout, payoutsLabelledAfter, append(args, f.Marks, int64(len(f.Marks)), at.At, at.ID, limit)...)
	}
	args = append(args, at.At, at.ID, limit)
	switch f.Status {
	case "":
		return db.All(ctx, s.db, scanPayout, payoutsAfter, args...)
	case string(payout.Success):
		return heavyAfter(ctx, s.db, company, scanPayout, payoutsPaidAfter, args...)
	}
	return heavyAfter(ctx, s.db, company, scanPayout, payoutsInStateAfter, args...)
}
