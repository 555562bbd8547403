package report

import (
	"context"
	"errors"
	"slices"

	"github.com/kobo-waas/kobo/internal/db"
)

// The functions below find what a company's program calls by a key of its own or of a provider.

func ownByReference(ctx context.Context, q db.Querier, company, text string) ([]Hit, error) {
	labels, err := db.All(ctx, q, db.Fields[Hit], `SELECT o.kind, o.company_id, o.id, '', o.amount_kobo, o.created_at FROM operation_label AS l CROSS JOIN operation AS o
		WHERE l.company_id = $1 AND l.kind = ANY($3) AND l.external_reference = $2 AND l.external_reference <> '' AND o.company_id = l.company_id AND o.id = l.id
		ORDER BY o.id LIMIT $4`, company, text, operationKinds, atMost+1)
	if err != nil {
		return nil, err
	}
	waiting, err := db.All(ctx, q, db.Fields[Hit], `SELECT 'collection', company_id, id, '', amount_kobo, created_at FROM collection
		WHERE company_id = $1 AND external_reference = $2 LIMIT $3`, company, text, atMost+1)
	return slices.Concat(labels, waiting), err
}

func ownByProviderReference(ctx context.Context, q db.Querier, company, text string) ([]Hit, error) {
	return db.All(ctx, q, db.Fields[Hit], `SELECT kind, company_id, id, '', amount_kobo, created_at FROM operation
		WHERE company_id = $1 AND provider_reference = $2 AND provider_reference <> '' AND provider_reference <> id ORDER BY id LIMIT $3`, company, text, atMost+1)
}

func ownByRequest(ctx context.Context, q db.Querier, company, text string) ([]Hit, error) {
	return db.All(ctx, q, db.Fields[Hit], `SELECT 'request', company_id, request_id, method || ' ' || path, 0, created_at FROM request_log
		WHERE company_id = $1 AND request_id = $2 ORDER BY created_at DESC LIMIT 1`, company, text)
}

// ownByKey finds what requests with an Idempotency-Key, or purchases with an idempotencyKey, have begun.
func ownByKey(ctx context.Context, q db.Querier, company, text string) ([]Hit, error) {
	out, err := db.All(ctx, q, db.Fields[Hit], `SELECT kind, company_id, id, '', amount_kobo, created_at FROM operation
		WHERE company_id = $1 AND kind = ANY($3) AND idempotency_key = $2 AND idempotency_key <> '' LIMIT $4`, company, text, operationKinds, atMost+1)
	if err != nil {
		return nil, err
	}
	subjects, err := db.All(ctx, q, db.Value[string], `SELECT subject FROM idempotency_key WHERE company_id = $1 AND value = $2 AND subject <> '' LIMIT $3`, company, text, atMost+1)
	if err != nil {
		return nil, err
	}
	for _, subject := range subjects {
		at, err := ownPlace(ctx, q, company, subject)
		switch {
		case errors.Is(err, db.ErrNone):
			continue // a customer or a card, which have ids of their own
		case err != nil:
			return nil, err
		case at.kind == "operation":
			found, err := operationsIn(ctx, q, company, subject)
			if err != nil {
				return nil, err
			}
			out = append(out, found...)
		default:
			out = append(out, Hit{Kind: at.kind, Company: company, ID: at.id})
		}
	}
	return out, nil
}
