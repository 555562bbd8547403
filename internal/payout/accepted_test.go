package payout_test

import (
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operation"
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
