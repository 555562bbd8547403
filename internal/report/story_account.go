package report

import (
	"context"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
)

// A virtual account and the credit that pays it have ids of their own, and are one story. Each id leads to the whole of it.

// mateOf returns the place of the credit that has paid a virtual account, or of the virtual account on which a credit has arrived. The place is
// zero if there is none. A virtual account names no credit that came too late or with another amount. Such a credit has the story of
// the account, and the account does not have that of the credit.
func mateOf(ctx context.Context, q db.Querier, at place) (place, error) {
	kind, query := "collection", `SELECT c.id FROM settlement_credit AS s
		JOIN collection AS c ON c.company_id = s.company_id AND c.account_number = s.account_number
		WHERE s.company_id = $1 AND s.id = $2 AND s.account_number <> '' AND c.created_at <= s.created_at
		ORDER BY CASE WHEN c.credit_id = s.id THEN 0 ELSE 1 END, c.id DESC LIMIT 1`
	switch at.kind {
	case "credit":
	case "collection":
		kind, query = "credit", `SELECT credit_id FROM collection WHERE company_id = $1 AND id = $2 AND credit_id <> ''`
	default:
		return place{}, nil
	}
	ids, err := db.All(ctx, q, db.Value[string], query, at.company, at.id)
	if err != nil || len(ids) == 0 {
		return place{}, err
	}
	return place{kind, at.company, ids[0]}, nil
}

// pair adds what the mate of a credit or of a virtual account has. It returns the ids that rows about the story have, and the steps of both.
func (y *Story) pair(ctx context.Context, q db.Querier, at place, own []Step) ([]string, []Step, error) {
	mate, err := mateOf(ctx, q, at)
	if err != nil {
		return nil, nil, err
	}
	ids, account := []string{at.id}, at
	if mate.id != "" {
		its, begun, err := titleOf(ctx, q, mate)
		if err != nil {
			return nil, nil, err
		}
		if y.Mate = mate.id; mate.kind == "credit" {
			y.Counterparty, y.SessionID = its.Counterparty, its.SessionID
		} else {
			account = mate
			y.OwnReference = its.OwnReference
		}
		ids, own = append(ids, mate.id), append(own, begun...)
	}
	ended, err := endSteps(ctx, q, account)
	return ids, append(own, ended...), err
}

// endSteps returns when a virtual account has expired without its payment.
func endSteps(ctx context.Context, q db.Querier, at place) ([]Step, error) {
	if at.kind != "collection" {
		return nil, nil
	}
	return db.All(ctx, q, func(sc db.Scanner) (Step, error) {
		ended, err := db.Value[int64](sc)
		return Step{At: clock.Time(ended), What: "state", Text: "The virtual account has expired, and nobody has paid"}, err
	}, `SELECT updated_at FROM collection WHERE company_id = $1 AND id = $2 AND state = 'FAILED'`, at.company, at.id)
}

// isTold reports whether a step for the same event is there.
func isTold(steps []Step, event int64) bool {
	for _, s := range steps {
		if s.What == "event" && s.Event == event {
			return true
		}
	}
	return false
}
