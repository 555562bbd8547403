package report

import (
	"cmp"
	"context"
	"slices"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/provider"
)

// paymentSource reads one kind of payments, newest first. The parameters of its SQL are the position ($1
// and $2), the oldest instant ($3), how many rows it looks at ($4), kind, state and provider ($5 to $7),
// the smallest and the largest amount ($8 and $9), the company ($10), and how many rows it returns ($11).
type paymentSource struct {
	kinds, states   []string
	ofCompany, both bool // it is for one company; it is for one and for all
	statement, end  string
}

var operationStates = []string{"SUCCESS", "FAILED", "REVERSED", unconfirmed}

var paymentSources = []paymentSource{
	{kinds: []string{"payout", "vtu", "card"}, states: operationStates, statement: operationsNewest, end: operationsReached},
	{kinds: []string{"payout"}, states: operationStates, ofCompany: true, statement: payoutsOf, end: payoutsOfReached},
	{kinds: []string{"vtu"}, states: operationStates, ofCompany: true, statement: purchasesOf, end: purchasesOfReached},
	{kinds: []string{"card"}, states: operationStates, ofCompany: true, statement: fundingsOf, end: fundingsOfReached},
	{kinds: []string{"credit"}, states: []string{"RECEIVED", "OWNERLESS", "ASSIGNED"}, statement: creditsNewest, end: creditsReached},
	{kinds: []string{"credit"}, states: []string{"RECEIVED", "OWNERLESS", "ASSIGNED"}, ofCompany: true, statement: creditsOf, end: creditsOfReached},
	{kinds: []string{"adjustment"}, states: []string{"WAITING", "BOOKED", "REJECTED", "WITHDRAWN"}, both: true, statement: adjustmentsNewest, end: adjustmentsReached},
	{kinds: []string{"transfer"}, states: []string{"BOOKED"}, both: true, statement: transfersNewest, end: transfersReached},
}

