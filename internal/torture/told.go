package torture

import (
	"maps"
	"slices"
	"strings"

	"github.com/kobo-waas/kobo/internal/money"
)

// told are the kinds of events of a payment, by its kind and its state at the end.
var told = map[string]map[string]string{
	purchase: {pending: "vtu.pending", success: "vtu.pending vtu.success", failed: "vtu.pending vtu.failed"},
	payout: {
		pending: "payout.pending", success: "payout.pending payout.success", failed: "payout.pending payout.failed",
		reversed: "payout.pending payout.success payout.reversed",
	},
	funding: {
		pending: "card.funding_pending", success: "card.funding_pending card.funded", failed: "card.funding_pending card.funding_failed",
	},
}

// says are the states that the events of a payment say, by their kinds.
var says = map[string]string{
	"vtu.pending": pending, "vtu.success": success, "vtu.failed": failed,
	"payout.pending": pending, "payout.success": success, "payout.failed": failed, "payout.reversed": reversed,
	"card.funding_pending": pending, "card.funded": success, "card.funding_failed": failed,
}

// contradicts reports whether an event about a payment says another state than its kind, or another fee than the payment has.
func (e Event) contradicts(p Payment) bool {
	state := says[e.Kind]
	return e.State != state || e.Refunded != (state == failed || state == reversed) || e.Fee != p.Fee
}

func events(h *History, r *Result) {
	whose, payments := map[string]bool{}, map[subject]Payment{}
	for _, b := range h.Facts.Companies {
		for _, p := range b.Payments {
			payments[subject{b.Reference, p.Reference}] = p
		}
	}
	for _, b := range h.Facts.Companies {
		for _, e := range b.Events {
			if whose[e.ID] {
				r.wrong("%s: two events have the ID %s", b.Reference, e.ID)
			}
			whose[e.ID] = true
		}
		kinds, amounts, accounts := map[string][]string{}, map[string]money.Kobo{}, map[string]int64{}
		for i, e := range b.Events {
			if r.Compared++; e.Sequence != int64(i+1) {
				r.wrong("%s: event %d has the number %d", b.Reference, i+1, e.Sequence)
				return
			}
			if area, _, _ := strings.Cut(e.Kind, "."); area == "vtu" || area == "payout" || area == "card" && e.Subject != "" {
				if len(kinds[e.Subject]) > 0 && (amounts[e.Subject] != e.Amount || accounts[e.Subject] != e.Account) {
					r.wrong("an event of %s says %s of account %d, and the one before it %s of account %d", e.Subject, e.Amount, e.Account, amounts[e.Subject], accounts[e.Subject])
				}
				if p, there := payments[subject{b.Reference, e.Subject}]; there && h.Run.Format > 0 && e.contradicts(p) {
					r.wrong("the event %s of the %s %s says %s, the fee %s, refunded: %t", e.Kind, p.Kind, e.Subject, e.State, e.Fee, e.Refunded)
				}
				kinds[e.Subject] = append(kinds[e.Subject], e.Kind)
				amounts[e.Subject], accounts[e.Subject] = e.Amount, e.Account
			}
		}
		for _, p := range b.Payments {
			if got := strings.Join(kinds[p.Reference], " "); got != told[p.Kind][p.State] {
				r.wrong("the events of the %s %s, which is %s, are %q", p.Kind, p.Reference, p.State, got)
			}
			if amounts[p.Reference] != p.Amount || accounts[p.Reference] != p.Account {
				r.wrong("the events of the %s %s of %s in account %d say %s and %d", p.Kind, p.Reference, p.Amount, p.Account, amounts[p.Reference], accounts[p.Reference])
			}
			delete(kinds, p.Reference)
		}
		for _, reference := range slices.Sorted(maps.Keys(kinds)) {
			r.wrong("the events %q are about %s, which is no payment", kinds[reference], reference)
		}
	}
}

// webhooks compares the messages that each company's receiver has taken with the company's feed. A message says what the feed says, byte for
// byte. A restore can lose an event after its message, and give its number to another.
func webhooks(h *History, r *Result) {
	if h.Facts.Forged > 0 {
		r.wrong("%d webhooks had no valid signature of their company", h.Facts.Forged)
	}
	taken, of := map[Message]bool{}, map[string]string{}
	for _, m := range h.Facts.Messages {
		taken[m] = true
	}
	for _, b := range h.Facts.Companies {
		for _, e := range b.Events {
			of[e.ID] = b.Reference
			m := Message{b.Reference, e.ID, e.Body}
			if r.Compared++; e.Sequence >= b.First && !taken[m] {
				r.wrong("%s: event %d (%s) did not arrive", b.Reference, e.Sequence, e.Kind)
			}
			delete(taken, m)
		}
	}
	for m := range taken {
		if of[m.Event] != "" && of[m.Event] != m.Company {
			r.wrong("%s: a message is about the event %s of %s", m.Company, m.Event, of[m.Event])
		} else if len(h.lost()) == 0 {
			r.wrong("%s: a message about %s says what no event says", m.Company, m.Event)
		}
	}
}
