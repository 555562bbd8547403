package id

import "testing"

func TestNewIsOrderedAndUnique(t *testing.T) {
	last := ""
	for range 10_000 {
		next := New()
		if next <= last || len(next) != 36 {
			t.Fatalf("%s after %s", next, last)
		}
		last = next
	}
}

func TestCuid(t *testing.T) {
	seen := map[string]bool{}
	for range 1000 {
		c := Cuid()
		if !IsCuid(c) || seen[c] {
			t.Fatalf("bad or repeated reference %q", c)
		}
		seen[c] = true
	}
	for _, bad := range []string{"", "c", "x123456789012345678901234", "c12345678901234567890123A"} {
		if IsCuid(bad) {
			t.Errorf("%q passed for a reference", bad)
		}
	}
}
