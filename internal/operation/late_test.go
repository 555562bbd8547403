package operation_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/provider"
)

var (
	never = provider.Answer{Outcome: provider.Rejected, Unstarted: true, Code: "018"}
	found = provider.Answer{Found: true, Code: "pending", Reference: "theirs"}
)

// ahead returns the service of a second program, whose clock is a minute ahead. Its resolver asks while
// the request of the first program is still running.
func (p *plant) ahead(requery func(o operation.Operation) provider.Answer) *operation.Service {
	s := operation.NewService(p.db, p.book, clock.At(p.clock.Now().Add(time.Minute)), slog.New(slog.DiscardHandler), window)
	s.Handle("test", operation.Kind{
		Route: func(operation.Operation) operation.Route {
			return operation.Route{Settlement: "settlement/1", Clearing: "clearing/test", Provider: "provider/test", Fee: "fees", Charge: "charge/test"}
		},
		Requery: func(_ context.Context, o operation.Operation) provider.Answer { return requery(o) },
		Effects: func(_ context.Context, o operation.Operation, u *ledger.Unit) error {
			event.Emit(u, "test."+string(o.State), o.ID)
			return nil
		},
	})
	return s
}

// over runs operation o: the first provider never started it. The function next runs before the move to
// the second provider, whose reply is a.
func (p *plant) over(o operation.Operation, next func(), a provider.Answer) (after operation.Operation, calls int) {
	p.t.Helper()
	after, err := p.RunOver(p.t.Context(), o, func(context.Context) provider.Answer { return never },
		func(context.Context, operation.Operation) (operation.Try, bool) {
			next()
			return operation.Try{Provider: "second", Kind: "k", Cost: price, Lasts: time.Second, Call: func(context.Context, operation.Operation) provider.Answer {
				calls++
				return a
			}}, calls == 0
		}, nil)
	p.must(err)
	return after, calls
}

// The resolver of a program whose clock is ahead may find the first attempt at its provider. If the
// resolver is faster, the operation does not move. If the move is faster, a case is open.
func TestAResolverThatFindsTheFirstAttemptIsHeard(t *testing.T) {
	each(t, func(t *testing.T, p *plant) {
		o := p.begin()
		poll := func(s *operation.Service) {
			_, err := s.Resolve(t.Context(), job.Job{Company: o.Company, Kind: operation.ResolveJob, Subject: o.ID})
			p.must(err)
		}
		program := p.ahead(func(operation.Operation) provider.Answer { return found })
		after, calls := p.over(o, func() { poll(program) }, confirmed)
		if calls != 0 || after.Attempt != 0 || after.State != operation.Pending {
			t.Errorf("the operation is %s (attempt %d) although the resolver had found the first attempt", after.State, after.Attempt)
		}
	})
	each(t, func(t *testing.T, p *plant) {
		o := p.begin()
		program := p.ahead(func(operation.Operation) provider.Answer {
			p.over(o, func() {}, confirmed)
			return found
		})
		_, err := program.Resolve(t.Context(), job.Job{Company: o.Company, Kind: operation.ResolveJob, Subject: o.ID})
		p.must(err)
		p.stands(o, operation.Success)
		if cases := p.open(); len(cases) != 1 || cases[0].Reason != operation.LateAttempt {
			t.Errorf("cases: %+v", cases)
		}
	})
}

// A reply about the first attempt decides nothing about the second one, in whatever order they come.
func TestAReplyIsAboutTheAttemptThatWasAskedFor(t *testing.T) {
	for name, c := range map[string]struct {
		reply provider.Answer
		cases int
	}{
		"refused": {provider.Answer{Outcome: provider.Rejected, Code: "016"}, 0}, "carried out": {confirmed, 1},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, p *plant) {
				asked := p.begin()
				if _, calls := p.over(asked, func() {}, silence); calls != 1 {
					t.Fatalf("%d calls of the second provider", calls)
				}
				_, err := p.Replied(t.Context(), asked, c.reply)
				p.must(err)
				p.stands(asked, operation.Pending)
				if len(p.open()) != c.cases {
					t.Errorf("cases: %+v", p.open())
				}
			})
		})
	}
}

