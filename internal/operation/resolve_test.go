package operation_test

import (
	"slices"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/provider"
)

// The resolver follows the schedule of completion.md §4.3: 5 s, 30 s, 2 min, 10 min, 30 min, 2 h,
// then hourly up to 72 h, then a case. An operation does not fail only because it is old.
func TestTheResolverKeepsItsPublicSchedule(t *testing.T) {
	want := []time.Duration{5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute, 30 * time.Minute, 2 * time.Hour}
	for h := 3 * time.Hour; h <= 72*time.Hour; h += time.Hour {
		want = append(want, h)
	}
	each(t, func(t *testing.T, p *plant) {
		p.says(silence)
		o := p.unknown()
		start, next := p.clock.Now(), o.NextAt
		for i, age := range want {
			if got := next.Sub(start); got != age {
				t.Fatalf("poll %d is due after %s, not %s", i+1, got, age)
			}
			p.clock.Advance(next.Sub(p.clock.Now()) - time.Microsecond)
			if again := p.poll(o); !again.Equal(next) || p.asked != i {
				t.Fatalf("a poll too early asked the provider, or moved: %s", again)
			}
			p.clock.Advance(time.Microsecond)
			next = p.poll(o)
			if now := p.stands(o, operation.Pending); now.Polls != int64(i+1) || !now.AskedAt.Equal(p.clock.Now()) || !now.NextAt.Equal(next) {
				t.Fatalf("after poll %d: %+v", i+1, now)
			}
			if i+1 < len(want) && len(p.open()) != 0 {
				t.Fatalf("a case after %s", age)
			}
		}
		if !next.IsZero() {
			t.Errorf("after 72 hours there is another poll: %s", next)
		}
		cases := p.open()
		if len(cases) != 1 || cases[0].Reason != operation.Unresolved || cases[0].Subject != o.ID {
			t.Errorf("cases: %+v", cases)
		}
		if p.poll(o); p.asked != len(want) || len(p.open()) != 1 {
			t.Errorf("a job that is left over: asked %d times, cases %+v", p.asked, p.open())
		}
	})
}

// After the clock jumps, the requeries that were missed are made immediately, one after the other.
func TestMissedPollsAreMadeUpFor(t *testing.T) {
	each(t, func(t *testing.T, p *plant) {
		p.says(silence)
		o := p.unknown()
		p.clock.Advance(31 * time.Minute)
		for next := p.clock.Now(); !next.After(p.clock.Now()); {
			next = p.poll(o)
		}
		if now := p.stands(o, operation.Pending); now.Polls != 5 || !now.NextAt.Equal(now.CalledUntil.Add(2*time.Hour)) {
			t.Errorf("after 31 minutes: %+v", now)
		}
	})
}

// While the provider cannot be reached, missed requeries are made up for one by one, so that some are left when it is back.
func TestRequeriesThatWereNotSentAreNotSpentAtOnce(t *testing.T) {
	each(t, func(t *testing.T, p *plant) {
		p.says(provider.Answer{Code: provider.CodeNotSent})
		o := p.unknown()
		p.clock.Advance(80 * time.Hour)
		for i := range 3 {
			if next, want := p.poll(o), p.clock.Now().Add(25*time.Second); !next.Equal(want) {
				t.Fatalf("after poll %d, the next one is due at %s, not %s", i+1, next, want)
			}
			p.clock.Advance(25 * time.Second)
		}
		p.says(provider.Answer{Outcome: provider.Confirmed})
		p.poll(o)
		if now := p.stands(o, operation.Success); now.Polls != 4 || len(p.open()) != 0 {
			t.Errorf("%+v, cases %+v", now, p.open())
		}
	})
}

// When the outcome arrives, the message of an earlier reply is dropped. Otherwise it would be shown
// as the message of the outcome.
func TestTheMessageIsTheOutcomes(t *testing.T) {
	for state, a := range map[operation.State]provider.Answer{
		operation.Success: {Outcome: provider.Confirmed}, operation.Failed: {Outcome: provider.Rejected, Code: "51"},
	} {
		t.Run(string(state), func(t *testing.T) {
			each(t, func(t *testing.T, p *plant) {
				o := p.run(p.begin(), provider.Answer{Code: provider.CodeTimeout, Message: "did not answer in time"})
				p.says(a)
				p.clock.Advance(5 * time.Second)
				p.poll(o)
				if now := p.stands(o, state); now.Message != "" {
					t.Errorf("still says %q", now.Message)
				}
			})
		})
	}
}

