package admin

import (
	"context"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/customer"
)

func checkedOf(c customer.Checked) CheckedCustomer {
	return CheckedCustomer{
		ID: c.ID, Company: c.Company, FirstName: c.FirstName, LastName: c.LastName, NameMatch: string(c.NameMatch), Status: c.Status,
		UpdatedAt: clock.Text(c.UpdatedAt),
	}
}

// listCustomers lists the customers whose name was compared with the name that the bank has for the
// BVN.
func (e *edge) listCustomers(ctx context.Context, r *request) (any, error) {
	f := customer.CheckedFilter{NameMatch: r.filter("nameMatch"), Company: r.filter("company")}
	return filtered(ctx, r, checkedOf, f, e.Customers.Checked)
}
