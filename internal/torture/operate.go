package torture

import (
	"context"
	"net/http"
	"net/url"
	"time"
)

// deciding is the kind of a call with which an operator decides a case during the load. Its key is the case, and its state the outcome if the
// answer says that the case is resolved with it.
const deciding = "decision"

// operate lets two operators decide cases while the load runs and things break. They decide only cases about which nothing is left to be
// found out: a payment that its provider leaves without an outcome, and one that it executed late. The other cases are judged at the end.
func (w *world) operate(ctx context.Context) error {
	const pause = 3 * time.Second
	next := map[string]string{unresolved: "", contradiction: "", failedReversal: ""} // where the next look at the cases of a reason begins
	for wait(ctx, pause) {
		for reason, after := range next {
			var err error
			if next[reason], err = w.decideSome(ctx, reason, after); err != nil {
				return err
			}
		}
	}
	return nil
}

// decideSome tries once to decide the open cases of a reason on one page of their list. It returns where the next page begins, or "" after the
// last one. No copy of the database is put back meanwhile. A decision without an answer is sent again later, because the case is on the
// list for as long as it is open.
func (w *world) decideSome(ctx context.Context, reason, after string) (next string, err error) {
	w.copying.RLock()
	defer w.copying.RUnlock()
	a, err := w.by.call(ctx, 0, http.MethodGet, "cases?status=OPEN&reason="+reason+"&pageSize=100&after="+url.QueryEscape(after), nil)
	if err != nil || a.status != http.StatusOK {
		return "", nil // a break keeps the answer away, or has taken the place with it; the next look begins again
	}
	var list struct{ Data casePage }
	if err := a.into(&list); err != nil {
		return "", err
	}
	unended := w.withoutOutcome()
	for _, c := range list.Data.Data {
		if !isLate(c.Reason) && !unended[c.Subject] {
			continue
		}
		outcome := decision(c)
		if outcome == confirmed {
			had, err := w.hadRequest(ctx, c)
			if err != nil {
				return "", nil
			}
			if !had {
				outcome = rejected
			}
		}
		for who := range w.by.keys {
			if w.decideOnce(ctx, who, c, outcome).Status != http.StatusOK {
				break
			}
		}
	}
	if list.Data.Next != nil {
		next = *list.Data.Next
	}
	return next, nil
}

// decideOnce sends the finding of one operator once, and records the call.
func (w *world) decideOnce(ctx context.Context, who int, c Case, outcome string) Call {
	call := Call{Kind: deciding, Company: c.Company, Key: c.ID, Client: who, Begin: w.now()}
	body := map[string]any{"outcome": outcome, "note": "the provider's list was read"}
	a, err := w.by.call(context.WithoutCancel(ctx), who, http.MethodPost, "cases/"+c.ID+"/resolve", body)
	call.End = w.now()
	if err == nil {
		call.Status = a.status
		var said struct{ Data Case }
		switch {
		case a.status != http.StatusOK:
			call.Answer = string(a.body)
		case a.into(&said) == nil && said.Data.Status == "RESOLVED":
			call.State = said.Data.Outcome
		}
	}
	w.call(call)
	return call
}

// kept checks that each decision that was answered during the load holds at the end, unless a restore may have lost it.
func (h *History) kept(r *Result) {
	now := map[string]Case{}
	for _, c := range h.Facts.Cases {
		now[c.ID] = c
	}
	for _, c := range h.Calls {
		if c.Kind != deciding || c.State == unknown || h.mayBeLost(c) {
			continue
		}
		if r.Compared++; now[c.Key].Status != "RESOLVED" || now[c.Key].Outcome != c.State {
			r.wrong("two operators have decided %q about the case %s, and it is %s with %q", c.State, c.Key, now[c.Key].Status, now[c.Key].Outcome)
		}
	}
}

// mustDecide reports whether operators had something to decide during the load: five days passed after three payments that their provider leaves
// without an outcome, and a minute was left after the last of these days.
func (h *History) mustDecide() bool {
	const day, days, payments = 24 * time.Hour, 5, 3
	var passed []time.Duration
	for _, b := range h.Breaks {
		if b.Kind == clockJump && b.For >= day && b.At+time.Minute <= h.Run.Duration {
			passed = append(passed, b.At)
		}
	}
	if len(passed) < days {
		return false
	}
	before, waiting := passed[len(passed)-days].Microseconds(), 0
	for _, c := range h.Calls {
		if c.Story == noOutcome && c.State == pending && c.End < before && !h.mayBeLost(c) {
			waiting++
		}
	}
	return waiting >= payments
}
