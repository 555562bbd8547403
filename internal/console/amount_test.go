package console_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/kobo-waas/kobo/internal/console"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operator"
	who "github.com/kobo-waas/kobo/internal/person"
)

// From a million naira on, an amount has words. They end where the digits end.
func TestALargeAmountHasWords(t *testing.T) {
	for k, want := range map[money.Kobo]string{
		999_999_99: "", 0: "", -999_999_99: "",
		1_000_000_00:              "one million naira",
		-1_000_000_00:             "minus one million naira",
		1_200_000_50:              "one million two hundred thousand naira and 50/100",
		12_019_021_05:             "twelve million nineteen thousand twenty-one naira and 05/100",
		1_284_906_112_40:          "one billion two hundred eighty-four million nine hundred six thousand one hundred twelve naira and 40/100",
		100_000_000_000_00:        "one hundred billion naira",
		92_233_720_368_547_758_07: "ninety-two quadrillion two hundred thirty-three trillion seven hundred twenty billion three hundred sixty-eight million five hundred forty-seven thousand seven hundred fifty-eight naira and 07/100",
	} {
		if got := console.InWords(k); got != want {
			t.Errorf("%s is %q, not %q", k, got, want)
		}
	}
}

// Before somebody asks for a large correction of a balance, the page repeats the amount in words.
func TestAConfirmationRepeatsALargeAmountInWords(t *testing.T) {
	each(t, func(w *world) {
		fay := w.add("fay", operator.Finance)
		path := "/console/companies/" + w.company.Reference + "/change/adjustment"
		for amount, words := range map[string]string{"1,200,000.50": "In words: one million two hundred thousand naira and 50/100.", "999999.99": ""} {
			text, _ := fay.look(path, map[string]string{"account": "1", "direction": "credit", "amount": amount, "reason": "a missing credit"})
			if strings.Contains(text, "In words:") != (words != "") || !strings.Contains(text, words) || !strings.Contains(text, "What will happen") {
				t.Errorf("%s: %s", amount, text)
			}
		}
	})
}

// A refusal for the company's verification says so in its title, and does not blame the person's role.
func TestARefusalNamesTheVerification(t *testing.T) {
	each(t, func(w *world) {
		young, _, err := w.app.Companies.Create(t.Context(), operator.Local("test"), "Young")
		if err != nil {
			t.Fatal(err)
		}
		g := w.seat(young.Reference, "ada", who.Owner).get("/app/payouts/bulk")
		if g.status != http.StatusForbidden || !strings.Contains(g.text, "<h1>The company is not verified yet</h1>") || strings.Contains(g.text, "role does not allow") {
			t.Errorf("%d %s", g.status, g.text)
		}
	})
}
