package payout_test

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/payout"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/secret"
	"github.com/kobo-waas/kobo/internal/settlement"
	"github.com/kobo-waas/kobo/internal/wire"
)

func TestFees(t *testing.T) {
	bands := payout.Schedule{
		{Flat: 1000},
		{From: 500_000, Flat: 2500, BasisPoints: 5},
		{From: 5_000_000, Flat: 5000, BasisPoints: 10, Cap: 200_000},
	}
	for amount, want := range map[money.Kobo]money.Kobo{
		1: 1000, 499_999: 1000, 500_000: 2750, 501_999: 2750, 502_000: 2751, 4_999_999: 4999,
		5_000_000: 10_000, 195_000_000: 200_000, money.Max: 200_000,
	} {
		if got := bands.Fee(amount); got != want {
			t.Errorf("the fee of %s is %s, want %s", amount, got, want)
		}
	}
	if got := payout.Schedule(nil).Fee(money.Max); got != 0 {
		t.Errorf("without a schedule: %s", got)
	}
}

func TestTheLatestScheduleIsInForce(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		for _, bad := range []payout.Schedule{
			{{From: 1}}, {{}, {From: 0}}, {{Flat: -1}}, {{BasisPoints: 10_001}}, {{Cap: money.Max + 1}}, make(payout.Schedule, 101),
		} {
			if err := w.SetFees(t.Context(), me, w.company, bad); !fault.Is(err, fault.Invalid) {
				t.Errorf("%+v: %v", bad, err)
			}
		}
		if err := w.SetFees(t.Context(), me, id.Cuid(), nil); !fault.Is(err, fault.Missing) {
			t.Errorf("of nobody: %v", err)
		}
		is := func(ever bool, want ...payout.Band) {
			t.Helper()
			got, since, err := w.FeesSince(t.Context(), w.company)
			if err != nil || !slices.Equal(got, want) || since.IsZero() == ever || since.After(w.clock.Now()) {
				t.Errorf("in force: %v since %s, %v; want %v", got, since, err, want)
			}
		}
		is(false)
		must(t, w.SetFees(t.Context(), me, w.company, payout.Schedule{{Flat: 100}, {From: 1000, Flat: 200}}))
		is(true, payout.Band{Flat: 100}, payout.Band{From: 1000, Flat: 200})
		if p := w.sent(1000, operation.Success); p.Fee != 200 {
			t.Errorf("the fee is %s", p.Fee)
		}
		must(t, w.SetFees(t.Context(), me, w.company, nil))
		is(true)
		if p := w.sent(1000, operation.Success); p.Fee != 0 {
			t.Errorf("the fee is %s", p.Fee)
		}
	})
}

func TestDailyLimitsHoldForAHundredAtOnce(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		must(t, w.SetLimit(t.Context(), me, w.company, 0, payout.Limit{Amount: 75 * money.Naira}))
		var ids []string
		for range 100 {
			ids = append(ids, w.verify())
		}
		var all sync.WaitGroup
		var mu sync.Mutex
		paid := 0
		for _, id := range ids {
			all.Go(func() {
				_, err := w.send(id, 10*money.Naira)
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					paid++
					return
				}
				w.refused(err, "Daily payout limit reached")
			})
		}
		all.Wait()
		if paid != 7 || len(w.bank.sent) != 7 {
			t.Errorf("%d were paid", paid)
		}
		w.holds(map[string]money.Kobo{w.own(): 930 * money.Naira})
	})
}

func TestPayoutsThatCountTowardsALimit(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.flat() // fees do not count towards the limit
		w.sent(30*money.Naira, operation.Success)
		// Payouts from before the limit was set count towards the limit.
		must(t, w.SetLimit(t.Context(), me, w.company, w.account, payout.Limit{Amount: 50 * money.Naira, Payouts: 2}))
		id := w.verify()
		_, err := w.send(id, 21*money.Naira)
		w.refused(err, "Daily payout limit of the settlement account reached")
		w.bank.says(no, no)
		w.sent(20*money.Naira, operation.Failed) // a refunded payout does not count towards the limit
		w.bank.says(yes, back)
		p := w.sent(20*money.Naira, operation.Success)
		_, err = w.send(id, 1)
		w.refused(err, "Daily payout limit of the settlement account reached") // this would be the third payout
		must(t, w.Notified(t.Context(), p.Reference))
		_, err = w.send(id, 20*money.Naira) // a payout that the bank returned does not count towards the limit
		must(t, err)

		id = w.verify()
		now := w.clock.Now().Add(time.Hour) // the local time in Lagos, written as UTC
		midnight := now.Truncate(24 * time.Hour).Add(24 * time.Hour)
		w.forward(midnight.Sub(now) + time.Second)
		_, err = w.send(id, 20*money.Naira) // on the next day, the whole limit is available again
		must(t, err)

		other := w.open(w.company, 0)
		if err := w.SetLimit(t.Context(), me, w.company, other+100, payout.Limit{}); !fault.Is(err, fault.Missing) {
			t.Errorf("of an account that is not there: %v", err)
		}
		if err := w.SetLimit(t.Context(), me, w.company, 0, payout.Limit{Amount: -1}); !fault.Is(err, fault.Invalid) {
			t.Errorf("below zero: %v", err)
		}
	})
}

