package torture

import (
	"slices"
	"testing"
	"time"
)

// Two billers may know a purchase, and it is one execution under its first reference. A purchase that both have got counts as sent
// and executed twice.
func TestWhatBothBillersKnowIsJoined(t *testing.T) {
	c := Call{Kind: purchase, Company: us, Key: "k"}
	of := func(reference, status string, executions, requests, denied int64) Execution {
		return Execution{reference, "data", status, 100, executions, requests, "0803*****10", denied, ""}
	}
	first, second := c.reference(), c.further()
	for name, is := range map[string]struct {
		at, there []Execution
		want      []Execution
		moved     bool
		both      bool
	}{
		"sold by the first":           {[]Execution{of(first, "successful", 1, 1, 0)}, nil, []Execution{of(first, "successful", 1, 1, 0)}, false, false},
		"sold by the second":          {nil, []Execution{of(second, "successful", 1, 1, 1)}, []Execution{of(first, "successful", 1, 1, 1)}, true, false},
		"denied by the first too":     {[]Execution{of(first, never, 0, 0, 5)}, []Execution{of(second, "successful", 1, 1, 1)}, []Execution{of(first, "successful", 1, 1, 1)}, true, false},
		"the second was asked only":   {[]Execution{of(first, "successful", 1, 1, 0)}, []Execution{of(second, never, 0, 0, 4)}, []Execution{of(first, "successful", 1, 1, 0)}, false, false},
		"both were asked only":        {[]Execution{of(first, never, 0, 0, 1)}, []Execution{of(second, never, 0, 0, 4)}, []Execution{of(first, never, 0, 0, 4)}, false, false},
		"both have sold it":           {[]Execution{of(first, "successful", 1, 1, 0)}, []Execution{of(second, "successful", 1, 1, 0)}, []Execution{of(first, "successful", 2, 2, 0)}, true, true},
		"it moved after it was begun": {[]Execution{of(first, "failed", 0, 1, 0)}, []Execution{of(second, "successful", 1, 1, 0)}, []Execution{of(first, "successful", 1, 2, 0)}, true, true},
		"another payment":             {nil, []Execution{of("other", "successful", 1, 1, 0)}, []Execution{of("other", "successful", 1, 1, 0)}, false, false},
	} {
		got := joined(is.at, is.there, []Call{c})
		if !slices.Equal(got.all, is.want) || is.moved != slices.Equal(got.moved, []string{first}) || len(got.moved) > 1 || is.both != (len(got.both) == 1) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// A biller that refuses all sales explains a refund at the time, unless moves are held.
func TestABillerThatRefusesAllSalesExplainsARefund(t *testing.T) {
	order := []Call{{Kind: purchase, Begin: 10e6, End: 12e6}}
	off := func(from, to time.Duration) Break { return Break{Kind: refusing, At: from, Ended: to} }
	restored, allowed := Break{Kind: restore, Lost: &Lost{}}, Break{Kind: allowing}
	for name, is := range map[string]struct {
		breaks []Break
		first  bool
	}{
		"meanwhile":               {[]Break{off(11*time.Second, 20*time.Second)}, true},
		"until it began":          {[]Break{off(time.Second, 10*time.Second)}, false},
		"soon after":              {[]Break{off(13*time.Second, 20*time.Second)}, true},
		"later":                   {[]Break{off(15*time.Second, 20*time.Second)}, false},
		"while moves are held":    {[]Break{restored, off(11*time.Second, 20*time.Second)}, false},
		"when they are no longer": {[]Break{restored, allowed, off(11*time.Second, 20*time.Second)}, true},
	} {
		if h := (&History{Breaks: is.breaks}); h.refusedFirst(order) != is.first {
			t.Errorf("%s: %t", name, !is.first)
		}
	}
}

// A purchase that was sent to both billers is a finding, and so is one that moved while moves were held.
func TestAWrongMoveIsFound(t *testing.T) {
	h := sound()
	h.Facts.Both = []string{"p1"}
	if wrong := failing(h); !slices.Equal(wrong, []string{"executions"}) {
		t.Errorf("%v", wrong)
	}
	order := Call{Kind: purchase, Company: us, Account: 1, Amount: 100, Key: "k12", Begin: 180, End: 190, Status: 400, State: refused, Answer: short, Reference: "p12"}
	for name, is := range map[string]struct {
		begin, end int64
		status     int
		allowed    time.Duration
		wrong      bool
	}{
		"held":                       {180, 190, 200, time.Second, true},
		"held for ever":              {180, 190, 200, 0, true},
		"before the restore":         {140, 190, 200, time.Second, false},
		"allowed before its answer":  {180, 190, 200, 185 * time.Microsecond, false},
		"its request may still wait": {180, 190, 0, time.Second, false},
	} {
		h := sound()
		c := order
		c.Begin, c.End, c.Status = is.begin, is.end, is.status
		h.Calls, h.Facts.Moved = append(h.Calls, c), []string{"p12"}
		if is.allowed > 0 {
			h.Breaks = append(h.Breaks, Break{Kind: allowing, At: is.allowed})
		}
		var r Result
		restores(h, &r)
		if slices.Contains(r.Findings, "the purchase p12 has moved while moves were held") != is.wrong {
			t.Errorf("%s: %q", name, r.Findings)
		}
	}
}

// A company gives up a lost purchase when moves are allowed, and so it may stay without an answer. Without that, or if a later restore has
// lost the purchase, the company repeats it.
func TestALostPurchaseIsGivenUpWhenMovesAreAllowed(t *testing.T) {
	lost := Call{Kind: purchase, Company: us, Account: 1, Amount: 100, Key: "k20", Begin: 121, End: 131}
	for ; !repeats(lost.Key); lost.Key += "x" {
	}
	for name, is := range map[string]struct {
		at    time.Duration
		sound bool
	}{
		"allowed after the restore":  {500 * time.Microsecond, true},
		"allowed before the restore": {1 * time.Microsecond, false},
	} {
		h := sound()
		h.Calls = append(h.Calls, lost)
		h.Breaks = append(h.Breaks, Break{Kind: allowing, At: is.at})
		if wrong := failing(h); slices.Contains(wrong, "answers") == is.sound {
			t.Errorf("%s: %v", name, wrong)
		}
	}
	funding := lost
	funding.Kind = "funding"
	if h := (&History{Breaks: append(sound().Breaks, Break{Kind: allowing, At: time.Second})}); h.allowedSince(funding) || !h.allowedSince(lost) {
		t.Error("only purchases move")
	}
}

// Operators book a lost purchase of the second biller, and its case names its reference there.
func TestALostPurchaseOfTheSecondBillerIsFound(t *testing.T) {
	h := sound()
	reference := furtherReference(us, h.Facts.Executions[4].Reference)
	h.Facts.Cases[2].Subject, h.Facts.Cases[2].Detail = furtherBank+"/dbt-1", "a debit of ₦1.00; the bank's words have the reference "+reference
	if wrong := failing(h); len(wrong) > 0 {
		t.Errorf("%v: %+v", wrong, Check(h))
	}
}

// Purchases must move in a run in which the first biller refused sales for some seconds, while moves were allowed.
func TestARunWithoutAMoveIsFound(t *testing.T) {
	off, restored, allowed := Break{Kind: refusing, Ended: 8 * time.Second}, Break{Kind: restore, Lost: &Lost{}}, Break{Kind: allowing}
	for name, is := range map[string]struct {
		breaks []Break
		must   bool
	}{
		"refused":                    {[]Break{off}, true},
		"refused shortly":            {[]Break{{Kind: refusing, Ended: time.Second}}, false},
		"refused while held":         {[]Break{restored, off}, false},
		"refused after it was ended": {[]Break{restored, allowed, off}, true},
	} {
		h := sound()
		h.Run.Duration, h.Breaks = time.Minute, is.breaks
		var r Result
		for _, moved := range [][]string{nil, {"p1"}} {
			h.Facts.Moved, r = moved, Result{}
			kinds(h, &r)
			const said = "the first biller refused sales for seconds of the load, and no purchase moved to the second one"
			if slices.Contains(r.Findings, said) != (is.must && moved == nil) {
				t.Errorf("%s: %q", name, r.Findings)
			}
		}
	}
}

// A client does not send a purchase of an earlier life of the database any more, as soon as moves are to be allowed.
func TestAForgottenPurchaseIsNotSent(t *testing.T) {
	c := &client{world: &world{recorder: &recorder{}}}
	old, young := order{call: Call{Kind: purchase}, made: 10}, order{call: Call{Kind: purchase}, made: 20}
	if c.isOld(old) {
		t.Error("nothing was restored")
	}
	c.gone = []Lost{{Down: 20}}
	if !c.isOld(old) || c.isOld(young) || c.isForgotten(old) {
		t.Error("while moves are held, the company may repeat an old purchase")
	}
	c.forgotten.Store(20)
	if !c.isForgotten(old) || c.isForgotten(young) || c.isForgotten(order{call: Call{Kind: payout}}) {
		t.Error("only old purchases are forgotten")
	}
	if said := c.post(t.Context(), old); said != (Call{}) || len(c.calls()) != 0 {
		t.Errorf("it was sent: %+v", said)
	}
}

// The second biller has made a purchase in a lost time, and operators have confirmed it. Its debit is on the other statement.
func TestAConfirmedMoveOfALostTimeIsNotOnTheStatement(t *testing.T) {
	h := sound()
	lost := h.Facts.Executions[4].Reference
	c := Case{ID: "5", Company: us, Subject: lost, Reason: notOnStatement, Status: "RESOLVED", Outcome: dismissed}
	h.Facts.Cases = append(h.Facts.Cases, c)
	if wrong := failing(h); !slices.Equal(wrong, []string{"cases"}) {
		t.Errorf("not moved: %v", wrong)
	}
	h.Facts.Moved = []string{lost}
	if wrong := failing(h); len(wrong) > 0 {
		t.Errorf("moved: %v", wrong)
	}
}
