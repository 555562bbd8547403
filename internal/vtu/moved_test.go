package vtu_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/report"
	"github.com/kobo-waas/kobo/internal/vtu"
)

// verification verifies a number in the category of a vendor, and returns the id of the verification.
func (s *street) verification(kind provider.ServiceKind, vendor, number string) string {
	s.t.Helper()
	v, err := s.VerifyEntity(s.t.Context(), vtu.EntityQuery{Company: s.company, CategoryID: s.category(kind, vendor).ID, Number: number})
	s.must(err)
	return v.ID
}

// token returns a function that buys electricity for a prepaid meter.
func (s *street) token(price money.Kobo) func(o vtu.Order) {
	s.t.Helper()
	verified := s.verification(provider.Utility, "Eko", "45012345610")
	return func(o vtu.Order) {
		_, _ = s.PurchaseUtility(context.WithoutCancel(s.t.Context()), vtu.UtilityPurchase{Order: o, VerificationID: verified, Amount: price})
	}
}

// television returns a function that buys a TV package.
func (s *street) television(p vtu.Product) func(o vtu.Order) {
	s.t.Helper()
	const card = "7012345610"
	verified := s.verification(provider.CableTV, "DSTV", card)
	return func(o vtu.Order) {
		_, _ = s.PurchaseCableTV(context.WithoutCancel(s.t.Context()), vtu.CableTVPurchase{Order: o, VerificationID: verified, ProductID: p.ID, Card: card})
	}
}

// Electricity and TV follow the same rule as airtime: whatever happens at two billers, nothing is
// delivered twice, and a purchase moves only after a definite "never started".
func TestEachStoryOfPowerAndTV(t *testing.T) {
	const price = 2000 * money.Naira
	const power, tv = "*=vtpass>safehaven", "*=safehaven>vtpass"
	t.Run("power", func(t *testing.T) {
		onStreet(t, provider.Proven, power, func(_ *testing.T, s *street) {
			s.eachStory(power, func() (func(vtu.Order), money.Kobo) { return s.token(price), price })
		})
	})
	t.Run("TV", func(t *testing.T) {
		onStreet(t, provider.Proven, tv, func(_ *testing.T, s *street) {
			bouquet, _ := s.pairedOf(provider.CableTV, "DSTV", "vtpass")
			s.eachStory(tv, func() (func(vtu.Order), money.Kobo) { return s.television(bouquet), money.Kobo(bouquet.Amount) })
		})
	})
}

// A moved purchase of electricity delivers the token of the biller that sold it. If no biller starts the
// purchase, the verification can be used again.
func TestMovedPowerHasTheTokenOfItsBiller(t *testing.T) {
	const price = 2000 * money.Naira
	for _, routes := range []string{"*=vtpass>safehaven", "*=safehaven>vtpass"} {
		onStreet(t, provider.Proven, routes, func(t *testing.T, s *street) {
			first, second, _ := strings.Cut(strings.TrimPrefix(routes, "*="), ">")
			stage, buy := s.stage(), s.token(price)
			for _, reused := range []bool{false, true} {
				o := s.play(stage, tale{first: {story: off}, second: {story: off}}, buy)
				if text, _ := s.attempts(o); o.State != vtu.Failed || o.Token != "" || text != first+" UNSTARTED, "+second+" ENDED" {
					t.Errorf("%s, reused %t: %s, token %q, attempts %q", routes, reused, o.State, o.Token, text)
				}
			}
			for _, story := range []string{"10", "02"} { // with a reply, and with a lost reply
				o := s.play(stage, tale{first: {story: off}, second: {story: story}}, s.token(price))
				kinds, last := s.told(o)
				if o.State != vtu.Success || o.Provider != second || len(o.Token) != 20 || kinds != "vtu.pending vtu.success" || !strings.Contains(last, o.Token) {
					t.Errorf("%s %s: %s at %s, token %q, told %s %s", routes, story, o.State, o.Provider, o.Token, kinds, last)
				}
			}
		})
	}
}

// breaks compares the statement of the simulated Safe Haven with the ledger, and returns the breaks that
// are not about the money with which the test began.
func (s *street) breaks() (out []string) {
	s.t.Helper()
	s.clock.MoveTo(s.clock.Offset() + 2*time.Hour) // younger lines are not compared
	r, err := report.New(s.db, s.clock).Reconcile(s.t.Context(), "safehaven", s.haven, s.clock.Now().Add(-48*time.Hour), s.clock.Now())
	s.must(err)
	for _, b := range r.Breaks {
		if b.Subject != "safehaven/seed" {
			out = append(out, fmt.Sprintf("%s %s bank %s, book %s", b.Reason, b.Subject, b.Bank.Decimal(), b.Book.Decimal()))
		}
	}
	return out
}