// The use of a limit includes today's payouts from before the limit was set.
func TestTheUseOfLimitsToday(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		other := w.open(w.company, 0)
		w.flat()
		must(t, w.SetLimit(t.Context(), me, w.company, w.account, payout.Limit{Amount: 40 * money.Naira, Payouts: 2}))
		w.sent(30*money.Naira, operation.Success)
		must(t, w.SetLimit(t.Context(), me, w.company, 0, payout.Limit{Amount: 20 * money.Naira}))
		check := func(want ...payout.Use) {
			t.Helper()
			day, uses, err := w.Uses(t.Context(), w.company)
			if err != nil || len(uses) != len(want) || day == "" {
				t.Fatalf("%s: %+v, %v", day, uses, err)
			}
			for i, u := range uses {
				if u.Since.IsZero() != (u.Limit == payout.Limit{}) {
					t.Errorf("in force since %s: %+v", u.Since, u)
				}
				if u.Since = (time.Time{}); u != want[i] {
					t.Errorf("%+v, want %+v", u, want[i])
				}
			}
		}
		whole := payout.Use{Limit: payout.Limit{Amount: 20 * money.Naira}, Used: 30 * money.Naira, UsedPayouts: 1}
		own := payout.Use{SettlementID: w.account, Limit: payout.Limit{Amount: 40 * money.Naira, Payouts: 2}, Used: 30 * money.Naira, UsedPayouts: 1}
		check(whole, own, payout.Use{SettlementID: other})
		if amount, payouts := whole.Left(); amount != 0 || payouts != 0 {
			t.Errorf("left of what is more than used up: %s, %d", amount, payouts)
		}
		if amount, payouts := own.Left(); amount != 10*money.Naira || payouts != 1 {
			t.Errorf("left: %s, %d", amount, payouts)
		}
		w.forward(24 * time.Hour)
		whole.Used, whole.UsedPayouts, own.Used, own.UsedPayouts = 0, 0, 0, 0
		check(whole, own, payout.Use{SettlementID: other})
	})
}

// An inactive settlement account cannot pay for a new payout, even if the company already has a
// verify_id. A payout that has begun still gets its outcome, and a refund is still credited to the
// account.
func TestAnInactiveAccountPaysForNoNewPayout(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.bank.says(silence, no)
		begun, agreed := w.sent(100*money.Naira, operation.Pending), w.verify()
		set := func(to settlement.Status) {
			t.Helper()
			_, err := w.settlements.SetStatus(t.Context(), me, w.company, w.account, to, "")
			must(t, err)
		}
		set(settlement.Inactive)
		_, err := w.send(agreed, 100*money.Naira)
		w.refused(err, "Settlement account not found")
		_, err = w.Preview(t.Context(), payout.Order{Company: w.company, VerifyID: agreed, Amount: 1})
		w.refused(err, "Settlement account not found")
		_, err = w.Validate(t.Context(), payout.Enquiry{
			Company: w.company, BankCode: "000014", AccountNumber: "0123456789", PIN: secret.NewText(pin), SettlementID: w.account,
		})
		w.refused(err, "Settlement account not found")
		w.holds(map[string]money.Kobo{w.own(): 900 * money.Naira})
		w.forward(time.Minute)
		w.poll(begun.Reference)
		if p, err := w.Status(t.Context(), w.company, begun.Reference); err != nil || !p.Refunded {
			t.Errorf("what had begun: %+v, %v", p, err)
		}
		w.holds(map[string]money.Kobo{w.own(): 1000 * money.Naira})
		set(settlement.Active)
		w.bank.says(yes, yes)
		_, err = w.send(agreed, 100*money.Naira)
		must(t, err)
	})
}

