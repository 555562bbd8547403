package operation_test

import (
	"slices"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/provider"
)

// absent returns an operation that FAILED because its provider had no record of it.
func (p *plant) absent() operation.Operation {
	p.t.Helper()
	p.says(missing)
	o := p.unknown()
	for next := o.NextAt; !next.IsZero(); next = p.poll(o) {
		p.clock.Advance(next.Sub(p.clock.Now()))
	}
	return p.stands(o, operation.Failed)
}

// recheck runs the recheck job once, and returns the time of its next run.
func (p *plant) recheck(o operation.Operation) time.Time {
	p.t.Helper()
	next, err := p.Recheck(p.t.Context(), job.Job{Company: o.Company, Kind: operation.RecheckJob, Subject: o.ID})
	p.must(err)
	return next
}

// at moves the clock to the time that is this long after the operation's failure.
func (p *plant) at(o operation.Operation, age time.Duration) {
	p.clock.Advance(o.UpdatedAt.Add(age).Sub(p.clock.Now()))
}

// rechecks returns the times at which the recheck jobs are due.
func (p *plant) rechecks() []int64 {
	p.t.Helper()
	due, err := db.All(p.t.Context(), p.db, db.Value[int64],
		`SELECT run_at FROM job WHERE company_id = $1 AND kind = $2`, p.company, operation.RecheckJob)
	p.must(err)
	return due
}

func TestWhatAProviderDidNotKnowIsAskedAgain(t *testing.T) {
	each(t, func(t *testing.T, p *plant) {
		o := p.absent()
		want := o.UpdatedAt.Add(time.Hour)
		if due := p.rechecks(); !slices.Equal(due, []int64{clock.Micros(want)}) || !o.NextAt.Equal(want) {
			t.Fatalf("the jobs are due at %v, the operation says %s; it FAILED at %s", due, o.NextAt, o.UpdatedAt)
		}
		polls := o.Polls
		for i, age := range []time.Duration{time.Hour, 24 * time.Hour} {
			p.at(o, age-time.Microsecond)
			if p.recheck(o); p.asked != int(polls)+i {
				t.Fatalf("asked too early")
			}
			p.at(o, age)
			next := p.recheck(o)
			now := p.stands(o, operation.Failed)
			if !now.NextAt.Equal(next) || !now.AskedAt.Equal(p.clock.Now()) || now.Polls != polls+int64(i)+1 {
				t.Errorf("after %s the next is at %s: %+v", age, next, now)
			}
			if now.UpdatedAt != o.UpdatedAt || now.Message != o.Message || now.Outcome != o.Outcome {
				t.Errorf("the outcome is another one: %+v", now)
			}
		}
		if now := p.stands(o, operation.Failed); !now.NextAt.IsZero() || len(p.open()) != 0 {
			t.Errorf("after the last time: %+v, cases %+v", now, p.open())
		}
		if p.recheck(o); p.asked != int(polls)+2 {
			t.Errorf("a job that is left over asked: %d times", p.asked)
		}
		answers, err := db.All(t.Context(), p.db, db.Value[string],
			`SELECT code || message FROM operation_answer WHERE company_id = $1 AND operation_id = $2 AND poll > $3`, p.company, o.ID, polls)
		if p.must(err); !slices.Equal(answers, []string{"404The provider has no record of this request", "404The provider has no record of this request"}) {
			t.Errorf("the history has %q", answers)
		}
	})
}

// If the first recheck is late, for example since the clock has jumped, there is still one more a day
// later, whatever the provider says to the late one.
func TestALateFirstRecheckIsNotTheLast(t *testing.T) {
	unsent := provider.Answer{Code: provider.CodeNotSent}
	for name, said := range map[string][]provider.Answer{
		"no record": {missing}, "silence": {silence}, "not sent": {unsent}, "silence in time": {silence, silence}, "silence, then not sent": {silence, unsent},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, p *plant) {
				o := p.absent()
				if len(said) > 1 {
					p.says(said[0])
					p.at(o, time.Hour)
					p.recheck(o)
				}
				p.clock.Jump(40 * time.Hour)
				late := p.clock.Now()
				p.says(said[len(said)-1])
				if next := p.recheck(o); next.Sub(late) != 23*time.Hour {
					t.Fatalf("the next recheck is at %s, after the one at %s", next, late)
				}
				p.clock.Advance(23 * time.Hour)
				p.says(confirmed)
				p.recheck(o)
				if cases := p.open(); len(cases) != 1 || cases[0].Reason != operation.Contradiction {
					t.Errorf("cases: %+v", cases)
				}
			})
		})
	}
}

