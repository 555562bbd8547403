package payout

import (
	"context"

	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/settlement"
)

// Preview is the effect that a payout would have.
type Preview = operation.Preview[money.Kobo]

// Preview tells what Send would do. It writes nothing and calls no bank, so it does not
// know the bank's answer. A missing verification or account is a fault, as in Send.
func (s *Service) Preview(ctx context.Context, o Order) (Preview, error) {
	p, err := s.plan(ctx, o)
	if err != nil {
		return Preview{}, err
	}
	op := s.Operations.Start(p.operation)
	balance, err := s.Book.Balance(ctx, o.Company, settlement.LedgerAccount(op.SettlementID))
	if err != nil {
		return Preview{}, err
	}
	why, err := s.objection(ctx, op, p, balance)
	return operation.NewPreview[money.Kobo](op, balance, why), err
}

// objection is the ledger's reason to refuse a payout, in the order of the ledger's
// checks: the verify_id, the limit counters, the balance.
func (s *Service) objection(ctx context.Context, o operation.Operation, p plan, balance money.Kobo) (why, err error) {
	_, err = s.Operations.Find(ctx, o.Company, o.ID)
	if !fault.Is(err, fault.Missing) {
		return errUsed, err
	}
	if why = s.Companies.MayUsePIN(ctx, o.Company); fault.Is(why, fault.Refused) {
		return why, nil
	}
	if why != nil {
		return nil, why
	}
	credentials, err := s.Companies.Credentials(ctx, o.Company)
	if err != nil || credentials > p.verification.credentials {
		return errVoid, err
	}
	for _, c := range counters(o, 1, p.whole, p.own) {
		sum, err := s.Book.Last(ctx, o.Company, ledger.Next(c.name))
		if err != nil {
			return nil, err
		}
		if c.limit > 0 && sum > c.limit-c.add {
			return overLimit(c.name), nil
		}
	}
	if balance < o.Amount+o.Fee {
		return errShort, nil
	}
	return nil, nil
}