// A case about a late attempt can only be dismissed, whatever became of the operation, and dismissing it
// moves no money.
func TestALateAttemptCanOnlyBeDismissed(t *testing.T) {
	for name, second := range map[operation.State]provider.Answer{operation.Pending: silence, operation.Success: confirmed, operation.Failed: {Outcome: provider.Rejected}} {
		t.Run(string(name), func(t *testing.T) {
			each(t, func(t *testing.T, p *plant) {
				o := p.begin()
				p.over(o, func() {}, second)
				_, err := p.Replied(t.Context(), o, confirmed)
				p.must(err)
				c := p.open()[0]
				for _, outcome := range []string{operation.FoundConfirmed, operation.FoundRejected, operation.Assigned} {
					if _, err := p.ResolveCase(t.Context(), c.ID, operation.Finding{Outcome: outcome}, "note", "ada", audit); err == nil || !strings.Contains(err.Error(), "only be dismissed") {
						t.Errorf("%s: %v", outcome, err)
					}
				}
				for _, by := range []string{"ada", "bola"} {
					_, err := p.ResolveCase(t.Context(), c.ID, operation.Finding{Outcome: operation.Dismissed}, "note", by, audit)
					p.must(err)
				}
				p.stands(o, name)
				if len(p.open()) != 0 {
					t.Errorf("cases: %+v", p.open())
				}
			})
		})
	}
}

// A dismissed case covers only the same report. A worse report opens a new case, also while an earlier
// case is open.
func TestEachReportOfALateAttemptIsACase(t *testing.T) {
	each(t, func(t *testing.T, p *plant) {
		o := p.begin()
		after, _ := p.over(o, func() {}, confirmed)
		first := operation.Attempt{Company: o.Company, OperationID: o.ID, Number: 1, Provider: "bank", Reference: o.ID}
		for i, a := range []provider.Answer{found, {Found: true, Code: "processing"}, confirmed, confirmed, found} {
			p.must(p.Late(t.Context(), first, a))
			if want := []int{1, 1, 2, 2, 2}[i]; len(p.open()) != want {
				t.Errorf("report %d: %d cases, want %d", i, len(p.open()), want)
			}
		}
		p.stands(after, operation.Success)
	})
}

// While operators have not decided about a delivery of the first provider, no reply of the second
// provider refunds the operation.
func TestALateAttemptHoldsTheRefund(t *testing.T) {
	no := provider.Answer{Outcome: provider.Rejected, Code: "016"}
	for name, say := range map[string]func(t *testing.T, p *plant, o operation.Operation){
		"no such reference": func(_ *testing.T, p *plant, o operation.Operation) {
			p.says(missing)
			for range 5 {
				p.clock.Advance(10 * time.Minute)
				p.poll(o)
			}
		},
		"a requery": func(_ *testing.T, p *plant, o operation.Operation) {
			p.says(no)
			p.clock.Advance(time.Minute)
			p.poll(o)
		},
		"a notice": func(t *testing.T, p *plant, o operation.Operation) {
			_, err := p.Notified(t.Context(), o.Company, o.ID, no)
			p.must(err)
		},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, p *plant) {
				o := p.begin()
				p.over(o, func() {}, silence)
				_, err := p.Replied(t.Context(), o, confirmed)
				p.must(err)
				say(t, p, o)
				p.stands(o, operation.Pending)
				if cases := p.open(); len(cases) != 2 || !strings.Contains(cases[0].Detail+cases[1].Detail, "an earlier attempt may have succeeded") {
					t.Errorf("cases: %+v", cases)
				}
			})
		})
	}
	each(t, func(t *testing.T, p *plant) {
		o := p.begin()
		_, err := p.RunOver(t.Context(), o, func(context.Context) provider.Answer { return never },
			func(context.Context, operation.Operation) (operation.Try, bool) {
				return operation.Try{Provider: "second", Kind: "k", Cost: price, Lasts: time.Second, Call: func(context.Context, operation.Operation) provider.Answer {
					_, err := p.Replied(t.Context(), o, confirmed) // while the second call is running
					p.must(err)
					return no
				}}, true
			}, nil)
		p.must(err)
		p.stands(o, operation.Pending)
	})
}