// Late rechecks end, also after a jump of many days: after the second one without an outcome, operators decide.
func TestLateRechecksEnd(t *testing.T) {
	each(t, func(t *testing.T, p *plant) {
		o := p.absent()
		p.says(silence)
		p.clock.Jump(200 * time.Hour)
		p.clock.Advance(p.recheck(o).Sub(p.clock.Now()))
		if cases := p.open(); len(cases) != 0 {
			t.Fatalf("cases: %+v", cases)
		}
		next := p.recheck(o)
		if cases := p.open(); !next.IsZero() || len(cases) != 1 || cases[0].Reason != operation.Unresolved {
			t.Errorf("the next recheck is at %s, cases: %+v", next, cases)
		}
	})
}

// A confirmed reply after the refund opens one case and moves no money.
func TestAConfirmationAfterTheRefundIsAContradiction(t *testing.T) {
	for name, ages := range map[string][]time.Duration{
		"an hour later": {time.Hour}, "a day later": {time.Hour, 24 * time.Hour}, "after a long sleep": {40 * time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, p *plant) {
				o := p.absent()
				for i, age := range ages {
					p.at(o, age)
					if len(p.open()) != 0 {
						t.Fatalf("a case before the answer: %+v", p.open())
					}
					if i == len(ages)-1 {
						p.says(confirmed)
					}
					p.recheck(o)
				}
				told := len(p.told())
				for range 2 { // a leftover job runs, and the provider sends a notification
					p.recheck(o)
					_, err := p.Notified(t.Context(), o.Company, o.ID, confirmed)
					p.must(err)
				}
				cases := p.open()
				if len(cases) != 1 || cases[0].Reason != operation.Contradiction || cases[0].Subject != o.ID {
					t.Errorf("cases: %+v", cases)
				}
				now := p.stands(o, operation.Failed)
				if now.Polls != o.Polls+int64(len(ages)) || !now.NextAt.IsZero() || len(p.told()) != told {
					t.Errorf("afterwards: %+v, told %v", now, p.told())
				}
			})
		})
	}
}

// After a reply without an outcome, the provider is asked again on the resolver's schedule. After
// 72 hours a case is opened for operators.
func TestARecheckWithoutAnAnswerIsRepeated(t *testing.T) {
	each(t, func(t *testing.T, p *plant) {
		o := p.absent()
		p.says(silence)
		p.at(o, time.Hour)
		var asked []time.Duration
		for next := p.clock.Now(); !next.IsZero(); next = p.recheck(o) {
			if len(p.open()) != 0 {
				t.Fatalf("a case after %v", asked)
			}
			p.clock.Advance(next.Sub(p.clock.Now()))
			asked = append(asked, p.clock.Now().Sub(o.UpdatedAt))
		}
		clock := []time.Duration{0, 5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute, 30 * time.Minute}
		var want []time.Duration
		for began, end := range map[time.Duration]time.Duration{time.Hour: 23 * time.Hour, 24 * time.Hour: 72 * time.Hour} {
			for _, age := range clock {
				want = append(want, began+age)
			}
			for age := 2 * time.Hour; age <= end && began+age != 24*time.Hour; age += time.Hour {
				want = append(want, began+age)
			}
		}
		slices.Sort(want)
		if !slices.Equal(asked, want) {
			t.Errorf("asked after %v, not after %v", asked, want)
		}
		cases := p.open()
		if len(cases) != 1 || cases[0].Reason != operation.Unresolved || cases[0].Subject != o.ID {
			t.Errorf("cases: %+v", cases)
		}
		if now := p.stands(o, operation.Failed); !now.NextAt.IsZero() {
			t.Errorf("afterwards: %+v", now)
		}
	})
}

// A case of the time when the operation was PENDING does not answer the question of the last recheck, whether operators have closed that
// case or not. Two workers ask the question once.
func TestALastRecheckAsksBesideAnEarlierCase(t *testing.T) {
	for name, dismiss := range map[string]bool{"dismissed": true, "open": false} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, p *plant) {
				unproven := missing
				unproven.Unproven = true
				p.says(unproven)
				o := p.unknown()
				for len(p.open()) == 0 {
					p.clock.Advance(p.poll(o).Sub(p.clock.Now()))
				}
				p.says(missing)
				for next := p.clock.Now(); !next.IsZero(); next = p.poll(o) {
					p.clock.Advance(next.Sub(p.clock.Now()))
				}
				o = p.stands(o, operation.Failed)
				earlier := p.open()[0]
				if dismiss {
					_, err := p.agree(earlier.ID, operation.Dismissed, "it FAILED")
					p.must(err)
				}
				p.at(o, time.Hour)
				p.recheck(o)
				nested := false
				p.answer = func(operation.Operation) provider.Answer {
					if !nested {
						nested = true
						p.recheck(o)
					}
					return silence
				}
				p.at(o, 96*time.Hour)
				p.recheck(o)
				cases := slices.DeleteFunc(p.open(), func(c operation.Case) bool { return c.ID == earlier.ID })
				if len(cases) != 1 || cases[0].Reason != operation.Unresolved || cases[0].Subject != o.ID {
					t.Fatalf("cases: %+v", cases)
				}
				doubts, err := operation.Doubts(t.Context(), p.db, p.company, []string{o.ID})
				if p.must(err); doubts[o.ID] != operation.InDoubt {
					t.Errorf("the doubt is %v", doubts)
				}
			})
		})
	}
}

