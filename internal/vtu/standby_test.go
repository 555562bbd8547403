package vtu_test

import (
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/vtu"
)

// An order that repeats an earlier one, and is refused before its own commit, gets the earlier transaction only if the
// standby has it. A program that has just started does not know that.
func TestAnEarlierPurchaseWithoutItsStandbyIsNotGiven(t *testing.T) {
	server := dbtest.NewLone(t)
	s := newStreet(t, dbtest.Open(t, server.URL), provider.Proven, "*=safehaven")
	order := vtu.AirtimePurchase{Order: s.order(), CategoryID: s.category(provider.Airtime, "MTN").ID, Phone: "08031234510", Amount: 200 * money.Naira}
	first, err := s.PurchaseAirtime(t.Context(), order)
	s.must(err)
	dear := fault.New(fault.Refused, "Too dear")
	order.May = func(money.Kobo) error { return dear }
	s.Book = ledger.New(s.db, s.clock)
	server.Desert()
	if r, err := s.PurchaseAirtime(db.Within(t.Context(), 500*time.Millisecond), order); !fault.Is(err, fault.Unavailable) {
		t.Errorf("without the standby: %+v, %v", r.Transaction, err)
	}
	server.Rejoin()
	again, err := s.PurchaseAirtime(t.Context(), order)
	if err != nil || !again.Replayed || again.Transaction.ID != first.Transaction.ID {
		t.Errorf("with the standby: %+v, %v", again, err)
	}
}