// These parts make the SQL statements of the sources. The inner statement looks at a bounded number of
// rows in the order of an index, and the outer one filters them.
const (
	paymentNewest = ` WHERE (created_at, id) < ($1, $2) AND created_at >= $3 ORDER BY created_at DESC, id DESC LIMIT $4`
	paymentOf     = ` WHERE company_id = $10 AND (created_at, id) < ($1, $2) AND created_at >= $3 ORDER BY created_at DESC, id DESC LIMIT $4`
	paymentPasses = ` WHERE ($5 = '' OR p.kind = $5) AND ($6 = '' OR p.state = $6 OR $6 = 'UNCONFIRMED' AND p.state IN ('PENDING', 'FAILED')) AND ($7 = '' OR p.provider = $7)
		AND p.amount_kobo >= $8 AND p.amount_kobo <= $9 AND ($10 = '' OR p.company_id = $10)
		ORDER BY p.created_at DESC, p.id DESC LIMIT $11`
	paymentFields = `SELECT p.kind, p.company_id, p.id, p.state, p.provider, p.amount_kobo, p.fee_kobo, p.called_until, p.outcome, p.code, p.next_at, p.created_at, p.other FROM `

	operationFields = `o.kind AS kind, o.company_id AS company_id, o.id AS id, o.state AS state, o.provider AS provider, o.amount_kobo AS amount_kobo,
		o.fee_kobo AS fee_kobo, o.called_until AS called_until, o.outcome AS outcome, o.code AS code, o.next_at AS next_at`
	operationsNewest = paymentFields + `(SELECT ` + operationFields + `, o.created_at AS created_at, '' AS other
		FROM operation AS o` + paymentNewest + `) AS p` + paymentPasses
	payoutsOf = paymentFields + `(SELECT ` + operationFields + `, k.created_at AS created_at, '' AS other
		FROM (SELECT id, created_at FROM payout` + paymentOf + `) AS k CROSS JOIN operation AS o WHERE o.company_id = $10 AND o.id = k.id) AS p` + paymentPasses
	purchasesOf = paymentFields + `(SELECT ` + operationFields + `, k.created_at AS created_at, '' AS other
		FROM (SELECT id, created_at FROM vtu_purchase` + paymentOf + `) AS k CROSS JOIN operation AS o WHERE o.company_id = $10 AND o.id = k.id) AS p` + paymentPasses
	fundingsOf = paymentFields + `(SELECT ` + operationFields + `, k.created_at AS created_at, '' AS other
		FROM (SELECT id, created_at FROM card_funding` + paymentOf + `) AS k CROSS JOIN operation AS o WHERE o.company_id = $10 AND o.id = k.id) AS p` + paymentPasses

	creditState = `CASE WHEN settlement_id > 0 THEN 'RECEIVED' WHEN EXISTS (SELECT 1 FROM operation_case AS k WHERE k.company_id = settlement_credit.company_id
		AND k.subject = settlement_credit.provider || '/' || settlement_credit.session_id AND k.state = 'RESOLVED' AND k.outcome = 'assigned') THEN 'ASSIGNED' ELSE 'OWNERLESS' END`
	creditFields = `(SELECT 'credit' AS kind, company_id, id, ` + creditState + ` AS state, provider, amount_kobo,
		0 AS fee_kobo, 0 AS called_until, '' AS outcome, '' AS code, 0 AS next_at, created_at, sender_name AS other FROM settlement_credit`
	creditsNewest = paymentFields + creditFields + paymentNewest + `) AS p` + paymentPasses
	creditsOf     = paymentFields + creditFields + paymentOf + `) AS p` + paymentPasses

	adjustmentsNewest = paymentFields + `(SELECT 'adjustment' AS kind, company_id, id,
		CASE state WHEN 'PENDING' THEN 'WAITING' WHEN 'APPROVED' THEN 'BOOKED' ELSE ` + endedAdjustment + ` END AS state, '' AS provider, amount_kobo,
		0 AS fee_kobo, 0 AS called_until, '' AS outcome, '' AS code, 0 AS next_at, created_at, direction || ' by ' || created_by AS other
		FROM settlement_adjustment` + paymentNewest + `) AS p` + paymentPasses
	transfersNewest = paymentFields + `(SELECT 'transfer' AS kind, company_id, id, 'BOOKED' AS state, '' AS provider, amount_kobo,
		0 AS fee_kobo, 0 AS called_until, '' AS outcome, '' AS code, 0 AS next_at, created_at, 'between settlement accounts' AS other
		FROM settlement_transfer` + paymentNewest + `) AS p` + paymentPasses

	// These return the last row that a source has looked at, if there may be further ones.
	reachedNewest      = ` WHERE (created_at, id) < ($1, $2) AND created_at >= $3 ORDER BY created_at DESC, id DESC LIMIT 1 OFFSET $4 - CAST(1 AS BIGINT)`
	reachedOf          = ` WHERE company_id = $5 AND (created_at, id) < ($1, $2) AND created_at >= $3 ORDER BY created_at DESC, id DESC LIMIT 1 OFFSET $4 - CAST(1 AS BIGINT)`
	operationsReached  = `SELECT created_at, id FROM operation` + reachedNewest
	payoutsOfReached   = `SELECT created_at, id FROM payout` + reachedOf
	purchasesOfReached = `SELECT created_at, id FROM vtu_purchase` + reachedOf
	fundingsOfReached  = `SELECT created_at, id FROM card_funding` + reachedOf
	creditsReached     = `SELECT created_at, id FROM settlement_credit` + reachedNewest
	creditsOfReached   = `SELECT created_at, id FROM settlement_credit` + reachedOf
	adjustmentsReached = `SELECT created_at, id FROM settlement_adjustment` + reachedNewest
	transfersReached   = `SELECT created_at, id FROM settlement_transfer` + reachedNewest
)

func (p paymentSource) rows(ctx context.Context, q db.Querier, args []any) ([]paymentRow, error) {
	return db.All(ctx, q, db.Fields[paymentRow], p.statement, args...)
}

// reached returns the last of the rows that the source has looked at. It is zero if the source has no more.
func (p paymentSource) reached(ctx context.Context, q db.Querier, l look) (position, error) {
	args := []any{l.at.at, l.at.id, l.from, l.depth}
	if p.ofCompany {
		args = append(args, l.Company)
	}
	found, err := db.All(ctx, q, db.Fields[position], p.end, args...)
	return slices.Concat(found, []position{{}})[0], err
}

// pendingPayments returns the PENDING operations of a filter, newest first. Each has a job or an open
// case. They are few unless a provider is away.
func (s *Service) pendingPayments(ctx context.Context, q db.Querier, l look) ([]paymentRow, error) {
	queues, err := queueNames(ctx, q, s.db.Routed(), operation.ResolveJob)
	if err != nil {
		return nil, err
	}
	now := s.clock.Now()
	return pendingOperations(ctx, q, queues, l, now.UnixMicro())
}

