package torture

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/kobo-waas/kobo/internal/money"
)

// longest is the number of calls of a payment or an account up to which an order is searched. One with more calls, or with a search
// longer than enough, counts as not compared.
const (
	longest = 50_000
	enough  = 5 * time.Second
)

// linear searches for an order of the calls of each payment and each account in which each answer
// is right. The order must agree with the times of the calls (linearizability). Each life of the database has an order of its own
// for a payment. Accounts are compared in the last life only, because the entries of the others are lost.
func linear(h *History, r *Result) {
	for _, life := range h.lives() {
		for key, calls := range life {
			r.decide("the payment "+key.key, states, calls)
		}
	}
	for _, b := range h.Facts.Companies {
		of := h.ofAccounts(b)
		for _, a := range b.Accounts {
			r.decide("an account of "+b.Reference, holdings, of[a.ID])
		}
	}
	if r.Left > (r.Compared+r.Left)/mostLeft {
		r.wrong("%d payments and accounts could not be compared, beside %d that were", r.Left, r.Compared)
	}
}

// mostLeft is the part of the payments and accounts, one in so many, that a run may leave out.
const mostLeft = 20

func (r *Result) decide(what string, m porcupine.Model, calls []porcupine.Operation) {
	switch {
	case len(calls) == 0:
		return
	case len(calls) > longest:
		r.Left++
		return
	}
	switch porcupine.CheckOperationsTimeout(m, calls, enough) {
	case porcupine.Illegal:
		r.Compared++
		r.wrong("the answers about %s have no order in which each is right", what)
	case porcupine.Unknown:
		r.Left++
	default:
		r.Compared++
	}
}

// states is the model of a payment. Its state is absent, refused, pending, success, failed or reversed. A
// repeated request gets the first answer again, so its answer may be older than the state. The first
// answer about a payout that came back says that the balance was refunded, as about one that FAILED. A refused request
// never becomes a payment.
var states = (&porcupine.NondeterministicModel{
	Init: func() []any { return []any{absent} },
	Step: func(state, input, output any) (next []any) {
		reading, said := input.(bool), output.(string)
		for _, s := range reachable(state.(string), !reading) {
			begun := s != absent && s != refused
			right := said == s || reading && said == absent && s == refused
			if !reading {
				right = right || said == unknown || said == pending && begun || (said == success || said == failed) && s == reversed
			}
			if right {
				next = append(next, s)
			}
		}
		return next
	},
}).ToModel()

// reachable returns the states that a payment may have after a state. Only a request begins one.
func reachable(s string, request bool) []string {
	switch {
	case s == absent && !request:
		return []string{absent}
	case s == absent:
		return []string{absent, refused, pending, success, failed, reversed}
	case s == pending:
		return []string{pending, success, failed, reversed}
	case s == success:
		return []string{success, reversed}
	}
	return []string{s}
}

// posting is the input of an account's model: the number of a ledger entry, a look at the balance, or a refusal because the balance was
// not enough.
type posting struct {
	entry   int // aLook or aRefusal
	after   money.Kobo
	refused money.Kobo // the largest balance with which the order is refused
}

const (
	aLook    = -1
	aRefusal = -2
)

// holding is the state of an account's model: how many of its entries are booked, and the balance.
type holding struct {
	booked  int
	balance money.Kobo
}

// holdings is the model of an account. The entries take effect in the order of the ledger.
var holdings = porcupine.Model{
	Init: func() any { return holding{} },
	Step: func(state, input, output any) (bool, any) {
		s, p := state.(holding), input.(posting)
		switch p.entry {
		case aLook:
			return s.balance == output.(money.Kobo), s
		case aRefusal:
			return s.balance <= p.refused, s
		}
		return p.entry == s.booked, holding{p.entry + 1, p.after}
	},
}

// ofAccounts returns for each account of a company its entries as operations, the looks at its balance, and the refusals because of its
// balance. An entry takes effect after the begin of the first call that can have caused it, and the refund of a payout that came back after the
// bank was told to send it. The entry of a debit takes effect before the first answer that knows of it, and that of a refund before the first
// answer that says so.
func (h *History) ofAccounts(b Books) map[int64][]porcupine.Operation {
	begin, known, back := h.times(b)
	paid, sentBack := h.paidAt(b), h.sentBack(b)
	out := h.refusals(b)
	booked := map[int64]int{}
	seen := map[place]bool{} // whose company is the reference
	for _, e := range b.Entries {
		o := porcupine.Operation{Input: posting{entry: booked[e.Account], after: e.After}, Call: begin[e.Reference], Return: math.MaxInt64}
		if at, answered := known[e.Reference]; answered && !seen[place{e.Reference, e.Account}] {
			o.Return = at
		}
		if at, answered := back[e.Reference]; answered && e.Change > 0 {
			o.Return = at
		}
		if begin[e.Reference] == 0 {
			o.Call = paid[e.Change]
		}
		if e.Change > 0 {
			o.Call = max(o.Call, sentBack[e.Reference])
		}
		seen[place{e.Reference, e.Account}] = true
		out[e.Account] = append(out[e.Account], o)
		booked[e.Account]++
	}
	for _, c := range h.Calls {
		if c.Kind == balance && c.Company == b.Reference && c.State != absent && c.Answer == "" && !h.mayBeLost(c) {
			out[c.Account] = append(out[c.Account], porcupine.Operation{
				ClientId: c.Client + 1, Input: posting{entry: aLook}, Call: c.Begin, Output: c.Balance, Return: c.End,
			})
		}
	}
	for _, all := range out {
		slices.SortStableFunc(all, func(x, y porcupine.Operation) int { return cmp.Compare(x.Call, y.Call) })
	}
	return out
}

