package console_test

import (
	"testing"
	"time"
)

// tick returns a channel that receives after a moment of real time.
func tick(t testing.TB) <-chan time.Time {
	t.Helper()
	return time.After(50 * time.Millisecond)
}