func pendingOperations(ctx context.Context, q db.Querier, queues []string, l look, now int64) ([]paymentRow, error) {
	return db.All(ctx, q, db.Fields[paymentRow], `
		SELECT o.kind, o.company_id, o.id, o.state, o.provider, o.amount_kobo, o.fee_kobo, o.called_until, o.outcome, o.code, o.next_at, o.created_at, '' FROM (
			SELECT company_id, subject, 0 AS in_hands FROM job WHERE kind || '/' || provider = ANY($1)
				AND NOT EXISTS (SELECT 1 FROM operation_case AS c WHERE c.company_id = job.company_id AND c.subject = job.subject AND c.state = 'OPEN')
			UNION SELECT company_id, subject, 1 FROM operation_case WHERE `+isOpenCase+`
		) AS u JOIN operation AS o ON o.company_id = u.company_id AND o.id = u.subject
		WHERE o.state = 'PENDING' AND (o.created_at, o.id) < ($2, $3) AND o.created_at >= $4 AND ($5 = '' OR o.kind = $5) AND ($6 = '' OR o.provider = $6)
			AND o.amount_kobo >= $7 AND o.amount_kobo <= $8 AND ($9 = '' OR o.company_id = $9)
			AND ($10 = 'open' OR $10 = CASE WHEN u.in_hands = 1 THEN 'case' WHEN o.outcome = '' AND o.called_until > $11 THEN 'sending' ELSE 'unknown' END
				OR $10 = 'accepted' AND u.in_hands = 0 AND o.outcome = 'unknown' AND o.kind <> 'card' AND o.code = ANY($13))
		ORDER BY o.created_at DESC, o.id DESC LIMIT $12`,
		queues, l.at.at, l.at.id, l.from, l.Kind, l.Provider, int64(l.Least), l.most, l.Company, l.Word, now, int64(paymentRows+1), provider.InProgressCodes)
}

// operationsNamed returns the operations with these references of these companies. The concatenation makes PostgreSQL find the references,
// whatever its statistics say. Otherwise it may read all operations of these companies in an index beside them.
func operationsNamed(ctx context.Context, q db.Querier, companies, references []string) ([]paymentRow, error) {
	return db.All(ctx, q, db.Fields[paymentRow], `SELECT `+operationFields+`, o.created_at, '' FROM operation AS o
		WHERE o.company_id || '' = ANY($1) AND o.id = ANY($2)`, companies, references)
}

func companyNames(ctx context.Context, q db.Querier, companies []string) (map[string]string, error) {
	return db.Map[string, string](ctx, q, `SELECT company_id, name FROM company WHERE company_id = ANY($1)`, companies)
}

// beside is what other tables have about a payment: to whom it went or what was bought, the company's own reference, and the
// session ID.
type beside struct{ id, other, own, session string }

// besides returns what stands beside the payments of a page, by reference. Each part is found by its primary key, or as in operationsNamed
// where an index has the references of all companies.
func besides(ctx context.Context, q db.Querier, companies, ids []string) (map[string]beside, error) {
	found, err := db.All(ctx, q, db.Fields[beside], `
		SELECT id, account_name || ', ' || bank_name, '', '' FROM payout_verification WHERE company_id = ANY($1) AND id = ANY($2)
		UNION ALL SELECT id, `+bought+`, '', '' FROM vtu_purchase WHERE company_id = ANY($1) AND id = ANY($2)
		UNION ALL SELECT id, '', external_reference, '' FROM operation_label WHERE company_id = ANY($1) AND id = ANY($2)
		UNION ALL SELECT id, '', '', provider_reference FROM operation WHERE company_id || '' = ANY($1) AND id = ANY($2) AND kind = 'payout'
		UNION ALL SELECT id, '', '', session_id FROM settlement_credit WHERE company_id || '' = ANY($1) AND id = ANY($2)`, companies, ids)
	out := map[string]beside{}
	for _, b := range found {
		before := out[b.id]
		out[b.id] = beside{b.id, cmp.Or(before.other, b.other), cmp.Or(before.own, b.own), cmp.Or(before.session, b.session)}
	}
	return out, err
}

// openSubjects returns the references that have an open case.
func openSubjects(ctx context.Context, q db.Querier, companies, ids []string) (map[string]bool, error) {
	found, err := db.All(ctx, q, db.Value[string], `SELECT subject FROM operation_case WHERE company_id = ANY($1) AND subject = ANY($2) AND state = 'OPEN'`, companies, ids)
	out := map[string]bool{}
	for _, id := range found {
		out[id] = true
	}
	return out, err
}
