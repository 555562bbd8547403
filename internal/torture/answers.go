package torture

import (
	"cmp"
	"strings"
)

// subject is a payment as its sender knows it.
type subject struct{ company, key string }

// answers compares all answers about a key with each other and with the payment at the end. An answer from a time that a
// restore has lost may differ from the end, but the key has the same reference. Each order gets an answer in the end, unless a restore has
// lost it and the company has given it up.
func answers(h *History, r *Result) {
	byKey := map[subject]Payment{}
	byReference := map[subject]Payment{}
	for _, b := range h.Facts.Companies {
		for _, p := range b.Payments {
			byReference[subject{b.Reference, p.Reference}] = p
			if p.Key == "" {
				continue
			}
			if _, twice := byKey[subject{b.Reference, p.Key}]; twice {
				r.wrong("there are two payments for the key %s", p.Key)
			}
			byKey[subject{b.Reference, p.Key}] = p
		}
	}
	for _, fault := range h.Facts.Faults {
		r.wrong("%s", fault)
	}
	h.heard(r)
	named, said := map[subject]string{}, map[subject]string{}
	for _, c := range h.Calls {
		if !isOrder(c) && c.Kind != look {
			h.beside(r, c)
			continue
		}
		h.reason(r, c)
		key := subject{c.Company, c.Key}
		if c.Status != 0 {
			r.Compared++
		}
		if c.Reference != "" {
			if was := named[key]; was != "" && was != c.Reference {
				r.wrong("the key %s was said to be %s and %s", c.Key, was, c.Reference)
			}
			named[key] = c.Reference
		}
		if (c.State == success || c.State == failed) && c.Kind != look && !h.mayBeLost(c) {
			if was := said[key]; was != "" && was != c.State {
				r.wrong("the %s %s was said to be %s and %s", c.Kind, c.Key, was, c.State)
			}
			said[key] = c.State
		}
		if c.Said != 0 && c.Said != c.Amount {
			r.wrong("the %s %s was said to be about %s, and %s were ordered", c.Kind, c.Key, c.Said, c.Amount)
		}
		p, exists := byKey[key]
		if name := cmp.Or(c.Reference, c.reference()); c.Reference != "" || c.Kind == funding { // the API does not show the key of a card funding
			p, exists = byReference[subject{c.Company, name}]
		}
		if exists && p.Key != "" && p.Key != c.Key {
			r.wrong("the answer about %s names %s, which is the payment of %s", c.Key, p.Reference, p.Key)
		}
		if !h.mayBeLost(c) && !agree(c, p, exists) {
			r.wrong("the %s %s was said to be %s, and is %q at the end", c.Kind, c.Key, c.State, p.State)
		}
	}
}

// heard checks that each order gets an answer, and that none says PENDING after an earlier one has said the outcome.
func (h *History) heard(r *Result) {
	heard := map[subject]bool{}
	final := map[subject]int64{} // when an order was first answered with its outcome
	for _, c := range h.Calls {
		key := subject{c.Company, c.Key}
		if c.Kind != look { // a look answers no order
			heard[key] = heard[key] || c.State != unknown || h.mayBeLost(c) && !repeats(c.Key) || h.allowedSince(c)
		}
		if at, there := final[key]; isOrder(c) && isFinal(c.State) && !h.mayBeLost(c) && (!there || c.End < at) {
			final[key] = c.End
		}
	}
	for _, c := range h.Calls {
		key := subject{c.Company, c.Key}
		if !isOrder(c) {
			continue
		}
		if !heard[key] {
			r.wrong("the %s %s never got an answer, and last %d", c.Kind, c.Key, c.Status)
		}
		if at, there := final[key]; there && c.State == pending && c.Begin > at {
			r.wrong("the %s %s was said to be PENDING after its outcome had been said", c.Kind, c.Key)
		}
	}
}

// beside checks an answer about no payment.
func (h *History) beside(r *Result, c Call) {
	if c.Kind == balance && c.State == absent && !h.follows(c) {
		r.wrong("account %d of %s was said not to be there", c.Account, c.Company)
	}
	if c.Kind == enquiry || c.Kind == opening || c.Kind == balance && c.Answer != "" {
		r.Compared++
		h.reason(r, c)
	}
}

// isOrder reports whether a call orders a payment.
func isOrder(c Call) bool { return c.Kind == purchase || c.Kind == payout || c.Kind == funding }

// isFinal reports whether an answer says how a payment has ended.
func isFinal(state string) bool { return state == success || state == failed || state == reversed }

// short is Kobo's word for a balance that is not enough. The check of the order tells whether it was right.
const short = "Insufficient balance"

// reason checks the reason of a refusal, and that each other answer is one of the contract. A restore can lose the answer about a name, or
// the account.
func (h *History) reason(r *Result, c Call) {
	switch {
	case c.Answer == "":
	case c.State != refused:
		r.wrong("the %s %s was answered %d %s", c.Kind, c.Key, c.Status, c.Answer)
	case isOrder(c) && strings.Contains(c.Answer, short):
	case !h.follows(c) || !strings.Contains(c.Answer, "Verification not found") && !strings.Contains(c.Answer, "Settlement account not found"):
		r.wrong("the %s %s was refused: %s", c.Kind, c.Key, c.Answer)
	}
}

// agree reports whether an answer may have been right before the end.
func agree(c Call, p Payment, exists bool) bool {
	switch c.State {
	case success:
		return exists && (p.State == success || p.State == reversed)
	case failed: // a payout that came back before its first answer is said to be refunded too
		return exists && (p.State == failed || p.Kind == payout && p.State == reversed)
	case reversed:
		return exists && p.State == reversed
	case pending:
		return exists
	case refused: // a refusal is the answer of its key for ever
		return !exists
	}
	return true // nobody was told anything, or nothing had happened yet
}
