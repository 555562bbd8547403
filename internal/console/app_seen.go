package console

import (
	"net/http"
	"net/url"
	"strconv"

	"github.com/kobo-waas/kobo/internal/api"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/money"
)

// The form that sends a payout carries what the page has shown: the fee, and of a bulk payout the number of its good lines and their sum
// too. It also carries whether the payout waits for a second person. The form that buys carries the price. Operators may change the fees, a
// biller its prices, an owner the rule about two people, and a line may become bad, between the page and the click. Then nothing is sent,
// and the page shows both values. It compares what this very page has shown, and not what
// another tab, or an earlier view of the page, has shown.

// seen is what the page of the form has shown. A form without it comes from a page that has shown nothing.
func (v *visit) seen() (s api.Seen) {
	s.Lines, _ = strconv.ParseInt(v.field("seenLines"), 10, 64)
	s.Amount, _ = money.Parse(v.field("seenAmount"))
	s.Fee, _ = money.Parse(v.field("seenFee"))
	s.Waits = v.field("seenWaits") == "true"
	return s
}

// seeing is the same visit, whose request sends a payout or buys only as the person has seen it.
func (v *visit) seeing(s api.Seen) *visit {
	sub := *v
	sub.Request = v.WithContext(api.WithSeen(v.Context(), s))
	return &sub
}

// isOther reports whether the API has refused a payout or a purchase because it is not as the person has seen it.
func isOther(err error) bool {
	if !fault.Is(err, fault.Conflict) {
		return false
	}
	reason := fault.Of(err).Reason()
	return reason == fault.ApprovalState || reason == fault.BulkState
}

// needsNobody returns a refusal if the page has said that a payout waits for a second person, and it does not any more.
func (v *visit) needsNobody(was api.Seen, amount money.Kobo, why error) error {
	if !was.Waits {
		return nil
	}
	if second, err := v.needsSecond(amount); err != nil || second {
		return err
	}
	return fault.New(fault.Conflict, "The rule about two people has changed: no second person has to approve this any more. Nothing was sent. Look again before you send it.").Because(why)
}

// payoutChanged says what of a payout the page has shown, and what holds now.
func (v *visit) payoutChanged(d draft, was api.Seen, why error) error {
	amount, err := money.Parse(d.Amount.String())
	if err == nil {
		err = v.needsNobody(was, amount, why)
	}
	if err != nil {
		return err
	}
	var now one[preview]
	if _, err := v.ask(http.MethodPost, "/api/v1/settlement/send-payout?dry_run=true", d.body(), &now); err != nil {
		return err
	}
	return fault.Newf(fault.Conflict, "The fee has changed: the page showed %s, and it is %s now. Nothing was sent. Look again before you send it.", naira(was.Fee), naira(now.Data.Fee)).Because(why)
}

// priceChanged says which price of a purchase the page has shown, and which one holds now.
func (v *visit) priceChanged(s sale, was money.Kobo, why error) error {
	now, err := v.priceOfSale(s)
	if err != nil {
		return err
	}
	return fault.Newf(fault.Conflict, "The price has changed: it was %s, and is %s now. Nothing was bought. Look again before you buy.", naira(was), naira(now.Amount)).Because(why)
}

// bulkChanged says what of a bulk payout the page has shown, and what holds now.
func (v *visit) bulkChanged(was api.Seen, why error) error {
	var now one[bulk]
	if _, err := v.ask(http.MethodGet, "/api/v1/settlement/bulk-payout/"+url.PathEscape(v.PathValue("id"))+"?limit=1", nil, &now); err != nil {
		return err
	}
	b := now.Data
	if err := v.needsNobody(was, b.Amount, why); err != nil {
		return err
	}
	return fault.Newf(fault.Conflict, "The bulk payout has changed: the page showed %s, and it has %s now. Nothing was sent. Look again before you send it.",
		seenWords(was), seenWords(api.Seen{Lines: int64(b.Good), Amount: b.Amount, Fee: b.Fee})).Because(why)
}

// seenWords says how many lines a bulk payout sends, for how much.
func seenWords(s api.Seen) string {
	return count(int(s.Lines), "good line", "good lines") + " for " + naira(s.Amount) + " and fees of " + naira(s.Fee)
}