// paidAt returns when the bank was first told to pay each amount to a company. Each credit has an amount of its own.
func (h *History) paidAt(b Books) map[money.Kobo]int64 {
	at := map[money.Kobo]int64{}
	for _, c := range h.Calls {
		if was, there := at[c.Amount]; c.Kind == credit && c.Company == b.Reference && (!there || c.Begin < was) {
			at[c.Amount] = c.Begin
		}
	}
	return at
}

// sentBack returns when the bank was first told to send back each payout that is REVERSED.
func (h *History) sentBack(b Books) map[string]int64 {
	at, came := map[string]int64{}, map[string]bool{}
	for _, p := range b.Payments {
		came[p.Reference] = p.State == reversed
	}
	for _, c := range h.Calls {
		if was, there := at[c.Key]; c.Kind == reversal && came[c.Key] && (!there || c.Begin < was) {
			at[c.Key] = c.Begin
		}
	}
	return at
}

// refusals returns for each account the orders and adjustments that were refused because the balance was not enough. A repeated request gets the same answer, so
// a refusal happened between the begin of the first request and the end of the first answer.
func (h *History) refusals(b Books) map[int64][]porcupine.Operation {
	begin, lost, at, out := map[string]int64{}, map[string]bool{}, map[string]int{}, map[int64][]porcupine.Operation{}
	for _, c := range h.Calls {
		if c.Company == b.Reference && (isOrder(c) || c.Kind == adjustment) {
			if was, there := begin[c.Key]; !there || c.Begin < was {
				begin[c.Key] = c.Begin
			}
			lost[c.Key] = lost[c.Key] || h.mayBeLost(c)
		}
	}
	for _, c := range h.Calls {
		if c.Company != b.Reference || c.State != refused || !strings.Contains(c.Answer, short) || lost[c.Key] {
			continue
		}
		most := max(c.Amount, -c.Amount) // a purchase needs more than its price, and the amount of a debiting adjustment is below 0
		if c.Kind != purchase {
			most--
		}
		if c.Kind == payout {
			most += h.Run.PayoutFee
		}
		all := out[c.Account]
		if n, there := at[c.Key]; there {
			all[n].Return = min(all[n].Return, c.End)
			continue
		}
		at[c.Key] = len(all)
		out[c.Account] = append(all, porcupine.Operation{
			ClientId: c.Client + 1, Input: posting{entry: aRefusal, refused: most}, Call: begin[c.Key], Return: c.End,
		})
	}
	return out
}

// times returns by reference when the first call of a payment or adjustment began, when the
// first answer knew of it, and when the first answer said that it had failed or come back. Credits have none, because a bank tells of them
// at any time.
func (h *History) times(b Books) (begin, known, back map[string]int64) {
	begin, known, back = map[string]int64{}, map[string]int64{}, map[string]int64{}
	byKey := map[string]string{}
	for _, p := range b.Payments {
		byKey[p.Key] = p.Reference
	}
	for _, c := range h.Calls {
		if c.Company == b.Reference && c.Reference != "" {
			byKey[c.Key] = c.Reference // the API does not show the key of a card funding
		}
	}
	for _, c := range h.Calls {
		if c.Company != b.Reference || c.Key == "" || c.Kind == credit || c.Kind == reversal {
			continue
		}
		reference := cmp.Or(byKey[c.Key], c.Key)
		if at, there := begin[reference]; !there || c.Begin < at {
			begin[reference] = c.Begin
		}
		if h.mayBeLost(c) || c.State != pending && c.State != success && c.State != failed && c.State != reversed {
			continue
		}
		if at, there := known[reference]; !there || c.End < at {
			known[reference] = c.End
		}
		if at, there := back[reference]; (c.State == failed || c.State == reversed) && (!there || c.End < at) {
			back[reference] = c.End
		}
	}
	return begin, known, back
}
