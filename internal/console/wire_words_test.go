package console

import (
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/admin"
	"github.com/kobo-waas/kobo/internal/api"
)

func TestPagesSayTheWordsOfTheWireInWordsOfPeople(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{outcomeWords("PENDING, 2 polls in all; last answer unknown (400)"), "No outcome yet. Asked again 2 times. The answer: no outcome, code 400"},
		{outcomeWords("SUCCESS, 1 polls in all; decided by confirmed (00) Approved"), "Carried out. Asked again 1 time. The answer: carried out, code 00: Approved"},
		{outcomeWords("FAILED, 0 polls in all; decided by rejected (51) "), "Failed, refunded. The answer: refused, code 51"},
		{outcomeWords("something else"), "something else"},
		{answerWords("unknown (400)"), "no outcome, code 400"},
		{answerWords("rejected"), "refused"},
		{bookOf([]bank{{Name: "GTBank", Code: "000013"}}).wordWithCode("000013"), "GTBank (000013)"},
		{bookOf(nil).wordWithCode("000013"), "000013"},
		{words("being_confirmed"), "no outcome yet, do not send it again"},
		{words("CHANGES_REQUESTED"), "changes are needed"},
		{words("UNKNOWN_ACCOUNT"), "unknown account"},
		{intentWords("vtu of 100.00 naira, by vtpass"), "Purchase of 100.00 naira, by vtpass"},
		{withProviders("safehaven: a credit that is in no book"), "Safe Haven: a credit that is in no book"},
		{operatorWords("local:ada"), "ada (command line)"},
		{operatorWords("ada"), "ada"},
		{routeOf("person bola from 127.0.0.1: POST /api/v1/settlement/send-payout, request 1"), "POST /api/v1/settlement/send-payout"},
		{deliveryWords("payout.success, number 7, to webhook w: DELIVERED, 1 attempts, last status 200, after 3 ms"), "payout.success, number 7, to webhook w: delivered, 1 attempt, last status 200, after 3 ms"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}

// Before anybody was asked, an outcome is not unknown.
func TestAnOutcomeIsNotUnknownBeforeTheCall(t *testing.T) {
	now := time.Date(2026, 11, 26, 7, 0, 0, 0, time.UTC)
	next, created, accepted, silent := "2026-11-26T07:00:05Z", "2026-11-26T06:52:00Z", "unknown (09)", "unknown ()"
	for want, o := range map[string]api.Outcome{
		"Sending":                       {CreatedAt: created, NextTryAt: &next},
		"Unknown for 8 min, next 08:00": {CreatedAt: created, NextTryAt: &next, LastAnswer: &silent},
		"Accepted, next 08:00":          {Type: "payout", CreatedAt: created, NextTryAt: &next, LastAnswer: &accepted},
		"Case":                          {CreatedAt: created, NeedsDecision: true},
	} {
		if _, got := pendingChip(o, now); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// The sentence for the customer says what is known: when it was paid and under which session, or why the money is back.
func TestTheSentenceForTheCustomerIsTrue(t *testing.T) {
	now := time.Date(2026, 11, 26, 7, 0, 0, 0, time.UTC)
	session, own, paid, failed := "999240261126000000000000000001", "64f0c2a9e1b2c3d4e5f60718", "paid", "failed"
	of := func(word *string, text string, reference *string) string {
		return story{now: now, Timeline: admin.Timeline{
			Kind: "payout", Word: word, Amount: 1_825_050, ProviderReference: reference,
			Steps: []admin.TimelineStep{{At: "2026-11-26T06:02:04Z", What: "state", Text: text}},
		}}.toSay()
	}
	for _, c := range []struct{ got, want string }{
		{of(&paid, "SUCCESS, 0 polls in all; decided by confirmed (00) ok", &session), "It was paid. The bank has confirmed it: Thu 26 Nov, 07:02 in Lagos. The session is " + session + "."},
		{of(&paid, "SUCCESS, 0 polls in all; decided by confirmed (00) ok", &own), "It was paid. The bank has confirmed it: Thu 26 Nov, 07:02 in Lagos."},
		{of(&failed, "FAILED, 4 polls in all; decided by rejected (400) The provider has no record of this request", nil), "The bank has no record of it, so it was not paid. ₦18,250.50 is back in the account since Thu 26 Nov, 07:02 in Lagos."},
		{of(&failed, "FAILED, 0 polls in all; decided by rejected (51) no", nil), "The bank refused it. ₦18,250.50 is back in the account since Thu 26 Nov, 07:02 in Lagos."},
		{of(&failed, "FAILED, 9 polls in all; decided by rejected (operator) Settled by an operator", nil), "It was not paid. We have made sure of it by hand. ₦18,250.50 is back in the account since Thu 26 Nov, 07:02 in Lagos."},
		{of(&paid, "SUCCESS, 9 polls in all; decided by confirmed (operator) Settled by an operator", nil), "It was paid. We have made sure of it by hand: Thu 26 Nov, 07:02 in Lagos."},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}

// Approvals and bulk payouts have no words of the wire on a page.
func TestWhatWaitsForASecondPersonIsSaidInWords(t *testing.T) {
	for _, c := range []struct{ kind, what, text, title, said string }{
		{"approval", "intent", "SEND_PAYOUT asked for by person:c00000000000000000000abcd/ada, until 2026-11-27T06:52:00Z", "Ada of the company …00000000abcd asked for it", "A payout. It waits until 2026-11-27T06:52:00Z"},
		{"approval", "state", "APPROVED by person:bola, after person:eve", "Approved by bola", "by eve"},
		{"approval", "state", "EXPIRED by ", "Expired", ""},
		{"bulk payout", "state", "names checked: 2 lines good, 1 bad", "Names checked", "2 lines good, 1 bad"},
		{"bulk payout", "state", "COMPLETED", "Completed", ""},
		{"payout", "state", "COMPLETED", "", ""},
	} {
		title, said := story{Timeline: admin.Timeline{Kind: c.kind}}.waitingWords(admin.TimelineStep{What: c.what, Text: c.text})
		if title != c.title || said != c.said {
			t.Errorf("%s of %s %q: %q, %q", c.what, c.kind, c.text, title, said)
		}
	}
}

// The first step of a timeline says who began it. Nobody asked for money that came in.
func TestTheFirstStepSaysHowItBegan(t *testing.T) {
	for kind, want := range map[string]string{
		"payout": "Kuda asked for it", "credit": "Money arrived", "customer credit": "Money arrived", "collection": "Kuda asked for the virtual account", "deposit": "Seen on the chain",
	} {
		s := story{company: "Kuda", Timeline: admin.Timeline{Kind: kind}}
		if got, _ := s.rowWords(admin.TimelineStep{What: "intent", Text: kind + " of 100.00 naira"}); got != want {
			t.Errorf("a %s begins with %q, want %q", kind, got, want)
		}
	}
}

// The timeline and its clock say that the bank has accepted a payment, where its last answer says so.
func TestAnAcceptanceIsNotCalledUnknown(t *testing.T) {
	payout, funding := story{Timeline: admin.Timeline{Kind: "payout"}}, story{Timeline: admin.Timeline{Kind: "card"}}
	for said, want := range map[string]bool{"unknown (09) Request processing in progress": true, "unknown (500) ": false, "unknown": false, "rejected (09) no": false} {
		if payout.isAcceptance(said) != want || funding.isAcceptance(said) {
			t.Errorf("%q is an acceptance: %t", said, !want)
		}
	}
	steps := []admin.TimelineStep{{What: "answer", Text: "first call: unknown (500) "}, {What: "answer", Text: "polls 1 to 2, 2 equal answers, the last at 2030-01-02T03:04:05.678Z: unknown (09) in progress"}}
	payout.Steps = steps
	if first, last := callsOf("the chain"); first <= last || len(payout.answersOf()) != 3 {
		t.Errorf("%d %d %v", first, last, payout.answersOf())
	}
	// The same answer has the same word on each rung, also in the hands of people.
	inHands := "no outcome accepted accepted accepted accepted accepted accepted accepted case"
	said := []string{}
	for _, r := range ladderOf(2, payout.answersOf(), true, false) {
		said = append(said, r.said)
	}
	if got := strings.Join(said, " "); got != inHands {
		t.Errorf("%q, want %q", got, inHands)
	}
	if got := codeWords("rejected (57) Not permitted") + ", " + codeWords("unknown (09)") + ", " + codeWords("the chain: gone"); got != "code 57: Not permitted, code 09, the chain: gone" {
		t.Error(got)
	}
	for asked, want := range [][]string{{"no outcome", ""}, {"no outcome", "accepted", ""}, {"no outcome", "accepted", "accepted", ""}} {
		for i, r := range ladderOf(int64(asked), payout.answersOf(), false, true)[:len(want)] {
			if r.said != want[i] {
				t.Errorf("asked %d times, step %d says %q, want %q", asked, i, r.said, want[i])
			}
		}
	}
}
