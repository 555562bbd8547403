package torture

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kobo-waas/kobo/internal/money"
)

// Result is what one check found.
type Result struct {
	Check    string   `json:"check"`
	Compared int      `json:"compared"` // the facts that were compared
	Left     int      `json:"left"`     // the facts that take too long to compare
	Findings []string `json:"findings"`
}

func (r *Result) wrong(format string, args ...any) {
	r.Findings = append(r.Findings, fmt.Sprintf(format, args...))
}

// check is a statement that must hold after each run.
type check struct {
	name, about string
	do          func(h *History, r *Result)
}

var checks = []check{
	{"balances", "each balance is what went in less what went out, to the kobo", balances},
	{"entries", "the entries of each account follow each other without a gap", entries},
	{"orders", "each payment is the one that was ordered, took amount and fee once, and gave both back if it failed or came back", orders},
	{"executions", "the providers executed each success once and no failure", executions},
	{"outcomes", "no operation is without an outcome", outcomes},
	{"credits", "each credit of the bank was booked once", credits},
	{"virtual", "each virtual account is paid by its own amount, once, or expired, and one event says so", collected},
	{"events", "events have no gap, and each change has one event", events},
	{"answers", "no two answers for a key contradict each other or the end", answers},
	{"webhooks", "each event arrived as a signed webhook", webhooks},
	{"cases", "operators have decided each case that the run expects, and there is no other", cases},
	{"restores", "what a restore has lost is found and booked once, and companies wait for operators", restores},
	{"decisions", "each payment without an outcome ends as two operators have decided", decisions},
	{"verify", "kobo verify and the integrity of each company have no finding", verify},
	{"credentials", "each revoked API key and its tokens are refused", credentials},
	{"receipts", "the receipts of some payments are valid, and prove these payments", receipts},
	{"programs", "no program ended by itself or panicked", programs},
	{"order", "the answers of each payment and account have an order in which each is right", linear},
}

// Check checks a history.
func Check(h *History) []Result {
	out := make([]Result, 0, len(checks))
	for _, c := range checks {
		r := Result{Check: c.name}
		c.do(h, &r)
		out = append(out, r)
	}
	return out
}

// executed returns what the providers executed, by reference.
func (h *History) executed() map[string]Execution {
	out := map[string]Execution{}
	for _, e := range h.Facts.Executions {
		out[e.Reference] = e
	}
	return out
}

// place is a settlement account of a company.
type place struct {
	company string
	account int64
}

// balances compares each balance with what the run did, the providers executed and Kobo's final
// states say. It does not read the entries.
func balances(h *History, r *Result) {
	want := map[place]money.Kobo{}
	bank := h.executed()
	for _, c := range h.Calls {
		if c.Kind == adjustment && c.State == success && !h.mayBeLost(c) {
			want[place{c.Company, c.Account}] += c.Amount
		}
	}
	for _, b := range h.Facts.Companies {
		for _, a := range b.Accounts {
			want[place{b.Reference, a.ID}] += a.Opening
		}
		for _, e := range b.Events {
			if isCredit(e.Kind) {
				want[place{b.Reference, e.Account}] += bank[e.Subject].Amount
			}
		}
		for _, p := range b.Payments {
			if p.State == success || p.State == pending {
				want[place{b.Reference, p.Account}] -= p.Amount + p.Fee
			}
		}
	}
	for _, b := range h.Facts.Companies {
		for _, a := range b.Accounts {
			r.Compared++
			if w := want[place{b.Reference, a.ID}]; a.Balance != w {
				r.wrong("account %d of %s holds %s, not %s", a.ID, b.Reference, a.Balance, w)
			}
		}
	}
}

