package console

import (
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/admin"
	"github.com/kobo-waas/kobo/internal/fault"
)

// paymentFilters are the names of the filters, as in the address.
// The operators' API calls the state word, because a payment has a state of its own there.
var paymentFilters = []string{"company", "kind", "state", "provider", "from", "to", "least", "most", "period", "after"}

func (c *console) paymentRoutes() map[string]route {
	return map[string]route{
		"GET /console/payments":      {show: showPayments, query: paymentFilters},
		"GET /console/payments.csv":  {download: exportingOfAll(exportPayments), query: paymentFilters},
		"GET /console/payments.xlsx": {download: exportingOfAll(exportPayments), query: paymentFilters},
	}
}

// choice is a value of a filter with its word.
type choice struct{ value, label string }

var (
	kindChoices = []choice{{"", "Every kind"}, {"payout", "Payouts"}, {"vtu", "Airtime, data, TV, power"}, {"card", "Card fundings"}, {"credit", "Credits"}, {"adjustment", "Adjustments"}, {"transfer", "Transfers"}}
	wordChoices = []choice{
		{"", "Every state"},
		{"open", "Without an outcome"},
		{"unconfirmed", "Failed or without an outcome"},
		{"unknown", "Unknown"},
		{"accepted", "Accepted"},
		{"case", "Case"},
		{"sending", "Sending"},
		{"paid", "Paid"},
		{"failed", "Failed, refunded"},
		{"reversed", "Reversed, refunded"},
		{"received", "Received"},
		{"ownerless", "Owner unknown"},
		{"assigned", "Assigned to a company"},
		{"waiting", "Waiting for approval"},
		{"booked", "Booked"},
		{"rejected", "Rejected"},
		{"withdrawn", "Withdrawn"},
	}
)

func showPayments(v *visit) (view, error) {
	q, err := v.paymentQuery()
	if err != nil {
		return view{}, err
	}
	var page admin.Payments
	if _, err := v.call("listPayments", admin.Input{Query: q}, &page); err != nil {
		return view{}, err
	}
	shown, err := v.columns(paymentTabs[0].path)
	return view{title: "Payments", item: "payments", body: paymentsPage(v, page, columnChoice{paymentTabs[0].path, shown}), rows: paymentKeys(page)}, err
}

// paymentQuery returns the filters of the address as the operators' API has them.
func (v *visit) paymentQuery() (url.Values, error) {
	q := url.Values{}
	for _, name := range paymentFilters {
		if value := v.filter(name, ""); value != "" && name != "state" {
			q.Set(name, value)
		}
	}
	if word := v.filter("state", ""); word != "" {
		if !slices.ContainsFunc(wordChoices, func(c choice) bool { return c.value == word }) {
			why := fault.Newf(fault.Invalid, "No state has the name %q.", word)
			for _, c := range wordChoices[1:] {
				why.Details = append(why.Details, c.value+": "+c.label)
			}
			return nil, why
		}
		q.Set("word", word)
	}
	for _, name := range []string{"least", "most"} {
		if value := q.Get(name); value != "" {
			q.Set(name, plainAmount(value))
		}
	}
	return v.spanned(q), nil
}

// paymentKeys returns what names each row.
func paymentKeys(page admin.Payments) []string {
	return rowKeys(page.Payments, func(p admin.Payment) string { return p.Reference })
}

// paymentChip returns the kind and the word of the chip for what a state means.
func paymentChip(p admin.Payment) (kind, word string) {
	if kind, word = doubtChip(p.Kind, p.Doubt, p.Word == "paid"); word != "" {
		return kind, word
	}
	switch p.Word {
	case "sending":
		return "wait", "Sending"
	case "accepted":
		return "wait", "Accepted"
	case "unknown":
		return "unknown", "Unknown"
	case "case":
		return "case", "Case"
	case "paid":
		return "ok", sentence(story{Timeline: admin.Timeline{Kind: p.Kind}}.purpose())
	case "failed":
		return "failed", "Failed, refunded"
	case "reversed":
		return "reversed", "Reversed, refunded"
	case "received":
		return "ok", "Received"
	case "ownerless":
		return "case", "Owner unknown"
	case "assigned":
		return "ok", "Assigned to a company"
	case "waiting":
		return "propose", "Waiting for approval"
	case "booked":
		return "ok", "Booked"
	case "rejected":
		return "failed", "Rejected, nothing moved"
	case "withdrawn":
		return "idle", "Withdrawn, nothing moved"
	}
	return "idle", sentence(p.Word)
}

// comesIn reports whether a payment brings money to the company.
func comesIn(p admin.Payment) bool {
	return p.Kind == "credit" || p.Kind == "adjustment" && strings.HasPrefix(optional(p.Counterparty), "credit")
}

// kindWord returns the name of a kind of payment.
func kindWord(kind string) string {
	switch kind {
	case "vtu":
		return "Purchase"
	case "card":
		return "Card funding"
	case "collection":
		return "Virtual account"
	}
	return sentence(kind)
}

// older returns the address of the next page.
func (v *visit) older(cursor string) string {
	q := v.URL.Query()
	q.Set("after", cursor)
	return v.URL.Path + "?" + q.Encode()
}

// companyWord returns the name of a payment's company.
func companyWord(p admin.Payment) string { return nameOr(p.CompanyName, p.Company) }

// nameOr returns a name, or the end of the reference of something without a name.
func nameOr(name *string, reference string) string {
	return ownerName(optional(name), reference)
}

// momentField returns the type of the field of a filter by time: a date, or a text if the address has an instant, which a
// field for dates would lose.
func (v *visit) momentField(name string) string {
	if value := v.filter(name, ""); value != "" {
		if _, err := time.Parse(time.DateOnly, value); err != nil {
			return "text"
		}
	}
	return "date"
}
