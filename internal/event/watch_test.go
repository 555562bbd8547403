package event_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/ledger"
)

// heard returns how many of the viewers have heard a change, and takes it from them.
func heard(t *testing.T, viewers []<-chan event.Change) (n int) {
	t.Helper()
	for _, v := range viewers {
		select {
		case c := <-v:
			if c.Err != nil {
				t.Error(c.Err)
			}
			n++
		default:
		}
	}
	return n
}

// Fifty viewers of the same page cause the same reads as one. Each hears of the events that name the thing on the page, and
// of no other.
func TestViewersAddNoQuery(t *testing.T) {
	each(t, func(t *testing.T, s *station) {
		var looks, pages int
		s.ReadEvery(time.Hour)
		s.Looking(func(companies []string) error {
			looks++
			if len(companies) != 1 {
				t.Errorf("the reader asks for %v", companies)
			}
			return nil
		})
		s.Paging(func() { pages++ })
		reads := func(company string, most int) string {
			looks, pages = 0, 0
			var viewers []<-chan event.Change
			var ends []func()
			for i := range most {
				v, leave := s.Watch(company, fmt.Sprintf("thing-%d", i%2), noon)
				viewers, ends = append(viewers, v), append(ends, leave)
			}
			s.Pass(t.Context())
			if n := heard(t, viewers); n != 0 {
				t.Errorf("%d of %d have heard of nothing", n, most)
			}
			for round := range 3 {
				s.says(s.there, company, "thing-0")
				s.says(s.here, company, "other")
				s.Pass(t.Context())
				if n := heard(t, viewers); n != (most+1)/2 {
					t.Errorf("round %d: %d of %d have heard", round, n, most)
				}
				s.Pass(t.Context())
			}
			if n := heard(t, viewers); n != 0 {
				t.Errorf("%d have heard twice", n)
			}
			late, leave := s.Watch(company, "thing-0", noon)
			if n := heard(t, []<-chan event.Change{late}); n != 1 {
				t.Error("who comes later has not heard what happened since the page was read")
			}
			used := fmt.Sprintf("%d looks, %d pages", looks, pages)
			for _, leave := range append(ends, leave) {
				leave()
			}
			for range event.IdlePasses + 1 {
				s.Pass(t.Context())
			}
			if n := s.Watched(); n != 0 {
				t.Errorf("%d companies are watched by nobody", n)
			}
			return used
		}
		if one, fifty := reads(s.company, 1), reads(s.other, 50); one != fifty || one != "7 looks, 3 pages" {
			t.Errorf("one viewer: %s, fifty: %s", one, fifty)
		}
	})
}

// A viewer whose page is older than what the reader has in memory hears at once that something may have changed. So does
// everybody after more events than the reader reads at once. When the program stops, the viewers hear so.
func TestAViewerNeverMissesAChange(t *testing.T) {
	each(t, func(t *testing.T, s *station) {
		s.ReadEvery(time.Hour)
		first, _ := s.Watch(s.company, "thing", noon.Add(time.Second))
		s.Pass(t.Context())
		old, leave := s.Watch(s.company, "thing", noon.Add(-time.Hour))
		if heard(t, []<-chan event.Change{old}) != 1 || heard(t, []<-chan event.Change{first}) != 0 {
			t.Error("the older page has not heard, or the other one has")
		}
		leave()
		u := ledger.For(s.company)
		for range event.MostUnread + 1 {
			event.Emit(&u, "other", map[string]string{})
		}
		if err := s.there.Commit(t.Context(), u); err != nil {
			t.Fatal(err)
		}
		s.Pass(t.Context())
		if heard(t, []<-chan event.Change{first}) != 1 {
			t.Error("the reader has skipped events in silence")
		}
		s.Looking(func([]string) error { return errors.New("away") })
		s.Pass(t.Context())
		if c := <-first; c.Err == nil {
			t.Error("a failed look is a change")
		}
		s.Close()
		if _, open := <-first; open {
			t.Error("a viewer waits for a program that has stopped")
		}
		if again, _ := s.Watch(s.company, "thing", noon); len(again) != 0 {
			t.Error("a stopped program tells of a change")
		} else if _, open := <-again; open {
			t.Error("a viewer waits for a program that has stopped")
		}
	})
}
