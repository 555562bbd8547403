// Package nuban knows the Nigerian uniform bank account number: ten digits, nine
// of which the bank chooses and the last of which proves that nobody mistyped
// the others (Central Bank of Nigeria, NUBAN standard).
//
// The check digit depends on the bank's code, so a number is right or wrong at a
// bank. That an account exists only the bank knows.
package nuban

import (
	"errors"
	"fmt"
)

// weights are laid over the six digits of the institution's code and the nine of
// the serial number. A deposit money bank's code has three digits; the three
// zeros in front of it change nothing.
const weights = "373373373373373"

var errShape = errors.New("nuban: a bank code has 3 or 6 digits and a serial number has 9")

// Check is the tenth digit of the account with this nine-digit serial number at
// the bank with this code of three (or six) digits.
func Check(bankCode, serial string) (byte, error) {
	if len(bankCode) == 3 {
		bankCode = "000" + bankCode
	}
	if len(bankCode) != 6 || len(serial) != 9 {
		return 0, errShape
	}
	sum := 0
	for i, c := range []byte(bankCode + serial) {
		if c < '0' || c > '9' {
			return 0, errShape
		}
		sum += int(c-'0') * int(weights[i]-'0')
	}
	return byte('0' + (10-sum%10)%10), nil
}

// Valid tells whether account is a well-formed number of that bank.
func Valid(bankCode, account string) bool {
	if len(account) != 10 {
		return false
	}
	digit, err := Check(bankCode, account[:9])
	return err == nil && digit == account[9]
}

// Make is the account number for a serial number of the bank.
func Make(bankCode string, serial int64) (string, error) {
	if serial < 0 || serial > 999_999_999 {
		return "", errShape
	}
	nine := fmt.Sprintf("%09d", serial)
	digit, err := Check(bankCode, nine)
	if err != nil {
		return "", err
	}
	return nine + string(digit), nil
}
