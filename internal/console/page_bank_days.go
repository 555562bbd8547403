package console

import (
	"fmt"
	"net/url"
	"slices"
	"time"

	"github.com/kobo-waas/kobo/internal/admin"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/report"
)

// bankDayFilters are the names of the filters, as in the address.
var bankDayFilters = []string{"from", "to", "provider"}

func (c *console) bankDayRoutes() map[string]route {
	return map[string]route{
		"GET /console/money/days":     {show: showBankDays, query: bankDayFilters},
		"GET /console/money/days.csv": {download: exportBankDays, query: bankDayFilters},
	}
}

// bankDayQuery returns the filters that the address has.
func (v *visit) bankDayQuery() url.Values {
	q := url.Values{}
	for _, name := range bankDayFilters {
		if value := v.filter(name, ""); value != "" {
			q.Set(name, value)
		}
	}
	return q
}

func showBankDays(v *visit) (view, error) {
	var p admin.BankDays
	_, err := v.call("listBankDays", admin.Input{Query: v.bankDayQuery()}, &p)
	return view{title: "Days of the banks", item: "money", body: bankDaysPage(v, p)}, err
}

// exportBankDays writes what the page shows, with every difference that is kept.
func exportBankDays(v *visit) error {
	return v.API.Download(v.Context(), v.w, v.by, "exportBankDays", admin.Input{Query: v.bankDayQuery()})
}

// exportBankDaysAddress returns the address of the file with the same filters.
func (v *visit) exportBankDaysAddress() string {
	if q := v.bankDayQuery(); len(q) > 0 {
		return "/console/money/days.csv?" + q.Encode()
	}
	return "/console/money/days.csv"
}

// unexplained returns the part of a day's difference that nobody has explained.
func unexplained(d admin.BankDay) money.Kobo { return d.Difference - d.Explained }

// isExplained reports whether the decision of a difference's case explains the whole difference.
func isExplained(f admin.BankDayBreak) bool {
	return optional(f.Status) == "RESOLVED" && f.Explained == f.Effect
}

// restWords says what a decision of a difference's case was about, and how the rest gets a case. The daily comparison covers the day of
// the rest again, unless the day is too old by then.
func (v *visit) restWords(d admin.BankDay, f admin.BankDayBreak) string {
	about := naira(f.Explained)
	if f.Explained == 0 {
		about = "another difference"
	}
	const day = 24 * time.Hour
	age := v.now().Sub(instant(d.Day + "T00:00:00+01:00"))
	if age <= report.LongestReach-day {
		return "The decision was about " + about + ". The next comparison opens another case."
	}
	return fmt.Sprintf("The decision was about %s. The day is too old for the daily comparison. The command “kobo reconcile --days %d” compares it again, and opens another case.",
		about, age/day+1)
}

// undecided returns the number of a day's differences that nobody has explained.
func undecided(d admin.BankDay) (n int) {
	for _, f := range d.Findings {
		if !isExplained(f) {
			n++
		}
	}
	return n
}

// bankDayChip returns the kind and the word of a day's state.
func bankDayChip(d admin.BankDay) (kind, word string) {
	switch n := undecided(d); {
	case n > 0:
		return "failed", count(n, "difference", "differences")
	case !d.ChargesCompared:
		return "wait", "Charges follow"
	case d.Breaks > 0:
		return "ok", "All explained"
	}
	return "ok", "Agrees"
}

// differences returns the number of the differences of all days.
func differences(days []admin.BankDay) (n int) {
	for _, d := range days {
		n += len(d.Findings)
	}
	return n
}

// bankChoices are the banks of the days that the page shows, to choose one of them.
func bankChoices(p admin.BankDays) []choice {
	out := []choice{{"", "Every bank"}}
	for _, d := range p.Days {
		if one := (choice{d.Provider, providerName(d.Provider)}); !slices.Contains(out, one) {
			out = append(out, one)
		}
	}
	return out
}

// whatToDo says what a person does about a difference.
func whatToDo(reason string) string {
	switch reason {
	case "UNBOOKED_CHARGE":
		return "Compare the charges with the bank’s prices. If they are right, two people decide “booked” in the case."
	case "NOT_ON_STATEMENT":
		return "Ask the bank whether it has moved the money. If another line of the statement is this payment, dismiss both cases."
	case "MISSING_CREDIT":
		return "Find out whose money it is. Two people assign it to a settlement account in the case."
	case "UNKNOWN_DEBIT":
		return "Ask the bank what the debit was for. Nothing of ours has asked for it."
	case "DUPLICATE_DEBIT":
		return "Claim the second debit back from the bank."
	case "FAILED_REVERSAL":
		return "Ask the bank where the money is. The payment and its return disagree."
	case "AMOUNT_DIFFERS":
		return "Ask the bank which amount is right."
	}
	return "Open the case."
}

// dayWords returns a day of the API as sentences have it: with its year unless it is this one.
func (v *visit) dayWords(text string) string {
	at := instant(text + "T00:00:00+01:00")
	if at.IsZero() {
		return text
	}
	return dayIn(at, v.now())
}

// bankDayLabel returns a day of the API as the table shows it, such as "Sun 22 Nov".
func bankDayLabel(day string) string {
	if at := instant(day + "T00:00:00+01:00"); !at.IsZero() {
		return dayLabel(at)
	}
	return day
}
