package app

import (
	"context"

	"github.com/kobo-waas/kobo/internal/inbox"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/secret"
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
		Stored: func() { a.Worker.Wake() }, // the worker is made later
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
