package report

import (
	"context"
	"slices"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/id"
)

// place is where a reference was found.
type place struct {
	kind, company, id string
}

// find returns the place of a reference. The most frequent kinds come first. A case about the reference is the last resort, so what has
// the reference itself comes before it.
func find(ctx context.Context, q db.Querier, reference string) (place, error) {
	for _, look := range []func(context.Context, db.Querier, string) ([]place, error){
		payoutPlaces, sessionPlaces, proposalPlaces, moneyPlaces, casePlaces, eventPlaces, depositPlaces, waitingPlaces, requestPlaces, subjectPlaces,
	} {
		found, err := look(ctx, q, reference)
		if err != nil || len(found) > 0 {
			return slices.Concat(found, []place{{}})[0], err
		}
	}
	return place{}, fault.New(fault.Missing, "Nothing has this reference")
}

func payoutPlaces(ctx context.Context, q db.Querier, reference string) ([]place, error) {
	return db.All(ctx, q, db.Fields[place], `SELECT 'operation', company_id, id FROM payout WHERE id = $1`, reference)
}

func sessionPlaces(ctx context.Context, q db.Querier, reference string) ([]place, error) {
	return db.All(ctx, q, db.Fields[place], `SELECT 'credit', c.company_id, c.id FROM (SELECT DISTINCT provider FROM inbox_sweep) AS b
		CROSS JOIN settlement_session AS s CROSS JOIN settlement_credit AS c
		WHERE s.provider = b.provider AND s.session_id = $1
			AND c.company_id = s.company_id AND c.provider = s.provider AND c.session_id = s.session_id`, reference)
}

func proposalPlaces(ctx context.Context, q db.Querier, reference string) ([]place, error) {
	return db.All(ctx, q, db.Fields[place], `SELECT 'proposal', company, id FROM operator_proposal WHERE id = $1`, reference)
}

// moneyPlaces finds what moves money. Each table has an index by id for it. CROSS JOIN makes SQLite begin with the
// companies, and look for each by key.
func moneyPlaces(ctx context.Context, q db.Querier, reference string) ([]place, error) {
	return db.All(ctx, q, db.Fields[place], `SELECT 'operation', t.company_id, t.id FROM ledger_head AS h
			CROSS JOIN operation AS t WHERE t.company_id = h.company_id AND t.id = $1
		UNION ALL SELECT 'credit', t.company_id, t.id FROM ledger_head AS h
			CROSS JOIN settlement_credit AS t WHERE t.company_id = h.company_id AND t.id = $1
		UNION ALL SELECT 'collection', t.company_id, t.id FROM ledger_head AS h
			CROSS JOIN collection AS t WHERE t.company_id = h.company_id AND t.id = $1
		UNION ALL SELECT 'adjustment', t.company_id, t.id FROM ledger_head AS h
			CROSS JOIN settlement_adjustment AS t WHERE t.company_id = h.company_id AND t.id = $1
		UNION ALL SELECT 'transfer', t.company_id, t.id FROM ledger_head AS h
			CROSS JOIN settlement_transfer AS t WHERE t.company_id = h.company_id AND t.id = $1
		UNION ALL SELECT 'customer credit', t.company_id, t.id FROM ledger_head AS h
			CROSS JOIN customer_transaction AS t WHERE t.company_id = h.company_id AND t.id = $1`, reference)
}

// casePlaces finds a case, in the same way.
func casePlaces(ctx context.Context, q db.Querier, reference string) ([]place, error) {
	return db.All(ctx, q, db.Fields[place], `SELECT 'case', t.company_id, t.id FROM ledger_head AS h
		CROSS JOIN operation_case AS t WHERE t.company_id = h.company_id AND t.id = $1`, reference)
}

// subjectPlaces finds the cases about a reference, such as a bank's one that nothing of ours has.
func subjectPlaces(ctx context.Context, q db.Querier, reference string) (out []place, err error) {
	hits, err := casesAbout(ctx, q, reference)
	for _, h := range hits {
		out = append(out, place{h.Kind, h.Company, h.ID})
	}
	return out, err
}

// eventPlaces finds an event by the number in its id. Ids from before schema 49 have no number, and are
// not found.
func eventPlaces(ctx context.Context, q db.Querier, reference string) ([]place, error) {
	sequence, numbered := id.Number(reference)
	if !numbered {
		return nil, nil
	}
	return db.All(ctx, q, db.Fields[place], `SELECT 'event', t.company_id, t.id FROM ledger_head AS h
		CROSS JOIN event AS t WHERE t.company_id = h.company_id AND t.sequence = $2 AND t.id = $1`, reference, sequence)
}

// ownPlace returns what of one company has an id, or db.ErrNone.
func ownPlace(ctx context.Context, q db.Querier, company, reference string) (place, error) {
	return db.One(ctx, q, db.Fields[place], `
		SELECT 'operation', company_id, id FROM operation WHERE company_id = $1 AND id = $2
		UNION ALL SELECT 'credit', company_id, id FROM settlement_credit WHERE company_id = $1 AND id = $2
		UNION ALL SELECT 'collection', company_id, id FROM collection WHERE company_id = $1 AND id = $2
		UNION ALL SELECT 'adjustment', company_id, id FROM settlement_adjustment WHERE company_id = $1 AND id = $2
		UNION ALL SELECT 'transfer', company_id, id FROM settlement_transfer WHERE company_id = $1 AND id = $2
		UNION ALL SELECT 'customer credit', company_id, id FROM customer_transaction WHERE company_id = $1 AND id = $2`, company, reference)
}
