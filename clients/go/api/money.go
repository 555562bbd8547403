package api

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Kobo is an amount of money in kobo. One naira has 100 kobo.
//
// The contract writes naira: as a JSON number (1500.5), and for purchases as a text ("1500.50"). Kobo
// reads both forms digit by digit, and never uses a float.
type Kobo int64

// errMoney is the error of a text that is not an amount in naira.
var errMoney = errors.New("kobo: an amount in naira has digits and at most two decimals")

// ParseNaira reads an amount in naira, such as "1500", "1500.5" or "-0.05".
func ParseNaira(text string) (Kobo, error) {
	digits, negative := strings.CutPrefix(text, "-")
	naira, decimals, point := strings.Cut(digits, ".")
	if point && (decimals == "" || len(decimals) > 2) || naira == "" || naira[0] == '+' || naira[0] == '-' {
		return 0, errMoney
	}
	if negative {
		naira = "-" + naira
	}
	amount, err := strconv.ParseInt(naira+(decimals + "00")[:2], 10, 64)
	if err != nil {
		return 0, errMoney
	}
	return Kobo(amount), nil
}

// String returns the amount in naira with two decimals, such as "1500.50".
func (k Kobo) String() string {
	sign, amount := "", uint64(k)
	if k < 0 {
		sign, amount = "-", -amount
	}
	return fmt.Sprintf("%s%d.%02d", sign, amount/100, amount%100)
}

// MarshalJSON writes the amount in naira as a number, which is the form of all requests.
func (k Kobo) MarshalJSON() ([]byte, error) {
	return []byte(strings.TrimSuffix(k.String(), ".00")), nil
}

// UnmarshalJSON reads an amount in naira from a number or a text.
func (k *Kobo) UnmarshalJSON(text []byte) error {
	inner := string(text)
	if len(text) > 1 && text[0] == '"' && text[len(text)-1] == '"' {
		inner = inner[1 : len(inner)-1]
	}
	amount, err := ParseNaira(inner)
	if err == nil {
		*k = amount
	}
	return err
}
