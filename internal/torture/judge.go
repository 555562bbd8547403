package torture

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
)

// judge lets two operators decide each case that a run expects.
//
//   - A payment that the provider executed late has left the provider and come back to the company. The case changes no balance.
//   - A payment that the provider leaves without an outcome is decided by its id: it counts as executed, or the company gets the
//     money back. If the provider then keeps the money on the statement, the second case changes no balance. If the provider has never had
//     the request, the company gets the money back.
//   - A debit on the statement that a restore has lost is booked by an adjustment, unless the company has repeated the payment or the
//     bank has given the money back. Such a return has a case of its own, which changes no balance.
//   - A purchase that the second biller has made in a lost time is confirmed. Then the first bank's statement lacks its debit. That case changes no
//     balance.
//   - Money for a virtual account that a restore has lost is assigned.
func (w *world) judge(ctx context.Context) error {
	if err := w.book(ctx); err != nil {
		return err
	}
	list, err := w.cases(ctx, "OPEN")
	if err != nil {
		return err
	}
	said, err := w.executions(ctx)
	if err != nil {
		return err
	}
	done, requested := map[string]bool{}, map[string]bool{}
	for _, e := range said.all {
		done[e.Reference], requested[e.Reference] = e.Executions > 0, e.Requests > 0
	}
	unended, paid := w.withoutOutcome(), slices.DeleteFunc(w.calls(), func(c Call) bool { return c.Kind != credit })
	return side(list, func(c Case) error {
		if c.Reason == unknownAccount && len(w.gone) > 0 {
			return w.assign(ctx, c, said.all, paid)
		}
		outcome := decision(c)
		isOpen := unended[c.Subject] && requested[c.Subject] // otherwise the provider can say what happened
		if (outcome == confirmed || outcome == rejected) && !isOpen {
			outcome = rejected
			if done[c.Subject] {
				outcome = confirmed
			}
		}
		if outcome == "" {
			return nil
		}
		err := w.decide(ctx, c, outcome)
		if err != nil && outcome != dismissed && w.decide(ctx, c, dismissed) == nil {
			err = nil // the provider has answered by now, and an ended operation leaves nothing else to decide
		}
		return err
	})
}

// side does something with each of many rows, a few at a time, because a long run has thousands of them. It returns the first error.
func side[T any](rows []T, do func(T) error) error {
	const atOnce = 8
	var g errgroup.Group
	g.SetLimit(atOnce)
	for _, row := range rows {
		g.Go(func() error { return do(row) })
	}
	return g.Wait()
}

// decide sends the same finding of all operators. Kobo refuses to dismiss a case whose payment has no outcome yet.
func (w *world) decide(ctx context.Context, c Case, outcome string) error {
	for who := range w.by.keys {
		err := w.resolve(ctx, who, c, map[string]any{"outcome": outcome, "note": "the provider's list was read"})
		if err != nil {
			return err
		}
	}
	return nil
}

// withoutOutcome returns the references of the payments that their provider leaves without an outcome.
func (w *world) withoutOutcome() map[string]bool {
	out := map[string]bool{}
	for _, c := range w.calls() {
		if c.Story == noOutcome {
			out[c.reference()] = true
		}
	}
	return out
}

// decision returns what operators decide about a case, or "" if the run does not expect the case.
func decision(c Case) string {
	switch {
	case isLate(c.Reason), c.Reason == unknownDebit, c.Reason == notOnStatement, c.Reason == missingCredit, c.Reason == unresolved && strings.HasPrefix(c.Detail, "the operation FAILED"):
		return dismissed
	case c.Reason == unresolved && c.Subject[len(c.Subject)-1]%2 == 0:
		return confirmed
	case c.Reason == unresolved:
		return rejected
	}
	return ""
}

// These are the words of cases about payments without an outcome, and of decisions.
const (
	unresolved = "UNRESOLVED"
	dismissed  = "dismissed"
	confirmed  = "confirmed"
	rejected   = "rejected"
)

// resolve sends the finding of one operator. A request without an answer may have resolved the case, and is refused then.
func (w *world) resolve(ctx context.Context, who int, c Case, body map[string]any) error {
	err := w.by.data(ctx, who, http.MethodPost, "cases/"+c.ID+"/resolve", body, nil)
	if err == nil {
		return nil
	}
	var now Case
	if e := w.by.data(ctx, who, http.MethodGet, "cases/"+c.ID, nil, &now); e == nil && now.Status == "RESOLVED" && now.Outcome == body["outcome"] {
		return nil
	}
	return fmt.Errorf("case %s: %w", c.ID, err)
}

// casePage is a page of the list of cases.
type casePage struct {
	Data []Case
	Next *string
}

// cases reads all cases of these states.
func (w *world) cases(ctx context.Context, states ...string) (all []Case, err error) {
	for _, state := range states {
		for next := new(""); next != nil; {
			var list casePage
			path := fmt.Sprintf("cases?status=%s&pageSize=100&after=%s", state, *next)
			if err = w.by.data(ctx, 0, http.MethodGet, path, nil, &list); err != nil {
				return nil, err
			}
			all, next = append(all, list.Data...), list.Next
		}
	}
	return all, nil
}

// unendedPayments returns the payments that their provider leaves without an outcome.
func (h *History) unendedPayments() map[string]Payment {
	told := map[subject]bool{}
	for _, c := range h.Calls {
		if c.Story == noOutcome {
			told[subject{c.Company, c.Key}] = true
		}
	}
	out := map[string]Payment{}
	for _, b := range h.Facts.Companies {
		for _, p := range b.Payments {
			if told[subject{b.Reference, p.Key}] {
				out[p.Reference] = p
			}
		}
	}
	return out
}

// decided returns the outcomes of the cases about payments without an outcome, by the payments.
func (h *History) decided() map[string]string {
	out := map[string]string{}
	for _, c := range h.Facts.Cases {
		if c.Reason == unresolved {
			out[c.Subject] = c.Outcome
		}
	}
	return out
}

// decisions checks that each payment without an outcome ends as two operators have decided. Without a case it must have FAILED: a program
// was killed before the provider had the request. If the provider had it nevertheless, the statement would show its debit.
func decisions(h *History, r *Result) {
	of, unended := h.decided(), h.unendedPayments()
	for reference, p := range h.Facts.payments() { // of the others, those that a restore left without an outcome
		_, other := unended[reference]
		if of[reference] == confirmed && p.State == failed || !other && of[reference] == rejected && p.State != failed {
			r.wrong("two operators have decided that the %s %s is %s, and it is %s", p.Kind, reference, of[reference], p.State)
		}
	}
	for reference, p := range unended {
		r.Compared++
		want, judged := map[string]string{confirmed: success, rejected: failed, dismissed: failed}[of[reference]]
		switch {
		case !judged && p.State == failed:
		case !judged:
			r.wrong("the %s %s without an outcome is %s without a decision", p.Kind, reference, p.State)
		case p.State != want:
			r.wrong("two operators have decided that the %s %s is %s, and it is %s", p.Kind, reference, of[reference], p.State)
		}
	}
}
