package report_test

import (
	"testing"

	"github.com/kobo-waas/kobo/internal/report"
)

func TestTextOfPeopleIsMasked(t *testing.T) {
	for text, want := range map[string]string{
		"call 08099887766":                     "call *******7766",
		"to ngozi@gmail.com, rent":             "to n•••@g•••.com, rent",
		"<ngozi.o@mail.example.com>":           "<n•••@m•••.com>",
		"01a218d5-3434-72eb-bad1-42d07b806479": "01a218d5-3434-72eb-bad1-42d07b806479",
		"invoice 2026, ₦1,500.50":              "invoice 2026, ₦1,500.50",
		"":                                     "",
	} {
		if got := report.MaskText(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
