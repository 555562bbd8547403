package settlement_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/settlement"
)

// knows configures the bank whose accounts the tests attach.
func (h *house) knows() {
	h.Banks = map[string]settlement.Bank{bank: {Name: "Safe Haven MFB", Code: "090286", Float: "0100000001"}}
}

func (h *house) attaches(a settlement.Account, number string) {
	h.t.Helper()
	b, err := h.Attach(h.t.Context(), ada, a.Company, a.ID, bank, number, "ACME LIMITED")
	if err != nil || b.Number != number || b.BankCode != "090286" || !b.Since.Equal(h.clock.Now()) {
		h.t.Fatalf("%+v, %v", b, err)
	}
}

// Credits from before the attachment stay in suspense with their case. Later credits go to the
// company. The API still shows the first bank account of the settlement account.
func TestAnAttachedAccountFeeds(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		h.knows()
		a := h.fed("8000000011")
		second := h.account(a.Company)
		h.receives(h.inbound("s-1", "8000000022", 700))
		h.suspended(700)
		h.clock.Advance(time.Minute)
		h.attaches(a, "8000000022")
		h.attaches(second, "8000000033")
		h.receives(h.inbound("s-1", "8000000022", 700))
		h.receives(h.inbound("s-2", "8000000022", 1500))
		h.receives(h.inbound("s-2", "8000000022", 1500))
		h.receives(h.inbound("s-3", "8000000033", 40))
		h.suspended(700)
		h.holds(a, 1500)
		h.holds(second, 40)
		if c := h.cases(operation.UnknownAccount); len(c) != 1 || c[0].Subject != bank+"/s-1" {
			t.Errorf("%+v", c)
		}
		if e := h.events(a.Company); len(e) != 4 || e[2].Kind != event.SettlementCredit || !strings.Contains(string(e[2].Data), `"accountNumber":"8000000022"`) ||
			e[0].Kind != event.SettlementBankAccountAttached || e[1].Kind != event.SettlementBankAccountAttached || e[3].Kind != event.SettlementCredit ||
			string(e[0].Data) != `{"settlementId":1,"accountNumber":"8000000022","accountName":"ACME LIMITED","bankName":"Safe Haven MFB","bankCode":"090286"}` {
			t.Errorf("%+v", e)
		}
		if found, err := h.Find(t.Context(), a.Company, a.ID); err != nil || found.AccountNumber != "8000000011" {
			t.Errorf("%+v, %v", found, err)
		}
		all, err := h.BankAccounts(t.Context(), a.Company, a.ID)
		if err != nil || len(all) != 2 || all[0].Number != "8000000011" || all[1].Number != "8000000022" {
			t.Errorf("%+v, %v", all, err)
		}
		h.intact(a.Company, settlement.House)
	})
}

// An account number that a bank account already has, at any bank, cannot be attached. Its credits
// still go to the owner.
func TestANumberInUseIsNotAttached(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		h.knows()
		ctx := t.Context()
		a, foreign := h.account(h.company()), h.fed("8000000011")
		if err := h.Enter(ctx, foreign.Company, "8000000044", "058"); err != nil {
			t.Fatal(err)
		}
		if err := h.Enter(ctx, a.Company, "8000000055", "090286"); err != nil {
			t.Fatal(err)
		}
		h.Recipients = []settlement.Recipient{func(_ context.Context, company string, c settlement.Credit) (settlement.Booking, bool, error) {
			return settlement.Booking{SettlementID: a.ID}, company == a.Company && c.Account == "8000000055", nil
		}}
		for number, why := range map[string]string{
			"8000000011": "The bank account belongs to another company, " + foreign.Company,
			"8000000044": "The bank account belongs to another company, " + foreign.Company,
			"8000000055": "The bank account belongs to a customer, or is a virtual account",
			"0100000001": "We pay from this bank account: it cannot be a company's",
		} {
			if _, err := h.Attach(ctx, ada, a.Company, a.ID, bank, number, "ACME"); !fault.Is(err, fault.Refused) || fault.Of(err).Message != why {
				t.Errorf("%s: %v, want %q", number, err, why)
			}
		}
		if all, err := h.BankAccounts(ctx, a.Company, a.ID); err != nil || len(all) != 0 {
			t.Errorf("%+v, %v", all, err)
		}
		h.receives(h.inbound("s-1", "8000000011", 100))
		h.holds(foreign, 100)
		h.holds(a, 0)
	})
}

// When several companies attach one number at the same time, only one company gets the number and
// its credits.
func TestANumberIsAttachedOnce(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		h.knows()
		var accounts []settlement.Account
		for range 4 {
			accounts = append(accounts, h.account(h.company()))
		}
		var all sync.WaitGroup
		got := make(chan settlement.Account, 16)
		for i := range 16 {
			all.Go(func() {
				a := accounts[i%4]
				_, err := h.Attach(context.Background(), ada, a.Company, a.ID, bank, "8000000022", "ACME")
				if err == nil {
					got <- a
				} else if !fault.Is(err, fault.Refused) {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if len(got) != 1 {
			t.Fatalf("attached %d times", len(got))
		}
		h.receives(h.inbound("s-1", "8000000022", 100))
		h.holds(<-got, 100)
	})
}
