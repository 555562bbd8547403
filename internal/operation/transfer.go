package operation

import (
	"context"

	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/money"
)

// The steps of an operation's transfers. The ledger accepts each step of an operation only once.
const (
	hold       = ""
	settle     = "settle"
	settleFee  = "settle-fee"
	refund     = "refund"
	charge     = "charge"
	reverse    = "reverse"
	reverseFee = "reverse-fee"

	reverseCharge = "reverse-charge"
)

// ReturnsFee reports whether a step returns the fee to the settlement account.
func ReturnsFee(step string) bool { return step == refund || step == reverseFee }

// transfer returns the transfer of one step of an operation.
func (o Operation) transfer(step, from, to string, amount money.Kobo, narration string) ledger.Transfer {
	return ledger.Transfer{
		Reference: o.ID, Step: step, Debit: from, Credit: to, Amount: amount, Kind: o.Kind, Narration: narration,
	}
}

// settle returns the transfers that move an operation's money out of clearing, according to its
// outcome.
func (s *Service) settle(o Operation) []ledger.Transfer {
	r := s.kinds[o.Kind].Route(o)
	if o.State == Failed {
		return []ledger.Transfer{o.transfer(refund, r.Clearing, r.Settlement, o.Amount+o.Fee, "Refund")}
	}
	out := []ledger.Transfer{o.transfer(settle, r.Clearing, r.Provider, o.Amount, "settled")}
	if o.Fee > 0 {
		out = append(out, o.transfer(settleFee, r.Clearing, r.Fee, o.Fee, "fee"))
	}
	return out
}

// giveBack returns the transfers that move the amount and the fee of a successful operation back to
// the settlement account.
func (s *Service) giveBack(o Operation) []ledger.Transfer {
	r := s.kinds[o.Kind].Route(o)
	out := []ledger.Transfer{o.transfer(reverse, r.Provider, r.Settlement, o.Amount, "Reversal")}
	if o.Fee > 0 {
		out = append(out, o.transfer(reverseFee, r.Fee, r.Settlement, o.Fee, "Reversal of the fee"))
	}
	if t, differs := o.difference(r, reverseCharge, o.Amount-o.cost()); differs && r.Charge != "" {
		out = append(out, t)
	}
	return out
}

// difference returns the transfer of an amount that the provider takes on top of the operation's
// amount. A negative amount is what the provider takes less. It returns false if the amount is 0.
func (o Operation) difference(r Route, step string, amount money.Kobo) (t ledger.Transfer, differs bool) {
	t = o.transfer(step, r.Charge, r.Provider, amount, "charged by "+o.Provider)
	if amount < 0 {
		t = o.transfer(step, r.Provider, r.Charge, -amount, o.Provider+" took less")
	}
	t.Kind = ChargeKind
	return t, amount != 0
}

// ChargeKind is the kind of transfer that books a provider's charge to us.
const ChargeKind = "charge"

// bookCharge adds to unit u the transfer that books the provider's charge for a successful
// operation. The charge is the fintech's own expense, and the company does not pay it. The charge
// stays booked after a reversal, since the provider does not return it.
func (s *Service) bookCharge(u *ledger.Unit, o Operation) {
	r := s.kinds[o.Kind].Route(o)
	t, differs := o.difference(r, charge, o.Charge)
	if o.State != Success || !differs || r.Charge == "" {
		return
	}
	u.OpenAccounts(ledger.Account{ID: r.Charge, Floor: money.NoFloor})
	u.Transfer(t)
}

// bookLateCharge books a charge that the provider reports after the outcome. Only the first charge
// is booked; reconciliation with the statement shows whether that charge was right. Book.Passed
// finds a charge that was committed with the outcome. The limit counter makes the ledger refuse a
// second late charge.
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
	return ledger.Except(s.book.Commit(ctx, u), ledger.Over)
}
