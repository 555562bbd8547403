package chain

import (
	"errors"
	"math/big"
	"strings"

	"github.com/shopspring/decimal"
)

// These limit the text of an amount. A longer text is an attack, since 2^256 has 78 digits.
const (
	mostDigits   = 100
	mostExponent = 40
)

var errAmount = errors.New("this is no amount of the asset")

// ParseUnits reads an amount in whole units of an asset ("0.25", also "2.5e-1") and returns
// the smallest units. It does not round: an amount with too many decimals is an error.
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

// FormatUnits writes smallest units as whole units: "0.25", without an exponent or zeros at
// its end.
func FormatUnits(units *big.Int, decimals int) string {
	return decimal.NewFromBigInt(units, -int32(decimals)).String()
}

// Whole returns the amount without its fraction.
func Whole(units *big.Int, decimals int) *big.Int {
	return new(big.Int).Quo(units, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(decimals)), nil))
}
