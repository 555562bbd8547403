package console

import (
	"slices"
	"testing"

	"github.com/kobo-waas/kobo/internal/admin"
)

// A money row has no name of the wire: accounts in words, amounts with ₦, and the minus sign that other amounts have.
func TestAMoneyRowIsInWords(t *testing.T) {
	r := story{Timeline: admin.Timeline{Steps: []admin.TimelineStep{{
		What: "transfer", Lane: "money", Text: "7654.00 naira from provider/safehaven (-7654.00 left) to settlement/1 (1284906.40 there): payout, refund of 7654.00 naira",
		Transfer: &admin.TimelineTransfer{Debit: "provider/safehaven", Credit: "settlement/1", Amount: 7_654_00, DebitBalance: -7_654_00, CreditBalance: 1_284_906_40},
	}}}}.rows()[0]
	got := []string{r.title, r.moved.from, naira(*r.moved.left), naira(r.moved.amount), r.moved.to, naira(*r.moved.then)}
	want := []string{"₦7,654.00 moved", "Safe Haven", "−₦7,654.00", "₦7,654.00", "Settlement account 1", "₦1,284,906.40"}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// Polls with the same answer that last for days say the day of the last one. Its time alone would be read as of the same day.
func TestFoldedPollsSayTheDayOfTheLastOne(t *testing.T) {
	const title = "polls 1 to 18, 18 equal answers, the last at 2030-03-07T05:29:35Z"
	for at, want := range map[string]string{
		"2030-03-04T03:08:26Z": "Asked again 18 times until Thu 7 Mar, 06:29:35: the same answer",
		"2030-03-07T03:08:26Z": "Asked again 18 times until 06:29:35: the same answer",
	} {
		if got := askedAgain(title, instant(at)); got != want {
			t.Errorf("from %s on: %q", at, got)
		}
	}
}

// A timeline names the day of its first row, and each new day of Lagos.
func TestATimelineNamesItsDays(t *testing.T) {
	var rows []row
	for _, at := range []string{"2029-12-31T22:59:59Z", "2029-12-31T23:00:00Z", "2030-01-01T10:00:00Z", "2030-01-02T10:00:00Z"} {
		rows = append(rows, row{at: instant(at)})
	}
	want := []string{"Mon 31 Dec 2029", "Tue 1 Jan", "", "Wed 2 Jan"}
	for i, r := range withDays(rows, instant("2030-01-05T10:00:00Z")) {
		if r.day != want[i] {
			t.Errorf("row %d: %q, want %q", i, r.day, want[i])
		}
	}
}

// A sentence may begin with the sign of the naira, which has three bytes.
func TestASentenceBeginsWithAnySign(t *testing.T) {
	for text, want := range map[string]string{"": "", "₦5 of nobody": "₦5 of nobody", "no outcome": "No outcome"} {
		if got := sentence(text); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}
