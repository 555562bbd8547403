package report

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/operation"
)

// asked is a request of a company, as its log has it.
type asked struct {
	method, path, reason, requestID, key, keyID, keyName, keyEnding, address, subject string
	status, micros                                                                    int64
	at                                                                                time.Time
}

// askedColumns reads requests with the names of their API keys.
const askedColumns = `SELECT r.method, r.path, r.reason, r.request_id, r.idempotency_key, r.api_key_id, coalesce(k.name, ''), coalesce(k.ending, ''),
		r.address, r.subject, r.status, r.took_micros, r.created_at
	FROM request_log AS r LEFT JOIN company_api_key AS k ON k.company_id = r.company_id AND k.id = r.api_key_id `

// requestSteps returns the requests that began a payment. The log of requests is kept for some weeks, and a
// crash may lose its last second. So a payment may have no such step.
func requestSteps(ctx context.Context, q db.Querier, c operation.Case, subject string) ([]Step, error) {
	list, err := db.All(ctx, q, db.Fields[asked], askedColumns+`WHERE r.company_id = $1 AND r.subject = $2 AND r.subject <> '' ORDER BY r.created_at LIMIT 10`,
		c.Company, subject)
	steps := make([]Step, len(list))
	for i, a := range list {
		steps[i] = a.step()
	}
	return steps, err
}

func (a asked) step() Step {
	text := fmt.Sprintf("%s from %s: %s %s, request %s", a.who(), a.address, a.method, a.path, a.requestID)
	if a.key != "" {
		text += ", Idempotency-Key " + a.key
	}
	text += fmt.Sprintf(", answered %d after %d ms", a.status, a.micros/1000)
	if a.reason != "" {
		text += ", " + a.reason
	}
	return Step{At: a.at, What: "request", Text: text}
}

// who returns who sent a request.
func (a asked) who() string {
	name, isPerson := strings.CutPrefix(a.keyID, "person:")
	switch {
	case isPerson:
		return "person " + name
	case a.keyEnding != "":
		return strings.TrimSpace("API key …" + a.keyEnding + " " + a.keyName)
	case a.keyID != "":
		return "API key " + a.keyID
	}
	return "a program"
}

// requestPlaces finds the newest request with an id.
func requestPlaces(ctx context.Context, q db.Querier, reference string) ([]place, error) {
	return db.All(ctx, q, db.Fields[place], `SELECT 'request', company_id, id FROM request_log WHERE request_id = $1 ORDER BY created_at DESC LIMIT 1`, reference)
}

// requestStory returns the story of the payment that a request began. A request that began none has a story
// of its own.
func (s *Service) requestStory(ctx context.Context, q db.Querier, at place) (Story, error) {
	a, err := db.One(ctx, q, db.Fields[asked], askedColumns+`WHERE r.company_id = $1 AND r.id = $2`, at.company, at.id)
	if err != nil {
		return Story{}, err
	}
	if a.subject != "" {
		of, err := ownPlace(ctx, q, at.company, a.subject)
		if err == nil {
			return s.story(ctx, q, of)
		}
		if !errors.Is(err, db.ErrNone) { // a bulk payout, or a payout that waits or waited for a second person
			return Story{}, err
		}
	}
	return Story{
		Kind: "request", Reference: a.requestID, Company: at.company, State: fmt.Sprint(a.status), Counterparty: a.method + " " + a.path, CreatedAt: a.at,
		Steps: []Step{a.step()},
	}, nil
}

// byRequest finds the newest requests with an id that the caller or Kobo gave them.
func byRequest(ctx context.Context, q db.Querier, text string) ([]Hit, error) {
	return db.All(ctx, q, db.Fields[Hit], `SELECT 'request', company_id, request_id, method || ' ' || path, 0, created_at FROM request_log
		WHERE request_id = $1 ORDER BY created_at DESC LIMIT 1`, text)
}

// byIdempotencyKey finds what requests with an Idempotency-Key, or purchases with an idempotencyKey, have begun.
// It goes through the companies, and looks in each by key.
func byIdempotencyKey(ctx context.Context, q db.Querier, text string) ([]Hit, error) {
	out, err := db.All(ctx, q, db.Fields[Hit], `SELECT o.kind, o.company_id, o.id, '', o.amount_kobo, o.created_at FROM ledger_head AS h CROSS JOIN operation AS o
		WHERE o.company_id = h.company_id AND o.kind = ANY($2) AND o.idempotency_key = $1 AND o.idempotency_key <> '' LIMIT $3`, text, operationKinds, atMost+1)
	if err != nil {
		return nil, err
	}
	type begun struct{ company, subject string }
	list, err := db.All(ctx, q, db.Fields[begun], `SELECT k.company_id, k.subject FROM ledger_head AS h CROSS JOIN idempotency_key AS k
		WHERE k.company_id = h.company_id AND k.value = $1 AND k.subject <> '' LIMIT $2`, text, atMost+1)
	if err != nil {
		return nil, err
	}
	for _, b := range list {
		at, err := ownPlace(ctx, q, b.company, b.subject)
		switch {
		case errors.Is(err, db.ErrNone):
			continue // a customer or a card, which have ids of their own
		case err != nil:
			return nil, err
		case at.kind == "operation":
			found, err := operationsIn(ctx, q, b.company, b.subject)
			if err != nil {
				return nil, err
			}
			out = append(out, found...)
		default:
			out = append(out, Hit{Kind: at.kind, Company: at.company, ID: at.id})
		}
	}
	return out, nil
}

// creditsFrom finds the latest credits from the account of a sender.
func creditsFrom(ctx context.Context, q db.Querier, text string) ([]Hit, error) {
	return db.All(ctx, q, db.Fields[Hit], `SELECT 'credit', company_id, id, '', amount_kobo, created_at FROM settlement_credit
		WHERE sender_account = $1 AND sender_account <> '' ORDER BY created_at DESC LIMIT $2`, text, atMost+1)
}

// peopleByName finds the people of companies and the operators whose names begin with a text.
func peopleByName(ctx context.Context, q db.Querier, text string) ([]Hit, error) {
	begins := strings.ToLower(text)
	out, err := db.All(ctx, q, db.Fields[Hit], `SELECT 'person', company, id, name, 0, created_at FROM person
		WHERE state = 'ACTIVE' AND name >= $1 AND name < $2 ORDER BY name, company LIMIT $3`, begins, after(begins), atMost+1)
	if err != nil {
		return nil, err
	}
	operators, err := db.All(ctx, q, db.Fields[Hit], `SELECT 'operator', '', id, name, 0, created_at FROM operator_key
		WHERE state = 'ACTIVE' AND name >= $1 AND name < $2 ORDER BY name LIMIT $3`, begins, after(begins), atMost+1)
	return append(out, operators...), err
}