// Each reply of the history has its own words. The words of the first call are not those of later replies.
func TestTheHistoryHasTheWordsOfEachReply(t *testing.T) {
	each(t, func(t *testing.T, p *plant) {
		o := p.run(p.begin(), provider.Answer{Code: provider.CodeTimeout, Message: "did not answer in time"})
		for _, a := range []provider.Answer{missing, {Code: "96"}, {Code: "09", Message: "in progress"}} {
			p.says(a)
			p.clock.Advance(p.stands(o, operation.Pending).NextAt.Sub(p.clock.Now()))
			p.poll(o)
		}
		words, err := db.All(t.Context(), p.db, db.Value[string],
			`SELECT code || ' ' || message FROM operation_answer WHERE company_id = $1 AND operation_id = $2 ORDER BY poll`, p.company, o.ID)
		want := []string{provider.CodeTimeout + " did not answer in time", "404 The provider has no record of this request", "96 ", "09 in progress"}
		if p.must(err); !slices.Equal(words, want) {
			t.Errorf("the history says %q, want %q", words, want)
		}
	})
}

// The reply "no such reference" counts as rejected only after fifteen minutes and three requeries
// in a row.
func TestNoSuchReferenceCountsAfterTheGracePeriod(t *testing.T) {
	t.Run("three polls are not enough before fifteen minutes", func(t *testing.T) {
		each(t, func(t *testing.T, p *plant) {
			p.says(missing)
			o := p.unknown()
			for range 4 { // 5 s, 30 s, 2 min, 10 min
				now := p.stands(o, operation.Pending)
				p.clock.Advance(now.NextAt.Sub(p.clock.Now()))
				p.poll(o)
			}
			now := p.stands(o, operation.Pending)
			if now.Missing != 4 || len(p.told()) != 0 || !now.NextAt.Equal(now.CreatedAt.Add(15*time.Minute)) {
				t.Errorf("after ten minutes: %+v, told %v", now, p.told())
			}
			p.clock.Advance(now.NextAt.Sub(p.clock.Now()))
			if next := p.poll(o); !next.IsZero() {
				t.Errorf("another poll: %s", next)
			}
			if now := p.stands(o, operation.Failed); now.Message != "The provider has no record of this request" {
				t.Errorf("after a quarter of an hour: %+v", now)
			}
		})
	})
	t.Run("the poll at its end takes the place of none", func(t *testing.T) {
		each(t, func(t *testing.T, p *plant) {
			p.says(missing)
			o := p.unknown()
			start := p.clock.Now()
			for range 4 {
				p.clock.Advance(p.stands(o, operation.Pending).NextAt.Sub(p.clock.Now()))
				p.poll(o)
			}
			p.says(silence)
			for _, want := range []time.Duration{30 * time.Minute, 2 * time.Hour, 3 * time.Hour} {
				p.clock.Advance(p.stands(o, operation.Pending).NextAt.Sub(p.clock.Now()))
				if next := p.poll(o); next.Sub(start) != want {
					t.Errorf("the next poll is due after %s, not %s", next.Sub(start), want)
				}
			}
		})
	})
	t.Run("fifteen minutes are not enough before three polls", func(t *testing.T) {
		each(t, func(t *testing.T, p *plant) {
			p.says(missing)
			o := p.unknown()
			p.clock.Advance(20 * time.Minute)
			for range 2 {
				p.poll(o)
				p.stands(o, operation.Pending)
				p.clock.Advance(25 * time.Second)
			}
			p.poll(o)
			p.stands(o, operation.Failed)
		})
	})
	t.Run("in a row", func(t *testing.T) {
		each(t, func(t *testing.T, p *plant) {
			o := p.unknown()
			p.clock.Advance(3 * time.Hour)
			for _, a := range []provider.Answer{missing, missing, silence, missing, missing} {
				p.says(a)
				p.poll(o)
				p.stands(o, operation.Pending)
				p.clock.Advance(25 * time.Second)
			}
			p.says(missing)
			p.clock.Advance(2 * time.Hour)
			p.poll(o)
			p.stands(o, operation.Failed)
		})
	})
}

func TestAPollThatHearsADefiniteWordEndsIt(t *testing.T) {
	for name, c := range map[string]struct {
		answer provider.Answer
		want   operation.State
	}{"confirmed": {confirmed, operation.Success}, "rejected": {rejected, operation.Failed}} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, p *plant) {
				p.says(c.answer)
				o := p.begin() // the program died before the call returned
				p.clock.Advance(window + 5*time.Second)
				if next := p.poll(o); !next.IsZero() {
					t.Errorf("another poll: %s", next)
				}
				p.stands(o, c.want)
				if p.poll(o); p.asked != 1 {
					t.Errorf("asked %d times", p.asked)
				}
			})
		})
	}
}
