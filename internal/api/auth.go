package api

import (
	"context"

	"github.com/kobo-waas/kobo/internal/fault"
)

// handlers implement the operations of the contract. Each handler calls a business service and
// shapes the response.
type handlers struct {
	*edge
}

// GenerateToken exchanges an API key for tokens.
func (h *handlers) GenerateToken(ctx context.Context, r GenerateTokenRequestObject) (GenerateTokenResponseObject, error) {
	if r.Params.XApiKey == "" {
		return nil, fault.New(fault.Invalid, "Bad Request: API key is missing")
	}
	if err := h.mayTakeTokens(r.Reference); err != nil {
		return nil, err
	}
	access, refresh, err := h.Companies.Tokens(ctx, r.Reference, r.Params.XApiKey)
	if err != nil {
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
		return nil, err
	}
	holder, err := h.Companies.Holder(ctx, access)
	if err == nil {
		err = h.takeCompany(callOf(ctx).header, holder)
	}
	return RefreshAccessToken200JSONResponse{AccessToken: access}, err
}
