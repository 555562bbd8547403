package torture

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// These are the reasons of cases about a late execution. A requery opens the first, and the daily comparison with the bank's statement the
// second.
const (
	contradiction  = "CONTRADICTION"
	failedReversal = "FAILED_REVERSAL"
)

func isLate(reason string) bool { return reason == contradiction || reason == failedReversal }

// contradicted returns the operations whose provider executed them after Kobo had to believe that
// it never would. Kobo has opened a case for each.
func (h *History) contradicted() map[string]bool {
	out := map[string]bool{}
	for _, c := range h.Facts.Cases {
		if isLate(c.Reason) {
			out[c.Subject] = true
		}
	}
	return out
}

// returned is the provider's word for a payout whose money it has sent back. If it sends the money
// back before Kobo knows of a success, the payout is FAILED.
const returned = "reversed"

// goods are the providers' words for what they executed, by the kind of the payment.
var goods = map[string][]string{purchase: {"airtime", "data"}, payout: {"payout"}, funding: {"card funding"}}

// denials is how often a provider must say that it does not know a reference, before Kobo may believe it.
const denials = 3

// wasDenied reports whether Kobo could believe that a payment would never be executed: the provider has denied the
// reference often enough before it executed the payment. The issuer of cards is not asked by reference, but for its list,
// so nothing counts its denials.
func (p Payment) wasDenied(e Execution) bool { return p.Kind == funding || e.Denied >= denials }

// asked returns what the providers were asked for, by reference.
func (h *History) asked() map[string]Execution {
	out := map[string]Execution{}
	for _, e := range h.Facts.Executions {
		out[e.Reference] = e
	}
	return out
}

// executed returns what the providers executed, by reference.
func (h *History) executed() map[string]Execution {
	out := map[string]Execution{}
	for _, e := range h.Facts.Executions {
		if e.Executions > 0 {
			out[e.Reference] = e
		}
	}
	return out
}

// never is the provider's state of a reference of which it has no request.
const never = "unknown"

// mayFail reports whether Kobo could believe that the provider would never execute the payment: it has refused the payment, it does not
// know the reference, or Kobo could not send the request. An old history lists what was executed only.
func (h *History) mayFail(p Payment, e Execution) bool {
	unsent := (e.Status == "" || e.Status == never) && e.Requests == 0 && slices.Contains(h.Facts.Unsent, p.Reference)
	return p.wasDenied(e) || e.Status == "failed" || unsent || h.Run.Format == 0 && !slices.ContainsFunc(h.Facts.Executions, func(e Execution) bool { return e.Executions == 0 })
}

