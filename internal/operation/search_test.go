package operation_test

import (
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/operation"
)

func TestASearchKeepsThePublicClock(t *testing.T) {
	start := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	at := operation.Search{Since: start}
	now := start
	for _, want := range []time.Duration{
		5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute, 15 * time.Minute, 30 * time.Minute, 2 * time.Hour, 3 * time.Hour, 4 * time.Hour,
	} {
		if now = at.Next(now); now.Sub(start) != want {
			t.Errorf("looked after %v, want %v", now.Sub(start), want)
		}
	}
	at.Missing = 2
	if next := at.Next(now); next.Sub(now) != 30*time.Second {
		t.Errorf("the third look after an absence is %v later", next.Sub(now))
	}
	for _, c := range []struct {
		missing int64
		age     time.Duration
		gone    bool
	}{{3, 15 * time.Minute, true}, {3, 15*time.Minute - 1, false}, {2, time.Hour, false}, {9, time.Hour, true}} {
		if at.Missing = c.missing; at.Gone(start.Add(c.age)) != c.gone {
			t.Errorf("missing %d times after %v: want %v", c.missing, c.age, c.gone)
		}
	}
	if next := at.Next(start.Add(-240 * time.Hour)); !next.Equal(start.Add(-239 * time.Hour)) {
		t.Errorf("after a clock that was ahead, the next look is at %s", next)
	}
	if at.TooOld(start.Add(72*time.Hour)) || !at.TooOld(start.Add(73*time.Hour)) {
		t.Error("a human looks after 72 hours")
	}
}
