package torture

import (
	"context"
	"net/http"
	"time"
)

// deciding is the kind of a call with which an operator decides a case during the load. Its key is the case, and its state the outcome if the
// answer says that the case is resolved with it.
const deciding = "decision"

// operate lets two operators decide cases while the load runs and things break. They decide only cases about which nothing is left to be
// found out: a payment that its provider leaves without an outcome, and one that it executed late. The other cases are judged at the end.
func (w *world) operate(ctx context.Context) {
	const pause = 3 * time.Second
	for wait(ctx, pause) {
		w.decideSome(ctx)
	}
}

// decideSome tries to decide the open cases once. No copy of the database is put back meanwhile. A decision without an answer is sent again
// later, because the case is on the list for as long as it is open.
func (w *world) decideSome(ctx context.Context) {
	w.copying.RLock()
	defer w.copying.RUnlock()
	var list struct{ Data []Case }
	a, err := w.by.call(ctx, 0, http.MethodGet, "cases?status=OPEN&pageSize=20&after=", nil)
	if err != nil || a.status != http.StatusOK || a.into(&list) != nil {
		return // a break keeps the answer away; the next look comes soon
	}
	unended := w.withoutOutcome()
	for _, c := range list.Data {
		if !isLate(c.Reason) && !(c.Reason == unresolved && unended[c.Subject]) {
			continue
		}
		for who := range w.by.keys {
			if w.decideOnce(ctx, who, c, decision(c)).Status != http.StatusOK {
				break
			}
		}
	}
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
