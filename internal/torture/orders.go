package torture

import (
	"cmp"

	"github.com/kobo-waas/kobo/internal/money"
)

// payoutFee is the fee of each payout of a run.
const payoutFee = 10*money.Naira + 75

// moved is what the ledger entries of a payment took from its account and gave back.
type moved struct {
	debits, refunds int
	taken, returned money.Kobo
	early           bool // money came back before it was taken
}

// orders compares each payment with the order that its sender made, and with its ledger entries: one debit of the amount and the fee,
// and both back if it failed or came back. An order makes one payment at most. Its reference follows from its key, also where the API does not
// show the key, as for a card funding.
func orders(h *History, r *Result) {
	ordered := h.ordered()
	made := map[subject]string{} // the payment of each order
	for _, b := range h.Facts.Companies {
		entries := b.moved()
		for _, p := range b.Payments {
			r.Compared++
			c, there := ordered.of(b, p)
			fee := money.Kobo(0)
			if p.Kind == payout {
				fee = h.Run.PayoutFee
			}
			switch {
			case !there:
				r.wrong("nobody ordered the %s %s", p.Kind, p.Reference)
			case made[subject{c.Company, c.Key}] != "":
				r.wrong("the order %s has made the payments %s and %s", c.Key, made[subject{c.Company, c.Key}], p.Reference)
			case c.Kind != p.Kind:
				r.wrong("the %s %s was ordered as a %s", p.Kind, p.Reference, c.Kind)
			case c.Amount != p.Amount || c.Account != p.Account:
				r.wrong("the %s %s is about %s of account %d, and %s of account %d were ordered", p.Kind, p.Reference, p.Amount, p.Account, c.Amount, c.Account)
			case p.Fee != fee:
				r.wrong("the fee of the %s %s is %s, not %s", p.Kind, p.Reference, p.Fee, fee)
			}
			made[subject{c.Company, c.Key}] = p.Reference
			want := moved{debits: 1, taken: p.Amount + p.Fee}
			if p.Refunded {
				want.returned, want.refunds = want.taken, 1
			}
			got := entries[place{p.Reference, p.Account}]
			if p.State == reversed && got.refunds > 1 {
				want.refunds = 2 // the amount and the fee
			}
			if got.early {
				r.wrong("the %s %s gave money back before it took any", p.Kind, p.Reference)
			}
			if want.early = got.early; got != want {
				r.wrong("the %s %s of %s with the fee %s took %s in %d entries, and gave back %s in %d", p.Kind, p.Reference, p.Amount, p.Fee, got.taken, got.debits, got.returned, got.refunds)
			}
		}
	}
}

// orders returns the calls that order payments, by the references of the payments.
func (h *History) orders() map[string][]Call {
	out := map[string][]Call{}
	for _, c := range h.Calls {
		if isOrder(c) {
			name := cmp.Or(c.Reference, c.reference())
			out[name] = append(out[name], c)
		}
	}
	return out
}

// ordering is the orders of a run by their keys and references.
type ordering map[subject]Call

func (h *History) ordered() ordering {
	out := ordering{}
	for _, c := range h.Calls {
		if c.Kind == purchase || c.Kind == payout || c.Kind == funding {
			for _, name := range []string{c.Key, c.reference(), c.Reference} {
				if name != "" {
					out[subject{c.Company, name}] = c
				}
			}
		}
	}
	return out
}

// of returns the order of a payment.
func (o ordering) of(b Books, p Payment) (Call, bool) {
	c, there := o[subject{b.Reference, p.Reference}]
	if !there {
		c, there = o[subject{b.Reference, p.Key}]
	}
	return c, there
}

// moved returns what moved for each reference in each account. The company of these places is the reference.
func (b Books) moved() map[place]moved {
	out := map[place]moved{}
	for _, e := range b.Entries {
		key := place{e.Reference, e.Account}
		m := out[key]
		if e.Change < 0 {
			m.debits, m.taken = m.debits+1, m.taken-e.Change
		} else {
			m.refunds, m.returned, m.early = m.refunds+1, m.returned+e.Change, m.early || m.debits == 0
		}
		out[key] = m
	}
	return out
}
