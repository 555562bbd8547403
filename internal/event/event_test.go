package event_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/ledger"
)

// station provides the feeds of two companies. The test reads the feeds in one program and writes
// events in two programs.
type station struct {
	*event.Service
	t              testing.TB
	here, there    *ledger.Book // the ledgers of two programs on one database
	company, other string
}

var noon = time.Date(2030, 1, 2, 12, 0, 0, 0, time.UTC)

func each(t *testing.T, f func(t *testing.T, s *station)) {
	for _, dialect := range dbtest.Servers() {
		t.Run(string(dialect), func(t *testing.T) {
			f(t, newStation(t, dialect))
		})
	}
}

func newStation(t testing.TB, dialect db.Dialect) *station {
	t.Helper()
	url := dbtest.URL(t, dialect)
	d := dbtest.Open(t, url)
	s := &station{t: t, here: ledger.New(d, clock.At(noon)), there: ledger.New(dbtest.Open(t, url), clock.At(noon))}
	s.Service = event.NewService(d, s.here)
	s.company, s.other = id.Cuid(), id.Cuid()
	for _, company := range []string{s.company, s.other} {
		if err := s.here.Commit(t.Context(), ledger.Found(company)); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// says commits an event in one of the two programs.
func (s *station) says(book *ledger.Book, company, kind string) {
	u := ledger.For(company)
	event.Emit(&u, kind, map[string]string{"kind": kind})
	if err := book.Commit(context.Background(), u); err != nil {
		s.t.Error(err)
	}
}

// feed returns a page of the company's feed. Each event is shown as sequence and kind.
func (s *station) feed(after int64, limit int, wait time.Duration) (string, bool) {
	s.t.Helper()
	events, more, err := s.Feed(s.t.Context(), s.company, after, limit, wait)
	if err != nil {
		s.t.Fatal(err)
	}
	out := ""
	for _, e := range events {
		out += fmt.Sprintf("%d %s,", e.Sequence, e.Kind)
	}
	return out, more
}

func TestAFeedIsReadInPagesOldestFirst(t *testing.T) {
	each(t, func(t *testing.T, s *station) {
		if got, more := s.feed(0, 10, 0); got != "" || more {
			t.Errorf("an empty feed: %q %v", got, more)
		}
		for _, kind := range []string{"a", "b", "c"} {
			s.says(s.here, s.company, kind)
			s.says(s.here, s.other, "other")
		}
		for _, c := range []struct {
			after int64
			limit int
			want  string
			more  bool
		}{
			{0, 10, "1 a,2 b,3 c,", false},
			{0, 3, "1 a,2 b,3 c,", false},
			{0, 2, "1 a,2 b,", true},
			{2, 2, "3 c,", false},
			{3, 2, "", false},
			{99, 2, "", false},
		} {
			if got, more := s.feed(c.after, c.limit, 0); got != c.want || more != c.more {
				t.Errorf("after %d, at most %d: %q %v", c.after, c.limit, got, more)
			}
		}
	})
}

func TestAnEventIsFoundByItsOwnCompanyAlone(t *testing.T) {
	each(t, func(t *testing.T, s *station) {
		s.says(s.here, s.company, "a")
		events, _, err := s.Feed(t.Context(), s.company, 0, 1, 0)
		if err != nil || len(events) != 1 {
			t.Fatalf("%+v, %v", events, err)
		}
		want := events[0]
		if want.Company != s.company || !want.CreatedAt.Equal(noon) || string(want.Data) != `{"kind":"a"}` {
			t.Errorf("the event: %+v", want)
		}
		if got, err := s.Find(t.Context(), s.company, want.ID); err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("found %+v, %v", got, err)
		}
		if _, err := s.Find(t.Context(), s.other, want.ID); !fault.Is(err, fault.Missing) {
			t.Errorf("by another company: %v", err)
		}
	})
}

// When eight writers in two programs add events, the events are numbered 1 … n without a gap.
func TestTheSequenceIsDense(t *testing.T) {
	each(t, func(t *testing.T, s *station) {
		const writers, each = 8, 25
		var all sync.WaitGroup
		for w := range writers {
			book := []*ledger.Book{s.here, s.there}[w%2]
			all.Go(func() {
				for range each {
					s.says(book, s.company, "n")
				}
			})
		}
		all.Wait()
		events, more, err := s.Feed(t.Context(), s.company, 0, writers*each, 0)
		if err != nil || more || len(events) != writers*each {
			t.Fatalf("%d events, more: %v, %v", len(events), more, err)
		}
		for i, e := range events {
			if e.Sequence != int64(i+1) {
				t.Fatalf("event %d has the number %d", i+1, e.Sequence)
			}
		}
	})
}

// An event of a company wakes the readers that wait for it, whichever program commits the event.
func TestWhoWaitsIsWoken(t *testing.T) {
	each(t, func(t *testing.T, s *station) {
		for i, book := range []*ledger.Book{s.here, s.there} {
			heard := make(chan string, 2)
			for range 2 {
				go func() {
					got, _ := s.feed(int64(i), 10, time.Minute)
					heard <- got
				}()
			}
			s.says(book, s.other, "other")
			s.says(book, s.company, "mine")
			for range 2 {
				if got := await(t, heard); got != fmt.Sprintf("%d mine,", i+1) {
					t.Errorf("heard %q", got)
				}
			}
		}
		// Events that exist already are returned without waiting.
		if got, _ := s.feed(0, 1, time.Minute); got != "1 mine," {
			t.Errorf("at once: %q", got)
		}
	})
}

func TestAWaitEnds(t *testing.T) {
	each(t, func(t *testing.T, s *station) {
		if got, more := s.feed(0, 10, time.Millisecond); got != "" || more {
			t.Errorf("when it is over: %q %v", got, more)
		}
		ended := make(chan string, 1)
		go func() {
			got, _ := s.feed(0, 10, time.Minute)
			ended <- got
		}()
		s.Close()
		s.Close()
		if got := await(t, ended); got != "" {
			t.Errorf("at the program's end: %q", got)
		}
		if got, _ := s.feed(0, 10, time.Minute); got != "" {
			t.Errorf("after it: %q", got)
		}
	})
}

// Data that JSON cannot represent is a bug, so New panics. The first test with such an event finds
// the bug.
func TestDataThatIsNoJSONIsABug(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("it was taken")
		}
	}()
	event.New("c", "k", json.Number("not a number"))
}

