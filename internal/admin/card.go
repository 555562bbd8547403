package admin

import (
	"context"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/customer"
)

// findCardAddress shows the company's fallback address, which is for cardholders who have no
// address. While the fallback is null, a customer without an address cannot get a card.
func (e *edge) findCardAddress(ctx context.Context, r *request) (any, error) {
	c, err := e.Companies.Find(ctx, r.PathValue("reference"))
	if err != nil {
		return nil, err
	}
	a, err := e.Cards.Address(ctx, c.Reference)
	if err != nil || a.Line1 == "" {
		return CardAddress{}, err
	}
	source, address := "company", AddressRequest(a.Address)
	if a.Since.IsZero() {
		source = "deployment"
	}
	return CardAddress{&address, &source, clock.Optional(a.Since)}, nil
}

func (e *edge) setCardAddress(ctx context.Context, r *request, body AddressRequest) (any, error) {
	if err := e.Cards.SetAddress(ctx, r.by, r.PathValue("reference"), customer.Address(body)); err != nil {
		return nil, err
	}
	return e.findCardAddress(ctx, r)
}
