package console

import (
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/api"
	"github.com/kobo-waas/kobo/internal/operation"
)

// outcomes are what is known about payments without an outcome, by their references.
type outcomes map[string]api.Outcome

// outcomesOf reads what is known about payments that have no outcome, however old they are, and about those whose outcome is
// contradicted. The map has the state of each payment by its reference.
func (v *visit) outcomesOf(states map[string]string) (outcomes, error) {
	out := outcomes{}
	var pending, ended []string
	for reference, state := range states {
		if state == "PENDING" {
			pending = append(pending, reference)
		} else {
			ended = append(ended, reference)
		}
	}
	doubts, err := v.Reports.Doubts(v.Context(), v.who.Company, ended)
	if err != nil {
		return nil, err
	}
	for reference, doubt := range doubts {
		out[reference] = api.Outcome{Reference: reference, Doubt: doubtOf(doubt)}
	}
	for some := range slices.Chunk(pending, 100) {
		var l listOf[api.Outcome]
		q := url.Values{"references": {strings.Join(some, ",")}, "pageSize": {"100"}}
		if _, err := v.ask("GET", "/api/v1/outcomes?"+q.Encode(), nil, &l); err != nil {
			return nil, err
		}
		for _, o := range l.Data.Data {
			out[o.Reference] = o
		}
	}
	return out, nil
}

// eachRow calls f with the rows of a list of the companies' API, until f has enough. The address ends with ? or &.
func eachRow[R any](v *visit, list string, f func(R) (enough bool)) error {
	for next := new(string); next != nil; {
		l, err := rowsAfter[R](v, list+"pageSize=100", *next)
		if err != nil || slices.ContainsFunc(l.rows, f) {
			return err
		}
		next = l.next
	}
	return nil
}

// chipNow returns the chip of a payment of a kind. Without an outcome, and in doubt, it says the same as the page of the payment.
func (v *visit) chipNow(of, reference, status string, known outcomes) (kind, word string) {
	switch o, there := known[reference]; {
	case there && status == "PENDING":
		return pendingChip(o, v.now())
	case there && o.Doubt != nil:
		return doubtChip(of, o.Doubt, status == "SUCCESS")
	}
	return stateChipOf(of, status)
}

// fundings are the card fundings of the company without an outcome, the newest first.
type fundings struct {
	open  []api.Outcome
	isAll bool // there are no more
}

// openFundings returns the card fundings without an outcome.
func (v *visit) openFundings() (out fundings, err error) {
	list, isAll, err := v.Reports.OpenFundings(v.Context(), v.who.Company)
	out.isAll = isAll
	for _, o := range list {
		out.open = append(out.open, api.OutcomeOf(o))
	}
	return out, err
}

// pendingChip returns the chip of a payment without an outcome. Before the end of the first call the outcome is not
// unknown: nobody has been asked, or the answer may still come.
func pendingChip(o api.Outcome, now time.Time) (kind, word string) {
	kind, word = pendingState(o, now)
	if o.NextTryAt != nil && !o.NeedsDecision && !isSending(o, now) {
		word += ", next " + instant(*o.NextTryAt).In(lagos).Format("15:04")
	}
	return kind, word
}

// wordOf returns the word for the state of a payment without an outcome, as the operators' timeline has it.
func wordOf(o api.Outcome, now time.Time) string {
	switch {
	case o.NeedsDecision:
		return "case"
	case isSending(o, now):
		return "sending"
	case isAccepted(o):
		return "accepted"
	}
	return "unknown"
}

// pendingState returns the chip without the time at which the provider is asked again.
func pendingState(o api.Outcome, now time.Time) (kind, word string) {
	switch wordOf(o, now) {
	case "case":
		return "case", "Case"
	case "sending":
		return "wait", "Sending"
	case "accepted":
		return "wait", "Accepted"
	}
	return "unknown", "Unknown for " + age(now.Sub(instant(o.CreatedAt)))
}

// isAccepted reports whether the last answer says that the provider has accepted the payment and has not finished it. The answer
// is a word such as "unknown (09)".
func isAccepted(o api.Outcome) bool {
	outcome, code, _ := strings.Cut(strings.TrimSuffix(optional(o.LastAnswer), ")"), " (")
	return operation.IsAccepted(o.Type, outcome, code)
}

// isSending reports whether the first call to the provider is still to come or under way.
func isSending(o api.Outcome, now time.Time) bool {
	return o.LastAnswer == nil && o.Attempts == 0 && o.NextTryAt != nil && now.Before(instant(*o.NextTryAt))
}