// executions compares each payment with what its provider executed: once, for the amount, to the number that was ordered. Kobo sends a
// request once. A company may repeat it after each restore that has lost it. A success that Kobo has told was executed, also if a restore
// has lost it since.
func executions(h *History, r *Result) {
	left, late, judged, unended := h.asked(), h.contradicted(), h.decided(), h.unendedPayments()
	lost, losses, ordered, cards := h.lostPayments(), h.losses(), h.ordered(), map[string]string{}
	if len(left) != len(h.Facts.Executions) {
		r.wrong("the providers list a reference twice")
	}
	for _, reference := range h.Facts.Both {
		r.wrong("the purchase %s was sent to both billers", reference)
	}
	for _, b := range h.Facts.Companies {
		for _, p := range b.Payments {
			r.Compared++
			e, known := left[p.Reference]
			known = known && e.Status != never
			done := e.Executions > 0
			_, open := unended[p.Reference]
			delete(left, p.Reference)
			_, repeated := lost[p.Reference]
			switch {
			case done && (e.Executions != 1 || e.Amount != p.Amount):
				r.wrong("the %s %s was executed %d times for %s, not once for %s", p.Kind, p.Reference, e.Executions, e.Amount, p.Amount)
			case !done && p.State == success && open && judged[p.Reference] == confirmed: // two operators have decided so
			case !done && (p.State == success || p.State == reversed):
				r.wrong("the %s %s is %s and was never executed", p.Kind, p.Reference, p.State)
			case !done && judged[p.Reference] == "" && !h.mayFail(p, e):
				r.wrong("the %s %s is %s; its provider has not executed it, says that it is %q and has denied it %d times", p.Kind, p.Reference, p.State, e.Status, e.Denied)
			case known && !slices.Contains(goods[p.Kind], e.Kind):
				r.wrong("the %s %s is the %s of its provider", p.Kind, p.Reference, e.Kind)
			case done && e.Status != "successful" && e.Status != returned:
				r.wrong("the %s %s was executed, and is %s at its provider", p.Kind, p.Reference, e.Status)
			case done && p.State == failed && e.Status != returned && !late[p.Reference]:
				r.wrong("the %s %s is FAILED and was executed", p.Kind, p.Reference)
			case done && p.State == failed && e.Status != returned && !repeated && !p.wasDenied(e):
				r.wrong("the %s %s is FAILED, and its provider has denied it %d times only before it was executed", p.Kind, p.Reference, e.Denied)
			case done && e.Status == returned && p.State != failed && p.State != reversed, done && e.Status != returned && p.State == reversed:
				r.wrong("the %s %s is %s, and %s at the provider", p.Kind, p.Reference, p.State, e.Status)
			}
			if p.Refunded != (p.State == failed || p.State == reversed) {
				r.wrong("the %s %s is %s, refunded: %t", p.Kind, p.Reference, p.State, p.Refunded)
			}
			if c, there := ordered.of(b, p); known && there {
				h.sent(r, c, e, 1+losses[p.Reference], cards)
			}
		}
	}
	all := h.asked()
	for _, c := range h.Calls {
		name := cmp.Or(c.Reference, c.reference())
		if isOrder(c) && c.State == success && all[name].Executions == 0 && !(c.Story == noOutcome && judged[name] == confirmed) {
			r.wrong("the %s %s was said to be a SUCCESS, and was never executed", c.Kind, name)
		}
	}
	for _, reference := range slices.Sorted(maps.Keys(left)) {
		e := left[reference]
		c, may := lost[reference]
		switch {
		case !e.isPayment():
		case e.Status == never && len(h.lost()) > 0: // after a restore Kobo also asks for attempts that it might have made
		case !may:
			r.wrong("the provider was asked for the %s %s, which Kobo does not know", e.Kind, reference)
		case e.Executions > 1 || e.Amount != c.Amount:
			r.wrong("the lost %s %s was executed %d times for %s, not once for %s", e.Kind, reference, e.Executions, e.Amount, c.Amount)
		default:
			h.sent(r, c, e, 1+losses[reference], cards)
		}
	}
}

// sent compares an execution with its order: who got it, and how often Kobo has sent the request. The number of a company's card
// is known from its first funding.
func (h *History) sent(r *Result, c Call, e Execution, most int64, cards map[string]string) {
	if e.Requests < 1 || e.Requests > most {
		r.wrong("Kobo has sent the %s %s %d times", c.Kind, e.Reference, e.Requests)
	}
	if c.Kind != funding {
		if e.Number != masked(c.To) || c.Bank != "" && e.Bank != c.Bank {
			r.wrong("the %s %s went to %s at the bank %q, not to %s at %q", c.Kind, e.Reference, e.Number, e.Bank, masked(c.To), c.Bank)
		}
		if c.Goods != "" && e.Kind != c.Goods {
			r.wrong("%s was ordered with %s, and the provider sold %s", c.Goods, e.Reference, e.Kind)
		}
		return
	}
	if cards[c.Company] == "" {
		for company, number := range cards {
			if number == e.Number {
				r.wrong("the card of %s is the card of %s", company, c.Company)
			}
		}
		cards[c.Company] = e.Number
	}
	if e.Number != cards[c.Company] {
		r.wrong("the funding %s went to the card %s, not to %s", e.Reference, e.Number, cards[c.Company])
	}
}

// masked returns a number as the simulated providers show it.
func masked(number string) string {
	const first, last, shortest = 4, 2, 8
	if len(number) < shortest {
		return strings.Repeat("*", len(number))
	}
	return number[:first] + strings.Repeat("*", len(number)-first-last) + number[len(number)-last:]
}
