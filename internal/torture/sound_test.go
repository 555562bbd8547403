package torture

import (
	"encoding/json"
	"os"
)

// sound returns the history of a run in which everything is right: a purchase, a refused purchase, a
// payout that came back, a card funding that failed and was executed late, and a credit.
// It also has a purchase without an outcome, which two operators have rejected, and a purchase that a restore has lost.
func sound() *History {
	p := proof()
	var told []Message
	for i := range 23 {
		id := string(rune('a' + i))
		told = append(told, Message{us, id, "body of " + id})
	}
	lost := Call{Kind: purchase, Company: us, Key: "k5"}.reference()
	return &History{
		Run:    Header{Programs: 1, PayoutFee: 2, Format: format},
		Breaks: []Break{{Kind: latePayment}, {Kind: restore, Lost: &Lost{From: 100, Copied: 110, Down: 150, Up: 160, Open: 170, Closed: true, Held: true}}},
		Calls: []Call{
			{Kind: purchase, Company: us, Account: 1, Amount: 100, Key: "k1", To: "08031234510", Goods: "data", Begin: 10, End: 20, Status: 200, State: success, Reference: "p1"},
			{Kind: purchase, Company: us, Account: 1, Amount: 100, Key: "k2", To: "08031234510", Goods: "airtime", Begin: 10, End: 29, Status: 400, State: failed, Reference: "p2"},
			{Kind: balance, Company: us, Account: 1, Begin: 30, End: 40, Status: 200, Balance: 900},
			{Kind: look, Company: us, Account: 1, Key: "k1", Begin: 30, End: 40, Status: 200, State: success},
			{Kind: payout, Company: us, Account: 1, Amount: 50, Key: "o1", To: "0123456710", Bank: "000014", Begin: 50, End: 60, Status: 200, State: pending, Reference: "o1"},
			{Kind: funding, Company: us, Account: 1, Amount: 30, Key: "k3", Begin: 50, End: 60, Status: 400, State: pending, Reference: "f1"},
			{Kind: credit, Company: us, Account: 1, Key: "s1", Begin: 50, End: 60, Status: 200, State: success, Amount: 7, Paying: Paying{To: "v1", Asked: 7}},
			{Kind: adjustment, Company: us, Account: 1, Key: "a1", Begin: 50, End: 60, Status: 200, State: success, Amount: -5},
			{Kind: purchase, Company: us, Account: 1, Amount: 100, Key: "k4", To: "08031234510", Begin: 70, End: 80, Status: 200, State: pending, Reference: "p3", Story: noOutcome},
			{Kind: newKey, Company: us, Key: "n1", Begin: 70, End: 80, Status: 200, State: success},
			{Kind: oldKey, Company: us, Key: "n2", Begin: 90, End: 91, Status: 401, State: refused},
			{Kind: purchase, Company: us, Account: 1, Amount: 100, Key: "k5", To: "08031234510", Begin: 120, End: 130, Status: 200, State: success, Reference: lost},
			{Kind: balance, Company: us, Account: 1, Begin: 140, End: 145, Status: 200, Balance: 802},
			{Kind: purchase, Company: us, Account: 1, Key: "k5", Begin: 155, End: 156, Status: 503},
			{Kind: look, Company: us, Account: 1, Key: "k5", Begin: 180, End: 181, Status: 400, State: absent},
			{Kind: adjustment, Company: us, Account: 1, Key: "a2", Begin: 200, End: 210, Status: 200, State: success, Amount: -100, For: lost},
			{Kind: purchase, Company: us, Account: 1, Amount: 60, Key: "k7", To: "07012345610", Begin: 70, End: 80, Status: 400, State: failed, Reference: "p6"},
			{Kind: purchase, Company: us, Account: 1, Amount: 9000, Key: "k8", To: "07012345610", Begin: 70, End: 80, Status: 400, State: refused, Answer: short},
			{Kind: purchase, Company: us, Account: 1, Amount: 10000, Key: "kp", To: "08031234510", Begin: 1, End: 5, Status: 200, State: success, Reference: p.Reference},
			{Kind: purchase, Company: us, Account: 1, Amount: 40, Key: "k10", To: "08031234505", Begin: 70, End: 80, Status: 200, State: pending, Reference: "p4"},
			{Kind: enquiry, Company: us, Account: 1, Begin: 45, End: 46, Status: 200, State: success},
			{Kind: opening, Company: us, Account: 1, Key: "v1", Amount: 7, Begin: 47, End: 48, Status: 200, State: success},
			{Kind: opening, Company: us, Account: 1, Key: "v2", Amount: 9, Begin: 47, End: 48, Status: 200, State: success},
		},
		Facts: Facts{
			Read: 18, Started: 1,
			Companies: []Books{{
				Reference: us, Main: 1, First: 1, Intact: true, Proofs: []Proof{p},
				Accounts: []Account{{ID: 1, Balance: 802, Opening: 11000}},
				Payments: []Payment{
					{purchase, "p1", "k1", success, 100, 0, 1, false},
					{purchase, "p2", "k2", failed, 100, 0, 1, true},
					{payout, "o1", "o1", reversed, 50, 2, 1, true},
					{funding, "f1", "", failed, 30, 0, 1, true},
					{purchase, "p3", "k4", failed, 100, 0, 1, true},
					{purchase, "p6", "k7", failed, 60, 0, 1, true},
					{purchase, p.Reference, "kp", success, 10000, 0, 1, false},
					{purchase, "p4", "k10", failed, 40, 0, 1, true},
				},
				Virtual: []Virtual{{"va1", "v1", success, 7}, {"va2", "v2", failed, 9}},
				Entries: []Entry{
					{"opening", "credit", 1, 11000, 0, 11000},
					{p.Reference, "vtu", 1, -10000, 11000, 1000},
					{"p1", "vtu", 1, -100, 1000, 900},
					{"p2", "vtu", 1, -100, 900, 800},
					{"p2", "vtu", 1, 100, 800, 900},
					{"o1", "payout", 1, -52, 900, 848},
					{"f1", "card", 1, -30, 848, 818},
					{"o1", "payout", 1, 52, 818, 870},
					{"f1", "card", 1, 30, 870, 900},
					{"c1", "collection", 1, 7, 900, 907},
					{"a1", "adjustment", 1, -5, 907, 902},
					{"p3", "vtu", 1, -100, 902, 802},
					{"p3", "vtu", 1, 100, 802, 902},
					{"p6", "vtu", 1, -60, 902, 842},
					{"p6", "vtu", 1, 60, 842, 902},
					{"p4", "vtu", 1, -40, 902, 862},
					{"p4", "vtu", 1, 40, 862, 902},
					{"a2", "adjustment", 1, -100, 902, 802},
				},
				Events: numbered([]Event{
					{Kind: "vtu.pending", Subject: "p1", Amount: 100, Account: 1},
					{Kind: "vtu.success", Subject: "p1", Amount: 100, Account: 1},
					{Kind: "vtu.pending", Subject: "p2", Amount: 100, Account: 1},
					{Kind: "vtu.failed", Subject: "p2", Amount: 100, Account: 1},
					{Kind: "payout.pending", Subject: "o1", Amount: 50, Account: 1},
					{Kind: "payout.success", Subject: "o1", Amount: 50, Account: 1},
					{Kind: "payout.reversed", Subject: "o1", Amount: 50, Account: 1},
					{Kind: "card.funding_pending", Subject: "f1", Amount: 30, Account: 1},
					{Kind: "card.funding_failed", Subject: "f1", Amount: 30, Account: 1},
					{Kind: "virtual_account.success", Subject: "s1", Virtual: "va1", Amount: 7, Account: 1},
					{Kind: "vtu.pending", Subject: "p3", Amount: 100, Account: 1},
					{Kind: "vtu.failed", Subject: "p3", Amount: 100, Account: 1},
					{Kind: "virtual_account.failed", Virtual: "va2"},
					{Kind: "vtu.pending", Subject: "p6", Amount: 60, Account: 1},
					{Kind: "vtu.failed", Subject: "p6", Amount: 60, Account: 1},
					{Kind: "vtu.pending", Subject: p.Reference, Amount: 10000, Account: 1},
					{Kind: "vtu.success", Subject: p.Reference, Amount: 10000, Account: 1},
					{Kind: "vtu.pending", Subject: "p4", Amount: 40, Account: 1},
					{Kind: "vtu.failed", Subject: "p4", Amount: 40, Account: 1},
					{Kind: "settlement.adjusted", Amount: -5, Account: 1},
					{Kind: "settlement.adjusted", Amount: -100, Account: 1},
					{Kind: "company.api_key_issued"},
					{Kind: "company.api_key_revoked"},
				}),
			}},
			Executions: []Execution{
				{"p1", "data", "successful", 100, 1, 1, "0803*****10", 0, ""},
				{"o1", "payout", returned, 50, 1, 1, "0123****10", 0, "000014"},
				{"f1", "card funding", "successful", 30, 1, 1, "66f1****a0", 0, ""},
				{"s1", "credit", "successful", 7, 1, 0, "8000****11", 0, ""},
				{lost, "airtime", "successful", 100, 1, 2, "0803*****10", 0, ""},
				{"p6", "airtime", "successful", 60, 1, 1, "0701*****10", denials, ""},
				{"p2", "airtime", "failed", 100, 0, 1, "0803*****10", 0, ""},
				{"p3", "data", "pending", 100, 0, 1, "0803*****10", 0, ""},
				{"p4", "", never, 0, 0, 0, "", denials, ""},
				{p.Reference, "airtime", "successful", 10000, 1, 1, "0803*****10", 0, ""},
			},
			Messages: told,
			Cases: []Case{
				{ID: "1", Company: us, Subject: "f1", Reason: "CONTRADICTION", Status: "RESOLVED", Outcome: dismissed},
				{ID: "2", Company: us, Subject: "p3", Reason: unresolved, Status: "RESOLVED", Outcome: rejected},
				{ID: "3", Subject: "safehaven/dbt-1", Reason: unknownDebit, Status: "RESOLVED", Outcome: dismissed, Detail: "a debit of ₦1.00; the bank's words have the reference " + lost},
				{ID: "4", Company: us, Subject: "p6", Reason: "FAILED_REVERSAL", Status: "RESOLVED", Outcome: dismissed},
			},
		},
	}
}

// us is the company of the receipt in testdata.
const us = "cdsjkf227iez7w3d3ru7kaems"

// proof returns a receipt that a company has fetched from a throw-away Kobo.
func proof() (p Proof) {
	text, err := os.ReadFile("testdata/receipt.json")
	if err == nil {
		err = json.Unmarshal(text, &p)
	}
	if err != nil {
		panic(err)
	}
	return p
}

func numbered(list []Event) []Event {
	for i := range list {
		list[i].Sequence, list[i].ID = int64(i+1), string(rune('a'+i))
		list[i].Body = "body of " + list[i].ID
		list[i].State = says[list[i].Kind]
		list[i].Refunded = list[i].State == failed || list[i].State == reversed
		if list[i].Kind[:6] == "payout" {
			list[i].Fee = 2
		}
	}
	return list
}
