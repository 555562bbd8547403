package torture

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/kobo-waas/kobo/internal/money"
)

// These are the reasons of cases about what happened in a lost time.
const (
	unknownDebit   = "UNKNOWN_DEBIT"
	notOnStatement = "NOT_ON_STATEMENT"
	missingCredit  = "MISSING_CREDIT"
	unknownAccount = "UNKNOWN_ACCOUNT"
	assigned       = "assigned"
)

// payments returns the payments that Kobo knows, by their references.
func (f Facts) payments() map[string]Payment {
	out := map[string]Payment{}
	for _, b := range f.Companies {
		for _, p := range b.Payments {
			out[p.Reference] = p
		}
	}
	return out
}

// isPayment reports whether a provider's execution is of a payment.
func (e Execution) isPayment() bool {
	return e.Kind != "credit"
}

// unbooked returns what the providers executed in a lost time, and no ledger has: the company has not repeated it under its
// key. A payout that the bank has returned has cost nothing.
func (h *History) unbooked() map[string]Execution {
	out, known := map[string]Execution{}, h.Facts.payments()
	for _, e := range h.Facts.Executions {
		if _, there := known[e.Reference]; !there && e.isPayment() && e.Executions > 0 && e.Status != returned {
			out[e.Reference] = e
		}
	}
	return out
}

// book lets two operators debit each payment that a restore has lost and nobody has repeated. They have found the payments of
// the bank by the cases about its statement, and the others on the list of the issuer.
func (w *world) book(ctx context.Context) error {
	if len(w.gone) == 0 {
		return nil
	}
	f, err := w.gather(ctx)
	if err != nil {
		return err
	}
	h := History{Calls: w.calls(), Breaks: w.breaks(), Facts: f}
	lost, todo, booked := h.lostPayments(), h.unbooked(), map[string]bool{}
	for _, c := range h.Calls {
		booked[c.For] = true
	}
	companies, needed := map[string]*company{}, map[string]money.Kobo{}
	for _, c := range w.companies {
		companies[c.reference] = c
	}
	var missing []string
	for _, reference := range slices.Sorted(maps.Keys(todo)) {
		call, there := lost[reference]
		if !there || booked[reference] {
			continue // the check finds the first
		}
		missing = append(missing, reference)
		needed[call.Company] += todo[reference].Amount
	}
	for _, c := range w.companies { // a long run may have spent everything
		if needed[c.reference] > 0 {
			if err := w.adjust(ctx, -1, c, c.main, needed[c.reference], "credit", ""); err != nil {
				return err
			}
		}
	}
	return side(missing, func(reference string) error {
		c := companies[lost[reference].Company]
		return w.adjust(ctx, -1, c, c.main, todo[reference].Amount, "debit", reference)
	})
}

// assign lets two operators give money for a virtual account that a restore has lost to the company that was paid. If the
// payer has no answer, the amount tells.
func (w *world) assign(ctx context.Context, c Case, executed []Execution, credits []Call) error {
	to, amount := w.companies[0], money.Kobo(0)
	_, session, _ := strings.Cut(c.Subject, "/")
	for _, e := range executed {
		if e.Reference == session {
			amount = e.Amount
		}
	}
	for _, call := range credits {
		if call.Key == session || call.Key == "" && call.Amount == amount {
			for _, one := range w.companies {
				if one.reference == call.Company {
					to = one
				}
			}
		}
	}
	for who := range w.by.keys {
		err := w.resolve(ctx, who, c, map[string]any{"outcome": assigned, "note": "the bank's list was read", "company": to.reference, "settlementId": to.main})
		if err != nil {
			return err
		}
	}
	return nil
}

// strays reports whether the credit of a session may have gone to a virtual account that a restore has lost.
func (h *History) strays(session string) bool {
	e := h.executed()[session]
	return slices.ContainsFunc(h.Calls, func(c Call) bool {
		return c.Kind == credit && c.Paying.Since > 0 && c.Amount == e.Amount && (c.Key == "" || c.Key == session) && h.mayBeLost(Call{Begin: c.Paying.Since, End: c.Begin})
	})
}

// about returns the payment that a case about an unknown debit or its return means: its reference is the bank's name of the line, or
// is among the bank's words.
func (c Case) about() string {
	const words = "; the bank's words have the reference "
	_, name, _ := strings.Cut(c.Subject, "/")
	if _, reference, there := strings.Cut(c.Detail, words); there {
		name, _, _ = strings.Cut(reference, ";") // a hint may follow
	}
	return name
}

// ofLost reports whether a case is one that a restore explains. A payment that was repeated after a restore may get no outcome,
// since the provider knows its reference and does not show it.
func (h *History) ofLost(c Case, payments map[string]Call) bool {
	switch c.Reason {
	case unknownDebit:
		_, there := payments[c.about()]
		return there
	case missingCredit: // the bank took the money and gave it back, both in the lost time
		call, there := payments[c.about()]
		e, executed := h.executed()[call.reference()]
		return there && (!executed || e.Status == returned)
	case unresolved:
		_, there := payments[c.Subject]
		return there
	case notOnStatement: // the second biller has made the purchase, and its debit is on the other statement
		_, there := payments[c.Subject]
		return there && slices.Contains(h.Facts.Moved, c.Subject)
	case unknownAccount:
		_, session, _ := strings.Cut(c.Subject, "/")
		return h.strays(session)
	}
	return false
}

// restores checks what is promised about lost time:
//
//   - API access is closed and moves are held, until operators act. No request of a company is answered before.
//   - Each payment that a provider executed, and that Kobo has lost, is found: by its repetition under the same key, by a
//     case about the bank's statement, or on the issuer's list. It costs the company its amount once.
func restores(h *History, r *Result) {
	for i, l := range h.lost() {
		if r.Compared++; !l.Closed || !l.Held {
			r.wrong("after restore %d, API access is closed: %t, moves are held: %t", i+1, l.Closed, l.Held)
		}
		for _, c := range h.Calls {
			if c.Begin >= l.Down && c.End <= l.Open && slices.Contains([]string{purchase, payout, funding, look, balance, enquiry, opening}, c.Kind) {
				if r.Compared++; c.Status != 0 && c.Status != http.StatusServiceUnavailable {
					r.wrong("the %s %s was answered %d while API access was closed", c.Kind, c.Key, c.Status)
				}
			}
		}
	}
	for _, reference := range h.movedWhileHeld() {
		r.wrong("the purchase %s has moved while moves were held", reference)
	}
	debits := map[string]money.Kobo{}
	for _, c := range h.Calls {
		if c.For != "" {
			debits[c.For] += c.Amount
		}
	}
	found := map[string]bool{}
	of := h.lostPayments()
	for _, c := range h.Facts.Cases {
		if c.Reason == unknownDebit {
			found[c.about()], found[of[c.about()].reference()] = true, true
		}
	}
	unbooked := h.unbooked()
	for _, reference := range slices.Sorted(maps.Keys(unbooked)) {
		e := unbooked[reference]
		if r.Compared++; debits[reference] != -e.Amount {
			r.wrong("the lost %s %s of %s was booked with %s", e.Kind, reference, e.Amount, -debits[reference])
		}
		if delete(debits, reference); e.Kind != "card funding" && !found[reference] {
			r.wrong("no case was opened about the lost %s %s", e.Kind, reference)
		}
	}
	for _, reference := range slices.Sorted(maps.Keys(debits)) {
		r.wrong("operators have debited %s, which is not lost", reference)
	}
}