func TestWhoMayAskForAName(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		other, _ := w.join("Other", 0)
		foreign := w.open(other, 0) // account 2 of a different company; the main company has only account 1
		ask := payout.Enquiry{Company: w.company, BankCode: "000014", AccountNumber: "0123456789", PIN: secret.NewText(pin), SettlementID: w.account}
		try := func(change func(*payout.Enquiry)) error {
			e := ask
			change(&e)
			_, err := w.Validate(t.Context(), e)
			return err
		}
		v, err := w.Validate(t.Context(), ask)
		must(t, err)
		if v.AccountName != "ADA  Obi" || v.AccountNumber != "0123456789" || v.ID == "" || v.BankName != "Access Bank" {
			t.Errorf("%+v", v)
		}
		w.refused(try(func(e *payout.Enquiry) { e.SettlementID = foreign }), "Settlement account not found")
		w.refused(try(func(e *payout.Enquiry) { e.AccountNumber = "0123456799" }), "Account does not exist")
		w.bank.enquiry = provider.Unknown
		if err := try(func(*payout.Enquiry) {}); !fault.Is(err, fault.Unavailable) {
			t.Errorf("a bank that does not answer: %v", err)
		}
		asked := w.bank.requests
		w.refused(try(func(e *payout.Enquiry) { e.Company, e.SettlementID = w.join("New", 0) }), "PIN not set up")
		for range 5 {
			w.refused(try(func(e *payout.Enquiry) { e.PIN = secret.NewText("0000") }), "Invalid PIN")
		}
		w.refused(try(func(*payout.Enquiry) {}), "PIN locked after 5 wrong attempts. Contact support to reset it.")
		if w.bank.requests != asked {
			t.Error("the bank was asked without the PIN")
		}
	})
}

func TestAnotherCompanysPayoutIsMissing(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		other, _ := w.join("Other", money.Naira)
		id := w.verify()
		_, err := w.Send(t.Context(), payout.Order{Company: other, VerifyID: id, Amount: 1})
		w.refused(err, "Verification not found")
		p := w.sent(100, operation.Success)
		for _, reference := range []string{p.Reference, id, "nothing"} {
			if _, err := w.Status(t.Context(), other, reference); !fault.Is(err, fault.Missing) {
				t.Errorf("%s: %v", reference, err)
			}
		}
		if _, err := w.Status(t.Context(), w.company, id); !fault.Is(err, fault.Missing) {
			t.Errorf("never sent: %v", err)
		}
	})
}

func TestAPreviewTellsTheEffectAndWritesNothing(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.flat()
		must(t, w.SetLimit(t.Context(), me, w.company, 0, payout.Limit{Amount: 2000 * money.Naira}))
		id := w.verify()
		asked := w.bank.requests
		w.forward(time.Hour)
		look := func(amount money.Kobo) payout.Preview {
			p, err := w.Preview(t.Context(), payout.Order{Company: w.company, VerifyID: id, Amount: amount})
			must(t, err)
			return p
		}
		want := payout.Preview{
			DryRun: true, WouldSucceed: true, Amount: 50_000, Fee: 1500, Total: 51_500, Balance: 100_000, BalanceAfter: 48_500,
		}
		if got := look(50_000); got != want {
			t.Errorf("%+v", got)
		}
		for amount, refusal := range map[money.Kobo]wire.Text{
			100_000: "Insufficient balance", 200_001: "Daily payout limit reached",
		} {
			if got := look(amount); got.Refusal != refusal || got.WouldSucceed || got.BalanceAfter != got.Balance {
				t.Errorf("%+v", got)
			}
		}
		if _, err := w.Preview(t.Context(), payout.Order{Company: w.company, VerifyID: "nothing", Amount: 1}); !fault.Is(err, fault.Refused) {
			t.Errorf("of nothing: %v", err)
		}
		if w.bank.requests != asked || len(w.bank.sent) != 0 {
			t.Error("the bank was asked")
		}
		w.holds(map[string]money.Kobo{w.own(): 100_000})
		_, err := w.send(id, 50_000)
		must(t, err)
		if got := look(50_000); got.Refusal != "Verification already used" {
			t.Errorf("%+v", got)
		}
	})
}

func TestTheListOfBanks(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		names := func(search string) (out []string) {
			list, err := w.Banks(t.Context(), w.company, search)
			must(t, err)
			for _, b := range list {
				out = append(out, b.Name+" "+b.Code)
			}
			return out
		}
		is := func(search string, want ...string) {
			t.Helper()
			got := names(search)
			if len(got) != len(want) {
				t.Fatalf("%q: %q", search, got)
			}
			for i := range want {
				if got[i] != want[i] {
					t.Errorf("%q: %q", search, got)
				}
			}
		}
		is("", "Access Bank 000014", "GTBank 000013", "Safe Haven 999240")
		is(" haven", "Safe Haven 999240")
		is("nothing")
		w.bank.list = nil // Kobo must not store an empty list
		w.forward(7 * time.Hour)
		if err := w.SyncDue(t.Context()); err == nil {
			t.Error("an empty list was believed")
		}
		is("bank", "Access Bank 000014", "GTBank 000013")
		w.bank.list = []provider.BankCode{{Code: "000014", Name: "Access Bank Plc"}, {Code: "12345678901", Name: "Too long"}, {Code: "123", Name: "Too short"}}
		must(t, w.SyncDue(t.Context())) // the next copy is not due yet
		is("access", "Access Bank 000014")
		w.forward(6 * time.Minute)
		must(t, w.SyncDue(t.Context()))
		is("", "Access Bank Plc 000014")
	})
}
