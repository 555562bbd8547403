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
type Preview struct {
	Amount, Fee  money.Kobo
	Balance      money.Kobo // now
	BalanceAfter money.Kobo // equal to Balance for a payout that would be refused
	Refusal      string     // the reason for a refusal; "" for none
}

// Preview tells what Send would do. It writes nothing and calls no bank, so it does not
// know the bank's answer. A missing verification or account is a fault, as in Send.
func (s *Service) Preview(ctx context.Context, o Order) (Preview, error) {
	p, err := s.plan(ctx, o)
	if err != nil {
		return Preview{}, err
	}
	op := s.operations.Start(p.operation)
	out := Preview{Amount: op.Amount, Fee: op.Fee}
	if out.Balance, err = s.book.Balance(ctx, o.Company, settlement.LedgerAccount(op.SettlementID)); err != nil {
		return Preview{}, err
	}
	out.BalanceAfter = out.Balance
	why, err := s.objection(ctx, op, p, out.Balance)
	if err != nil {
		return Preview{}, err
	}
	if why != nil {
		out.Refusal = fault.Of(why).Message
		return out, nil
	}
	out.BalanceAfter -= op.Amount + op.Fee
	return out, nil
}

// objection is the ledger's reason to refuse a payout, in the order of the ledger's
// checks: the verify_id, the limit counters, the balance.
func (s *Service) objection(ctx context.Context, o operation.Operation, p plan, balance money.Kobo) (why, err error) {
	_, err = s.operations.Find(ctx, o.Company, o.ID)
	if !fault.Is(err, fault.Missing) {
		return errUsed, err
	}
	if why = s.companies.MayUsePIN(ctx, o.Company); fault.Is(why, fault.Refused) {
		return why, nil
	}
	if why != nil {
		return nil, why
	}
	credentials, err := s.companies.Credentials(ctx, o.Company)
	if err != nil || credentials > p.verification.credentials {
		return errVoid, err
	}
	for _, c := range counters(o, 1, p.whole, p.own) {
		sum, err := s.book.Last(ctx, o.Company, ledger.Next(c.name))
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