func entries(h *History, r *Result) {
	for _, b := range h.Facts.Companies {
		held := map[int64]money.Kobo{}
		for _, e := range b.Entries {
			r.Compared++
			if e.Before != held[e.Account] || e.After != e.Before+e.Change {
				r.wrong("%s: the entry of %s in account %d goes from %s by %s to %s after %s", b.Reference, e.Reference, e.Account, e.Before, e.Change, e.After, held[e.Account])
			}
			held[e.Account] = e.After
		}
		for _, a := range b.Accounts {
			if held[a.ID] != a.Balance {
				r.wrong("%s: the entries of account %d end with %s, and its balance is %s", b.Reference, a.ID, held[a.ID], a.Balance)
			}
		}
	}
}

// isLate reports whether a case has the reason of a late execution. A requery opens the first, and
// the daily comparison with the bank's statement the second.
func isLate(reason string) bool { return reason == "CONTRADICTION" || reason == "FAILED_REVERSAL" }

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

func executions(h *History, r *Result) {
	left, late, judged, unended := h.executed(), h.contradicted(), h.decided(), h.unendedPayments()
	if len(left) != len(h.Facts.Executions) {
		r.wrong("the providers list a reference twice")
	}
	for _, b := range h.Facts.Companies {
		for _, p := range b.Payments {
			r.Compared++
			e, done := left[p.Reference]
			_, open := unended[p.Reference]
			delete(left, p.Reference)
			switch {
			case done && (e.Executions != 1 || e.Amount != p.Amount):
				r.wrong("the %s %s was executed %d times for %s, not once for %s", p.Kind, p.Reference, e.Executions, e.Amount, p.Amount)
			case !done && p.State == success && open && judged[p.Reference] == confirmed: // two operators have decided so
			case !done && (p.State == success || p.State == reversed):
				r.wrong("the %s %s is %s and was never executed", p.Kind, p.Reference, p.State)
			case done && p.State == failed && e.Status != returned && !late[p.Reference]:
				r.wrong("the %s %s is FAILED and was executed", p.Kind, p.Reference)
			case done && e.Status == returned && p.State != failed && p.State != reversed, done && e.Status != returned && p.State == reversed:
				r.wrong("the %s %s is %s, and %s at the provider", p.Kind, p.Reference, p.State, e.Status)
			}
			if p.Refunded != (p.State == failed || p.State == reversed) {
				r.wrong("the %s %s is %s, refunded: %t", p.Kind, p.Reference, p.State, p.Refunded)
			}
		}
	}
	lost := h.lostPayments()
	for _, reference := range slices.Sorted(maps.Keys(left)) {
		e := left[reference]
		if _, may := lost[reference]; e.isPayment() && !may {
			r.wrong("the provider executed the %s %s, which Kobo does not know", e.Kind, reference)
		} else if e.isPayment() && e.Executions != 1 {
			r.wrong("the lost %s %s was executed %d times", e.Kind, reference, e.Executions)
		}
	}
}

func outcomes(h *History, r *Result) {
	for _, b := range h.Facts.Companies {
		for _, p := range b.Payments {
			if r.Compared++; p.State == pending {
				r.wrong("the %s %s is PENDING", p.Kind, p.Reference)
			}
		}
		for _, reference := range b.Open {
			r.wrong("the operation %s has no outcome", reference)
		}
	}
}

func isCredit(kind string) bool {
	return kind == "settlement.credit" || kind == "transaction.credit" || kind == "virtual_account.success" || kind == "virtual_account.late_payment"
}