// The bank's statement names a purchase that moved to the bank by the reference of the second attempt.
// Reconciliation matches that debit with the operation, also if the bank took a different price. A
// purchase that moved away from the bank needs no debit.
func TestAMovedPurchaseIsMatchedOnTheStatement(t *testing.T) {
	const price = 200 * money.Naira
	onStreet(t, provider.Proven, "*=vtpass>safehaven", func(t *testing.T, s *street) {
		bouquet, pair := s.pairedOf(provider.CableTV, "DSTV", "safehaven")
		if pair.First.Price == pair.Second.Price {
			t.Fatal("the prices are equal")
		}
		stage, moved := s.stage(), tale{"vtpass": {story: off}, "safehaven": {story: "10"}}
		for name, buy := range map[string]func(vtu.Order){"airtime": s.airtime(price), "power": s.token(2000 * money.Naira), "TV": s.television(bouquet)} {
			if o := s.play(stage, moved, buy); o.State != vtu.Success || o.Provider != "safehaven" {
				t.Fatalf("%s: %s at %s", name, o.State, o.Provider)
			}
		}
		if wrong := s.breaks(); len(wrong) > 0 {
			t.Errorf("moved to the bank: %q", wrong)
		}
		failed := s.play(stage, tale{"vtpass": {story: off}, "safehaven": {story: "01"}}, s.airtime(price))
		if wrong := s.breaks(); failed.State != vtu.Failed || len(wrong) > 0 {
			t.Errorf("%s, refused by the bank: %q", failed.State, wrong)
		}
	})
	onStreet(t, provider.Proven, "*=safehaven>vtpass", func(t *testing.T, s *street) {
		o := s.play(s.stage(), tale{"safehaven": {story: off}, "vtpass": {story: "10"}}, s.airtime(price))
		if wrong := s.breaks(); o.State != vtu.Success || len(wrong) > 0 {
			t.Errorf("%s, moved away from the bank: %q", o.State, wrong)
		}
		s.control("POST", "/sandbox/vas-off", `{"off": false}`)
		late := s.haven.Pay(t.Context(), provider.Purchase{
			Reference: o.ID, Begun: o.CreatedAt, Kind: provider.Airtime, Category: s.listedCategory("safehaven"), Amount: price, Phone: "08031234510",
		})
		if late.Outcome != provider.Confirmed {
			t.Fatalf("%+v", late)
		}
		if wrong := strings.Join(s.breaks(), "; "); !strings.HasPrefix(wrong, "UNKNOWN_DEBIT ") || !strings.Contains(wrong, "bank 200.00, book 0.00") {
			t.Errorf("the bank started the first attempt after all: %q", wrong)
		}
	})
}

// listedCategory returns a biller's code for airtime of MTN.
func (s *street) listedCategory(biller string) string {
	s.t.Helper()
	code, err := db.One(s.t.Context(), s.db, db.Value[string], `SELECT c.code FROM vtu_category AS c JOIN vtu_service AS v ON v.id = c.service_id
		WHERE v.kind = 'AIRTIME' AND c.vendor = 'MTN' AND c.provider = $1`, biller)
	s.must(err)
	return code
}

// The history of a case shows an operator each attempt with its biller, its reference and its price, and
// why the first one never started.
func TestTheHistoryOfACaseShowsTheAttempts(t *testing.T) {
	onStreet(t, provider.Proven, "*=vtpass>safehaven", func(t *testing.T, s *street) {
		bouquet, pair := s.pairedOf(provider.CableTV, "DSTV", "safehaven")
		cost := pair.First.Price + pair.Second.Price - money.Kobo(bouquet.Amount)
		o := s.play(s.stage(), tale{"vtpass": {story: off}, "safehaven": {story: "10"}}, s.television(bouquet))
		_, references := s.attempts(o)
		s.must(s.operations.Late(t.Context(), operation.Attempt{
			Company: o.Company, OperationID: o.ID, Number: 1, Provider: "vtpass", Reference: o.ID,
		}, provider.Answer{Outcome: provider.Confirmed, Code: "000"}))
		cases, _, err := s.operations.Cases(t.Context(), operation.CaseFilter{State: operation.Open, Subject: o.ID}, 2, 0)
		if s.must(err); len(cases) != 1 || cases[0].Reason != operation.LateAttempt {
			t.Fatalf("%+v", cases)
		}
		steps, err := report.New(s.db, s.clock).CaseTimeline(t.Context(), cases[0])
		s.must(err)
		var got []string
		for _, step := range steps {
			if step.What == "intent" || step.What == "attempt" || step.What == "case" {
				got = append(got, step.What+" "+step.Text)
			}
		}
		want := []string{
			"intent vtu of " + money.Kobo(bouquet.Amount).Decimal() + " naira, fee 0.00, from settlement account 1",
			"attempt attempt 1 by vtpass, under the reference " + o.ID + ", for " + money.Kobo(bouquet.Amount).Decimal() + " naira",
			"attempt vtpass never started attempt 1: rejected (034) ",
			"attempt attempt 2 by safehaven, under the reference " + references[1] + ", for " + cost.Decimal() + " naira",
			"case LATE_ATTEMPT: attempt 1 at vtpass (" + o.ID + ") ended as never started, but vtpass now reports it as confirmed (000)",
		}
		for i := range max(len(want), len(got)) {
			if i >= len(got) || i >= len(want) || !strings.HasPrefix(got[i], want[i]) {
				t.Fatalf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		}
	})
}

// A space around the name of a product is no other name, so a purchase moves along the pair.
func TestASpaceAroundANameDoesNotStopAMove(t *testing.T) {
	onStreet(t, provider.Proven, "*=safehaven>vtpass", func(t *testing.T, s *street) {
		bundle, _ := s.paired()
		_, err := s.db.Exec(t.Context(), `UPDATE vtu_product_pair SET first_name = first_name || ' ', second_name = ' ' || second_name`)
		s.must(err)
		pairs, _, err := s.Pairs(t.Context(), 10, 0)
		if s.must(err); len(pairs) != 1 || pairs[0].Stale() != "" {
			t.Errorf("%+v", pairs)
		}
		o := s.play(s.stage(), tale{"safehaven": {story: off}, "vtpass": {story: "10"}}, s.bundle(bundle))
		if o.State != vtu.Success || o.Provider != "vtpass" {
			t.Errorf("%s at %s", o.State, o.Provider)
		}
	})
}
