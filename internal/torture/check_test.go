package torture

import (
	"bytes"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/money"
)

// failing returns the names of the checks that find something.
func failing(h *History) (names []string) {
	for _, r := range Check(h) {
		if len(r.Findings) > 0 {
			names = append(names, r.Check)
		}
	}
	return names
}

// The first answer about a payout that came back says that the balance was refunded.
func TestARefundMayBeAReversal(t *testing.T) {
	h := sound()
	h.Calls[4].State = failed
	if wrong := failing(h); len(wrong) > 0 {
		t.Errorf("%v", wrong)
	}
	h.Calls[5].State = reversed
	if wrong := failing(h); !slices.Contains(wrong, "answers") {
		t.Errorf("a card funding is no payout: %v", wrong)
	}
}

// Kobo gives the money of a request that it could not send back at once. If the company asks for the outcome later, the
// provider denies the reference once.
func TestARequestThatWasNotSentNeedsNoDenial(t *testing.T) {
	for _, denied := range []int64{0, 1} {
		h := sound()
		h.Facts.Executions[8].Denied = denied
		if denied == 0 {
			h.Facts.Executions = slices.Delete(h.Facts.Executions, 8, 9)
		}
		if wrong := failing(h); !slices.Contains(wrong, "executions") {
			t.Errorf("%d denials: %v", denied, wrong)
		}
		h.Facts.Unsent = []string{"p4"}
		if wrong := failing(h); len(wrong) > 0 {
			t.Errorf("%d denials: %v", denied, wrong)
		}
	}
}

// A late payment, a jump of the clock and a freeze explain a late case near them only.
func TestALateCaseHasAReasonNearby(t *testing.T) {
	order := Call{Kind: purchase, Begin: 100e6, End: 101e6}
	for name, is := range map[string]struct {
		b    Break
		near bool
	}{
		"the payment before it": {Break{Kind: latePayment, At: 102 * time.Second}, false},
		"the next payment":      {Break{Kind: latePayment, At: 90 * time.Second}, true},
		"a payment much later":  {Break{Kind: latePayment, At: 30 * time.Second}, false},
		"a freeze meanwhile":    {Break{Kind: freezing, At: 90 * time.Second, For: 6 * time.Second}, true},
		"a freeze before":       {Break{Kind: freezing, At: 90 * time.Second, For: 4 * time.Second}, false},
		"a jump soon after":     {Break{Kind: clockJump, At: 120 * time.Second, For: time.Hour}, true},
		"a jump much earlier":   {Break{Kind: clockJump, At: 30 * time.Second, For: time.Hour}, false},
		"a kill":                {Break{Kind: killing, At: 100 * time.Second}, false},
	} {
		h := &History{Calls: []Call{order, {Kind: purchase, Begin: 200e6, End: 201e6}}, Breaks: []Break{is.b}}
		if h.mayBeLate(order) != is.near {
			t.Errorf("%s: near is %t", name, !is.near)
		}
	}
}

// A break that met nothing explains no case, and counts apart.
func TestABreakMayMeetNothing(t *testing.T) {
	order := []Call{{Kind: purchase, Begin: 1e6, End: 3e6}}
	for name, is := range map[string]struct {
		b      Break
		calls  []Call
		format int
		missed bool
	}{
		"a COMMIT is lost":           {Break{Kind: lostAfter, Commits: 1}, nil, format, false},
		"no COMMIT came":             {Break{Kind: lostBefore}, nil, format, true},
		"a connection fell silent":   {Break{Kind: silence, Silent: 1}, nil, format, false},
		"nobody spoke":               {Break{Kind: silence}, nil, format, true},
		"an old run counted nothing": {Break{Kind: silence}, nil, countsSilence - 1, false},
		"a payment is on its way":    {Break{Kind: latePayment, At: 2 * time.Second}, order, format, false},
		"all payments came before":   {Break{Kind: latePayment, At: 4 * time.Second}, order, format, true},
		"a kill":                     {Break{Kind: killing}, nil, format, false},
	} {
		h := &History{Run: Header{Format: is.format}, Calls: is.calls, Breaks: []Break{is.b}}
		if h.missed(is.b) != is.missed || h.brokeBy(is.b.Kind) == is.missed {
			t.Errorf("%s: missed is %t", name, !is.missed)
		}
	}
}

