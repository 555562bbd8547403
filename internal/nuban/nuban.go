// Package nuban checks and makes Nigerian uniform bank account numbers (NUBAN standard of the
// Central Bank of Nigeria). A number has ten digits. The bank chooses nine of them, and the tenth
// is a check digit that reveals typing errors.
//
// The check digit depends on the bank's code, so a number is valid only for some banks. Only the
// bank knows whether the account exists.
package nuban

import (
	"errors"
	"fmt"
)

// weights contains the factors for the six digits of the bank code and the nine digits of the
// serial number. The code of a deposit money bank has three digits. Three zeros in front of the
// code do not change the sum.
const weights = "373373373373373"

var errShape = errors.New("nuban: a bank code has 3 or 6 digits and a serial number has 9")

// Check returns the check digit, which is the tenth digit of an account number. The bank code has
// three or six digits, and the serial number has nine.
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

// Valid reports whether account is a well-formed account number of the bank.
func Valid(bankCode, account string) bool {
	if len(account) != 10 {
		return false
	}
	digit, err := Check(bankCode, account[:9])
	return err == nil && digit == account[9]
}

// Make returns the account number of a bank for a serial number.
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
