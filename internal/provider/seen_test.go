package provider

import (
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
)

// Operators see the calls of the last 15 minutes and of the last 24 hours by what became of them. Older
// calls drop out, and the times of the last success and of the last failure stay.
func TestCallsAreSeenForADay(t *testing.T) {
	clk := clock.At(time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC))
	f := NewFigures()
	f.Follow(clk)
	for _, result := range []string{"ok", "ok", "ok", "refused", "denied", CodeNotSent, CodeTimeout, CodeServerError, CodeUnreadable} {
		f.register.note("bank", "POST /pay", result, 30*time.Millisecond)
	}
	f.register.note("other", "GET /list", "ok", time.Second)
	want := Tally{Calls: 9, Successes: 3, Refusals: 2, NotSent: 1, Unknowns: 3}
	counts := func(t Tally) Tally {
		return Tally{Calls: t.Calls, Successes: t.Successes, Refusals: t.Refusals, NotSent: t.NotSent, Unknowns: t.Unknowns}
	}
	began := clk.Now()
	for _, step := range []struct {
		after       time.Duration
		recent, day Tally
	}{
		{0, want, want},
		{15 * time.Minute, want, want},
		{2 * time.Minute, Tally{}, want},
		{24*time.Hour - 17*time.Minute, Tally{}, want},
		{16 * time.Minute, Tally{}, Tally{}},
	} {
		clk.Advance(step.after)
		seen := f.Seen("bank")
		if len(seen) != 1 || seen[0].Call != "POST /pay" {
			t.Fatalf("%+v", seen)
		}
		s := seen[0]
		if counts(s.Recent) != step.recent || counts(s.Day) != step.day {
			t.Errorf("%v later: %+v, %+v", clk.Now().Sub(began), counts(s.Recent), counts(s.Day))
		}
		if !s.LastSuccessAt.Equal(began) || !s.LastFailureAt.Equal(began) || s.LastFailure != CodeUnreadable {
			t.Errorf("%+v", s)
		}
	}
	f.register.note("bank", "POST /pay", "ok", time.Second)
	if s := f.Seen("bank")[0]; s.Recent.Calls != 1 || s.Day.Calls != 1 || !s.LastSuccessAt.Equal(clk.Now()) || !s.LastFailureAt.Equal(began) {
		t.Errorf("a reused part keeps old calls: %+v", s)
	}
}

// A quantile is the bound of a class of durations, and never more than the longest call.
func TestQuantilesAreBoundsOfTheDurations(t *testing.T) {
	var none, all, slow Tally
	for range 98 {
		all.count("ok", 30*time.Millisecond)
	}
	all.count("ok", 3*time.Second)
	all.count("ok", 3*time.Second)
	slow.count("ok", time.Minute)
	for _, c := range []struct {
		of      Tally
		percent int64
		want    time.Duration
	}{
		{none, 50, 0},
		{none, 99, 0},
		{all, 50, 40 * time.Millisecond},
		{all, 98, 40 * time.Millisecond},
		{all, 99, 3 * time.Second},
		{slow, 50, time.Minute},
		{slow, 99, time.Minute},
	} {
		if got := c.of.Quantile(c.percent); got != c.want {
			t.Errorf("%d %% of %d: %v, not %v", c.percent, c.of.Calls, got, c.want)
		}
	}
}

// The outcomes of operations are kept apart from the calls, and both are summed up by Together.
func TestOutcomesAreSeen(t *testing.T) {
	clk := clock.At(time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC))
	f := NewFigures()
	f.Follow(clk)
	for _, o := range []Outcome{Confirmed, Rejected, Unknown, Unknown} {
		f.Replied("bank", "payout", "first", o, time.Now())
	}
	clk.Advance(time.Minute)
	f.Replied("bank", "payout", "requery", Confirmed, time.Now())
	seen := f.Outcomes("bank")
	if len(seen) != 2 || seen[0].Call != "payout first" || seen[1].Call != "payout requery" || len(f.Seen("bank")) != 0 {
		t.Fatalf("%+v", seen)
	}
	if first := seen[0]; first.Recent.Successes != 1 || first.Recent.Refusals != 1 || first.Recent.Unknowns != 2 || first.LastFailure != Unknown.String() {
		t.Errorf("%+v", first)
	}
	sum := Together(seen)
	if sum.Day.Calls != 5 || !sum.LastSuccessAt.Equal(clk.Now()) || !sum.LastFailureAt.Equal(clk.Now().Add(-time.Minute)) {
		t.Errorf("%+v", sum)
	}
	var none *Figures
	none.Replied("bank", "payout", "first", Confirmed, time.Now())
}

// The age of the last success counts from the first call to a provider, until a call succeeds.
func TestTheAgeOfTheLastSuccess(t *testing.T) {
	clk := clock.At(time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC))
	f := NewFigures()
	f.Follow(clk)
	age := func(want time.Duration) {
		t.Helper()
		clk.Advance(time.Minute)
		if got, called := f.register.ages()["bank"]; got != want || called != (want > 0) {
			t.Errorf("%v, %v; want %v", got, called, want)
		}
	}
	age(0)
	f.register.note("bank", "POST /pay", "refused", time.Second)
	age(time.Minute)
	f.register.note("bank", "POST /pay", "refused", time.Second)
	age(2 * time.Minute)
	f.register.note("bank", "GET /list", "ok", time.Second)
	age(time.Minute)
}
