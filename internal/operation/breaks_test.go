package operation_test

import (
	"context"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/provider"
)

// raise calls Raise for a break of this amount, as if a bank's statement had just been compared
// with the ledger.
func (p *plant) raise(amount money.Kobo) operation.Case {
	p.t.Helper()
	c, err := p.Raise(p.t.Context(), operation.Case{
		Company: p.company, Subject: "bank/2030-01-01", Reason: operation.UnbookedCharge, Detail: "charges", Amount: amount,
		HappenedAt: p.clock.Now().Add(-time.Hour),
	}, p.clock.Now().Add(-30*time.Minute))
	p.must(err)
	return c
}

// A break that is found again after its case was resolved opens a new case only if it is a new
// difference. After a dismissal, the difference is new if the amount has grown. After a booking, a
// difference is new if the ledger was compared later than the booking.
func TestABreakIsRaisedAgainOnlyIfItHasGrown(t *testing.T) {
	each(t, func(t *testing.T, p *plant) {
		p.Handle("breaks", operation.Kind{Cases: map[operation.Decision]operation.CaseHandler{
			{Reason: operation.UnbookedCharge, Outcome: operation.Booked}: func(context.Context, operation.Case, operation.Finding, bool) (ledger.Unit, error) {
				return ledger.For(p.company), nil
			},
		}})
		is := func(got operation.Case, turn int64, state operation.CaseState, amount money.Kobo) {
			t.Helper()
			if got.Turn != turn || got.State != state || got.Amount != amount {
				t.Errorf("turn %d, %s of %s; want turn %d, %s of %s", got.Turn, got.State, got.Amount, turn, state, amount)
			}
		}
		first := p.raise(1400)
		if found, err := p.FindCase(t.Context(), first.ID); err != nil || found != first {
			t.Errorf("stored %+v, %v, not %+v", found, err, first)
		}
		is(p.raise(9900), 0, operation.Open, 1400) // the open case stays unchanged
		_, err := p.agree(first.ID, operation.Dismissed, "seen")
		p.must(err)
		is(p.raise(1400), 0, operation.Resolved, 1400)
		second := p.raise(1500)
		is(second, 1, operation.Open, 1500)
		_, err = p.agree(second.ID, operation.Booked, "the price list")
		p.must(err)
		is(p.raise(1500), 1, operation.Resolved, 1500) // the comparison may have read the ledger before the booking
		p.clock.Advance(31 * time.Minute)
		third := p.raise(20)
		is(third, 2, operation.Open, 20)
		if third == second || len(p.open()) != 1 {
			t.Errorf("open: %+v", p.open())
		}
	})
}

// If a case without an amount is dismissed, a later break with the same subject and reason opens no
// new case.
func TestACaseWithoutAnAmountCoversAll(t *testing.T) {
	each(t, func(t *testing.T, p *plant) {
		c := p.raise(0)
		_, err := p.agree(c.ID, operation.Dismissed, "seen")
		p.must(err)
		if again := p.raise(1400); again.ID != c.ID {
			t.Errorf("raised again: %+v", again)
		}
	})
}

// A difference in the other direction is another break, also if it is smaller: the bank took too much, and now too little.
func TestADismissedBreakCoversOnlyItsDirection(t *testing.T) {
	each(t, func(t *testing.T, p *plant) {
		first := p.raise(1400)
		_, err := p.agree(first.ID, operation.Dismissed, "seen")
		p.must(err)
		if again := p.raise(0); again.ID != first.ID {
			t.Errorf("no difference: %+v", again)
		}
		second := p.raise(-900)
		if second.Turn != 1 || second.State != operation.Open || second.Amount != -900 {
			t.Errorf("the other direction: %+v", second)
		}
		_, err = p.agree(second.ID, operation.Dismissed, "seen")
		p.must(err)
		if again := p.raise(-900); again.ID != second.ID {
			t.Errorf("the same again: %+v", again)
		}
		if again := p.raise(-901); again.Turn != 2 {
			t.Errorf("a larger one: %+v", again)
		}
	})
}

// If the decision of operators about a break moved money, a break that is found later is new, however small it is. A
// comparison that read the ledger before the decision finds nothing new.
func TestABreakAfterADecisionThatMovedMoneyIsNew(t *testing.T) {
	for outcome, begin := range map[string]struct {
		first provider.Answer
		want  operation.State
	}{
		operation.FoundRejected:  {confirmed, operation.Reversed},
		operation.FoundConfirmed: {silence, operation.Success},
	} {
		t.Run(outcome, func(t *testing.T) {
			each(t, func(t *testing.T, p *plant) {
				p.kind.Returns = true
				p.Handle("test", p.kind)
				o := p.run(p.begin(), begin.first)
				raise := func(judged time.Time) operation.Case {
					c, err := p.Raise(t.Context(), operation.Case{
						Company: p.company, Subject: o.ID, Reason: operation.FailedReversal, Detail: "a return", Amount: -price,
					}, judged)
					p.must(err)
					return c
				}
				first := raise(p.clock.Now())
				_, err := p.agree(first.ID, outcome, "the bank says so")
				p.must(err)
				p.stands(o, begin.want)
				if again := raise(p.clock.Now().Add(-time.Minute)); again.ID != first.ID {
					t.Errorf("a comparison with the ledger before the decision: %+v", again)
				}
				p.clock.Advance(time.Hour)
				if again := raise(p.clock.Now()); again.Turn != 1 || again.State != operation.Open {
					t.Errorf("a later break: %+v", again)
				}
			})
		})
	}
}

// Each other amount that a bank reports about an operation is a case of its own. The same amount again is not,
// whatever operators have decided.
func TestEachAmountIsRaisedOnce(t *testing.T) {
	each(t, func(t *testing.T, p *plant) {
		raise := func(detail string, amount int64, want int) {
			t.Helper()
			p.must(p.RaiseAmount(t.Context(), operation.Case{
				Company: p.company, Subject: "o1", Reason: operation.AmountDiffers, Detail: detail, Amount: money.Kobo(amount),
			}))
			if open := p.open(); len(open) != want {
				t.Fatalf("%s: open %+v", detail, open)
			}
		}
		dismiss := func() {
			_, err := p.agree(p.open()[0].ID, operation.Dismissed, "seen")
			p.must(err)
		}
		p.must(p.OpenCase(t.Context(), p.company, "o1", operation.AmountDiffers, "it paid 10")) // by an earlier release
		raise("it paid 20", -80, 1)                                                             // the open case stays
		dismiss()
		raise("it paid 10", -90, 0)
		raise("it paid 20", -80, 1)
		raise("it paid 20", -80, 1)
		dismiss()
		raise("it paid 20", -80, 0)
		raise("it paid 99", -1, 1)
		dismiss()
		raise("it paid 120", 20, 1)
	})
}
