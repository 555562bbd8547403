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
			w.t.Fatal(err)
		}
		g := w.seat(young.Reference, "ada", who.Owner).get("/app/payouts/bulk")
		if g.status != http.StatusForbidden || !strings.Contains(g.text, "<h1>The company is not verified yet</h1>") || strings.Contains(g.text, "role does not allow") {
			t.Errorf("%d %s", g.status, g.text)
		}
	})
}

// A comma is never read as a decimal one, nor dropped from between two digits that it may divide. The form says so and
// keeps what was typed.
func TestAnOperatorsCommaIsBetweenThousandsOnly(t *testing.T) {
	w := open(t)
	fay := w.add("fay", operator.Admin)
	company := "/console/companies/" + w.company.Reference + "/change/"
	adjustment := map[string]string{"account": "1", "direction": "credit", "reason": "a missing credit"}
	for _, form := range []struct {
		change, field, says string
		others              map[string]string
	}{
		{"adjustment", "amount", "The amount must be an amount in naira", adjustment},
		{"fees", "flat", "Flat in row 1 must be an amount in naira", map[string]string{"from": "0"}},
		{"limit", "payouts", "The number of payouts must be a whole number", map[string]string{"amount": "5"}},
	} {
		for _, typed := range []string{"1,50", "1,5", "1,2,3", "1 50", "1,0000", "1,", ",100", "1,000,50"} {
			fields := map[string]string{form.field: typed}
			for name, value := range form.others {
				fields[name] = value
			}
			g := fay.send(company+form.change, fay.form(company+form.change, fields))
			if g.status != http.StatusUnprocessableEntity || !strings.Contains(g.text, form.says) || !strings.Contains(g.text, `value="`+typed+`"`) {
				t.Errorf("%s of %q: %d %s", form.change, typed, g.status, g.location)
			}
		}
	}
	for typed, want := range map[string]string{"₦ 1,234.5": "₦1,234.50", "1 234 567": "₦1,234,567.00", "1500": "₦1,500.00"} {
		adjustment["amount"] = typed
		if text, _ := fay.look(company+"adjustment", adjustment); !strings.Contains(text, want) {
			t.Errorf("%q is not %s", typed, want)
		}
	}
	if text, _ := fay.look(company+"limit", map[string]string{"amount": "5,000", "payouts": "1,500"}); !strings.Contains(text, "1500 payouts") && !strings.Contains(text, "1,500 payouts") {
		t.Error(text)
	}
	if g := fay.get("/console/payments?least=1,50"); g.status != http.StatusBadRequest {
		t.Errorf("the filter of payments takes 1,50: %d", g.status)
	}
	if g := fay.send("/console/search", fay.form("/console/payments", map[string]string{"q": "₦1,50"})); g.status != http.StatusUnprocessableEntity {
		t.Errorf("the search takes ₦1,50: %d %s", g.status, g.location)
	}
}

// The first form of a payout refuses an amount that nobody can pay, before the bank is asked. What was typed stays.
func TestAPayoutOfNoAmountIsRefusedAtItsFirstForm(t *testing.T) {
	w := open(t)
	ada := w.seat(w.company.Reference, "ada", who.Owner)
	for typed, says := range map[string]string{
		"0": "more than ₦0.00", "0.00": "more than ₦0.00", "0.001": "no more than 2 decimal places", "999999999999": "larger than the largest amount",
	} {
		g := ada.send("/app/payouts/check", ada.form("/app/payouts/new", map[string]string{
			"bank_code": "000013", "account_number": "0123456710", "amount": typed, "fromSettlementId": "1", "pin": w.company.PIN, "narration": "for rice",
		}))
		if g.status != http.StatusUnprocessableEntity || !strings.Contains(g.text, says) || !strings.Contains(g.text, `value="`+typed+`"`) || !strings.Contains(g.text, `value="for rice"`) {
			t.Errorf("%s: %d %s %s", typed, g.status, g.location, g.text)
		}
	}
}
