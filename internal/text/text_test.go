package text_test

import (
	"testing"

	"github.com/kobo-waas/kobo/internal/text"
)

func TestTrim(t *testing.T) {
	for given, want := range map[string]string{
		"":                               "",
		" Ada\u00a0Obi\t":                "Ada\u00a0Obi",
		"\u200b\u200b":                   "",
		"\ufeffAda\u00ad":                "Ada",
		"\u2800\u3164\u115f\u1160\uffa0": "",
		"Zo\u0308":                       "Zo\u0308",
		"x\u200d":                        "x",
		" -- ":                           "--",
	} {
		if got := text.Trim(given); got != want {
			t.Errorf("%q became %q, want %q", given, got, want)
		}
	}
}
