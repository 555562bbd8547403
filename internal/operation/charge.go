package operation

import (
	"context"

	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/money"
)

// ChargeKind is the kind of the transfers that book what a provider charges us.
const ChargeKind = "charge"

// bookCharge books what the provider charged for a success. It is the fintech's own
// expense: no account of the company's pays for it, and it stays booked when the
// operation is reversed, since nobody said that it came back.
func (s *Service) bookCharge(u *ledger.Unit, o Operation) {
	if o.State != Success || o.Charge <= 0 {
		return
	}
	r := s.kinds[o.Kind].Route(o)
	if r.Charge == "" {
		return
	}
	t := o.transfer(charge, r.Charge, r.Provider, o.Charge, "charged by "+o.Provider)
	t.Kind = ChargeKind
	u.OpenAccounts(ledger.Account{ID: r.Charge, Floor: money.NoFloor})
	u.Transfer(t)
}

// bookLateCharge books a charge that the provider names when the success is in the
// book already. One is booked, the first that was named; the statement shows
// whether it was right. The outcome's own charge was written in the commit that
// made the state, so it is seen here; the limit counter keeps two late ones apart.
func (s *Service) bookLateCharge(ctx context.Context, o Operation) error {
	u := ledger.For(o.Company)
	if s.bookCharge(&u, o); u.IsEmpty() {
		return nil
	}
	u.Count("charge/"+o.ID, 1, 1)
	booked, err := s.book.Passed(ctx, o.Company, o.ID, s.kinds[o.Kind].Route(o).Charge)
	if err != nil || booked {
		return err
	}
	err = s.book.Commit(ctx, u)
	if ledger.Is(err, ledger.Over) {
		return nil
	}
	return err
}
