package memo

import (
	"errors"
	"testing"
	"time"
)

// A result is returned until it is too old or dropped, and a failed read is not kept.
func TestMemo(t *testing.T) {
	start := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	m, reads, wrong := Memo[int]{Keep: 5 * time.Second}, 0, error(nil)
	read := func() (int, error) { reads++; return reads, wrong }
	check := func(after time.Duration, key string, want int) {
		t.Helper()
		if got, err := m.Read(start.Add(after), key, read); got != want || !errors.Is(err, wrong) {
			t.Errorf("%s after %v: %d %v, want %d", key, after, got, err, want)
		}
	}
	check(0, "a", 1)
	check(5*time.Second-1, "a", 1)
	check(0, "b", 2)
	check(5*time.Second, "a", 3)
	check(4*time.Second, "a", 4) // the clock was set back
	m.Drop()
	check(4*time.Second, "a", 5)
	wrong = errors.New("away")
	check(4*time.Second, "c", 6)
	wrong = nil
	check(4*time.Second, "c", 7)
}

// A read that began before Drop may have an old result, so the result is not kept.
func TestAReadThatBeganBeforeDropIsNotKept(t *testing.T) {
	m := Memo[string]{Keep: time.Minute}
	now := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	if got, _ := m.Read(now, "k", func() (string, error) { m.Drop(); return "old", nil }); got != "old" {
		t.Errorf("the read gave %q", got)
	}
	if got, _ := m.Read(now, "k", func() (string, error) { return "new", nil }); got != "new" {
		t.Errorf("after Drop: %q", got)
	}
}
