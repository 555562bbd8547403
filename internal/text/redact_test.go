package text_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/kobo-waas/kobo/internal/text"
)

// The log shows of a refused body only the names of the contract, and amounts and ids.
func TestRedactedBodies(t *testing.T) {
	for body, want := range map[string]string{
		`{"amount":1500.50,"pin":"1234","settlementId":1}`:           `{"amount":1500.50,"pin":"<4 characters>","settlementId":1}`,
		`{"pin":1234,"bvn":22123456789,"amount":22123456789}`:        `{"amount":"<number>","bvn":"<number>","pin":"<number>"}`,
		`{"amount":"0803 123 4567","bank_code":"08031234567"}`:       `{"amount":"<13 characters>","bank_code":"<11 characters>"}`,
		`{"bank_code":"000014","amount":"1500"}`:                     `{"amount":"1500","bank_code":"000014"}`,
		`{"ada@example.com":"x","Ada Obi":null,"línea":true}`:        `{"<name>":`,
		`{"lines":[{"amount":5,"narration":"Rent for Ada"}]}`:        `{"lines":[{"amount":5,"narration":"<12 characters>"}]}`,
		`{"metadata":{"amount":"Ada Obi","settlementId":"ada obi"}}`: `{"metadata":{"amount":"<7 characters>","settlementId":"<7 characters>"}}`,
		`{"verify_id":"01a20611-b6a0-70c1-9439-234567890123"}`:       `{"verify_id":"01a20611-b6a0-70c1-9439-234567890123"}`,
		`["22123456789",true,null,"Ada"]`:                            `["<11 characters>",true,null,"<3 characters>"]`,
	} {
		dec := json.NewDecoder(strings.NewReader(body))
		dec.UseNumber()
		var value any
		if err := dec.Decode(&value); err != nil {
			t.Fatal(err)
		}
		got := text.Redacted(value, 2048)
		if !strings.HasPrefix(got, want) {
			t.Errorf("%s:\n%s, want\n%s", body, got, want)
		}
	}
	long := make([]any, 5000)
	if got := text.Redacted(map[string]any{"narration": "Ada", "lines": long}, 2048); len(got) != 2048 || !strings.HasSuffix(got, "...") {
		t.Errorf("a long body has %d bytes", len(got))
	}
}

// The answer of somebody else's program keeps its words, but no address, no long number and no key.
func TestRedactedAnswers(t *testing.T) {
	for body, want := range map[string]string{
		"":             "",
		" no thanks\n": "no thanks",
		`{"error":"Ada is unknown","code":17,"amount":500}`: `{"amount":500,"code":"<number>","error":"<14 characters>"}`,
		`{"error":"cut`:          `<13 characters>`,
		"line 1\nline\x00 2\xff": "line 1 line  2\uFFFD",
		"<p>mail ada@example.com or call 08031234567</p>": "<p>mail <address> or call <number></p>",
		"key whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD":      "key <text>",
		"SQLIntegrityConstraintViolationException":        "SQLIntegrityConstraintViolationException",
		"order 0199c1f2-7b1e-7c0a-9d3e-2f6a1b0c4d5e":      "order 0199c1f2-7b1e-7c0a-9d3e-2f6a1b0c4d5e",
	} {
		if got := text.RedactedBody([]byte(body), 1024); got != want {
			t.Errorf("%q:\n%q, want\n%q", body, got, want)
		}
	}
	if got := text.RedactedBody([]byte(strings.Repeat("aé", 1000)), 1024); len(got) > 1024 || len(got) < 1022 || !strings.HasSuffix(got, "...") || strings.Contains(got, "\uFFFD") {
		t.Errorf("%d bytes: %q", len(got), got[len(got)-10:])
	}
}

// A provider repeats a reference of Kobo in its words. It stays readable, also with many digits in it. A number of an
// account, a phone, a card or a BVN beside it does not.
func TestReferencesOfKoboStayReadable(t *testing.T) {
	const ref, digits = "0199c1f2-7b1e-7c0a-9d3e-2f6a1b0c4d5e", "01920611-3344-7123-9439-234567890123"
	for body, want := range map[string]string{
		"Transfer " + digits + " not found":                         "Transfer " + digits + " not found",
		"paymentReference=" + ref + ", account 0123456789":          "paymentReference=" + ref + ", account <number>",
		ref + " to 5061000000000000001 by 08031234567":              ref + " to <number> by <number>",
		"ref:" + digits + "/22212345678":                            "ref:" + digits + "/<number>",
		`{"paymentReference":"` + digits + `","bvn":"22212345678"}`: `{"bvn":"<11 characters>","paymentReference":"` + digits + `"}`,
		`{"narration":"Payout ` + ref + ` to ADA 0123456789"}`:      `{"narration":"<7 characters>` + ref + `<18 characters>"}`,
		`{"card":"4111111111111111","pan":"4111-1111-1111-1111"}`:   `{"card":"<16 characters>","pan":"<19 characters>"}`,
		// Numbers in groups.
		"card 4111 1111 1111 1111, 4111-1111-1111-1111 or 222 1234 5678": "card <number>, <number> or <number>",
		"call 0803 123 4567, account 012-345-6789":                       "call <number>, account <number>",
		"at 2026-11-24 10:15:00 for 18250.50, code 00-17":                "at 2026-11-24 10:15:00 for 18250.50, code 00-17",
		// What only looks like a reference.
		"41111111-1111-7111-8111-022212345678":           "<number>",
		"sent to " + ref + "@example.com":                "sent to <address>",
		"x" + digits:                                     "<text>",
		digits + "22212345678":                           "<text>",
		"0192061133447123943922212345678":                "<number>",
		"01920611-3344-4123-9439-234567890123 of theirs": "<number> of theirs",
	} {
		if got := text.RedactedBody([]byte(body), 1024); got != want {
			t.Errorf("%q:\n%q, want\n%q", body, got, want)
		}
	}
}
