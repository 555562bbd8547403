package company_test

import (
	"sync"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/company"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/money"
)

func from(naira int64) company.PayoutRule {
	return company.PayoutRule{On: true, Least: money.Kobo(naira) * money.Naira}
}

// One person makes the rule for payouts stricter. A weaker rule waits for a second person, as its end does.
func TestTheRuleForPayouts(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		ctx := t.Context()
		by, _ := h.owner()
		ada, bola := person(by, "ada"), person(by, "bola")
		holds := func(want company.PayoutRule) {
			t.Helper()
			if r, err := h.PayoutRule(ctx, by.Company); r != want || err != nil {
				t.Fatalf("%+v, %v, want %+v", r, err, want)
			}
		}
		holds(company.PayoutRule{})
		_, err := h.SetPayoutRule(ctx, ada, company.PayoutRule{})
		refused(t, "no rule twice", err, fault.Refused, "The rule is so already")
		for _, stricter := range []company.PayoutRule{from(5_000), from(1_000)} {
			if a, err := h.SetPayoutRule(ctx, ada, stricter); a != nil || err != nil {
				t.Fatalf("%+v, %v", a, err)
			}
			holds(stricter)
		}
		for amount, want := range map[money.Kobo]bool{999_99: false, 1_000_00: true, 1_000_01: true} {
			if waits, err := h.PayoutWaits(ctx, by.Company, amount); waits != want || err != nil {
				t.Errorf("%s: %v, %v", amount, waits, err)
			}
		}
		for _, weaker := range []company.PayoutRule{from(2_000), {}} {
			a, err := h.SetPayoutRule(ctx, ada, weaker)
			if err != nil || a == nil || a.Kind != company.ApprovePayoutRule {
				t.Fatalf("%+v, %v", a, err)
			}
			before, err := h.PayoutRule(ctx, by.Company)
			if err != nil || before == weaker {
				t.Fatalf("a weaker rule holds at once: %+v, %v", before, err)
			}
			_, _, err = h.Approve(ctx, ada, a.ID)
			refused(t, "the same person", err, fault.Forbidden, "Another person of the company must approve what you asked for")
			if _, _, err := h.Approve(ctx, bola, a.ID); err != nil {
				t.Fatal(err)
			}
			holds(weaker)
			_, _, err = h.Approve(ctx, bola, a.ID)
			refused(t, "again", err, fault.Conflict, "The approval does not wait any more")
		}
		if r, err := h.PayoutRule(ctx, "another"); r.On || err != nil {
			t.Errorf("another company has the rule: %+v, %v", r, err)
		}
	})
}

// While a program runs that does not know the rule, nobody can rely on it.
func TestNoRuleForPayoutsBesideAnOlderProgram(t *testing.T) {
	d := dbtest.New(t, db.Postgres)
	h := open(t, d)
	by, _ := h.owner()
	ada := person(by, "ada")
	err := d.Tx(t.Context(), func(q db.Querier) error {
		if _, err := q.Exec(t.Context(), `SET LOCAL application_name = 'kobo/0.1/147'`); err != nil {
			return err
		}
		_, err := h.SetPayoutRule(t.Context(), ada, from(1_000))
		refused(t, "beside an older program", err, fault.Unavailable, "Service temporarily unavailable")
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if a, err := h.SetPayoutRule(t.Context(), ada, from(1_000)); a != nil || err != nil {
		t.Errorf("%+v, %v", a, err)
	}
}

// A request that has waited for a day cannot be approved. The unit with the end of an approval commits once, also if two people
// approve at the same time.
func TestAnApprovalOfAPayoutEndsOnce(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		ctx := t.Context()
		by, _ := h.owner()
		ada := person(by, "ada")
		ask := func() string {
			t.Helper()
			a, err := h.AskPayout(ctx, ada, company.PayoutAct{VerifyID: "v", Amount: 5_00, AccountName: "BOLA", AccountNumber: "0123456789"}, nil)
			if err != nil || a.Kind != company.ApprovePayout || a.AskedBy != "person:ada" {
				t.Fatalf("%+v, %v", a, err)
			}
			return a.ID
		}
		_, _, err := h.Accept(ctx, ada, ask())
		refused(t, "the same person", err, fault.Forbidden, "Another person of the company must approve what you asked for")
		_, _, err = h.Accept(ctx, by, ask())
		refused(t, "a program", err, fault.Forbidden, "Another person of the company must approve what you asked for")
		_, _, err = h.Approve(ctx, person(by, "bola"), ask())
		if !fault.Is(err, fault.Internal) {
			t.Errorf("a payout is approved without being sent: %v", err)
		}
		id := ask()
		var done, late int
		var mu sync.Mutex
		var all sync.WaitGroup
		for _, name := range []string{"bola", "chidi", "dayo"} {
			all.Go(func() {
				_, end, err := h.Accept(ctx, person(by, name), id)
				if err == nil {
					u := ledger.For(by.Company)
					end(&u)
					err = company.Decided(h.book.Commit(ctx, u))
				}
				mu.Lock()
				defer mu.Unlock()
				switch {
				case err == nil:
					done++
				case fault.Is(err, fault.Conflict):
					late++
				default:
					t.Error(err)
				}
			})
		}
		all.Wait()
		if done != 1 || late != 2 {
			t.Errorf("%d people have approved, and %d were late", done, late)
		}
		id = ask()
		h.clock.Advance(24 * time.Hour)
		_, _, err = h.Accept(ctx, person(by, "bola"), id)
		refused(t, "after a day", err, fault.Conflict, "The approval does not wait any more")
	})
}

// Whoever reads the rule while it changes reads the rule before or after the change. It is never taken for an altered row.
func TestTheRuleForPayoutsIsReadWhole(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		ctx := t.Context()
		by, _ := h.owner()
		ada := person(by, "ada")
		const changes = 200
		if _, err := h.SetPayoutRule(ctx, ada, from(changes+1)); err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		done := make(chan struct{})
		for range 2 {
			all.Go(func() {
				for {
					select {
					case <-done:
						return
					default:
					}
					if _, err := h.PayoutRule(ctx, by.Company); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		for n := range changes {
			if _, err := h.SetPayoutRule(ctx, ada, from(int64(changes-n))); err != nil {
				t.Fatal(err)
			}
		}
		close(done)
		all.Wait()
	})
}

// Payouts that wait do not use up the requests about API keys. So an owner can ask for the end of a leaked key on a day
// with many payouts.
func TestWaitingPayoutsLeaveRoomForAKey(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		ctx := t.Context()
		by, _ := h.owner()
		ada := person(by, "ada")
		leaked := h.issues(by, "leaked", time.Time{})
		h.issues(by, "other", time.Time{})
		if err := h.RequireTwoPeople(ctx, ada); err != nil {
			t.Fatal(err)
		}
		for range 10 {
			if _, err := h.AskPayout(ctx, ada, company.PayoutAct{VerifyID: "v", Amount: 5_00, AccountName: "BOLA", AccountNumber: "0123456789"}, nil); err != nil {
				t.Fatal(err)
			}
		}
		a, err := h.RevokeOwnKey(ctx, ada, leaked.ID)
		if err != nil || a == nil || a.Kind != company.ApproveRevoke {
			t.Errorf("%+v, %v", a, err)
		}
	})
}
