package admin

import (
	"context"

	"github.com/kobo-waas/kobo/internal/customer"
)

// addressRow is the address of a company's cardholders who have none.
type addressRow struct {
	Address *customer.Address `json:"address"` // null: there is none, and such a customer gets no card
	Source  *string           `json:"source"`  // company or deployment
	Since   *string           `json:"since"`
}

func (d *door) findAddress(ctx context.Context, r *request) (any, error) {
	c, err := d.Companies.Find(ctx, r.PathValue("reference"))
	if err != nil {
		return nil, err
	}
	a, err := d.Cards.Address(ctx, c.Reference)
	if err != nil || a.Line1 == "" {
		return addressRow{}, err
	}
	source := "company"
	if a.Since.IsZero() {
		source = "deployment"
	}
	return addressRow{&a.Address, &source, moment(a.Since)}, nil
}

func (d *door) setAddress(ctx context.Context, r *request) (any, error) {
	a := customer.Address{
		Line1: r.form.text("line1"), Line2: r.form.optional("line2"), City: r.form.text("city"), State: r.form.text("state"),
		Country: r.form.optional("country"), PostalCode: r.form.optional("postalCode"),
	}
	if err := r.form.done(); err != nil {
		return nil, err
	}
	if err := d.Cards.SetAddress(ctx, r.by, r.PathValue("reference"), a); err != nil {
		return nil, err
	}
	return d.findAddress(ctx, r)
}
