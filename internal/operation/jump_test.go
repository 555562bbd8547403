package operation_test

import (
	"log/slog"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/provider"
)

// follow polls whenever the operation's next requery is due, until its outcome is known. It returns the
// time that has truly passed since each requery began.
func (p *plant) follow(o operation.Operation) (asked []time.Duration) {
	p.t.Helper()
	for range 40 {
		now := p.stands(o, operation.Pending)
		if wait := now.NextAt.Sub(p.clock.Now()); wait > 0 {
			p.clock.Advance(wait)
		}
		asked = append(asked, p.clock.Elapsed())
		if next := p.poll(o); next.IsZero() {
			return asked
		}
	}
	p.t.Fatal("the requeries do not end")
	return nil
}

// A jump of the clock refunds nothing before its time: the money goes back fifteen minutes of true time
// after the order at the earliest, and after three requeries that truly lie apart.
func TestAJumpOfTheClockRefundsNothingEarly(t *testing.T) {
	for name, jumps := range map[string][]time.Duration{
		"forward before the first requery": {20 * time.Minute},
		"a day forward":                    {24 * time.Hour},
		"forward between the requeries":    {0, 20 * time.Minute},
		"forward before each requery":      {20 * time.Minute, 20 * time.Minute, 20 * time.Minute, time.Hour},
		"forward and back":                 {20 * time.Minute, -20 * time.Minute},
		"back and forward":                 {-20 * time.Minute, 20 * time.Minute, 20 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, p *plant) {
				p.says(missing)
				began := p.clock.Elapsed()
				o := p.unknown()
				var asked []time.Duration
				for _, d := range jumps {
					if wait := p.stands(o, operation.Pending).NextAt.Sub(p.clock.Now()); d == 0 {
						p.clock.Advance(wait)
					}
					p.clock.Jump(d)
					before := p.asked
					if p.poll(o); p.asked > before {
						asked = append(asked, p.clock.Elapsed())
					}
				}
				asked = append(asked, p.follow(o)...)
				p.stands(o, operation.Failed)
				last := asked[len(asked)-1]
				if age := last - began; age < 15*time.Minute || age > 2*time.Hour {
					t.Errorf("refunded after %s", age)
				}
				apart := 1
				for i, previous := len(asked)-2, last; i >= 0; i-- {
					if previous-asked[i] >= 25*time.Second {
						apart, previous = apart+1, asked[i]
					}
				}
				if apart < 3 {
					t.Errorf("%d requeries lie apart: %v", apart, asked)
				}
			})
		})
	}
}

// Missed requeries about a reference that the provider does not know are made up for 25 seconds apart.
func TestMissedPollsAboutAnAbsenceLieApart(t *testing.T) {
	each(t, func(t *testing.T, p *plant) {
		p.says(missing)
		o := p.unknown()
		p.clock.Advance(time.Hour)
		began := p.clock.Now()
		for i := range 2 {
			if next := p.poll(o); next.Sub(p.clock.Now()) != 25*time.Second {
				t.Fatalf("after requery %d the next is due in %s", i+1, next.Sub(p.clock.Now()))
			}
			p.stands(o, operation.Pending)
			p.clock.Advance(25 * time.Second)
		}
		p.poll(o)
		p.stands(o, operation.Failed)
		if took := p.clock.Now().Sub(began); took != 50*time.Second {
			t.Errorf("refunded %s after the first requery", took)
		}
	})
}

// A program that has just started does not know whether the clock has jumped while it was down. So it
// believes an absence only after fifteen minutes of its own.
func TestAProgramThatHasJustStartedRefundsNothingEarly(t *testing.T) {
	each(t, func(t *testing.T, p *plant) {
		p.says(missing)
		o := p.unknown()
		for range 2 {
			p.clock.Advance(p.stands(o, operation.Pending).NextAt.Sub(p.clock.Now()))
			p.poll(o)
		}
		p.clock.Jump(10 * time.Hour)
		p.Service = operation.NewService(p.db, p.book, p.clock, slog.New(slog.DiscardHandler), window)
		p.Handle("test", p.kind)
		started := p.clock.Elapsed()
		asked := p.follow(o)
		p.stands(o, operation.Failed)
		if age := asked[len(asked)-1] - started; age != 15*time.Minute {
			t.Errorf("refunded %s after the start", age)
		}
	})
}

// In a sandbox, one move of the clock shows the refund.
func TestASandboxMakesUpAtOnce(t *testing.T) {
	each(t, func(t *testing.T, p *plant) {
		p.Simulated = true
		p.says(missing)
		o := p.unknown()
		p.clock.Advance(time.Hour)
		for range 3 {
			p.poll(o)
		}
		p.stands(o, operation.Failed)
	})
}

// After a week without a program, an absence is still found by three requeries, and needs no operator.
func TestAnAbsenceAfterAWeekIsRefunded(t *testing.T) {
	each(t, func(t *testing.T, p *plant) {
		p.says(missing)
		o := p.unknown()
		p.clock.Advance(7 * 24 * time.Hour)
		p.follow(o)
		p.stands(o, operation.Failed)
		if cases := p.open(); len(cases) != 0 {
			t.Errorf("cases: %+v", cases)
		}
	})
}

