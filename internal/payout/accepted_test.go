package payout_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/payout"
	"github.com/kobo-waas/kobo/internal/provider"
)

// accepted is the reply of a bank that has the transfer in its queue. The bank has named its own id, and no session yet.
var accepted = provider.TransferAnswer{Answer: provider.Answer{Code: "queued", Reference: "64f0c2a9e1b2c3d4e5f60718"}}

// now returns a payout as the company sees it.
func (w *world) now(reference string) payout.Payout {
	w.t.Helper()
	p, err := w.Status(w.t.Context(), w.company, reference)
	must(w.t, err)
	return p
}

// cases returns the open cases.
func (w *world) cases() []operation.Case {
	w.t.Helper()
	cases, _, err := w.operations.Cases(w.t.Context(), operation.CaseFilter{State: operation.Open}, 10, 0)
	must(w.t, err)
	return cases
}

// dismiss makes two operators dismiss the only open case.
func (w *world) dismiss() {
	w.t.Helper()
	for _, name := range []string{"ada", "bob"} {
		by := operator.Local(name)
		_, err := w.operations.ResolveCase(w.t.Context(), w.cases()[0].ID, operation.Finding{Outcome: operation.Dismissed}, "seen", by.Name, by.Note)
		must(w.t, err)
	}
}

// A bank accepts a payout without a session, and later does not find our reference. It may pay all the same, so nothing
// is refunded: operators ask. The bank's own id is no session, and the company does not see it as one.
func TestAPayoutThatTheBankHasAcceptedIsNotAbsent(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.bank.says(accepted, unseen)
		p := w.sent(100*money.Naira, operation.Pending)
		for range 5 {
			w.forward(10 * time.Minute)
			w.poll(p.Reference)
		}
		if now := w.now(p.Reference); now.Status != operation.Pending || now.SessionID != "" || now.Refunded {
			t.Errorf("after 50 minutes: %+v", now)
		}
		w.events(p.Reference)
		w.holds(map[string]money.Kobo{w.own(): 900 * money.Naira, "clearing/payout": 100 * money.Naira})
		if cases := w.cases(); len(cases) != 1 || cases[0].Reason != operation.Unresolved || !strings.Contains(cases[0].Detail, accepted.Reference) {
			t.Errorf("cases %+v", cases)
		}
		w.bank.says(accepted, yes)
		w.forward(2 * time.Hour)
		w.poll(p.Reference)
		if now := w.now(p.Reference); now.Status != operation.Success || string(now.SessionID) != session {
			t.Errorf("in the end: %+v", now)
		}
		w.events(p.Reference)
		w.holds(map[string]money.Kobo{w.own(): 900 * money.Naira, "clearing/payout": 0})
	})
}

// The session that a bank has named stays, also if a later reply has the bank's own id alone.
func TestASessionStays(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		named, done := accepted, yes
		named.SessionID = session
		done.SessionID, done.Reference = "", accepted.Reference
		w.bank.says(accepted, named)
		p := w.sent(100*money.Naira, operation.Pending)
		for _, later := range []provider.TransferAnswer{named, accepted, done} {
			w.bank.says(accepted, later)
			w.forward(10 * time.Minute)
			w.poll(p.Reference)
			if now := w.now(p.Reference); string(now.SessionID) != session {
				t.Errorf("after %+v: %+v", later, now)
			}
		}
		if now := w.now(p.Reference); now.Status != operation.Success {
			t.Errorf("in the end: %+v", now)
		}
		w.events(p.Reference)
	})
}

// A bank that reports another amount than the order's makes a case with the difference. A repeated notice makes none,
// and another amount makes one more, also after operators have dismissed the case before.
func TestEachOtherAmountIsACase(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		p := w.sent(100*money.Naira, operation.Success)
		told := func(amount money.Kobo) []operation.Case {
			t.Helper()
			other := yes
			other.Amount = amount
			w.bank.says(yes, other)
			for range 3 {
				must(t, w.Notified(t.Context(), p.Reference))
			}
			return w.cases()
		}
		for turn, amount := range []money.Kobo{10 * money.Naira, 99_99, 100_01, 250_00} {
			cases := told(amount)
			if len(cases) != 1 || cases[0].Reason != operation.AmountDiffers || cases[0].Subject != p.Reference || cases[0].Turn != int64(turn) ||
				cases[0].Amount != amount-100*money.Naira {
				t.Fatalf("after %s: %+v", amount, cases)
			}
			w.dismiss()
			if cases := told(amount); len(cases) != 0 {
				t.Errorf("%s again: %+v", amount, cases)
			}
		}
		if cases := told(100 * money.Naira); len(cases) != 0 {
			t.Errorf("the amount of the order: %+v", cases)
		}
		w.holds(map[string]money.Kobo{w.own(): 900 * money.Naira, "provider/bank": -900 * money.Naira})
	})
}

// A case of an earlier release has no amount. It covers what its detail says, and no other amount.
func TestAnAmountCaseOfAnEarlierReleaseIsNotRepeated(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		p := w.sent(100*money.Naira, operation.Success)
		detail := fmt.Sprintf("the payout is of %s; bank says that it paid %s", 100*money.Naira, 10*money.Naira)
		must(t, w.operations.OpenCase(t.Context(), w.company, p.Reference, operation.AmountDiffers, detail))
		w.dismiss()
		other := yes
		other.Amount = 10 * money.Naira
		w.bank.says(yes, other)
		must(t, w.Notified(t.Context(), p.Reference))
		if cases := w.cases(); len(cases) != 0 {
			t.Errorf("the same amount: %+v", cases)
		}
		other.Amount = 11 * money.Naira
		w.bank.says(yes, other)
		must(t, w.Notified(t.Context(), p.Reference))
		if cases := w.cases(); len(cases) != 1 || cases[0].Amount != -89*money.Naira {
			t.Errorf("another amount: %+v", cases)
		}
	})
}

// A notice of a FAILED payout may say that the bank has carried it out after all. If the bank does not answer the
// question, the caller tries again. If the bank has no such reference, that is an answer.
func TestANoticeOfAFailedPayoutIsAskedAboutUntilTheBankAnswers(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.bank.says(no, no)
		p := w.sent(100*money.Naira, operation.Failed)
		for _, c := range []struct {
			says  provider.TransferAnswer
			away  bool
			cases int
		}{{silence, true, 0}, {accepted, true, 0}, {unseen, false, 0}, {no, false, 0}, {yes, false, 1}} {
			w.bank.says(no, c.says)
			err := w.Notified(t.Context(), p.Reference)
			if fault.Is(err, fault.Unavailable) != c.away || !c.away && err != nil {
				t.Errorf("%+v: %v", c.says, err)
			}
			if cases := w.cases(); len(cases) != c.cases || c.cases == 1 && cases[0].Reason != operation.Contradiction {
				t.Errorf("%+v: cases %+v", c.says, cases)
			}
		}
		w.holds(map[string]money.Kobo{w.own(): 1000 * money.Naira})
	})
}
