package api

import (
	"context"
	"net/http"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/company"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/idempotency"
	"github.com/kobo-waas/kobo/internal/request"
	"github.com/kobo-waas/kobo/internal/secret"
	"github.com/kobo-waas/kobo/internal/wire"
)

// ListAPIKeys lists the company's own API keys, newest first.
func (h *handlers) ListAPIKeys(ctx context.Context, r ListAPIKeysRequestObject) (ListAPIKeysResponseObject, error) {
	reference := callOf(ctx).company
	list, meta, err := turned(ctx, r.Params.Page, r.Params.PageSize, func(offset, limit int) ([]company.Key, int, error) {
		return h.Companies.PageOfKeys(ctx, reference, offset, limit)
	}, func(cursor string, limit int) ([]company.Key, error) {
		return h.Companies.KeysAfter(ctx, reference, cursor, limit)
	})
	if err != nil {
		return nil, err
	}
	uses, err := h.Requests.Uses(ctx, reference, each(list, func(k company.Key) string { return k.ID }))
	rows := each(list, func(k company.Key) APIKey { return h.apiKey(ctx, k, uses[k.ID]) })
	return ListAPIKeys200JSONResponse{Status: "success", Data: APIKeyPage{Data: rows, Meta: meta}}, err
}

// IssueAPIKey issues a further API key. Only this response shows the key.
func (h *handlers) IssueAPIKey(ctx context.Context, r IssueAPIKeyRequestObject) (IssueAPIKeyResponseObject, error) {
	var q query
	expiresAt := q.instant("expiresAt", r.Body.ExpiresAt, true)
	if err := q.fault(); err != nil {
		return nil, err
	}
	return answer(ctx, func(k company.OwnKey) (IssueAPIKeyResponseObject, error) {
		if k.Waits != nil {
			return waitingKey{Status: "success", Message: waits, Data: h.approval(*k.Waits)}, nil
		}
		return newAPIKey{Status: "success", Message: "API key issued", Data: h.issued(ctx, k.IssuedKey)}, nil
	}, func(key *idempotency.Key) (company.OwnKey, error) {
		k, err := h.Companies.IssueOwnKey(ctx, access(ctx, r.Body.Pin), r.Body.Name, expiresAt, key)
		return k, tokenless(ctx, err)
	})
}

// RevokeAPIKey revokes one of the company's own API keys.
func (h *handlers) RevokeAPIKey(ctx context.Context, r RevokeAPIKeyRequestObject) (RevokeAPIKeyResponseObject, error) {
	a, err := h.Companies.RevokeOwnKey(ctx, access(ctx, r.Body.Pin), r.ID)
	switch {
	case err != nil:
		return nil, tokenless(ctx, err)
	case a != nil:
		return RevokeAPIKey202JSONResponse{Status: "success", Message: waits, Data: h.approval(*a)}, nil
	}
	return RevokeAPIKey200JSONResponse{Status: "success", Message: "API key revoked"}, nil
}

// issued returns a new key with its text.
func (h *handlers) issued(ctx context.Context, k company.IssuedKey) IssuedAPIKey {
	row := h.apiKey(ctx, k.Key, request.Use{})
	return IssuedAPIKey{
		ID: row.ID, Name: row.Name, Ending: row.Ending, Status: row.Status, Current: row.Current,
		CreatedAt: row.CreatedAt, ExpiresAt: row.ExpiresAt, APIKey: k.Text.Reveal(),
	}
}

func (h *handlers) apiKey(ctx context.Context, k company.Key, last request.Use) APIKey {
	return APIKey{
		ID: k.ID, Name: wire.Optional(k.Name), Ending: wire.Optional(k.Ending), Status: k.Status(h.Clock.Now()), Current: k.ID == callOf(ctx).apiKey,
		CreatedAt: clock.Text(k.CreatedAt), ExpiresAt: clock.Optional(k.ExpiresAt), LastUsedAt: clock.Optional(last.At), LastUsedFrom: wire.Optional(last.Address),
	}
}

// access returns what the caller presents for an act on its API keys.
func access(ctx context.Context, pin string) company.Access {
	c := callOf(ctx)
	if p, sits := seatOf(ctx); sits {
		return company.Access{Company: c.company, Person: p.Name, PIN: secret.NewText(pin)}
	}
	return company.Access{Company: c.company, KeyID: c.apiKey, PIN: secret.NewText(pin)}
}

// tokenless gives the refusal of an access token whose API key does not work the format that the gate's
// refusals have.
func tokenless(ctx context.Context, err error) error {
	if fault.Is(err, fault.Forbidden) {
		callOf(ctx).family = auth
	}
	return err
}

// newAPIKey shows a secret, so a cache must not store it.
type newAPIKey IssueAPIKey200JSONResponse

// VisitIssueAPIKeyResponse sends the response with a header that forbids caching.
func (n newAPIKey) VisitIssueAPIKeyResponse(w http.ResponseWriter) error {
	w.Header().Set("Cache-Control", "no-store")
	return IssueAPIKey200JSONResponse(n).VisitIssueAPIKeyResponse(w)
}

func (n newAPIKey) public() any { n.Data.APIKey = ""; return n }

// waitingKey is the response to a request for a key that waits for a second person.
type waitingKey IssueAPIKey202JSONResponse

// VisitIssueAPIKeyResponse sends the response.
func (w waitingKey) VisitIssueAPIKeyResponse(to http.ResponseWriter) error {
	return IssueAPIKey202JSONResponse(w).VisitIssueAPIKeyResponse(to)
}

func (waitingKey) status() int { return http.StatusAccepted }
