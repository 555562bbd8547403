package console

import (
	"encoding/json"
	"net/url"

	"github.com/kobo-waas/kobo/internal/api"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/money"
)

// A form about money has two pages. The second one, the review, shows what would leave which account, and asks once more.
// What somebody has typed waits in memory for five minutes, under the name in the address of the review.

// review keeps what somebody has typed, and returns the address of its review.
func (v *visit) review(path string, typed any) (string, error) {
	text, err := json.Marshal(typed)
	return path + "/" + v.answers.keep(v.session, text), err
}

// reviewed reads what the page reviews. The list is where somebody sees whether the button was pressed already.
func (v *visit) reviewed(into any, list string) error {
	text, there := v.answers.read(v.session, v.PathValue("n"))
	if !there {
		return fault.Newf(fault.Missing, "This page is too old. Look at the %s before you begin again: if you have pressed the button, it is there.", list)
	}
	return json.Unmarshal(text, into)
}

// reviewForm returns the number of the form of a review. After a refusal that the API keeps with the number, it is another
// one, so that the form can be sent again.
func (v *visit) reviewForm() string {
	n := v.PathValue("n")
	if v.problem != nil && (v.problem.Kind == fault.Refused || v.problem.Kind == fault.Missing) {
		v.answers.renew(v.session, n, v.number)
	}
	return v.answers.form(v.session, n)
}

// reviewing makes the requests of a form of a review carry the number of the review, whatever number the form has. So one
// review moves money once, also from two pages.
func (v *visit) reviewing() { v.number = v.answers.form(v.session, v.PathValue("n")) }

// reviewDone returns the page of the payment that a review has begun, also if it was declined or is not known yet. The
// review leads there from now on.
func (v *visit) reviewDone(page string, err error) (string, error) {
	if story := storyOf(err); story != "" {
		page, err = story, nil
	}
	if err == nil {
		v.answers.finish(v.session, v.PathValue("n"), page)
	}
	return page, err
}

// price is what a request would take from an account.
type price struct {
	Succeeds                                  bool
	Refusal                                   string
	Amount, Fee, Total, Balance, BalanceAfter money.Kobo
}

// errChanged says that a price is not the one that the review has shown.
func errChanged(was, is price) error {
	return fault.Newf(fault.Conflict, "The price has changed: it was %s and %s fee, and is %s and %s fee now. Begin again.",
		naira(was.Amount), naira(was.Fee), naira(is.Amount), naira(is.Fee))
}

// isAs reports whether a price is the same as another one. The balance may have changed.
func (p price) isAs(other price) bool { return p.Amount == other.Amount && p.Fee == other.Fee }

// storyOf returns the page of the payment that a refusal is about, or "". A payment that was declined and refunded, or
// whose outcome is not known yet, is a refusal at the API.
func storyOf(err error) string {
	why := fault.Of(err)
	if why == nil || why.Reason() != fault.Declined && why.Reason() != fault.BeingConfirmed {
		return ""
	}
	reference, _ := why.Extra[referenceOf].(string)
	if reference == "" {
		return ""
	}
	return "/app/p/" + url.PathEscape(reference)
}

// needsSecond reports whether the company requires two people for an amount. A payout then waits. Everything else that
// takes money out of the company is refused, since it cannot wait.
func (v *visit) needsSecond(amount money.Kobo) (bool, error) {
	var c one[api.Company]
	_, err := v.ask("GET", "/api/v1/company", nil, &c)
	return payoutWaits(c.Data, amount), err
}
