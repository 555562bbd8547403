package torture

import (
	"slices"
	"testing"
	"time"
)

// Operators must have decided something during a load of five days with three payments without an outcome, and need not otherwise.
func TestALoadOfDaysHasDecisions(t *testing.T) {
	const minute = int64(time.Minute / time.Microsecond)
	right := func() *History {
		h := &History{Run: Header{Duration: 10 * time.Minute}}
		for n := range 5 {
			h.Breaks = append(h.Breaks, Break{Kind: clockJump, At: time.Duration(n+2) * time.Minute, For: 24 * time.Hour})
		}
		for range 3 {
			h.Calls = append(h.Calls, Call{Kind: purchase, Story: noOutcome, State: pending, Begin: minute, End: minute + 1})
		}
		return h
	}
	for name, alter := range map[string]func(*History){
		"":                      func(*History) {},
		"a day less":            func(h *History) { h.Breaks = h.Breaks[1:] },
		"hours, not days":       func(h *History) { h.Breaks[0].For = 20 * time.Minute },
		"a payment less":        func(h *History) { h.Calls = h.Calls[1:] },
		"a payment with an end": func(h *History) { h.Calls[0].Story = "10" },
		"a payment too late":    func(h *History) { h.Calls[0].End = 3 * minute },
		"the end comes soon":    func(h *History) { h.Run.Duration = 6*time.Minute + 30*time.Second },
	} {
		h := right()
		if alter(h); h.mustDecide() != (name == "") {
			t.Errorf("%q: operators must decide: %t", name, h.mustDecide())
		}
	}
}

// A payment that its provider never got may become a case by its age, if three days of the load passed after its order.
func TestAnOldOrderMayBeACase(t *testing.T) {
	const day = 24 * time.Hour
	for name, c := range map[string]struct {
		jumps []time.Duration
		order time.Duration
		want  bool
	}{
		"three days after it":      {[]time.Duration{day, day, day}, 0, true},
		"two days after it":        {[]time.Duration{day, day}, 0, false},
		"one of three before it":   {[]time.Duration{day, day, day}, 90 * time.Second, false},
		"three days and a quarter": {[]time.Duration{day, 15 * time.Minute, day, day}, 90 * time.Second, false},
	} {
		h := &History{}
		for n, by := range c.jumps {
			h.Breaks = append(h.Breaks, Break{Kind: clockJump, At: time.Duration(n+1) * time.Minute, For: by})
		}
		if got := h.isOverdue(Call{Begin: c.order.Microseconds()}); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// Three days of the load passed after a payment. If its provider could not even be asked at the last question, the case is right, also about
// a payment that was executed. After any other answer the provider could have told.
func TestACaseByAgeAboutAnExecutedPaymentNeedsAProviderThatWasNotAsked(t *testing.T) {
	for answer, expected := range map[string]bool{"not_sent": true, "pending": false} {
		h := sound()
		for n := range 3 {
			h.Breaks = append(h.Breaks, Break{Kind: clockJump, At: time.Duration(n+1) * time.Minute, For: 24 * time.Hour})
		}
		c := Case{ID: "5", Company: us, Subject: "p1", Reason: unresolved, Status: "RESOLVED", Outcome: dismissed, Detail: "no outcome after 72 hours; last answer: " + answer}
		h.Facts.Cases = append(h.Facts.Cases, c)
		if wrong := failing(h); slices.Contains(wrong, "cases") == expected {
			t.Errorf("%s: %v", answer, wrong)
		}
	}
}
