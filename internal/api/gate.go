package api

import (
	"net/http"

	"github.com/kobo-waas/kobo/internal/company"
	"github.com/kobo-waas/kobo/internal/contract"
	"github.com/kobo-waas/kobo/internal/fault"
)

// gate checks the access token of a request and returns the company. A person needs none (Seat). For a request without a valid
// token, all operations have the same error responses (wallet-api.md, Errors).
func (e *edge) gate(r *http.Request, op *contract.Operation) (company.Identity, error) {
	if p, sits := seatOf(r.Context()); sits {
		return e.seated(r.Context(), p, op)
	}
	token := contract.Bearer(r)
	if token == "" {
		return company.Identity{}, fault.New(fault.Unauthenticated, "Access token is missing")
	}
	identity, err := e.Authenticate(r.Context(), token)
	if err == nil {
		return identity, nil
	}
	switch fault.Of(err).Kind {
	case fault.Forbidden, fault.Unauthenticated, fault.Unavailable:
		return company.Identity{}, err
	}
	// The check itself failed, so the token may still be valid.
	return company.Identity{}, fault.New(fault.Unavailable, "Service temporarily unavailable").Because(err)
}
