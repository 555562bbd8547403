package console

import (
	"slices"
	"strconv"
	"strings"

	"github.com/kobo-waas/kobo/internal/admin"
	"github.com/kobo-waas/kobo/internal/company"
	"github.com/kobo-waas/kobo/internal/money"
)

// nextKYB returns the states to which the KYB of the company may move.
func (a about) nextKYB() []string {
	return slices.DeleteFunc(slices.Clone(kybWords), func(to string) bool { return company.CheckKYB(company.KYB(a.KybStatus), company.KYB(to)) != nil })
}

// account returns a settlement account of the company, or nil.
func (a about) account(id string) *admin.SettlementAccount {
	i := slices.IndexFunc(a.SettlementAccounts, func(s admin.SettlementAccount) bool { return strconv.FormatInt(s.ID, 10) == id })
	if i < 0 {
		return nil
	}
	return &a.SettlementAccounts[i]
}

func yesNo(is bool) string {
	if is {
		return "Yes"
	}
	return "No"
}

// orNone returns an amount, or a word for 0.
func orNone(k money.Kobo, none string) string {
	if k == 0 {
		return none
	}
	return naira(k)
}

func orDash(text *string) string {
	if text == nil {
		return "–"
	}
	return *text
}

// activeChip returns how a state is drawn of what is in use or not.
func activeChip(status string) string {
	if status == "ACTIVE" {
		return "ok"
	}
	return "idle"
}

func limitOf(l admin.Limit) string {
	if l.SettlementID == nil {
		return "The whole company"
	}
	return "Settlement account " + strconv.FormatInt(*l.SettlementID, 10)
}

func payoutsOf(l admin.Limit) string {
	used := strconv.FormatInt(l.Used.Payouts, 10)
	if l.Payouts == 0 {
		return used
	}
	return used + " of " + strconv.FormatInt(l.Payouts, 10)
}

// virtualAccountChip returns the chip of a virtual account. Both sides use it, in lists and on the page of the payment.
func virtualAccountChip(status string) (kind, word string) {
	switch status {
	case "SUCCESS":
		return "ok", "Paid"
	case "FAILED":
		return "idle", "Expired, not paid"
	case "OPENING":
		return "wait", "Being opened"
	}
	return "wait", "Waiting for the payment"
}

// cardChip and cardWord return how a card is drawn.
func cardChip(k admin.Card) string {
	switch {
	case k.State == "CREATING":
		return "wait"
	case k.State == "FAILED":
		return "failed"
	case optional(k.Status) == "active":
		return "ok"
	}
	return "idle"
}

func cardWord(k admin.Card) string {
	switch k.State {
	case "CREATING":
		return "Being made"
	case "FAILED":
		return "Refused"
	}
	return sentence(optional(k.Status))
}

// answerOf returns what the endpoint said at the last attempt.
func answerOf(d admin.Delivery) string {
	var parts []string
	if d.ResponseStatus != nil {
		parts = append(parts, "status "+strconv.FormatInt(*d.ResponseStatus, 10))
	}
	if d.Error != nil && (d.ResponseStatus == nil || !strings.HasSuffix(*d.Error, strconv.FormatInt(*d.ResponseStatus, 10))) {
		parts = append(parts, *d.Error)
	}
	return strings.Join(parts, ", ")
}

// mostOf returns the quota of a kind in words.
func mostOf(q admin.Quota) string {
	if q.Most == 0 {
		return "no limit"
	}
	return thousands(strconv.FormatInt(q.Most, 10))
}

// requestsOf returns the limit of a company's requests in words.
func requestsOf(a about) string {
	if a.RequestsPerSecond == 0 {
		return "the limit of the deployment"
	}
	return thousands(strconv.FormatInt(a.RequestsPerSecond, 10))
}
