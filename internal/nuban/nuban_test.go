package nuban_test

import (
	"testing"

	"github.com/kobo-waas/kobo/internal/nuban"
)

// The first number is the example in the Central Bank's standard. The other numbers were computed
// by hand with the weights of the standard.
func TestVectors(t *testing.T) {
	for _, v := range []struct {
		bank    string
		serial  int64
		account string
	}{
		{"011", 1457, "0000014579"},
		{"000011", 1457, "0000014579"},
		{"058", 0, "0000000001"},            // the check digit follows from 5·7+8·3 = 59
		{"044", 123456789, "1234567895"},    // 40 for the code and 195 for the serial number
		{"000", 0, "0000000000"},            // the sum is 0, because all digits are zero
		{"090286", 100000000, "1000000004"}, // 9·7+2·3+8·7+6·3 = 143 for the code, and 3 for the serial number
	} {
		got, err := nuban.Make(v.bank, v.serial)
		if err != nil || got != v.account {
			t.Errorf("%s %d: %s, %v; want %s", v.bank, v.serial, got, err, v.account)
		}
		if !nuban.Valid(v.bank, v.account) {
			t.Errorf("%s is not valid at %s", v.account, v.bank)
		}
	}
}

// The check digit reveals every single wrong digit, because all weights are coprime with ten.
func TestOneWrongDigit(t *testing.T) {
	const right = "0000014579"
	for i := range right {
		for d := byte('0'); d <= '9'; d++ {
			b := []byte(right)
			b[i] = d
			if got, want := nuban.Valid("011", string(b)), string(b) == right; got != want {
				t.Errorf("%s: valid %v", b, got)
			}
		}
	}
}

func TestShapes(t *testing.T) {
	for _, v := range [][2]string{
		{"011", "000001457"}, {"011", "00000145790"}, {"01", "0000014579"}, {"0x1", "0000014579"}, {"011", "00000x4579"}, {"", ""},
	} {
		if nuban.Valid(v[0], v[1]) {
			t.Errorf("%q at %q is valid", v[1], v[0])
		}
	}
	for _, serial := range []int64{-1, 1_000_000_000} {
		if got, err := nuban.Make("011", serial); err == nil {
			t.Errorf("serial %d made %s", serial, got)
		}
	}
	if _, err := nuban.Make("12", 1); err == nil {
		t.Error("a bank code of two digits")
	}
}
