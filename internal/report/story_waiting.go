package report

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/money"
)

// waitingPlaces finds a bulk payout or an approval of a company. It goes through the companies, and looks for each by
// key.
func waitingPlaces(ctx context.Context, q db.Querier, reference string) ([]place, error) {
	return db.All(ctx, q, db.Fields[place], `SELECT 'bulk payout', t.company_id, t.id FROM ledger_head AS h
			CROSS JOIN payout_bulk AS t WHERE t.company_id = h.company_id AND t.id = $1
		UNION ALL SELECT 'approval', t.company_id, t.id FROM ledger_head AS h
			CROSS JOIN company_approval AS t WHERE t.company_id = h.company_id AND t.id = $1`, reference)
}

// bulkStory returns the story of a bulk payout as a whole. Each payout of it has a story of its own.
func bulkStory(ctx context.Context, q db.Querier, at place) (Story, error) {
	type bulk struct {
		state, provider                           string
		created, expires, checked, confirmed, end time.Time
		lines, good, bad                          int64
		sum                                       money.Kobo
	}
	b, err := db.One(ctx, q, db.Fields[bulk], `SELECT state, provider, created_at, expires_at, checked_at, confirmed_at, ended_at,
			(SELECT count(*) FROM payout_bulk_line AS l WHERE l.company_id = b.company_id AND l.bulk_id = b.id),
			(SELECT count(*) FROM payout_bulk_line AS l WHERE l.company_id = b.company_id AND l.bulk_id = b.id AND l.verdict = 'GOOD'),
			(SELECT count(*) FROM payout_bulk_line AS l WHERE l.company_id = b.company_id AND l.bulk_id = b.id AND l.verdict = 'BAD'),
			(SELECT coalesce(CAST(sum(l.amount_kobo) AS BIGINT), 0) FROM payout_bulk_line AS l WHERE l.company_id = b.company_id AND l.bulk_id = b.id)
		FROM payout_bulk AS b WHERE b.company_id = $1 AND b.id = $2`, at.company, at.id)
	if err != nil {
		return Story{}, err
	}
	out := Story{
		Kind: at.kind, Reference: at.id, Company: at.company, State: b.state, Amount: b.sum, Provider: b.provider, CreatedAt: b.created,
		Counterparty: fmt.Sprintf("%d lines", b.lines),
	}
	step := func(when time.Time, what, text string) {
		if !when.IsZero() {
			out.Steps = append(out.Steps, Step{At: when, What: what, Text: text})
		}
	}
	step(b.created, "intent", fmt.Sprintf("bulk payout of %d lines, %s naira in all, to be confirmed until %s", b.lines, b.sum.Decimal(), clock.Text(b.expires)))
	step(b.checked, "state", fmt.Sprintf("names checked: %d lines good, %d bad", b.good, b.bad))
	step(b.confirmed, "state", "confirmed: each good line is a payout from now on")
	step(b.end, "state", b.state)
	told, err := eventsAround(ctx, q, at.company, at.id, out.Steps)
	if err != nil {
		return Story{}, err
	}
	out.Steps = append(out.Steps, told...)
	return out, out.finish(ctx, q)
}

// approvalStory returns the story of an act of a company that waits, or has waited, for a second person. The body of the
// act is not shown: it may have an account number and a name.
func approvalStory(ctx context.Context, q db.Querier, at place) (Story, error) {
	type approval struct {
		kind, state, asked, first, decided string
		created, expires, decidedAt        time.Time
	}
	a, err := db.One(ctx, q, db.Fields[approval], `SELECT kind, state, asked_by, first_by, decided_by, created_at, expires_at, decided_at
		FROM company_approval WHERE company_id = $1 AND id = $2`, at.company, at.id)
	if err != nil {
		return Story{}, err
	}
	out := Story{Kind: at.kind, Reference: at.id, Company: at.company, State: a.state, Counterparty: strings.ReplaceAll(a.kind, "_", " "), CreatedAt: a.created}
	out.Steps = []Step{{At: a.created, What: "intent", Text: fmt.Sprintf("%s asked for by %s, until %s", a.kind, a.asked, clock.Text(a.expires))}}
	if !a.decidedAt.IsZero() {
		text := a.state + " by " + a.decided
		if a.first != "" {
			text += ", after " + a.first
		}
		out.Steps = append(out.Steps, Step{At: a.decidedAt, What: "state", Text: text})
	}
	told, err := eventsAround(ctx, q, at.company, at.id, out.Steps)
	if err != nil {
		return Story{}, err
	}
	out.Steps = append(out.Steps, told...)
	return out, out.finish(ctx, q)
}

// payoutsOfBulk finds the first payouts of a bulk payout.
func payoutsOfBulk(ctx context.Context, q db.Querier, text string) ([]Hit, error) {
	return db.All(ctx, q, db.Fields[Hit], `SELECT o.kind, o.company_id, o.id, '', o.amount_kobo, o.created_at
		FROM ledger_head AS h CROSS JOIN payout_bulk AS b CROSS JOIN payout_bulk_line AS l CROSS JOIN operation AS o
		WHERE b.company_id = h.company_id AND b.id = $1 AND l.company_id = b.company_id AND l.bulk_id = b.id
			AND o.company_id = l.company_id AND o.id = l.reference ORDER BY l.line LIMIT $2`, text, atMost+1)
}
