package app

import (
	"context"

	"github.com/kobo-waas/kobo/internal/settlement"
)

// newSettlements returns the service of settlement accounts. This service calls services that are
// created later, such as those that receive credits. So it calls them through functions.
func (a *App) newSettlements(p plugs) *settlement.Service {
	banks := map[string]settlement.Bank{}
	for name, b := range p.banks {
		banks[name] = settlement.Bank{Name: b.Own().Name, Code: b.Own().Code, Float: b.float}
	}
	return settlement.New(settlement.Config{
		DB: a.DB, Book: a.Book, Clock: a.Clock, Operations: a.Operations, Banks: banks,
		Recipients: []settlement.Recipient{
			func(ctx context.Context, company string, c settlement.Credit) (settlement.Booking, bool, error) {
				return a.Customers.BookCredit(ctx, company, c)
			},
			func(ctx context.Context, company string, c settlement.Credit) (settlement.Booking, bool, error) {
				return a.Collections.BookCredit(ctx, company, c)
			},
		},
	})
}
