package app

import (
	"context"

	"github.com/kobo-waas/kobo/internal/inbox"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/secret"
	"github.com/kobo-waas/kobo/internal/settlement"
)

// newInbox connects the banks' notifications with the books.
func (a *App) newInbox(keys *secret.Keyring, p plugs) *inbox.Service {
	banks := map[string]provider.Receiver{}
	for name, b := range p.banks {
		banks[name] = b
	}
	return inbox.NewService(inbox.Config{
		DB: a.DB, Keys: keys, Clock: a.Clock, Log: a.log, Banks: banks,
		Receive: func(ctx context.Context, bank string, in provider.Inbound) error {
			// What is paid into a company's account goes on to our own at the same
			// bank. That is one credit, and the bank lists it twice.
			if in.CreditAccount == p.float[bank] {
				if ours, err := a.Settlements.Holds(ctx, in.SenderAccount); err != nil || ours {
					return err
				}
			}
			return a.Settlements.Receive(ctx, bank, in)
		},
		Ask: func(ctx context.Context, subject string, d inbox.Doubt, detail string) error {
			return a.Settlements.Ask(ctx, subject, operation.Reason(d), detail)
		},
		Payout: func(ctx context.Context, reference string) error { return a.Payouts.Notified(ctx, reference) },
		Stored: a.Worker.Wake,
	})
}

// newSettlements gives the recipients of credits as functions, since the recipients are
// made later.
func (a *App) newSettlements(p plugs) *settlement.Service {
	banks := map[string]settlement.Bank{}
	for name, b := range p.banks {
		banks[name] = settlement.Bank{Name: b.Own().Name, Code: b.Own().Code, Float: p.float[name]}
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

// callback is where a bank tells of payments into an account that is opened
// now; "" in the sandbox, which is told once for all accounts.
func (a *App) callback(bank string) string {
	if a.cfg.CallbackBase == "" {
		return ""
	}
	return a.cfg.CallbackBase + a.Inbox.Path(bank)
}
