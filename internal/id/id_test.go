package id

import (
	"strconv"
	"strings"
	"testing"
)

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

// An identifier follows after one that was made while the clock was ahead, and after any text.
func TestAfter(t *testing.T) {
	ahead, last := Numbered(New(), 1), "ffffffff-ffff-7fff-bfff-ffffffffffff"
	for _, from := range []string{"", New(), ahead, "7fffffff-ffff-7abc-8abc-abcdefabcdef", "0fffffff-0000-7abc-8abc-abcdefabcdef", last, "z"} {
		first := After(from)
		second := After(first)
		if first <= from || second <= first {
			t.Errorf("%q, %q and %q are not in order", from, first, second)
		}
		if from != last && from != "z" && (!IsNew(first) || !IsNew(second)) {
			t.Errorf("after %q: %q and %q", from, first, second)
		}
	}
	if now := New(); After(now)[:8] != New()[:8] {
		t.Error("the time is not that of now")
	}
}

func TestCuid(t *testing.T) {
	seen := map[string]bool{}
	for length, make := range map[int]func() string{10: Cuid, 25: LongCuid} {
		for range 1000 {
			c := make()
			if !IsCuid(c) || len(c) != length || seen[c] {
				t.Fatalf("bad or repeated reference %q", c)
			}
			seen[c] = true
		}
	}
	for _, bad := range []string{"", "c", "x123456789012345678901234", "c12345678901234567890123A", "x123456789", "c12345678A", "c12345678", "c1234567890", "christophe"} {
		if IsCuid(bad) {
			t.Errorf("%q passed for a reference", bad)
		}
	}
}

// A numbered identifier has the form of a UUID, sorts after those of New, and gives back its number.
func TestNumbered(t *testing.T) {
	for _, n := range []int64{1, 0xffff, 0x10000, 1<<44 - 1} {
		from := New()
		s := Numbered(from, n)
		if got, ok := Number(s); !ok || got != n || len(s) != 36 || s[14] != '8' || s <= from || s[15:] != from[15:] {
			t.Errorf("%s has the number %d, %v", s, got, ok)
		}
	}
	for _, bad := range []string{"", New(), "f", "f000000g" + New()[8:], "f0000001x" + New()[9:], "f+000001-0001" + New()[13:]} {
		if n, ok := Number(bad); ok {
			t.Errorf("%q has the number %d", bad, n)
		}
	}
}

func TestIsNew(t *testing.T) {
	for s, want := range map[string]bool{
		New(): true, Numbered(New(), 7): true, "": false, "zzz!": false, "50": false, Cuid(): false, "{" + New() + "}": false, "urn:uuid:" + New(): false,
		strings.ReplaceAll(New(), "-", ""): false, strings.ReplaceAll(New(), "-", "_"): false,
	} {
		if IsNew(s) != want {
			t.Errorf("IsNew(%q) is %v", s, !want)
		}
	}
}

// Equal texts lead to the same identifier, and other texts to another one. An identifier keeps its place in time.
func TestDerived(t *testing.T) {
	from, seen := New(), map[string]bool{}
	for _, texts := range [][]string{nil, {""}, {"ada"}, {"ad", "a"}, {"a", "da"}, {"ada", ""}} {
		for _, make := range []func(string, ...string) string{Derived, DerivedCuid, DerivedLongCuid} {
			s := make(from, texts...)
			if s != make(from, texts...) || seen[s] || s == make(New(), texts...) {
				t.Errorf("%q from %q", s, texts)
			}
			seen[s] = true
			if _, numbered := Number(s); numbered || !IsCuid(s) && (!IsNew(s) || s[:13] != from[:13] || s[14] != '8') {
				t.Errorf("%q from %s", s, from)
			}
		}
	}
	if s := Derived("no identifier"); !IsNew(s) || s != Derived("no identifier") {
		t.Error(s)
	}
}

// A derived reference has a digit, as each short reference has, so that an ordinary name is not taken for one.
func TestADerivedReferenceHasADigit(t *testing.T) {
	from := New()
	for i := range 2000 {
		if c := DerivedCuid(from, strconv.Itoa(i)); !IsCuid(c) || len(c) != 10 || c != DerivedCuid(from, strconv.Itoa(i)) {
			t.Fatalf("%q", c)
		}
	}
}
