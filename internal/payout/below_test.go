package payout

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/kobo-waas/kobo/internal/money"
)

// If a schedule is not below an earlier one, no amount has a lower fee.
func TestAScheduleThatIsNotBelowLowersNoFee(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		small := rapid.Int64Range(0, 40)
		draw := func(name string) (s Schedule) {
			for i := range rapid.IntRange(0, 3).Draw(t, name) {
				s = append(s, Band{money.Kobo(i * 100), money.Kobo(small.Draw(t, "flat")), small.Draw(t, "points") * 100, money.Kobo(small.Draw(t, "cap"))})
			}
			return s
		}
		old := draw("old")
		s := slices.Clone(old)
		if rapid.Bool().Draw(t, "different") {
			s = draw("new")
		}
		for i := range s {
			s[i].Flat += money.Kobo(rapid.Int64Range(0, 2).Draw(t, "more"))
		}
		if s.IsBelow(old) {
			return
		}
		for amount := range money.Kobo(400) {
			if s.Fee(amount) < old.Fee(amount) {
				t.Fatalf("%v is not below %v, but the fee of %d fell from %d to %d", s, old, amount, old.Fee(amount), s.Fee(amount))
			}
		}
	})
}

// A schedule without a lower part is not below, so one operator may set it.
func TestHigherFeesAreNotBelow(t *testing.T) {
	old := Schedule{{Flat: 10, BasisPoints: 10, Cap: 100}, {From: 500, Flat: 20}}
	for _, s := range []Schedule{
		old,
		{{Flat: 11, BasisPoints: 10}, {From: 500, Flat: 20}},
		{{Flat: 20, BasisPoints: 10, Cap: 100}},
		{{Flat: 10, BasisPoints: 20, Cap: 200}, {From: 400, Flat: 100, BasisPoints: 20}},
	} {
		if s.IsBelow(old) {
			t.Errorf("%v is below %v", s, old)
		}
	}
	if (Schedule{}).IsBelow(nil) || !(Schedule{}).IsBelow(old) || old.IsBelow(nil) {
		t.Error("no fees")
	}
}
