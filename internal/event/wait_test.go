package event_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/ledger"
)

// waits starts a reader that waits for the company's event after a number. It returns when the
// reader is waiting.
func (s *station) waits(company string, after int64) <-chan []event.Event {
	s.t.Helper()
	heard, before := make(chan []event.Event, 1), s.Waiting()
	go func() {
		events, _, err := s.Feed(s.t.Context(), company, after, 10, time.Minute)
		if err != nil {
			s.t.Error(err)
		}
		heard <- events
	}()
	s.until(before + 1)
	return heard
}

// until returns when n readers wait.
func (s *station) until(n int) {
	s.t.Helper()
	limit, again := time.NewTimer(time.Minute), time.NewTicker(100*time.Microsecond)
	defer limit.Stop()
	defer again.Stop()
	for s.Waiting() != n {
		select {
		case <-again.C:
		case <-limit.C:
			s.t.Fatalf("%d wait, and not %d", s.Waiting(), n)
		}
	}
}

// An event of this process wakes the reader without a look at the database.
func TestACommitHereWakesWithoutALook(t *testing.T) {
	each(t, func(t *testing.T, s *station) {
		s.LookEvery(time.Hour)
		for n := range int64(20) {
			heard := s.waits(s.company, n)
			s.says(s.here, s.company, "mine")
			if events := await(t, heard); len(events) != 1 || events[0].Sequence != n+1 {
				t.Fatalf("heard %+v", events)
			}
		}
	})
}

// All waiting readers share the looks at the database. Only one look runs at a time, and it reads
// each company once.
func TestWaitersShareTheirLooks(t *testing.T) {
	each(t, func(t *testing.T, s *station) {
		var at, most atomic.Int64
		var wrong sync.Map
		s.LookEvery(time.Millisecond)
		s.Looking(func(companies []string) error {
			most.Store(max(most.Load(), at.Add(1)))
			defer at.Add(-1)
			slices.Sort(companies)
			if n := len(slices.Compact(slices.Clone(companies))); n != len(companies) || n > 2 {
				wrong.Store(fmt.Sprint(companies), true)
			}
			return nil
		})
		var heard []<-chan []event.Event
		for i := range 60 {
			heard = append(heard, s.waits([]string{s.company, s.other}[i%2], 0))
		}
		s.says(s.there, s.company, "a")
		s.says(s.there, s.other, "b")
		for i, one := range heard {
			if events := await(t, one); len(events) != 1 || events[0].Company != []string{s.company, s.other}[i%2] {
				t.Fatalf("%d heard %+v", i, events)
			}
		}
		if most.Load() != 1 {
			t.Errorf("%d looks at once", most.Load())
		}
		wrong.Range(func(asked, _ any) bool { t.Errorf("asked for %s", asked); return true })
		if n := s.Waiting(); n != 0 {
			t.Errorf("%d still wait", n)
		}
	})
}

// After a failed look at the database, each reader reads its page again, and the looks continue.
func TestAFailedLookIsNotTheLast(t *testing.T) {
	each(t, func(t *testing.T, s *station) {
		var looks atomic.Int64
		s.LookEvery(time.Millisecond)
		s.Looking(func([]string) error {
			if looks.Add(1)%2 == 1 {
				return errors.New("away")
			}
			return nil
		})
		for n := range int64(6) {
			heard := s.waits(s.company, n)
			s.says(s.there, s.company, "n")
			if events := await(t, heard); len(events) != 1 || events[0].Sequence != n+1 {
				t.Fatalf("heard %+v", events)
			}
		}
		if looks.Load() < 2 {
			t.Errorf("%d looks", looks.Load())
		}
	})
}

// A reader that stops waiting gets no error.
func TestWhoGoesAwayHasWaitedInVain(t *testing.T) {
	each(t, func(t *testing.T, s *station) {
		ctx, leave := context.WithCancel(t.Context())
		s.waits(s.company, 0) // the next reader must not be the first, which would start the looks
		gone := make(chan error, 1)
		go func() {
			events, more, err := s.Feed(ctx, s.company, 0, 10, time.Minute)
			if len(events) > 0 || more {
				t.Errorf("he was given %+v", events)
			}
			gone <- err
		}()
		s.until(2)
		leave()
		if err := await(t, gone); err != nil {
			t.Error(err)
		}
		s.until(1)
		s.Close()
		s.until(0)
	})
}

// At least half of the waits end within a tenth of a second after the commit, whichever program
// commits the event. Only an event of another program needs a look at the database. The check of
// the interval between looks works even on a slow machine.
func TestAWakeTakesLessThanATenthOfASecond(t *testing.T) {
	if event.Interval > 75*time.Millisecond {
		t.Errorf("a look every %s leaves no time to answer", event.Interval)
	}
	each(t, func(t *testing.T, s *station) {
		sequence := int64(0)
		for name, book := range map[string]*ledger.Book{"here": s.here, "there": s.there} {
			var took []time.Duration
			for range 41 {
				heard := s.waits(s.company, sequence)
				s.says(book, s.company, "n")
				committed := time.Now()
				await(t, heard)
				took = append(took, time.Since(committed))
				sequence++
			}
			slices.Sort(took)
			t.Logf("%s: half within %s, all within %s", name, took[20], took[40])
			if took[20] > 100*time.Millisecond {
				t.Errorf("%s: half of the wakes took %s and more", name, took[20])
			}
		}
	})
}

// BenchmarkWake makes readers of a thousand companies wait, and commits an event of each company in
// another process.
func BenchmarkWake(b *testing.B) {
	for _, dialect := range dbtest.Dialects {
		b.Run(string(dialect), func(b *testing.B) {
			const waiters = 1000
			s := newStation(b, dialect)
			var looks atomic.Int64
			s.Looking(func([]string) error { looks.Add(1); return nil })
			companies, heard := make([]string, waiters), make([]<-chan []event.Event, waiters)
			for i := range companies {
				companies[i] = id.Cuid()
				if err := s.here.Commit(b.Context(), ledger.Found(companies[i])); err != nil {
					b.Fatal(err)
				}
				heard[i] = s.waits(companies[i], 0)
			}
			b.ResetTimer()
			looks.Store(0)
			for n := range b.N {
				i := n % waiters
				s.says(s.there, companies[i], "n")
				await(b, heard[i])
				heard[i] = s.waits(companies[i], int64(n/waiters+1))
			}
			b.ReportMetric(float64(looks.Load())/b.Elapsed().Seconds(), "looks/s")
			b.StopTimer()
			s.Close()
			for _, one := range heard {
				await(b, one)
			}
		})
	}
}
