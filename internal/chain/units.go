package chain

import (
	"errors"
	"math/big"
	"strings"

	"github.com/shopspring/decimal"
)

// What an amount may look like before anything computes with it: longer ones are
// an attack and no amount. 2^256 has 78 digits.
const (
	mostDigits   = 100
	mostExponent = 40
)

var errAmount = errors.New("this is no amount of the asset")

// ParseUnits reads an amount in whole units of an asset ("0.25", also "2.5e-1")
// as smallest units, exactly: one with more decimals than the asset has is an
// error and is not rounded.
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

// FormatUnits writes smallest units as whole ones: "0.25". It ends where the
// amount does, and never uses an exponent.
func FormatUnits(units *big.Int, decimals int) string {
	return decimal.NewFromBigInt(units, -int32(decimals)).String()
}

// Whole is the amount without its fraction.
func Whole(units *big.Int, decimals int) *big.Int {
	return new(big.Int).Quo(units, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(decimals)), nil))
}
