// Package id makes Kobo's identifiers.
//
// Rows get a time-ordered UUID (version 7, RFC 9562 §5.7), so indexes grow only at their end. A
// company's reference has the form of a cuid, because the API contract calls it a cuid.
package id

import (
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"
)

// New returns a new time-ordered identifier of 36 characters.
func New() string { return uuid.Must(uuid.NewV7()).String() }

// IsNew reports whether s has the form of an identifier that New makes.
func IsNew(s string) bool { return len(s) == 36 && uuid.Validate(s) == nil }

// Derived returns the identifier that follows from an identifier of New and some texts. It is always the same, and nobody else gets it
// by chance. It has the form of a UUID (version 8), and the instant of the identifier from which it follows.
func Derived(from string, texts ...string) string {
	out := uuid.UUID(digest(from, texts)[:16])
	if at, err := uuid.Parse(from); err == nil {
		copy(out[:6], at[:6]) // indexes grow at their end
	}
	out[0] &= 0x7f // it is none of Numbered
	out[6], out[8] = out[6]&0x0f|0x80, out[8]&0x3f|0x80
	return out.String()
}

// digest returns a hash of some texts. The lengths make the boundaries between them unambiguous.
func digest(from string, texts []string) []byte {
	h := sha256.New()
	for _, text := range append([]string{from}, texts...) {
		fmt.Fprintf(h, "%d:%s,", len(text), text)
	}
	return h.Sum(nil)
}

// Above is above all identifiers, also in a database whose collation is not C. Many collations put signs below digits.
const Above = "z"

// After returns a new identifier that sorts after the identifier last, also if the clock was ahead when last was
// made. It sorts after every other text, too, but is then no identifier.
func After(last string) string {
	next := New()
	if next > last {
		return next
	}
	if IsNew(last) {
		if ms, err := strconv.ParseUint(last[:8]+last[9:13], 16, 48); err == nil && ms < 1<<48-1 {
			at := fmt.Sprintf("%012x", ms+1) // the first 48 bits are the time
			return at[:8] + "-" + at[8:] + next[13:]
		}
	}
	return last + "0"
}

// Numbered returns an identifier that contains a number of at most 44 bits, so its row can be found
// by the number. It has the form of a UUID (version 8) and begins with "f", unlike those of New. The
// parameter from is an identifier that New has made, whose random part is used.
func Numbered(from string, n int64) string {
	const digits = "0123456789abcdef"
	b := []byte("f0000000-0000-8" + from[15:])
	for i, at := range [...]int{12, 11, 10, 9, 7, 6, 5, 4, 3, 2, 1} {
		b[at] = digits[n>>(4*i)&15]
	}
	return string(b)
}

// Number returns the number in an identifier that Numbered has made. It returns false for other
// identifiers.
func Number(s string) (int64, bool) {
	if len(s) != 36 || s[0] != 'f' || s[8] != '-' {
		return 0, false
	}
	n, err := strconv.ParseUint(s[1:8]+s[9:13], 16, 44)
	return int64(n), err == nil
}

// The lengths of company references. References of the long form stay valid. New ones are short, because a reference is
// in each row of the company and people type it when they sign in (decision 0042).
const (
	shortCuid = 10
	longCuid  = 25
)

// Cuid returns a new company reference: "c" followed by nine random characters of [0-9a-z]. One of them is a digit at
// least, so few names have this form.
func Cuid() string { return randomCuid(shortCuid) }

// LongCuid returns a new company reference of 25 characters, which programs before schema 202 know too.
func LongCuid() string { return randomCuid(longCuid) }

func randomCuid(length int) string {
	const alphabet = "0123456789abcdefghijklmnopqrstuvwxyz"
	var b [32]byte
	for {
		out := append(make([]byte, 0, length), 'c')
		for len(out) < length {
			_, _ = rand.Read(b[:]) // the error is ignored, because crypto/rand ends the program instead of failing
			for _, v := range b {
				// 252 is 7 * 36. Bytes of 252 and above would make the first characters of the alphabet
				// more likely.
				if v < 252 && len(out) < length {
					out = append(out, alphabet[v%36])
				}
			}
		}
		if IsCuid(string(out)) {
			return string(out)
		}
	}
}

// DerivedCuid returns the company reference that follows from an identifier of New and some texts, as Derived does.
func DerivedCuid(from string, texts ...string) string {
	for {
		if c := derivedCuid(shortCuid, from, texts); IsCuid(c) {
			return c
		}
		texts = append(slices.Clip(texts), "again") // the reference had no digit
	}
}

// DerivedLongCuid returns the same in the form of LongCuid.
func DerivedLongCuid(from string, texts ...string) string {
	return derivedCuid(longCuid, from, texts)
}

func derivedCuid(length int, from string, texts []string) string {
	digits := strings.Repeat("0", length) + new(big.Int).SetBytes(digest(from, texts)).Text(36)
	return "c" + digits[len(digits)-length+1:]
}

// IsLongCuid reports whether s has the form of a reference that LongCuid makes.
func IsLongCuid(s string) bool { return len(s) == longCuid && IsCuid(s) }

// IsCuid reports whether s has the form of a reference that Cuid or LongCuid makes.
func IsCuid(s string) bool {
	if len(s) != shortCuid && len(s) != longCuid || s[0] != 'c' {
		return false
	}
	digits := 0
	for _, c := range []byte(s[1:]) {
		switch {
		case c >= '0' && c <= '9':
			digits++
		case c < 'a' || c > 'z':
			return false
		}
	}
	return digits > 0 || len(s) == longCuid
}