// A provider that could not be asked has not said anything. So the last recheck is repeated until it is sent, for a day at most.
func TestALastRecheckIsRepeatedUntilItIsSent(t *testing.T) {
	each(t, func(t *testing.T, p *plant) {
		unsent, over := provider.Answer{Code: provider.CodeNotSent}, 96*time.Hour
		asked := func(o operation.Operation, at time.Duration, a provider.Answer, after time.Duration, cases int) {
			t.Helper()
			p.says(a)
			p.clock.Advance(o.UpdatedAt.Add(at).Sub(p.clock.Now()))
			next := p.recheck(o)
			if got := next.Sub(p.clock.Now()); next.IsZero() != (after == 0) || !next.IsZero() && got != after || len(p.open()) != cases {
				t.Fatalf("at %s: the next recheck is at %s, cases %+v", at, next, p.open())
			}
		}
		o := p.absent()
		asked(o, 24*time.Hour-time.Minute, unsent, time.Minute, 0)
		asked(o, over, unsent, 5*time.Minute, 0)
		asked(o, over+time.Hour, provider.Answer{Missing: true}, 23*time.Hour, 0) // the first question that was sent is not the last
		asked(o, over+24*time.Hour, provider.Answer{Missing: true}, 0, 0)
		o = p.absent()
		asked(o, 24*time.Hour-time.Minute, unsent, time.Minute, 0)
		asked(o, over, unsent, 5*time.Minute, 0)
		asked(o, over+24*time.Hour, unsent, 0, 1)
	})
}

// A definite reply ends the rechecks. The reply "no such reference" also ends the rechecks, if it
// comes a day after the failure.
func TestWhatEndsTheRechecks(t *testing.T) {
	for name, c := range map[string]struct {
		answers []provider.Answer
		asked   int64
	}{
		"a definite no":                       {[]provider.Answer{rejected}, 1},
		"silence, then no record a day later": {[]provider.Answer{silence, missing, missing}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, p *plant) {
				o := p.absent()
				next := o.NextAt
				for _, a := range c.answers {
					p.says(a)
					p.clock.Advance(next.Sub(p.clock.Now()))
					next = p.recheck(o)
				}
				if now := p.stands(o, operation.Failed); !next.IsZero() || now.Polls != o.Polls+c.asked || len(p.open()) != 0 {
					t.Errorf("next %s, cases %+v: %+v", next, p.open(), now)
				}
			})
		})
	}
}

// An operation that FAILED because of a definite rejection is not rechecked.
func TestADefiniteRejectionIsNotRechecked(t *testing.T) {
	each(t, func(t *testing.T, p *plant) {
		p.says(rejected)
		o := p.unknown()
		p.clock.Advance(time.Minute)
		p.poll(o)
		if now := p.stands(o, operation.Failed); !now.NextAt.IsZero() || len(p.rechecks()) != 0 {
			t.Errorf("jobs at %v: %+v", p.rechecks(), now)
		}
		if p.recheck(o); p.asked != 1 {
			t.Errorf("asked %d times", p.asked)
		}
	})
}

// A worker may lose its lease while it asks the provider. It then does not overwrite the result of
// the worker that has the new lease.
func TestTwoWorkersRecheckOnce(t *testing.T) {
	each(t, func(t *testing.T, p *plant) {
		o := p.absent()
		p.at(o, time.Hour)
		nested := false
		p.answer = func(operation.Operation) provider.Answer {
			if !nested {
				nested = true
				p.recheck(o)
			}
			return missing
		}
		p.recheck(o)
		now := p.stands(o, operation.Failed)
		if want := o.UpdatedAt.Add(24 * time.Hour); now.Polls != o.Polls+1 || !now.NextAt.Equal(want) {
			t.Errorf("after two workers: %+v", now)
		}
	})
}
