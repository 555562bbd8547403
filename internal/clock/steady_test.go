package clock_test

import (
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
)

// After a jump, forward or back, only the time after the jump counts. Small corrections are no jumps.
func TestSteadyCountsFromTheLastJump(t *testing.T) {
	c := clock.At(time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC))
	s := clock.NewSteady(c)
	truly := func(want time.Duration) {
		t.Helper()
		if got := c.Now().Sub(s.Since()); got != want {
			t.Errorf("steady for %s, want %s", got, want)
		}
	}
	truly(0)
	c.Advance(time.Hour)
	truly(time.Hour)
	c.Jump(-20 * time.Second)
	truly(time.Hour)
	c.Jump(20 * time.Minute)
	truly(0)
	c.Advance(5 * time.Minute)
	truly(5 * time.Minute)
	c.Jump(-20 * time.Minute)
	truly(0)
	for range 4 { // several small jumps are one large jump
		c.Jump(25 * time.Second)
		c.Advance(time.Second)
	}
	if got := c.Now().Sub(s.Since()); got != 0 {
		t.Errorf("after four small jumps steady for %s", got)
	}
	c.Advance(time.Minute)
	truly(time.Minute)
}

// A move of a sandbox's clock is no jump: the sandbox's world moves with it.
func TestAMoveOfTheSandboxIsNoJump(t *testing.T) {
	var c clock.Movable
	s := clock.NewSteady(&c)
	c.MoveTo(time.Hour)
	if got := c.Now().Sub(s.Since()); got < time.Hour || got > time.Hour+time.Minute {
		t.Errorf("steady for %s", got)
	}
}