// After days without a program, or a jump of the clock by days, the provider may refuse requeries for a while. The
// schedule is then not spent within seconds: the operation is followed for two hours before a case asks operators.
func TestARequeryScheduleIsNotSpentAtOnce(t *testing.T) {
	for name, begin := range map[string]func(p *plant){
		"without a program": func(p *plant) {
			p.clock.Advance(80 * time.Hour)
			p.Service = operation.NewService(p.db, p.book, p.clock, slog.New(slog.DiscardHandler), window)
			p.Handle("test", p.kind)
		},
		"a jump": func(p *plant) { p.clock.Jump(80 * time.Hour) },
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, p *plant) {
				p.says(provider.Answer{Code: "403"})
				o := p.unknown()
				begin(p)
				began, next := p.clock.Now(), time.Time{}
				for i := range 76 {
					if next = p.poll(o); next.Sub(p.clock.Now()) < 25*time.Second || len(p.open()) != 0 {
						t.Fatalf("after requery %d, %s after the start, the next one is due at %s, cases %+v", i+1, p.clock.Now().Sub(began), next, p.open())
					}
					p.clock.Advance(next.Sub(p.clock.Now()))
				}
				for next = p.poll(o); !next.IsZero(); next = p.poll(o) {
					p.clock.Advance(next.Sub(p.clock.Now()))
				}
				if age := p.clock.Now().Sub(began); age < 2*time.Hour || age > 4*time.Hour || len(p.open()) != 1 {
					t.Errorf("the requeries end after %s, cases %+v", age, p.open())
				}
			})
		})
	}
	each(t, func(t *testing.T, p *plant) {
		p.says(provider.Answer{Code: "403"})
		o := p.unknown()
		p.clock.Jump(80 * time.Hour)
		for range 76 {
			p.clock.Advance(p.poll(o).Sub(p.clock.Now()))
		}
		p.says(confirmed)
		p.poll(o)
		p.stands(o, operation.Success)
	})
}

// An operation that began while the clock was ten days ahead, or was asked about then, is followed at once after the clock is right
// again, and each hour until its own time has come. A queued operation waits for its call.
func TestAnOperationOfAClockAheadIsFollowed(t *testing.T) {
	const ahead = 10 * 24 * time.Hour
	for name, c := range map[string]struct {
		order func(p *plant) operation.Operation
		asked bool
	}{
		"unknown":   {(*plant).unknown, true},
		"no answer": {(*plant).begin, true},
		"asked ahead": {func(p *plant) operation.Operation {
			p.clock.Jump(-ahead)
			o := p.unknown()
			p.clock.Jump(ahead)
			p.poll(o)
			return o
		}, true},
		"queued": {func(p *plant) operation.Operation {
			o := p.Queue(operation.Operation{Company: p.company, Kind: "test", Provider: "bank", SettlementID: 1, Amount: price, Fee: fee}, p.clock.Now().Add(24*time.Hour))
			p.must(p.book.Commit(p.t.Context(), p.Unit(o, 1, "a test")))
			return o
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, p *plant) {
				p.says(provider.Answer{Code: "09"})
				p.clock.Jump(ahead)
				o := c.order(p)
				p.clock.Jump(-ahead)
				began := p.asked
				next := p.poll(o)
				if wait := next.Sub(p.clock.Now()); (p.asked > began) != c.asked || (wait <= time.Hour) != c.asked {
					t.Fatalf("asked %d times, and again in %s", p.asked-began, wait)
				}
				if !c.asked {
					return
				}
				p.clock.Advance(next.Sub(p.clock.Now()))
				p.says(confirmed)
				p.poll(o)
				p.stands(o, operation.Success)
			})
		})
	}
}

// A program whose clock is an hour behind claims a queued operation of another program. Its grace does not begin before it was queued.
func TestAClaimOfAClockBehindRefundsNothingEarly(t *testing.T) {
	each(t, func(t *testing.T, p *plant) {
		p.clock.Advance(time.Hour)
		until := p.clock.Now().Add(time.Hour)
		o := p.Queue(operation.Operation{Company: p.company, Kind: "test", Provider: "bank", SettlementID: 1, Amount: price, Fee: fee}, until)
		p.must(p.book.Commit(t.Context(), p.Unit(o, 1, "a test")))
		behind := operation.NewService(p.db, p.book, clock.At(p.clock.Now().Add(-time.Hour)), slog.New(slog.DiscardHandler), window)
		o, err := behind.Claim(t.Context(), o, until)
		p.must(err)
		p.says(missing)
		for range 20 {
			p.clock.Advance(30 * time.Second)
			p.poll(o)
		}
		p.stands(o, operation.Pending)
		for range 12 {
			p.clock.Advance(30 * time.Second)
			p.poll(o)
		}
		p.stands(o, operation.Failed)
	})
}
