package collection_test

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/collection"
	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/settlement"
)

func TestAPaymentCompletesItsCollection(t *testing.T) {
	for _, c := range []struct {
		control  provider.AmountControl
		pays     money.Kobo
		accepted bool
	}{
		{"", 500_000, true},
		{provider.Fixed, 499_999, false},
		{provider.Fixed, 500_001, false},
		{provider.UnderPayment, 500_000, true},
		{provider.UnderPayment, 1, true},
		{provider.UnderPayment, 500_001, false},
		{provider.OverPayment, 500_000, true},
		{provider.OverPayment, 900_000, true},
		{provider.OverPayment, 499_999, false},
	} {
		t.Run(string(c.control)+c.pays.Number(), func(t *testing.T) {
			each(t, func(t *testing.T, h *house) {
				r := h.asks("order-1", 500_000)
				r.Control = c.control
				got := h.generates(r)
				h.pays("s-1", got.AccountNumber, c.pays)
				state, kind := collection.Success, "virtual_account.success SUCCESS "+c.pays.Number()
				if !c.accepted {
					state, kind = collection.Pending, "virtual_account.late_payment PENDING "+c.pays.Number()+" WRONG_AMOUNT"
				}
				h.is(got, state, c.pays)
				if told := h.told(); !slices.Equal(told, []string{kind}) {
					t.Errorf("%q", told)
				}
			})
		})
	}
}

func TestAWrongAmountLeavesRoomForTheRightOne(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		c := h.generates(h.asks("order-1", 5000))
		h.pays("s-1", c.AccountNumber, 4000)
		h.pays("s-2", c.AccountNumber, 5000)
		h.is(c, collection.Success, 9000)
		h.pays("s-3", c.AccountNumber, 5000) // a second payment of the right amount
		h.passes(time.Hour)                  // a completed collection does not expire
		h.is(c, collection.Success, 14_000)
		want := []string{
			"virtual_account.late_payment PENDING 40 WRONG_AMOUNT", "virtual_account.success SUCCESS 50",
			"virtual_account.late_payment SUCCESS 50 ALREADY_PAID",
		}
		if told := h.told(); !slices.Equal(told, want) {
			t.Errorf("%q", told)
		}
	})
}

func TestACollectionExpires(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		c := h.generates(h.asks("order-1", 5000))
		h.passes(15*time.Minute - time.Second)
		h.is(c, collection.Pending, 0)
		h.passes(time.Second)
		h.is(c, collection.Failed, 0)
		h.pays("s-1", c.AccountNumber, 5000)
		h.pays("s-1", c.AccountNumber, 5000)
		h.is(c, collection.Failed, 5000)
		want := []string{"virtual_account.failed FAILED", "virtual_account.late_payment FAILED 50 EXPIRED"}
		if told := h.told(); !slices.Equal(told, want) {
			t.Errorf("%q", told)
		}
	})
}

// A payment is late if the bank's timestamp is after the expiry, even if the ExpireJob has not run
// yet.
func TestLateByTheBanksClock(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		c := h.generates(h.asks("order-1", 5000))
		err := h.settlements.Receive(t.Context(), "safehaven", provider.Inbound{
			Outcome: provider.Confirmed, SessionID: "s-1", CreditAccount: c.AccountNumber, Amount: 5000,
			At: c.ExpiresAt.Add(time.Second),
		})
		if err != nil {
			t.Fatal(err)
		}
		h.is(c, collection.Pending, 5000)
		h.passes(time.Hour)
		h.is(c, collection.Failed, 5000)
	})
}

// While the collection expires, the bank sends fifty notifications about two payments. Each payment
// is credited only once, and at most one of the payments completes the collection.
func TestAPaymentAndItsExpiryAtOnce(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		c := h.generates(h.asks("order-1", 5000))
		at := h.clock.Now()
		h.clock.Advance(15 * time.Minute)
		var all sync.WaitGroup
		for i := range 50 {
			all.Go(func() {
				err := h.settlements.Receive(context.Background(), "safehaven", provider.Inbound{
					Outcome: provider.Confirmed, SessionID: []string{"s-1", "s-2"}[i%2], CreditAccount: c.AccountNumber, Amount: 5000, At: at,
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		h.passes(0)
		now, err := h.Find(t.Context(), c.Company, c.ID)
		if err != nil || now.State == collection.Pending {
			t.Errorf("%+v, %v", now, err)
		}
		h.is(c, now.State, 10_000)
		told := h.told()
		late := slices.Index(told, "virtual_account.late_payment SUCCESS 50 ALREADY_PAID")
		if now.State == collection.Success && (len(told) != 2 || late != 1) ||
			now.State == collection.Failed && (len(told) != 3) {
			t.Errorf("%s: %q", now.State, told)
		}
	})
}

// If the bank reuses an account number, a credit on this number belongs to the newest collection.
func TestANumberThatIsGivenOutAgain(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		first := h.generates(h.asks("order-1", 5000))
		h.passes(time.Hour)
		h.bank.next = func(a *provider.VirtualAccountAnswer) { a.Number = first.AccountNumber }
		second := h.generates(h.asks("order-2", 7000))
		h.pays("s-1", first.AccountNumber, 7000)
		h.is(first, collection.Failed, 7000)
		h.is(second, collection.Success, 7000)
		// A different company cannot get the same number, because the owner of a credit would be
		// unknown.
		other := h.account()
		h.bank.next = func(a *provider.VirtualAccountAnswer) { a.Number = first.AccountNumber }
		if _, err := h.Generate(t.Context(), collection.Request{Company: other.Company, ExternalReference: "order-1", Amount: 5000}); err == nil {
			t.Error("an account of two companies")
		}
	})
}

func TestGETAndEventsShowTheSameFields(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		c := h.generates(h.asks("order-1", 500_000))
		b, err := json.Marshal(c)
		want := `{"amount":5000,"expiryDate":"2030-01-02T03:19:05.000Z","bankName":"Safe Haven MFB","accountNumber":"` + c.AccountNumber +
			`","externalReference":"order-1","status":"PENDING","currency":{"name":"NGN"},"createdAt":"2030-01-02T03:04:05.000Z"}`
		if err != nil || string(b) != want {
			t.Errorf("%s, %v", b, err)
		}
	})
}

// If the collection's settlement account is inactive, the payment is credited to the default
// settlement account. The event then shows the default settlement account.
func TestAPaymentFindsAnActiveSettlementAccount(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		c := h.generates(h.asks("order-1", 700))
		other, err := h.settlements.Create(t.Context(), me, h.main.Company, "Other")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := h.settlements.SetStatus(t.Context(), me, h.main.Company, c.SettlementID, settlement.Inactive, ""); err != nil {
			t.Fatal(err)
		}
		h.pays("s-1", c.AccountNumber, 700)
		h.is(c, collection.Success, 0)
		if a, err := h.settlements.Find(t.Context(), other.Company, other.ID); err != nil || a.Balance != 700 {
			t.Errorf("the default one holds %s, %v", a.Balance, err)
		}
		list, _, err := event.NewService(h.db, h.book).Feed(t.Context(), h.main.Company, 0, 100, 0)
		if err != nil || len(list) == 0 {
			t.Fatal(err)
		}
		var told struct{ SettlementID int64 }
		if err := json.Unmarshal(list[len(list)-1].Data, &told); err != nil || told.SettlementID != other.ID {
			t.Errorf("the company is told %s, %v", list[len(list)-1].Data, err)
		}
	})
}