// credits compares the credits of the bank with the events and entries of the companies.
func credits(h *History, r *Result) {
	booked, meant := map[string]int{}, h.meant()
	bank, given := h.executed(), map[string]bool{} // given are those that operators have assigned to the main account
	for _, c := range h.Facts.Cases {
		if _, session, _ := strings.Cut(c.Subject, "/"); c.Reason == unknownAccount && c.Outcome == assigned {
			given[session] = true
		}
	}
	for _, b := range h.Facts.Companies {
		for _, e := range b.Events {
			if !isCredit(e.Kind) {
				continue
			}
			booked[e.Subject]++
			if got := bank[e.Subject]; got.Kind != "credit" || got.Amount != e.Amount {
				r.wrong("the credit %s is %s, and %s at the bank", e.Subject, e.Amount, got.Amount)
			}
			if c, answered := meant[e.Subject]; answered && (c.Company != b.Reference || c.Account != e.Account && (e.Account != b.Main || !given[e.Subject])) {
				r.wrong("the credit %s went into account %d of %s, not into account %d of %s", e.Subject, e.Account, b.Reference, c.Account, c.Company)
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

// collected compares the state of each virtual account with its events and with what the bank received for it. An account must
// take its amount exactly, and the run ends long after all have expired.
func collected(h *History, r *Result) {
	meant, bank := h.meant(), h.executed()
	for _, b := range h.Facts.Companies {
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

func events(h *History, r *Result) {
	for _, b := range h.Facts.Companies {
		kinds := map[string][]string{}
		for i, e := range b.Events {
			if r.Compared++; e.Sequence != int64(i+1) {
				r.wrong("%s: event %d has the number %d", b.Reference, i+1, e.Sequence)
				return
			}
			if area, _, _ := strings.Cut(e.Kind, "."); area == "vtu" || area == "payout" || area == "card" && e.Subject != "" {
				kinds[e.Subject] = append(kinds[e.Subject], e.Kind)
			}
		}
		for _, p := range b.Payments {
			if got := strings.Join(kinds[p.Reference], " "); got != told[p.Kind][p.State] {
				r.wrong("the events of the %s %s, which is %s, are %q", p.Kind, p.Reference, p.State, got)
			}
			delete(kinds, p.Reference)
		}
		for _, reference := range slices.Sorted(maps.Keys(kinds)) {
			r.wrong("the events %q are about %s, which is no payment", kinds[reference], reference)
		}
	}
}

func webhooks(h *History, r *Result) {
	if h.Facts.Forged > 0 {
		r.wrong("%d webhooks had no valid signature", h.Facts.Forged)
	}
	for _, b := range h.Facts.Companies {
		for _, e := range b.Events {
			if e.Sequence < b.First {
				continue
			}
			if r.Compared++; h.Facts.Messages[e.ID] == 0 {
				r.wrong("%s: event %d (%s) did not arrive", b.Reference, e.Sequence, e.Kind)
			}
		}
	}
}

// cases lets only some payments be cases, because all else has an answer without people. Some
// were executed after their refund; they need a break that delays a provider or moves the clock.
// Others stay without an outcome at their provider. The rest was lost by a restore.
func cases(h *History, r *Result) {
	bank, late, unended, lost := h.executed(), map[string]bool{}, h.unendedPayments(), h.lostPayments()
	for _, b := range h.Facts.Companies {
		for _, p := range b.Payments {
			late[p.Reference] = p.State == failed && bank[p.Reference].Executions > 0 && h.brokeBy(clockJump, latePayment, freezing, restore, oldCopy)
		}
	}
	for _, c := range h.Facts.Cases {
		r.Compared++
		_, open := unended[c.Subject]
		if !(isLate(c.Reason) && late[c.Subject]) && !(open && (c.Reason == unresolved || isLate(c.Reason))) && !h.ofLost(c, lost) {
			r.wrong("the case %s about %s: %s", c.Reason, c.Subject, c.Detail)
		} else if c.Status != "RESOLVED" {
			r.wrong("the case %s about %s is %s", c.Reason, c.Subject, c.Status)
		}
	}
}

// brokeBy reports whether the run did one of these things to Kobo.
func (h *History) brokeBy(kinds ...string) bool {
	return slices.ContainsFunc(h.Breaks, func(b Break) bool { return slices.Contains(kinds, b.Kind) })
}

func verify(h *History, r *Result) {
	r.Findings = append(r.Findings, h.Facts.Verify...)
	for _, b := range h.Facts.Companies {
		if r.Compared++; !b.Intact {
			r.wrong("GET /api/v1/integrity of %s has findings", b.Reference)
		}
	}
}

func programs(h *History, r *Result) {
	r.Compared = h.Run.Programs
	r.Findings = append(append(r.Findings, h.Facts.Starts...), h.Facts.Panics...)
}
