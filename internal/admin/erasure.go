package admin

import (
	"context"

	"github.com/kobo-waas/kobo/internal/clock"
)

// eraseCustomer erases a customer. Jobs complete the erasure.
func (e *edge) eraseCustomer(ctx context.Context, r *request, _ NoRequest) (any, error) {
	done, err := e.Erasures.Erase(ctx, r.by, r.PathValue("id"))
	return Erasure{done.CustomerID, done.Company, clock.Text(done.ErasedAt), clock.Text(e.Erasures.KeptUntil(done))}, err
}

// weighErasure returns an error if the customer does not exist or cannot be erased.
func (e *edge) weighErasure(ctx context.Context, r *request) (stake, error) {
	company, err := e.Erasures.Check(ctx, r.PathValue("id"))
	return stake{company: company}, err
}
