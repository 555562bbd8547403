package chain

import (
	"errors"
	"math/big"
	"strings"

	"github.com/shopspring/decimal"
)

// The longest text and the largest exponent of an amount. Even 2^256 has only 78 digits, so a
// longer text is an attack.
const (
	mostDigits   = 100
	mostExponent = 40
)

var errAmount = errors.New("this is no amount of the asset")

// ParseUnits parses an amount in whole units of an asset, such as "0.25" or "2.5e-1". It returns
// the amount in the asset's smallest units. ParseUnits does not round, so it returns an error for
// an amount with too many decimals.
func ParseUnits(text string, decimals int) (*big.Int, error) {
	if text == "" || len(text) > mostDigits || strings.Trim(text, "+-.eE0123456789") != "" {
		return nil, errAmount
	}
	d, err := decimal.NewFromString(text)
	if err != nil || d.Exponent() > mostExponent || d.Exponent() < -mostDigits {
		return nil, errAmount
	}
	d = d.Shift(int32(decimals))
	if !d.IsInteger() {
		return nil, errAmount
	}
	return d.BigInt(), nil
}

// FormatUnits returns an amount of smallest units as text in whole units, such as "0.25". The text
// has no exponent and no trailing zeros.
func FormatUnits(units *big.Int, decimals int) string {
	return decimal.NewFromBigInt(units, -int32(decimals)).String()
}

// Whole returns an amount of smallest units in whole units, without the fraction.
func Whole(units *big.Int, decimals int) *big.Int {
	return new(big.Int).Quo(units, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(decimals)), nil))
}
