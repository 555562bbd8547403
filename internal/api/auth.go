package api

import (
	"context"

	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/idempotency"
	"github.com/kobo-waas/kobo/internal/secret"
)

// handlers implement the operations of the contract. Each handler calls a business service and
// shapes the response.
type handlers struct {
	*edge
}

// The acts of a failed request for tokens, as the audit log names them.
const (
	failedToken   = "company.token.failed"
	failedRefresh = "company.refresh.failed"
	failedClaim   = "company.claim.failed"
)

// failedLogin records that a caller presented a wrong API key or token for a company. The log line of
// the request names the company too. A caller can invent a reference, so the audit log names only a
// company that exists.
func (h *handlers) failedLogin(ctx context.Context, action, reference string, err error) {
	switch why := fault.Of(err); why.Kind {
	case fault.Invalid, fault.Unauthenticated, fault.Forbidden:
		if why.Code != "" {
			return // the key is right, but the company may not use the API
		}
	default:
		return
	}
	if id.IsCuid(reference) {
		callOf(ctx).reference = reference
	}
	if h.FailedLogin == nil {
		return
	}
	if _, unknown := h.Companies.Find(ctx, reference); unknown != nil {
		reference = ""
	}
	h.FailedLogin(ctx, action, reference)
}

// GenerateToken exchanges an API key for tokens.
func (h *handlers) GenerateToken(ctx context.Context, r GenerateTokenRequestObject) (GenerateTokenResponseObject, error) {
	if r.Params.XApiKey == "" {
		return nil, fault.New(fault.Invalid, "Bad Request: API key is missing").With(fault.CredentialsMissing)
	}
	if err := h.mayTakeTokens(r.Reference); err != nil {
		return nil, err
	}
	access, refresh, err := h.Companies.Tokens(ctx, r.Reference, r.Params.XApiKey)
	if err != nil {
		h.failedLogin(ctx, failedToken, r.Reference, err)
		return nil, err
	}
	if holder, err := h.Companies.Holder(ctx, access); err == nil {
		_ = h.takeCompany(callOf(ctx).header, holder) // even over the limit, the new tokens are sent
	}
	return GenerateToken200JSONResponse{AccessToken: access, RefreshToken: refresh}, nil
}

// RefreshAccessToken exchanges a refresh token for an access token.
func (h *handlers) RefreshAccessToken(ctx context.Context, r RefreshAccessTokenRequestObject) (RefreshAccessTokenResponseObject, error) {
	access, err := h.Companies.Refresh(ctx, r.Body.RefreshToken)
	if err != nil {
		h.failedLogin(ctx, failedRefresh, h.Companies.HolderOf(r.Body.RefreshToken), err)
		return nil, err
	}
	holder, err := h.Companies.Holder(ctx, access)
	if err == nil {
		err = h.takeCompany(callOf(ctx).header, holder)
	}
	return RefreshAccessToken200JSONResponse{AccessToken: access}, err
}

// ClaimKey exchanges a key token for an API key.
func (h *handlers) ClaimKey(ctx context.Context, r ClaimKeyRequestObject) (ClaimKeyResponseObject, error) {
	is, key, err := h.Companies.ClaimKey(ctx, r.Reference, r.Body.KeyToken)
	if err != nil {
		h.failedLogin(ctx, failedClaim, r.Reference, err)
		return nil, err
	}
	return ClaimKey200JSONResponse{APIKey: key.Reveal(), OtherKeys: int64(is.Others)}, nil
}

// SetPIN sets the company's transaction PIN. The company proves itself with the present PIN or with a
// PIN token.
func (h *handlers) SetPIN(ctx context.Context, r SetPINRequestObject) (SetPINResponseObject, error) {
	token, current, pin := r.Body.PinToken, r.Body.CurrentPin, secret.NewText(r.Body.Pin)
	if (token == "") == (current == "") {
		return nil, fault.New(fault.Invalid, `Send either "pinToken" or "currentPin"`)
	}
	return answer(ctx, func(struct{}) (SetPIN200JSONResponse, error) {
		return SetPIN200JSONResponse{Status: "success", Message: "PIN changed"}, nil
	}, func(key *idempotency.Key) (struct{}, error) {
		if token != "" {
			return struct{}{}, h.Companies.ResetPIN(ctx, callOf(ctx).company, token, pin, key)
		}
		return struct{}{}, h.Companies.ChangePIN(ctx, callOf(ctx).company, secret.NewText(current), pin, key)
	})
}
