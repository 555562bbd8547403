package report

import "testing"

// What may be somebody's number is masked, and what names things is not.
func TestLongNumbersAreMasked(t *testing.T) {
	for said, want := range map[string]string{
		"to 0123456789":                        "to ******6789",
		"card 5399 8345 1234 5678, thanks":     "card ***************5678, thanks",
		"5399-8345-1234-5678":                  "***************5678",
		"0192f3a0-1111-7000-8000-00000000000a": "0192f3a0-1111-7000-8000-00000000000a",
		"on 2030-01-02 of 1000.00":             "on 2030-01-02 of 1000.00",
	} {
		if got := mask(said); got != want {
			t.Errorf("%s: %s", said, got)
		}
	}
}