// A credit whose answer is lost has no session. Its amount tells which it is.
func TestACreditWithoutAnAnswerIsFoundByItsAmount(t *testing.T) {
	h := sound()
	h.Calls[6].State, h.Calls[6].Key, h.Calls[6].Status = unknown, "", 0
	h.Facts.Companies[0].Virtual[0].Key = "v1"
	if wrong := failing(h); len(wrong) > 0 {
		t.Errorf("%v: %+v", wrong, Check(h))
	}
}

// The bank took the money for a purchase and gave it back, and a restore has lost both. Each line is a case.
func TestALostPurchaseMayHaveComeBack(t *testing.T) {
	h := sound()
	back := Call{Kind: purchase, Company: us, Key: "k12", Account: 1, Amount: 100, Begin: 121, End: 131}
	h.Calls = append(h.Calls, back)
	for i, reason := range []string{unknownDebit, missingCredit} {
		h.Facts.Cases = append(h.Facts.Cases, Case{
			ID: fmt.Sprint("back", i), Subject: fmt.Sprint("safehaven/line-", i), Reason: reason, Status: "RESOLVED", Outcome: dismissed,
			Detail: "a line; the bank's words have the reference " + back.reference(),
		})
	}
	if wrong := failing(h); len(wrong) > 0 {
		t.Errorf("%v: %+v", wrong, Check(h))
	}
}

