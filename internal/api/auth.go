package api

import (
	"context"

	"github.com/kobo-waas/kobo/internal/fault"
)

// handlers are the operations: each asks one business and shapes its answer.
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
	h.tookTokens(ctx, r.Reference) // the tokens are there: at the limit too they are handed over
	return GenerateToken200JSONResponse{AccessToken: access, RefreshToken: refresh}, nil
}

// RefreshAccessToken exchanges a refresh token for an access token.
func (h *handlers) RefreshAccessToken(ctx context.Context, r RefreshAccessTokenRequestObject) (RefreshAccessTokenResponseObject, error) {
	access, err := h.Companies.Refresh(ctx, r.Body.RefreshToken)
	if err != nil {
		return nil, err
	}
	company, err := h.Companies.Holder(access)
	if err != nil {
		return nil, err
	}
	if allowed, s := h.tookTokens(ctx, company); !allowed {
		return nil, s.Refusal()
	}
	return RefreshAccessToken200JSONResponse{AccessToken: access}, nil
}
