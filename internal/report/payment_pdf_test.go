package report_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/report"
)

// A proof of payment is one page with the payment, its session and the issuer. It does not show the fee.
func TestAProofOfPaymentShowsThePayment(t *testing.T) {
	at := time.Date(2026, 3, 14, 9, 26, 53, 0, time.UTC)
	s := report.WithLetterhead(nil, clock.At(at), report.Issuer{Name: "Sample Fintech", Support: "0700 000 0000"})
	var out bytes.Buffer
	if err := s.ProofOfPayment(&out, report.ProvenPayout{
		Company: "Demo Company", Name: "OKAFOR EMEKA", Account: "0123456702", Bank: "Sample Bank", Reference: "ref-1", Session: "999240260314092653000000000001",
		Narration: "Rent, March", Words: "one million two hundred thousand naira", Amount: 1_200_000 * money.Naira, Asked: at.Add(-time.Minute), Known: at,
	}); err != nil {
		t.Fatal(err)
	}
	p := readPaper(t, out.Bytes())
	if len(p.pages) != 1 {
		t.Fatalf("%d pages", len(p.pages))
	}
	var text strings.Builder
	for _, w := range p.pages[0] {
		text.WriteString(w.text + "\n")
	}
	for _, want := range []string{
		"Proof of payment", "Sample Fintech", "Demo Company", "OKAFOR EMEKA", "0123456702", "Sample Bank", "Rent, March", "1,200,000.00", "one million two hundred thousand naira",
		"999240260314092653000000000001", "ref-1", "14 March 2026, 10:26:53",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the page lacks %q:\n%s", want, text.String())
		}
	}
	if strings.Contains(strings.ToLower(text.String()), "fee") {
		t.Errorf("the page shows a fee:\n%s", text.String())
	}
}