// Each alteration of a right history makes the named check fail. So each check can fail.
func TestEachCheckCanFail(t *testing.T) {
	if wrong := failing(sound()); len(wrong) > 0 {
		t.Fatalf("the right history fails %v: %+v", wrong, Check(sound()))
	}
	caught := map[string]bool{}
	for name, a := range map[string]struct {
		check string
		alter func(h *History, b *Books)
	}{
		"a kobo too much": {"balances", func(_ *History, b *Books) { b.Accounts[0].Balance++ }},
		"an account is gone": {"balances", func(h *History, _ *Books) {
			h.Calls = append(h.Calls, Call{Kind: adjustment, Company: us, Account: 2, Key: "a3", Begin: 200, End: 210, Status: 200, State: success, Amount: 50})
		}},
		"no company": {"balances", func(h *History, _ *Books) { h.Facts.Companies = nil }},
		"more than there was": {"entries", func(_ *History, b *Books) {
			b.Accounts[0].Opening, b.Accounts[0].Balance = 10060, b.Accounts[0].Balance-940
			b.Entries[0].Change, b.Entries[0].After = 10060, 10060
			for i := range b.Entries[1:] {
				b.Entries[i+1].Before -= 940
				b.Entries[i+1].After -= 940
			}
		}},
		"an adjustment twice": {"balances", func(h *History, _ *Books) { h.Calls[7].Amount *= 2 }},
		"an entry is missing": {"entries", func(_ *History, b *Books) { b.Entries = slices.Delete(b.Entries, 4, 5) }},
		"an entry is altered": {"entries", func(_ *History, b *Books) { b.Entries[1].Change -= money.Kobo(1) }},
		"another order":       {"orders", func(h *History, _ *Books) { h.Calls[0].Amount++ }},
		"another account":     {"orders", func(h *History, _ *Books) { h.Calls[4].Account = 2 }},
		"nobody's payment":    {"orders", func(_ *History, b *Books) { b.Payments[0].Key, b.Payments[0].Reference = "k9", "p9" }},
		"a card funding made twice": {"orders", func(_ *History, b *Books) {
			b.Payments = append(b.Payments, Payment{funding, "f9", "", failed, 30, 0, 1, true})
			b.Entries = append(b.Entries, Entry{"f9", "card", 1, -30, 802, 772}, Entry{"f9", "card", 1, 30, 772, 802})
		}},
		"one order made twice": {"orders", func(h *History, b *Books) {
			h.Calls = append(h.Calls, Call{Kind: funding, Company: us, Account: 1, Amount: 30, Key: "k3", Begin: 61, End: 62, Status: 200, State: pending, Reference: "f9"})
			b.Payments = append(b.Payments, Payment{funding, "f9", "", failed, 30, 0, 1, true})
			b.Entries = append(b.Entries, Entry{"f9", "card", 1, -30, 802, 772}, Entry{"f9", "card", 1, 30, 772, 802})
		}},
		"another fee": {"orders", func(_ *History, b *Books) { b.Payments[2].Fee = 9 }},
		"a debit and a refund twice": {"orders", func(_ *History, b *Books) {
			b.Entries = append(b.Entries, Entry{"p2", "vtu", 1, -100, 802, 702}, Entry{"p2", "vtu", 1, 100, 702, 802})
		}},
		"a success without execution":       {"executions", func(h *History, _ *Books) { h.Facts.Executions = h.Facts.Executions[1:] }},
		"two executions":                    {"executions", func(h *History, _ *Books) { h.Facts.Executions[0].Executions = 2 }},
		"an execution without payment":      {"executions", func(h *History, _ *Books) { h.Facts.Executions[3].Kind = "payout" }},
		"a failure was executed":            {"executions", func(h *History, _ *Books) { h.Facts.Cases = nil }},
		"a failure without a refund":        {"executions", func(_ *History, b *Books) { b.Payments[1].Refunded = false }},
		"a reversal that was not":           {"executions", func(h *History, _ *Books) { h.Facts.Executions[1].Status = "successful" }},
		"another amount":                    {"executions", func(h *History, _ *Books) { h.Facts.Executions[0].Amount++ }},
		"another provider's kind":           {"executions", func(h *History, _ *Books) { h.Facts.Executions[0].Kind = "payout" }},
		"an executed one that failed there": {"executions", func(h *History, _ *Books) { h.Facts.Executions[0].Status = "failed" }},
		"an execution of another kind": {"executions", func(h *History, _ *Books) {
			h.Facts.Executions = append(h.Facts.Executions, Execution{"x9", "electricity", "successful", 500, 1, 1, "", 0, ""})
		}},
		"a request sent twice":         {"executions", func(h *History, _ *Books) { h.Facts.Executions[0].Requests = 2 }},
		"a lost request sent thrice":   {"executions", func(h *History, _ *Books) { h.Facts.Executions[4].Requests = 3 }},
		"a refund after an execution":  {"executions", func(h *History, _ *Books) { h.Facts.Executions[5].Denied = denials - 1 }},
		"another phone":                {"executions", func(h *History, _ *Books) { h.Facts.Executions[0].Number = "0804*****10" }},
		"another bank account":         {"executions", func(h *History, _ *Books) { h.Calls[4].To = "9123456710" }},
		"another phone of a lost one":  {"executions", func(h *History, _ *Books) { h.Facts.Executions[4].Number = "0804*****10" }},
		"another amount of a lost one": {"executions", func(h *History, _ *Books) { h.Facts.Executions[4].Amount++ }},
		"another card": {"executions", func(h *History, b *Books) {
			h.Calls = append(h.Calls, Call{Kind: funding, Company: us, Account: 1, Amount: 30, Key: "k9", Begin: 61, End: 62, Status: 200, State: success, Reference: "f9"})
			b.Payments = append(b.Payments, Payment{funding, "f9", "", success, 30, 0, 1, false})
			h.Facts.Executions = append(h.Facts.Executions, Execution{"f9", "card funding", "successful", 30, 1, 1, "66f2****a0", 0, ""})
		}},
		"a lost execution twice":       {"executions", func(h *History, _ *Books) { h.Facts.Executions[4].Executions = 2 }},
		"an execution without restore": {"executions", func(h *History, _ *Books) { h.Breaks = h.Breaks[:1] }},
		"a success by decision": {"executions", func(h *History, b *Books) {
			h.Calls[8].Story, b.Payments[4].State, h.Facts.Cases[1].Outcome = "", success, confirmed
		}},
		"a refund that nobody has decided": {"executions", func(h *History, _ *Books) { h.Facts.Cases = slices.Delete(h.Facts.Cases, 1, 2) }},
		"a refund of what was sent after all": {"executions", func(h *History, _ *Books) {
			h.Facts.Cases, h.Facts.Unsent = slices.Delete(h.Facts.Cases, 1, 2), []string{"p3"}
		}},
		"a refund of what was never asked for": {"executions", func(h *History, _ *Books) { h.Facts.Executions[8].Denied = denials - 1 }},
		"a refused request sent twice":         {"executions", func(h *History, _ *Books) { h.Facts.Executions[6].Requests = 2 }},
		"data for airtime":                     {"executions", func(h *History, _ *Books) { h.Facts.Executions[0].Kind = "airtime" }},
		"another bank":                         {"executions", func(h *History, _ *Books) { h.Facts.Executions[1].Bank = "000013" }},
		"a refund before the debit": {"orders", func(_ *History, b *Books) {
			b.Entries[11] = Entry{"p3", "vtu", 1, 100, 902, 1002}
			b.Entries[12] = Entry{"p3", "vtu", 1, -100, 1002, 902}
		}},
		"a refund in two entries": {"orders", func(h *History, b *Books) {
			b.Entries[12] = Entry{"p3", "vtu", 1, 60, 802, 862}
			b.Entries, h.Facts.Read = slices.Insert(b.Entries, 13, Entry{"p3", "vtu", 1, 40, 862, 902}), 19
		}},
		"a payment of another kind": {"orders", func(h *History, _ *Books) { h.Calls[5].Kind, h.Calls[5].To = purchase, "66f1234*a0" }},
		"a refused card funding is made": {"answers", func(h *History, b *Books) {
			c := Call{Kind: funding, Company: us, Account: 1, Amount: 30, Key: "k13", Begin: 185, End: 186, Status: 400, State: refused, Answer: short}
			h.Calls = append(h.Calls, c)
			b.Payments = append(b.Payments, Payment{funding, c.reference(), "", success, 30, 0, 1, false})
		}},
		"an answer that names another payment": {"answers", func(_ *History, b *Books) { b.Payments[0].Key = "k13" }},
		"an answer of another amount":          {"answers", func(h *History, _ *Books) { h.Calls[0].Said = 99 }},
		"a look that shows another amount":     {"answers", func(h *History, _ *Books) { h.Calls[3].Amount, h.Calls[3].Said = 100, 99 }},
		"an answer without the account":        {"answers", func(h *History, _ *Books) { h.Calls[2].State = absent }},
		"an unfair answer about a balance":     {"answers", func(h *History, _ *Books) { h.Calls[2].Status, h.Calls[2].Answer = 403, "not yours" }},
		"an account is gone before a restore": {"answers", func(h *History, _ *Books) {
			h.Calls[20].State, h.Calls[20].Answer = refused, "Settlement account not found"
		}},
		"a lost success that was not executed": {"executions", func(h *History, _ *Books) {
			h.Facts.Executions[4].Executions, h.Facts.Executions[4].Status = 0, "failed"
		}},
		"a lost request sent in a life that was not lost": {"executions", func(h *History, _ *Books) {
			h.Breaks = append(h.Breaks, Break{Kind: restore, Lost: &Lost{From: 300, Copied: 310, Down: 350, Up: 360, Open: 370, Closed: true, Held: true}})
			h.Facts.Executions[4].Requests = 3
		}},
		"a refund before the bank sent it back": {"order", func(h *History, _ *Books) {
			h.Calls = append(h.Calls, Call{Kind: reversal, Company: us, Account: 1, Key: "o1", Begin: 190, End: 191, Status: 200, State: reversed})
		}},
		"a decision about a lost debit is not kept": {"cases", func(h *History, _ *Books) { h.Facts.Cases[2].Outcome = confirmed }},
		"a decision about a lost payment is not kept": {"decisions", func(h *History, _ *Books) {
			h.Facts.Cases = append(h.Facts.Cases, Case{ID: "5", Company: us, Subject: "p1", Reason: unresolved, Status: "RESOLVED", Outcome: rejected})
		}},
		"an event of another state":          {"events", func(_ *History, b *Books) { b.Events[1].State = failed }},
		"an event of another fee":            {"events", func(_ *History, b *Books) { b.Events[4].Fee = 0 }},
		"an event that denies a refund":      {"events", func(_ *History, b *Books) { b.Events[3].Refunded = false }},
		"an adjustment of another direction": {"entries", func(_ *History, b *Books) { b.Events[19].Amount = 5 }},
		"a payment into a virtual account that is told of as another credit": {"credits", func(_ *History, b *Books) {
			b.Events[9].Kind, b.Events[9].Virtual, b.Entries[9].Source = "settlement.credit", "", "credit"
			b.Virtual[0].State, b.Events[12].Kind = failed, "kyb.changed"
		}},
		"a late payment into another virtual account": {"credits", func(_ *History, b *Books) {
			b.Events[9].Kind, b.Events[9].Virtual, b.Virtual[0].State = "virtual_account.late_payment", "va2", failed
		}},
		"a credit without an answer into another virtual account": {"credits", func(h *History, b *Books) {
			h.Calls[6].State, h.Calls[6].Key, h.Calls[6].Status, b.Events[9].Virtual = unknown, "", 0, "va2"
		}},
		"a credit of a customer that is told of as one of the company": {"credits", func(h *History, b *Books) {
			h.Calls[6].Paying, b.Events[9].Kind, b.Events[9].Virtual, b.Entries[9].Source = Paying{To: toCustomer}, "settlement.credit", "", "credit"
		}},
		"an opened virtual account is not there":   {"virtual", func(h *History, _ *Books) { h.Calls[22].Key = "v9" }},
		"an opened virtual account of less":        {"virtual", func(h *History, _ *Books) { h.Calls[22].Amount = 8 }},
		"a virtual account that nobody asked for":  {"virtual", func(h *History, _ *Books) { h.Calls = slices.Delete(h.Calls, 22, 23) }},
		"two virtual accounts of one key":          {"virtual", func(_ *History, b *Books) { b.Virtual = append(b.Virtual, b.Virtual[1]) }},
		"a new API key without an event":           {"credentials", func(_ *History, b *Books) { b.Events[21].Kind = "kyb.changed" }},
		"an old API key is revoked without a word": {"credentials", func(_ *History, b *Books) { b.Events[22].Kind = "kyb.changed" }},
		"no refused request is listed": {"executions", func(h *History, _ *Books) {
			h.Facts.Executions = slices.DeleteFunc(h.Facts.Executions, func(e Execution) bool { return e.Executions == 0 })
		}},
		"an entry without a reason, and given back": {"entries", func(_ *History, b *Books) {
			b.Entries = append(b.Entries, Entry{"x1", "vtu", 1, -5, 802, 797}, Entry{"x1", "vtu", 1, 5, 797, 802})
		}},
		"an entry of another payment's account": {"entries", func(_ *History, b *Books) {
			b.Accounts = append(b.Accounts, Account{ID: 2})
			b.Entries = append(b.Entries, Entry{"p1", "vtu", 2, 5, 0, 5}, Entry{"p1", "vtu", 2, -5, 5, 0})
		}},
		"an entry of another source": {"entries", func(_ *History, b *Books) { b.Entries[10].Source = "credit" }},
		"a credit in two entries": {"entries", func(_ *History, b *Books) {
			b.Entries[9].Change, b.Entries[9].After = 3, 903
			b.Entries = slices.Insert(b.Entries, 10, Entry{"c1", "collection", 1, 4, 903, 907})
		}},
		"an adjustment without an event": {"entries", func(_ *History, b *Books) { b.Events[19].Kind = "kyb.changed" }},
		"an adjustment without an entry": {"entries", func(h *History, _ *Books) {
			h.Calls = append(h.Calls, Call{Kind: adjustment, Company: us, Account: 1, Key: "a3", Begin: 200, End: 210, Status: 200, State: success, Amount: 9})
		}},
		"all the money for a purchase": {"entries", func(_ *History, b *Books) {
			b.Accounts[0].Opening, b.Entries[0].Change, b.Entries[0].After = 10000, 10000, 10000
			b.Entries[1].Before, b.Entries[1].After = 10000, 0
		}},
		"PENDING after an outcome": {"answers", func(h *History, _ *Books) {
			h.Calls = append(h.Calls, Call{Kind: purchase, Company: us, Account: 1, Amount: 100, Key: "k1", Begin: 21, End: 22, Status: 200, State: pending})
		}},
		"a refund that is said before it is there": {"order", func(h *History, _ *Books) { h.Calls[2].Balance = 800 }},
		"a credit before it was paid":              {"order", func(h *History, _ *Books) { h.Calls[6].Begin, h.Calls[6].End = 150, 151 }},
		"another account of a payment's events":    {"events", func(_ *History, b *Books) { b.Events[0].Account, b.Events[1].Account = 2, 2 }},
		"another account of one event":             {"events", func(_ *History, b *Books) { b.Events[1].Account = 2 }},
		"a case of another company":                {"cases", func(h *History, _ *Books) { h.Facts.Cases[0].Company = "other" }},
		"two cases about one payment":              {"cases", func(h *History, _ *Books) { h.Facts.Cases = append(h.Facts.Cases, h.Facts.Cases[0]) }},
		"another decision about a late payment":    {"cases", func(h *History, _ *Books) { h.Facts.Cases[0].Outcome = confirmed }},
		"a refusal for no reason":                  {"answers", func(h *History, _ *Books) { h.Calls[17].Answer = "Service not available" }},
		"a debit by operators is refused although there is enough": {"order", func(h *History, _ *Books) {
			h.Calls = append(h.Calls, Call{Kind: adjustment, Company: us, Account: 1, Key: "a3", Begin: 35, End: 36, Status: 400, State: refused, Amount: -5, Answer: short})
		}},
		"a refusal although there is enough":    {"order", func(h *History, _ *Books) { h.Calls[17].Amount = 500 }},
		"a name enquiry that is refused":        {"answers", func(h *History, _ *Books) { h.Calls[20].State, h.Calls[20].Answer = refused, "Invalid account" }},
		"a name enquiry of another answer":      {"answers", func(h *History, _ *Books) { h.Calls[20].State, h.Calls[20].Answer = unknown, "teapot" }},
		"a name behind the door":                {"restores", func(h *History, _ *Books) { h.Calls[20].Begin, h.Calls[20].End = 155, 156 }},
		"a lost order that is repeated in vain": {"answers", func(h *History, _ *Books) { h.Calls[11].State, h.Calls[11].Status = unknown, 503 }},
		"a receipt of another account":          {"receipts", func(_ *History, b *Books) { b.Payments[6].Account = 2 }},
		"a receipt of another amount":           {"receipts", func(_ *History, b *Books) { b.Payments[6].Amount = 9999 }},
		"no outcome":                            {"outcomes", func(_ *History, b *Books) { b.Payments[0].State = pending }},
		"an open operation":                     {"outcomes", func(_ *History, b *Books) { b.Open = []string{"p1"} }},
		"a credit is missing":                   {"credits", func(_ *History, b *Books) { b.Events[9].Subject = "" }},
		"a credit twice":                        {"credits", func(_ *History, b *Books) { b.Events = append(b.Events, b.Events[9]) }},
		"a credit elsewhere":                    {"credits", func(_ *History, b *Books) { b.Events[9].Account = 2 }},
		"a credit without an answer elsewhere": {"credits", func(h *History, _ *Books) {
			h.Calls[6].State, h.Calls[6].Key, h.Calls[6].Account = unknown, "", 2
		}},
		"a credit that nobody paid": {"credits", func(h *History, _ *Books) {
			h.Calls[6].State, h.Calls[6].Key, h.Calls[6].Amount = unknown, "", 8
		}},
		"a lost credit":                        {"credits", func(h *History, _ *Books) { h.Facts.Executions = h.Facts.Executions[:3] }},
		"a virtual account that waits":         {"virtual", func(_ *History, b *Books) { b.Virtual[0].State = pending }},
		"a paid one that has expired":          {"virtual", func(_ *History, b *Books) { b.Virtual[0].State = failed }},
		"an expired one that is paid":          {"virtual", func(_ *History, b *Books) { b.Virtual[1].State = success }},
		"a virtual account of more":            {"virtual", func(_ *History, b *Books) { b.Virtual[0].Amount++ }},
		"a virtual account paid by another":    {"virtual", func(_ *History, b *Books) { b.Virtual[0].Key = "v3" }},
		"a virtual account that asks for more": {"virtual", func(h *History, _ *Books) { h.Calls[6].Paying.Asked = 8 }},
		"a virtual account that is gone":       {"virtual", func(_ *History, b *Books) { b.Virtual = b.Virtual[:1] }},
		"a gap in the events":                  {"events", func(_ *History, b *Books) { b.Events[4].Sequence = 6 }},
		"an event is missing":                  {"events", func(_ *History, b *Books) { b.Events[1].Kind = "customer.created" }},
		"an event twice":                       {"events", func(_ *History, b *Books) { b.Events[2] = b.Events[1]; b.Events[2].Sequence = 3 }},
		"two events with one ID":               {"events", func(_ *History, b *Books) { b.Events[1].ID = b.Events[0].ID }},
		"an event of another amount":           {"events", func(_ *History, b *Books) { b.Events[0].Amount++ }},
		"events of another amount":             {"events", func(_ *History, b *Books) { b.Events[0].Amount, b.Events[1].Amount = 99, 99 }},
		"a key with two payments":              {"answers", func(_ *History, b *Books) { b.Payments[1].Key = "k1" }},
		"success was said":                     {"answers", func(h *History, _ *Books) { h.Calls[1].State = success }},
		"failure was said":                     {"answers", func(h *History, _ *Books) { h.Calls[0].State = failed }},
		"a payment of a refused request": {"answers", func(_ *History, b *Books) {
			b.Payments = append(b.Payments, Payment{purchase, "p9", "k8", success, 9000, 0, 1, false})
		}},
		"a payout that came back, and two answers": {"answers", func(h *History, _ *Books) {
			for i, said := range []string{success, failed} {
				at := int64(61 + 2*i)
				h.Calls = append(h.Calls, Call{Kind: payout, Company: us, Account: 1, Amount: 50, Key: "o1", To: "0123456710", Begin: at, End: at + 1, Status: 200, State: said})
			}
		}},
		"a key with two references": {"answers", func(h *History, _ *Books) {
			h.Calls = append(h.Calls, Call{Kind: purchase, Company: us, Key: "k1", Reference: "p9"})
		}},
		"a reference after a restore": {"answers", func(h *History, _ *Books) {
			h.Calls = append(h.Calls, Call{Kind: purchase, Company: us, Key: "k5", Begin: 190, End: 191, Reference: "p9"})
		}},
		"a payment from before a backup": {"answers", func(h *History, _ *Books) { h.Calls[11].Begin, h.Calls[11].End = 92, 93 }},
		"a key that is busy for ever, and a look": {"answers", func(h *History, _ *Books) {
			h.Calls = append(h.Calls, Call{Kind: purchase, Company: us, Account: 1, Amount: 100, Key: "k9", Begin: 180, End: 190, Status: 503},
				Call{Kind: look, Company: us, Account: 1, Key: "k9", Begin: 191, End: 192, Status: 400, State: absent})
		}},
		"a key that is busy for ever": {"answers", func(h *History, _ *Books) {
			h.Calls = append(h.Calls, Call{Kind: purchase, Company: us, Account: 1, Amount: 100, Key: "k9", Begin: 180, End: 190, Status: 503})
		}},
		"an answer of another kind":    {"answers", func(h *History, _ *Books) { h.Calls[0].State, h.Calls[0].Answer = "", "500" }},
		"a payment is gone":            {"answers", func(_ *History, b *Books) { b.Payments = b.Payments[:3] }},
		"a webhook is missing":         {"webhooks", func(h *History, _ *Books) { h.Facts.Messages = h.Facts.Messages[1:] }},
		"a webhook of another body":    {"webhooks", func(h *History, _ *Books) { h.Facts.Messages[0].Body = "body of b" }},
		"a webhook of another company": {"webhooks", func(h *History, _ *Books) { h.Facts.Messages[0].Company = "other" }},
		"a webhook to another company too": {"webhooks", func(h *History, _ *Books) {
			h.Facts.Messages = append(h.Facts.Messages, Message{"other", "a", "body of a"})
		}},
		"a webhook about no event": {"webhooks", func(h *History, _ *Books) {
			h.Breaks, h.Facts.Messages = h.Breaks[:1], append(h.Facts.Messages, Message{us, "z", "body of z"})
		}},
		"a forged webhook":           {"webhooks", func(h *History, _ *Books) { h.Facts.Forged = 1 }},
		"a case that nobody expects": {"cases", func(h *History, _ *Books) { h.Facts.Cases[0].Reason = "MISSING_CREDIT" }},
		"a case without a reason":    {"cases", func(h *History, _ *Books) { h.Breaks = nil }},
		"a late case long after its reason": {"cases", func(h *History, _ *Books) {
			h.Calls[5].Begin, h.Calls[5].End = 120e6, 121e6
		}},
		"a late case before its reason": {"cases", func(h *History, _ *Books) {
			h.Calls[5].Begin, h.Calls[5].End, h.Breaks[0].At = 120e6, 121e6, 122*time.Second
		}},
		"a decision of the load is not kept": {"cases", func(h *History, _ *Books) {
			h.Calls = append(h.Calls, Call{Kind: deciding, Company: us, Key: "2", Begin: 180, End: 181, Status: 200, State: confirmed})
		}},
		"no payout was made":            {"kinds", func(h *History, _ *Books) { h.Run.Duration = time.Minute }},
		"a start was repeated":          {"programs", func(h *History, _ *Books) { h.Facts.Again = []failure{{60e6, "program 1: no"}} }},
		"nothing was started":           {"programs", func(h *History, _ *Books) { h.Facts.Started = 0 }},
		"an open case":                  {"cases", func(h *History, _ *Books) { h.Facts.Cases[0].Status = "OPEN" }},
		"a case about an ended payment": {"cases", func(h *History, _ *Books) { h.Facts.Cases[1].Subject = "p1" }},
		"a case without a restore":      {"cases", func(h *History, _ *Books) { h.Breaks = h.Breaks[:1] }},
		"a return of an executed payment": {"cases", func(h *History, _ *Books) {
			h.Facts.Cases[2].Reason = missingCredit
		}},
		"API access was open":          {"restores", func(h *History, _ *Books) { h.Breaks[1].Lost.Closed = false }},
		"moves were not held":          {"restores", func(h *History, _ *Books) { h.Breaks[1].Lost.Held = false }},
		"an answer behind the door":    {"restores", func(h *History, _ *Books) { h.Calls[13].Status = 200 }},
		"a lost payment is not booked": {"restores", func(h *History, _ *Books) { h.Calls[15].For = "" }},
		"a lost payment booked twice":  {"restores", func(h *History, _ *Books) { h.Calls = append(h.Calls, h.Calls[15]) }},
		"a lost payment is not found":  {"restores", func(h *History, _ *Books) { h.Facts.Cases = h.Facts.Cases[:2] }},
		"a known payment is booked":    {"restores", func(h *History, _ *Books) { h.Calls[15].For = "p1" }},
		"a decision is not followed":   {"decisions", func(h *History, _ *Books) { h.Facts.Cases[1].Outcome = confirmed }},
		"nobody has decided":           {"decisions", func(h *History, b *Books) { h.Facts.Cases, b.Payments[4].State = h.Facts.Cases[:1], success }},
		"an old key is taken":          {"credentials", func(h *History, _ *Books) { h.Calls[10].State = unknown }},
		"a valid token is refused": {"credentials", func(h *History, b *Books) {
			h.Run.Duration, b.Turned = 500*time.Second, []Turned{{Made: 400e6, Begun: 401e6, Says: "GET /"}}
		}},
		"an old key has bought":        {"credentials", func(_ *History, b *Books) { b.Payments[4].Key = "n2" }},
		"kobo verify reads too little": {"verify", func(h *History, _ *Books) { h.Facts.Read = 17 }},
		"kobo verify finds something":  {"verify", func(h *History, _ *Books) { h.Facts.Verify = []string{"a row"} }},
		"the integrity is broken":      {"verify", func(_ *History, b *Books) { b.Intact = false }},
		"a receipt of another row":     {"receipts", func(_ *History, b *Books) { b.Proofs[0].Reference = "p1" }},
		"a forged receipt": {"receipts", func(_ *History, b *Books) {
			b.Proofs[0].Receipt = bytes.Replace(b.Proofs[0].Receipt, []byte(`"index":`), []byte(`"index":1`), 1)
		}},
		"another public key":        {"receipts", func(_ *History, b *Books) { b.Proofs[0].Key = "kobo+0" }},
		"no receipt":                {"receipts", func(_ *History, b *Books) { b.Proofs = nil }},
		"too many calls to compare": {"order", func(h *History, _ *Books) { h.Calls = append(h.Calls, slices.Repeat(h.Calls[3:4], longest+1)...) }},
		"a fault of Kobo":           {"answers", func(h *History, _ *Books) { h.Facts.Faults = []string{"GET /api/v1/company was answered 500"} }},
		"a panic":                   {"programs", func(h *History, _ *Books) { h.Facts.Panics = []string{"panic: nil"} }},
		"a success of a lost life":  {"order", func(h *History, _ *Books) { h.Calls[14].Begin, h.Calls[14].End = 146, 147 }},
		"a balance of another time": {"order", func(h *History, _ *Books) { h.Calls[2].Balance = 1000 }},
		"a refusal after a success": {"order", func(h *History, _ *Books) {
			h.Calls = append(h.Calls, Call{Kind: purchase, Company: us, Account: 1, Amount: 100, Key: "k1", Begin: 41, End: 42, Status: 400, State: refused})
		}},
		"a refusal before a success": {"order", func(h *History, _ *Books) {
			h.Calls = append(h.Calls, Call{Kind: purchase, Company: us, Account: 1, Amount: 100, Key: "k1", Begin: 5, End: 6, Status: 400, State: refused})
		}},
		"a refusal beside a success": {"order", func(h *History, _ *Books) {
			h.Calls = append(h.Calls, Call{Kind: purchase, Company: us, Account: 1, Amount: 100, Key: "k1", Begin: 10, End: 20, Status: 400, State: refused})
		}},
		"a card funding is refused after its begin": {"order", func(h *History, _ *Books) {
			h.Calls = append(h.Calls, Call{Kind: funding, Company: us, Account: 1, Amount: 30, Key: "k3", Begin: 61, End: 62, Status: 400, State: refused})
		}},
		"a success is forgotten":        {"order", func(h *History, _ *Books) { h.Calls[3].State = pending }},
		"a payment that was not begun":  {"order", func(h *History, _ *Books) { h.Calls[3].Begin, h.Calls[3].End = 1, 2 }},
		"a payment that exists is gone": {"order", func(h *History, _ *Books) { h.Calls[3].State = absent }},
	} {
		h := sound()
		a.alter(h, &h.Facts.Companies[0])
		if got := failing(h); !slices.Contains(got, a.check) {
			t.Errorf("%s: %v fail, not %s", name, got, a.check)
		}
		caught[a.check] = true
	}
	for _, c := range checks {
		if !caught[c.name] {
			t.Errorf("no alteration makes %s fail", c.name)
		}
	}
}
