package operation_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/provider"
)

// While a worker waits for the reply "no such reference", which would be the deciding one, another worker hears
// that the provider has the operation. The old reply refunds nothing, and does not count any more.
func TestAnOlderAbsenceRefundsNothing(t *testing.T) {
	for _, c := range []struct {
		name  string
		waits time.Duration // to the requery during which the other worker asks
		polls int
	}{{"the deciding reply", 20 * time.Minute, 2}, {"the first reply", time.Minute, 0}} {
		t.Run(c.name, func(t *testing.T) {
			each(t, func(t *testing.T, p *plant) {
				p.says(missing)
				o := p.unknown()
				p.clock.Advance(c.waits)
				for range c.polls {
					p.poll(o)
					p.clock.Advance(25 * time.Second)
				}
				other := p.ahead(func(operation.Operation) provider.Answer { return found })
				p.answer = func(operation.Operation) provider.Answer {
					_, err := other.Resolve(t.Context(), job.Job{Company: o.Company, Kind: operation.ResolveJob, Subject: o.ID})
					p.must(err)
					return missing
				}
				next := p.poll(o)
				now := p.stands(o, operation.Pending)
				if now.Missing != 0 || now.Polls != int64(c.polls)+1 || !next.Equal(now.NextAt) || next.IsZero() {
					t.Errorf("%d replies count, %d polls, the next poll at %s: %+v", now.Missing, now.Polls, next, now)
				}
				if cases := p.open(); len(cases) != 0 {
					t.Errorf("cases: %+v", cases)
				}
			})
		})
	}
}

// The other worker hears the outcome meanwhile. That contradicts the absence, and operators look.
func TestAnOlderAbsenceAfterTheOutcome(t *testing.T) {
	each(t, func(t *testing.T, p *plant) {
		p.says(missing)
		o := p.unknown()
		p.clock.Advance(20 * time.Minute)
		for range 2 {
			p.poll(o)
			p.clock.Advance(25 * time.Second)
		}
		other := p.ahead(func(operation.Operation) provider.Answer { return confirmed })
		p.answer = func(operation.Operation) provider.Answer {
			_, err := other.Resolve(t.Context(), job.Job{Company: o.Company, Kind: operation.ResolveJob, Subject: o.ID})
			p.must(err)
			return missing
		}
		if next := p.poll(o); !next.IsZero() {
			t.Errorf("another poll: %s", next)
		}
		p.stands(o, operation.Success)
		if cases := p.open(); len(cases) != 1 || cases[0].Reason != operation.Contradiction {
			t.Errorf("cases: %+v", cases)
		}
	})
}

// The provider has given the operation an id of its own, so it had the request. If it does not find our
// reference later, nothing is refunded: operators ask, and the provider is asked on.
func TestAnAcknowledgedOperationIsNotAbsent(t *testing.T) {
	each(t, func(t *testing.T, p *plant) {
		p.says(missing)
		o := p.run(p.begin(), provider.Answer{Code: "queued", Reference: "theirs-1"})
		for next := o.NextAt; next.Sub(o.CreatedAt) < time.Hour; {
			p.clock.Advance(next.Sub(p.clock.Now()))
			if next = p.poll(o); next.IsZero() {
				t.Fatal("nobody asks any more")
			}
			p.stands(o, operation.Pending)
		}
		cases := p.open()
		if len(cases) != 1 || cases[0].Reason != operation.Unresolved || !strings.Contains(cases[0].Detail, "theirs-1") {
			t.Errorf("cases: %+v", cases)
		}
		p.says(confirmed)
		p.clock.Advance(2 * time.Hour)
		p.poll(o)
		p.stands(o, operation.Success)
	})
}

// A restored database does not know what was sent in the lost time. There a refusal of a first call decides
// nothing, and nothing moves to another provider. The reply to the requery decides.
func TestARestoredDatabaseBelievesNoRefusal(t *testing.T) {
	late := func(p *plant) operation.Operation { // too late to send
		o := p.begin()
		p.clock.Advance(window + time.Second)
		return o
	}
	refusals := map[string]struct {
		begin func(p *plant) operation.Operation
		reply provider.Answer
		ended bool // operators end the hold of moves during the call
	}{
		"refused":                    {(*plant).begin, rejected, false},
		"never started":              {(*plant).begin, never, false},
		"not sent":                   {late, confirmed, false},
		"refused when the hold ends": {(*plant).begin, never, true},
	}
	for name, first := range refusals {
		for state, later := range map[operation.State]provider.Answer{operation.Success: confirmed, operation.Failed: rejected} {
			t.Run(name+", "+string(state), func(t *testing.T) {
				each(t, func(t *testing.T, p *plant) {
					restored := true
					p.Restored = func() bool { return restored }
					o := first.begin(p)
					after, err := p.RunOver(t.Context(), o, func(context.Context) provider.Answer {
						restored = !first.ended
						return first.reply
					},
						func(context.Context, operation.Operation) (operation.Try, bool) {
							t.Error("the operation may move")
							return operation.Try{}, false
						}, nil)
					p.must(err)
					if after.State != operation.Pending {
						t.Errorf("the refusal made it %s", after.State)
					}
					p.stands(o, operation.Pending)
					p.says(later)
					p.clock.Advance(after.NextAt.Sub(p.clock.Now()))
					p.poll(o)
					p.stands(o, state)
				})
			})
		}
	}
	each(t, func(t *testing.T, p *plant) { // a payout that came back was carried out, so this reply is definite
		p.Restored = func() bool { return true }
		o := p.run(p.begin(), provider.Answer{Outcome: provider.Rejected, Reversed: true, Code: "reversed"})
		p.stands(o, operation.Failed)
		p.stands(p.run(p.begin(), confirmed), operation.Success)
	})
}

// An operator asks, and hears that the provider has the operation. The requeries before do not count any more.
func TestAnOperatorsQuestionThatFindsTheOperationEndsItsAbsence(t *testing.T) {
	each(t, func(t *testing.T, p *plant) {
		p.says(missing)
		o := p.unknown()
		p.clock.Advance(20 * time.Minute)
		p.poll(o)
		p.clock.Advance(25 * time.Second)
		p.poll(o)
		p.clock.Advance(31 * time.Second)
		p.says(provider.Answer{Found: true, Code: "pending"})
		now, err := p.askNow(o)
		p.must(err)
		if now.Missing != 0 || now.Code != "pending" {
			t.Errorf("after the question: %+v", now)
		}
		p.says(missing)
		p.poll(o)
		if now := p.stands(o, operation.Pending); now.Missing != 1 {
			t.Errorf("%d replies count", now.Missing)
		}
	})
}

// The resolver asks while the operator waits, and does not find the operation. The operator's answer counts too.
func TestAnOperatorsQuestionBesideTheResolver(t *testing.T) {
	each(t, func(t *testing.T, p *plant) {
		p.says(missing)
		o := p.unknown()
		p.clock.Advance(20 * time.Minute)
		p.poll(o)
		p.clock.Advance(31 * time.Second)
		p.answer = func(operation.Operation) provider.Answer {
			p.says(missing)
			p.poll(o)
			return found
		}
		now, err := p.askNow(o)
		p.must(err)
		if now.Missing != 0 || now.Polls != 2 || now.ProviderReference != found.Reference {
			t.Errorf("%+v", now)
		}
		p.clock.Advance(25 * time.Second)
		p.poll(o)
		p.stands(o, operation.Pending)
	})
}
