// Package money provides Kobo's only type for money, which counts whole kobo in an int64.
//
// Kobo never adds, compares or stores naira, and never uses floating point. Naira exist only on the
// wire, as a JSON number (Kobo) or as a decimal string (Text). Kobo reads them from the digits of
// the request.
package money

import (
	"errors"
	"math"
	"strconv"
	"strings"
)

// Kobo is an amount of Nigerian money in its smallest unit. 100 kobo are one naira. JSON shows the
// amount as a plain number of naira, such as 5000 or 1500.5.
type Kobo int64

const (
	// Naira is one naira in kobo.
	Naira Kobo = 100
	// Max is the largest amount that a request may contain, 10^13 kobo (completion.md §1).
	Max Kobo = 10_000_000_000_000
	// NoFloor is the floor of a ledger account that may have any balance.
	NoFloor Kobo = math.MinInt64
)

// These errors state why a text is not an amount.
var (
	ErrSyntax    = errors.New("must be a number")
	ErrNegative  = errors.New("must not be negative")
	ErrPrecision = errors.New("must have no more than 2 decimal places")
	ErrRange     = errors.New("is larger than the largest amount")
)

// Parse reads naira in plain decimal digits ("5000", "1500.5", "1500.00") and returns kobo. It
// refuses signs, exponents, blanks and amounts above Max. It refuses more than two decimals, unless
// the further decimals are zeros.
func Parse(s string) (Kobo, error) {
	k, err := parse(s)
	if err == nil && k > Max {
		return 0, ErrRange
	}
	return k, err
}

// parse is Parse for sums, which may be above Max.
func parse(s string) (Kobo, error) {
	if strings.HasPrefix(s, "-") {
		return 0, ErrNegative
	}
	whole, fraction, dotted := strings.Cut(s, ".")
	if !digits(whole) || dotted && !digits(fraction) {
		return 0, ErrSyntax
	}
	if len(strings.TrimRight(fraction, "0")) > 2 {
		return 0, ErrPrecision
	}
	whole = strings.TrimLeft(whole, "0")
	if len(whole) > 16 {
		return 0, ErrRange // kobo of more digits may not fit in 64 bits
	}
	cents := (fraction + "00")[:2]
	n, err := strconv.ParseInt(whole+cents, 10, 64)
	if err != nil {
		return 0, ErrSyntax
	}
	return Kobo(n), nil
}

// Asked reads the amount in a company's request. Unlike Parse, it refuses more than two decimals
// even if they are zeros (completion.md §1). Amounts from providers are read by Parse.
func Asked(s string) (Kobo, error) {
	k, err := Parse(s)
	if _, fraction, _ := strings.Cut(s, "."); err == nil && len(fraction) > 2 {
		return 0, ErrPrecision
	}
	return k, err
}

func digits(s string) bool {
	if s == "" {
		return false
	}
	for _, c := range []byte(s) {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}

// Decimal returns the amount in naira with exactly two decimals: "1500.00".
func (k Kobo) Decimal() string {
	sign, n := "", uint64(k)
	if k < 0 {
		sign, n = "-", -n
	}
	s := strconv.FormatUint(n, 10)
	for len(s) < 3 {
		s = "0" + s
	}
	return sign + s[:len(s)-2] + "." + s[len(s)-2:]
}

// Number returns the amount in naira as the shortest plain number: "5000", "1500.5".
func (k Kobo) Number() string {
	s := k.Decimal()
	if strings.HasSuffix(s, ".00") {
		return s[:len(s)-3]
	}
	return strings.TrimSuffix(s, "0")
}

// String returns the amount for display, with ₦ and two decimals.
func (k Kobo) String() string { return "₦" + k.Decimal() }

// MarshalJSON writes naira as a JSON number.
func (k Kobo) MarshalJSON() ([]byte, error) { return []byte(k.Number()), nil }

// UnmarshalJSON reads naira from a JSON number, without floating point. It accepts a negative
// number and one above Max, because responses have balances and the sums of all companies. Amounts in requests are read
// by Asked.
func (k *Kobo) UnmarshalJSON(b []byte) error {
	s, negative := strings.CutPrefix(string(b), "-")
	n, err := parse(s)
	if negative {
		n = -n
	}
	*k = n
	return err
}

// Text is an amount that JSON shows as a decimal string, such as "1500.00".
type Text Kobo

// MarshalJSON writes naira as a JSON string with two decimals.
func (t Text) MarshalJSON() ([]byte, error) {
	return []byte(`"` + Kobo(t).Decimal() + `"`), nil
}

// UnmarshalJSON reads naira from a JSON string. It accepts what the method of Kobo accepts.
func (t *Text) UnmarshalJSON(b []byte) error {
	s, err := strconv.Unquote(string(b))
	if err != nil {
		return ErrSyntax
	}
	return (*Kobo)(t).UnmarshalJSON([]byte(s))
}