func await[T any](t testing.TB, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(time.Minute):
		t.Fatal("nothing came within 20 seconds")
		panic("unreachable")
	}
}

// An event that a program of an earlier schema wrote has an ID without its number, and is found too.
func TestEarlierEventsAreFound(t *testing.T) {
	each(t, func(t *testing.T, s *station) {
		s.says(s.here, s.company, "new")
		events, _, err := s.Feed(t.Context(), s.company, 0, 1, 0)
		if err != nil {
			t.Fatal(err)
		}
		if n, ok := id.Number(events[0].ID); !ok || n != events[0].Sequence {
			t.Errorf("%s has the number %d, not %d", events[0].ID, n, events[0].Sequence)
		}
		old := id.New()
		u := ledger.For(s.company)
		u.Append(event.New(s.company, "old", nil).Put("id", old))
		if err := s.here.Commit(t.Context(), u); err != nil {
			t.Fatal(err)
		}
		if e, err := s.Find(t.Context(), s.company, old); err != nil || e.Kind != "old" || e.Sequence != 2 {
			t.Errorf("found %v, %v", e, err)
		}
		for _, absent := range []string{id.New(), id.Numbered(old, 1), id.Numbered(old, 3), "x", ""} {
			if e, err := s.Find(t.Context(), s.company, absent); !fault.Is(err, fault.Missing) {
				t.Errorf("found %v, %v for %q", e, err, absent)
			}
		}
	})
}

// Months are archived whole. So a search from an instant in a month that is kept begins with the
// first kept event. A search from an earlier instant begins with an archived number.
func TestASearchByInstantSkipsArchivedEvents(t *testing.T) {
	each(t, func(t *testing.T, s *station) {
		for range 3 {
			s.says(s.here, s.company, event.KYBChanged)
		}
		if _, err := s.Remove(t.Context(), s.company, 2, 10); err != nil {
			t.Fatal(err)
		}
		month := time.Date(2030, 1, 1, 0, 0, 0, 0, clock.Lagos)
		for at, want := range map[time.Time]int64{month.Add(-time.Microsecond): 1, month: 3, noon: 3, noon.Add(time.Hour): 4} {
			if n, err := s.Since(t.Context(), s.company, at); err != nil || n != want {
				t.Errorf("from %v: %d %v, want %d", at, n, err, want)
			}
		}
	})
}
