package torture

import (
	"maps"
	"slices"
	"strings"

	"github.com/kobo-waas/kobo/internal/money"
)

func isCredit(kind string) bool {
	return kind == "settlement.credit" || kind == "transaction.credit" || kind == "virtual_account.success" || kind == "virtual_account.late_payment"
}

// credits compares the credits of the bank with the events of the companies.
func credits(h *History, r *Result) {
	booked, meant := map[string]int{}, h.meant()
	bank, given := h.executed(), map[string]bool{} // given are those that operators have assigned to the main account
	silent := map[money.Kobo][]Call{}              // the credits without an answer: each credit of a run has an amount of its own
	for _, c := range h.Calls {
		if c.Kind == credit && c.State == unknown {
			silent[c.Amount] = append(silent[c.Amount], c)
		}
	}
	for _, c := range h.Facts.Cases {
		if _, session, _ := strings.Cut(c.Subject, "/"); c.Reason == unknownAccount && c.Outcome == assigned {
			given[session] = true
		}
	}
	for _, b := range h.Facts.Companies {
		keys := map[string]string{}
		for _, v := range b.Virtual {
			keys[v.ID] = v.Key
		}
		for _, e := range b.Events {
			if !isCredit(e.Kind) {
				continue
			}
			booked[e.Subject]++
			if got := bank[e.Subject]; got.Kind != "credit" || got.Amount != e.Amount {
				r.wrong("the credit %s is %s, and %s at the bank", e.Subject, e.Amount, got.Amount)
			}
			c, answered := meant[e.Subject]
			right := func(c Call) bool {
				return c.Company == b.Reference && (c.Account == e.Account || e.Account == b.Main && given[e.Subject])
			}
			switch {
			case answered && !right(c):
				r.wrong("the credit %s went into account %d of %s, not into account %d of %s", e.Subject, e.Account, b.Reference, c.Account, c.Company)
			case !answered && !slices.ContainsFunc(silent[e.Amount], right):
				r.wrong("the credit %s of %s went into account %d of %s, and nobody paid it there", e.Subject, e.Amount, e.Account, b.Reference)
			case !answered:
				c = silent[e.Amount][slices.IndexFunc(silent[e.Amount], right)]
			}
			if !e.tellsOf(c.Paying, given[e.Subject], keys) {
				r.wrong("the credit %s is for %q, and %s tells of it with the virtual account %q", e.Subject, c.Paying.To, e.Kind, e.Virtual)
			}
		}
	}
	for _, e := range h.Facts.Executions {
		if e.Kind != "credit" {
			continue
		}
		if r.Compared++; booked[e.Reference] != 1 {
			r.wrong("the credit %s of %s was booked %d times", e.Reference, e.Amount, booked[e.Reference])
		}
		delete(meant, e.Reference)
	}
	for _, session := range slices.Sorted(maps.Keys(meant)) {
		r.wrong("the bank has lost the credit %s", session)
	}
}

// tellsOf reports whether an event about a credit has the kind of the way that the money came in. An event about a virtual account names it.
// The keys are those of the company's virtual accounts, by their ids.
func (e Event) tellsOf(way Paying, given bool, keys map[string]string) bool {
	switch {
	case way.To == "": // nobody paid it, or the history is an old one
		return true
	case given || way.To == toCompany:
		return e.Kind == "settlement.credit" && e.Virtual == ""
	case way.To == toCustomer:
		return e.Kind == "transaction.credit" && e.Virtual == ""
	}
	return strings.HasPrefix(e.Kind, "virtual_account.") && keys[e.Virtual] == way.To
}

// openings compares the virtual accounts of a company with the answers that opened them. Each key has one, of the amount that was asked for.
func (h *History) openings(r *Result, b Books) {
	of, asked := map[string]Virtual{}, map[string]money.Kobo{}
	for _, v := range b.Virtual {
		if was, twice := of[v.Key]; twice {
			r.wrong("the virtual accounts %s and %s have the key %s", was.ID, v.ID, v.Key)
		}
		of[v.Key] = v
	}
	for _, c := range h.Calls {
		if c.Company != b.Reference || c.Kind != opening {
			continue
		}
		asked[c.Key] = c.Amount
		if v, there := of[c.Key]; c.State == success && !h.mayBeLost(c) && (!there || v.Amount != c.Amount) {
			r.wrong("the virtual account of %s with the key %s was opened, and one of %s is there", c.Amount, c.Key, v.Amount)
		}
	}
	for _, v := range b.Virtual {
		if amount, there := asked[v.Key]; h.Run.Format > 0 && (!there || amount != v.Amount) {
			r.wrong("the virtual account %s with the key %s is of %s, and %s was asked for", v.ID, v.Key, v.Amount, amount)
		}
	}
}

// collected compares the state of each virtual account with its events and with what the bank received for it. An account must
// take its amount exactly, and the run ends long after all have expired.
func collected(h *History, r *Result) {
	meant, bank := h.meant(), h.executed()
	for _, b := range h.Facts.Companies {
		h.openings(r, b)
		paid, expired := map[string][]Event{}, map[string]int{}
		for _, e := range b.Events {
			switch e.Kind {
			case "virtual_account.success":
				paid[e.Virtual] = append(paid[e.Virtual], e)
			case "virtual_account.failed":
				expired[e.Virtual]++
			}
		}
		for _, v := range b.Virtual {
			r.Compared++
			by := paid[v.ID]
			switch {
			case v.State != success && v.State != failed:
				r.wrong("the virtual account %s is %s", v.ID, v.State)
			case v.State == success && (len(by) != 1 || expired[v.ID] != 0), v.State == failed && (len(by) != 0 || expired[v.ID] != 1):
				r.wrong("the virtual account %s is %s, and %d events say paid and %d expired", v.ID, v.State, len(by), expired[v.ID])
			case v.State == success && bank[by[0].Subject].Amount != v.Amount:
				r.wrong("the virtual account %s of %s is paid by %s", v.ID, v.Amount, bank[by[0].Subject].Amount)
			case v.State == success && meant[by[0].Subject].Paying.To == v.Key && meant[by[0].Subject].Paying.Asked != v.Amount:
				r.wrong("the virtual account %s is of %s, and %s was asked for", v.ID, v.Amount, meant[by[0].Subject].Paying.Asked)
			case v.State == success && meant[by[0].Subject].Paying.To != "" && meant[by[0].Subject].Paying.To != v.Key:
				r.wrong("the virtual account %s is paid by the credit %s, which is for %s", v.ID, by[0].Subject, meant[by[0].Subject].Paying.To)
			}
			delete(paid, v.ID)
			delete(expired, v.ID)
		}
		for _, id := range append(slices.Collect(maps.Keys(paid)), slices.Collect(maps.Keys(expired))...) {
			r.wrong("an event is about the virtual account %q, which is not there", id)
		}
	}
}

// meant returns the answered credits of the bank, by session.
func (h *History) meant() map[string]Call {
	out := map[string]Call{}
	for _, c := range h.Calls {
		if c.Kind == credit && c.State == success {
			out[c.Key] = c
		}
	}
	return out
}
