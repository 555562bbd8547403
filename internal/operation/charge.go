package operation

import (
	"context"

	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/money"
)

// ChargeKind is the kind of the transfers that book what a provider charges us.
const ChargeKind = "charge"

// bear books what the provider charged for a success. It is the fintech's own
// expense: no account of the company's pays for it, and it stays booked when the
// operation is reversed, since nobody said that it came back.
func (s *Service) bear(u *ledger.Unit, o Operation) {
	if o.State != Success || o.Charge <= 0 {
		return
	}
	r := s.kinds[o.Kind].Route(o)
	if r.Charge == "" {
		return
	}
	t := o.transfer(charge, r.Charge, r.Provider, o.Charge, "charged by "+o.Provider)
	t.Kind = ChargeKind
	u.Open = append(u.Open, ledger.Account{ID: r.Charge, Floor: money.NoFloor})
	u.Transfers = append(u.Transfers, t)
}

// bearLater books a charge that the provider names when the success is in the
// book already. One is booked, the first that was named; the statement shows
// whether it was right. The outcome's own charge was written in the commit that
// made the state, so it is seen here; the tally keeps two who are late apart.
func (s *Service) bearLater(ctx context.Context, o Operation) error {
	u := ledger.Unit{Company: o.Company, Tallies: []ledger.Tally{{Name: "charge/" + o.ID, Add: 1, Most: 1}}}
	if s.bear(&u, o); len(u.Transfers) == 0 {
		return nil
	}
	borne, err := s.book.Passed(ctx, o.Company, o.ID, u.Transfers[0].Debit)
	if err != nil || borne {
		return err
	}
	err = s.book.Commit(ctx, u)
	if ledger.Is(err, ledger.Over) {
		return nil
	}
	return err
}
