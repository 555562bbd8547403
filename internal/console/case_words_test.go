package console

import (
	"testing"

	"github.com/kobo-waas/kobo/internal/admin"
)

// A money row of a case has no name of the wire: accounts in words, amounts with ₦, and the minus sign that other amounts have.
func TestAMoneyRowOfACaseIsInWords(t *testing.T) {
	text := "7654.00 naira from provider/safehaven (-7654.00 left) to settlement/1 (1284906.40 there): payout, refund of 7654.00 naira"
	title, said := caseStepWords(admin.Step{What: "transfer", Text: text})
	if want := "Safe Haven, then −₦7,654.00 → Settlement account 1, then ₦1,284,906.40. Refund of ₦7,654.00"; title != "₦7,654.00 moved" || said != want {
		t.Errorf("%q, %q", title, said)
	}
	if title, said = caseStepWords(admin.Step{What: "transfer", Text: "something else"}); title != "Money moved" || said != "something else" {
		t.Errorf("%q, %q", title, said)
	}
}
