package torture

import "github.com/kobo-waas/kobo/internal/money"

// sources are the words of ledger entries for what they are about, by the kinds of payments.
var sources = map[string]string{purchase: "vtu", payout: "payout", funding: "card"}

// origin is what explains an entry that belongs to no payment: a credit or an adjustment of an account.
type origin struct {
	source  string
	account int64
	change  money.Kobo
}

// entries checks that the entries of an account follow each other, and that no debit of a payment goes below the floor. Each entry belongs to
// a payment of its account, to a credit that an event tells of, or to an adjustment that is an event too.
func entries(h *History, r *Result) {
	for _, b := range h.Facts.Companies {
		held, payments, others := map[int64]money.Kobo{}, map[string]Payment{}, map[origin]int{}
		for _, p := range b.Payments {
			payments[p.Reference] = p
		}
		for _, e := range b.Entries {
			r.Compared++
			if e.Before != held[e.Account] || e.After != e.Before+e.Change {
				r.wrong("%s: the entry of %s in account %d goes from %s by %s to %s after %s", b.Reference, e.Reference, e.Account, e.Before, e.Change, e.After, held[e.Account])
			}
			held[e.Account] = e.After
			p, there := payments[e.Reference]
			switch {
			case !there:
				others[origin{e.Source, e.Account, e.Change}]++
			case e.Source != sources[p.Kind] || e.Account != p.Account:
				r.wrong("%s: the entry %s of %s in account %d names the %s of account %d", b.Reference, e.Source, e.Reference, e.Account, p.Kind, p.Account)
			case e.Change < 0 && (e.After < 0 || e.After == 0 && p.Kind == purchase): // a purchase needs more than its price
				r.wrong("%s: the debit of %s leaves account %d with %s", b.Reference, e.Reference, e.Account, e.After)
			}
		}
		for _, a := range b.Accounts {
			if held[a.ID] != a.Balance {
				r.wrong("%s: the entries of account %d end with %s, and its balance is %s", b.Reference, a.ID, held[a.ID], a.Balance)
			}
		}
		h.explain(r, b, others)
	}
}

// signed returns the change of an adjustment as the events of the history show it. Those of an old one show no direction.
func (h *History) signed(change money.Kobo) money.Kobo {
	if h.Run.Format == 0 {
		return max(change, -change)
	}
	return change
}

// explain compares the entries that belong to no payment with the credits and adjustments of a company.
func (h *History) explain(r *Result, b Books, entries map[origin]int) {
	must, told, may := map[origin]int{}, map[origin]int{}, map[origin]int{}
	for _, a := range b.Accounts {
		if a.Opening != 0 {
			must[origin{"credit", a.ID, a.Opening}]++
		}
	}
	for _, e := range b.Events {
		switch {
		case e.Kind == "settlement.adjusted":
			told[origin{adjustment, e.Account, h.signed(e.Amount)}]++
		case isCredit(e.Kind) && e.Virtual != "":
			must[origin{"collection", e.Account, e.Amount}]++
		case isCredit(e.Kind):
			must[origin{"credit", e.Account, e.Amount}]++
		}
	}
	for _, c := range h.Calls {
		if c.Kind == adjustment && c.Company == b.Reference && c.State == success {
			is := origin{adjustment, c.Account, c.Amount}
			if may[is]++; !h.mayBeLost(c) {
				must[is]++
			}
		}
	}
	for is, n := range entries {
		if is.source != adjustment && n != must[is] || n < must[is] || n > max(must[is], may[is]) {
			r.wrong("%s: %d entries %s move %s in account %d, and %d are explained", b.Reference, n, is.source, is.change, is.account, must[is])
		}
		delete(must, is)
		if is.source == adjustment {
			told[origin{adjustment, is.account, h.signed(is.change)}] -= n
		}
	}
	for is, n := range must {
		r.wrong("%s: no entry %s moves %s in account %d, where %d must be", b.Reference, is.source, is.change, is.account, n)
	}
	for is, n := range told {
		if n != 0 {
			r.wrong("%s: of the adjustments of account %d by %s, events tell of %d more than there are", b.Reference, is.account, is.change, n)
		}
	}
}
