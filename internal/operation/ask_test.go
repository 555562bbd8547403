package operation_test

import (
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/provider"
)

// askNow asks as an operator.
func (p *plant) askNow(o operation.Operation) (operation.Operation, error) {
	return p.Ask(p.t.Context(), o.Company, o.ID)
}

// Asking in between never counts as one of the requeries that allow a refund, however often somebody asks.
func TestImpatienceRefundsNothing(t *testing.T) {
	each(t, func(t *testing.T, p *plant) {
		o := p.unknown()
		p.says(provider.Answer{Missing: true})
		before, err := p.Find(t.Context(), o.Company, o.ID)
		p.must(err)
		for range 60 { // half an hour, long past the grace period
			p.clock.Advance(31 * time.Second)
			if _, err := p.askNow(o); err != nil {
				t.Fatal(err)
			}
		}
		after := p.stands(o, operation.Pending)
		if after.Missing != 0 || after.Polls != 0 || !after.NextAt.Equal(before.NextAt) || !after.AskedAt.Equal(before.AskedAt) {
			t.Errorf("asking has changed the schedule: %+v", after)
		}
		// The resolver still needs its own three answers.
		next := p.poll(o)
		for range 2 {
			p.stands(o, operation.Pending)
			p.clock.Advance(next.Sub(p.clock.Now()))
			next = p.poll(o)
		}
		p.stands(o, operation.Failed)
	})
}

// A question that somebody asks while the resolver works does not bring counted answers back.
func TestAskingKeepsTheResolversCount(t *testing.T) {
	each(t, func(t *testing.T, p *plant) {
		o := p.unknown()
		p.says(provider.Answer{Missing: true})
		for range 2 {
			p.clock.Advance(2 * time.Minute)
			p.poll(o)
		}
		p.clock.Advance(time.Minute)
		p.answer = func(operation.Operation) provider.Answer {
			// Meanwhile the resolver hears that the provider knows the request.
			p.says(provider.Answer{Code: "09"})
			p.clock.Advance(10 * time.Minute)
			p.poll(o)
			return provider.Answer{Missing: true}
		}
		if _, err := p.askNow(o); err != nil {
			t.Fatal(err)
		}
		if now := p.stands(o, operation.Pending); now.Missing != 0 {
			t.Errorf("%d answers count", now.Missing)
		}
	})
}

// A definite answer decides, once.
func TestAskingFindsTheOutcome(t *testing.T) {
	for outcome, want := range map[provider.Outcome]operation.State{provider.Confirmed: operation.Success, provider.Rejected: operation.Failed} {
		t.Run(string(want), func(t *testing.T) {
			each(t, func(t *testing.T, p *plant) {
				o := p.unknown()
				p.says(provider.Answer{Outcome: outcome, Reference: "found"})
				p.clock.Advance(31 * time.Second)
				if got, err := p.askNow(o); err != nil || got.State != want {
					t.Errorf("%s, %v", got.State, err)
				}
				p.stands(o, want)
				if _, err := p.askNow(o); !fault.Is(err, fault.Refused) {
					t.Errorf("a known outcome is asked for: %v", err)
				}
				p.clock.Advance(time.Hour)
				p.poll(o)
				p.stands(o, want)
			})
		})
	}
}

func TestAskingHasItsLimits(t *testing.T) {
	each(t, func(t *testing.T, p *plant) {
		p.says(provider.Answer{Code: "09"})
		running := p.begin()
		if _, err := p.askNow(running); !fault.Is(err, fault.Refused) {
			t.Errorf("the first call is under way: %v", err)
		}
		o := p.unknown()
		p.clock.Advance(31 * time.Second)
		if _, err := p.askNow(o); err != nil {
			t.Fatal(err)
		}
		asked := p.asked
		p.clock.Advance(29 * time.Second)
		if _, err := p.askNow(o); !fault.Is(err, fault.Limited) || p.asked != asked || fault.Of(err).RetryAfter() != "1" {
			t.Errorf("asked again after 29 seconds: %v", err)
		}
		p.clock.Advance(time.Second)
		if _, err := p.askNow(o); err != nil || p.asked != asked+1 {
			t.Errorf("asked again after 30 seconds: %v", err)
		}
		if _, err := p.Ask(t.Context(), "another", o.ID); !fault.Is(err, fault.Missing) {
			t.Errorf("another company: %v", err)
		}
	})
}

// An open case does not stop a definite answer, as with the resolver.
func TestAskingDecidesBesideACase(t *testing.T) {
	each(t, func(t *testing.T, p *plant) {
		o, c := p.stuck()
		p.says(provider.Answer{Outcome: provider.Confirmed})
		p.clock.Advance(time.Minute)
		if _, err := p.askNow(o); err != nil {
			t.Fatal(err)
		}
		p.stands(o, operation.Success)
		if _, err := p.resolve(c.ID, operation.FoundRejected, "a note", "ada"); !fault.Is(err, fault.Refused) {
			t.Errorf("the case rejects a decided operation: %v", err)
		}
	})
}

// The resolver has asked, and is slow to write "no such reference". Meanwhile an operator's question finds the operation.
func TestASlowAbsenceDoesNotHideWhatAnOperatorHasFound(t *testing.T) {
	each(t, func(t *testing.T, p *plant) {
		p.says(missing)
		o := p.unknown()
		p.clock.Advance(20 * time.Minute)
		p.poll(o)
		p.clock.Advance(25 * time.Second)
		p.poll(o)
		p.clock.Advance(31 * time.Second)
		p.answer = func(operation.Operation) provider.Answer {
			p.says(provider.Answer{Found: true, Code: "pending", Reference: "theirs"})
			if _, err := p.askNow(o); err != nil {
				t.Error(err)
			}
			p.says(missing)
			return missing
		}
		p.poll(o)
		if now := p.stands(o, operation.Pending); now.Missing != 0 || now.ProviderReference != "theirs" {
			t.Errorf("afterwards: %+v", now)
		}
	})
}

// Two operators ask at once, and the provider has the operation. The slower answer is written too.
func TestTwoQuestionsAtOnceAreBothWritten(t *testing.T) {
	each(t, func(t *testing.T, p *plant) {
		p.says(missing)
		o := p.unknown()
		p.clock.Advance(time.Minute)
		p.poll(o)
		p.clock.Advance(31 * time.Second)
		p.answer = func(operation.Operation) provider.Answer {
			p.says(provider.Answer{Found: true, Code: "accepted", Reference: "theirs"})
			p.clock.Advance(31 * time.Second)
			if _, err := p.askNow(o); err != nil {
				t.Error(err)
			}
			return provider.Answer{Found: true, Code: "processing"}
		}
		if _, err := p.askNow(o); err != nil {
			t.Error(err)
		}
		if now := p.stands(o, operation.Pending); now.Code != "processing" || now.ProviderReference != "theirs" || now.Missing != 0 {
			t.Errorf("afterwards: %+v", now)
		}
	})
}
