package report

import (
	"context"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/settlement"
)

// These findings come from the check of all credits and from that of new ones.
const (
	notBooked = "the credit %s is not in the ledger as it was received"
	notPaid   = "the collection %s is SUCCESS without a payment"
)

// addCredits compares the ledger with the credits. Each credit must have its transfer, the suspense
// account must hold the credits for unknown accounts, and a paid collection must have its payment.
// The result names at most 20 wrong rows of each kind.
func (i *Integrity) addCredits(ctx context.Context, q db.Querier) error {
	if err := i.addSuspense(ctx, q); err != nil {
		return err
	}
	lost, err := db.All(ctx, q, db.Value[string], `
		SELECT c.id FROM settlement_credit AS c
		LEFT JOIN ledger_transfer AS t ON t.company_id = c.company_id AND t.reference = c.id AND t.step = '' AND t.amount_kobo = c.amount_kobo
			AND t.credit_account = CASE WHEN c.settlement_id = 0 THEN 'suspense/inbound' ELSE 'settlement/' || CAST(c.settlement_id AS TEXT) END
		WHERE c.company_id = $1 AND t.reference IS NULL ORDER BY c.id LIMIT 20`, i.Company)
	if err != nil {
		return err
	}
	for _, id := range lost {
		i.wrong(notBooked, id)
	}
	unpaid, err := db.All(ctx, q, db.Value[string], `
		SELECT v.id FROM collection AS v
		LEFT JOIN settlement_credit AS c ON c.company_id = v.company_id AND c.id = v.credit_id AND c.account_number = v.account_number
		WHERE v.company_id = $1 AND v.state = 'SUCCESS' AND c.id IS NULL ORDER BY v.id LIMIT 20`, i.Company)
	for _, id := range unpaid {
		i.wrong(notPaid, id)
	}
	return err
}

// addSuspense compares the suspense account with the credits for unknown accounts.
func (i *Integrity) addSuspense(ctx context.Context, q db.Querier) error {
	waiting, err := db.One(ctx, q, db.Value[money.Kobo], `
		SELECT CAST(coalesce(sum(c.amount_kobo), 0) AS BIGINT) FROM settlement_credit AS c
		WHERE c.company_id = $1 AND c.settlement_id = 0 AND NOT EXISTS (SELECT 1 FROM ledger_transfer AS t
			WHERE t.company_id = c.company_id AND t.reference = c.id AND t.kind = 'assign')`, i.Company)
	if err != nil {
		return err
	}
	suspense := money.Kobo(0)
	for _, a := range i.Accounts {
		if a.Name == settlement.SuspenseAccount {
			suspense = a.Balance
		}
	}
	if suspense != waiting {
		i.wrong("suspense holds %d kobo for credits of %d kobo that belong to nobody", suspense, waiting)
	}
	return nil
}
