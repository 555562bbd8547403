package vtpass

import (
	"net/http"
	"strings"

	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/provider"
)

// These codes have the meanings on VTpass's page "Response Codes". A code in neither list decides
// nothing. VTpass advises to treat such a code as pending, and to ask again.
var (
	// These codes refuse a purchase, so it was not made. The purchase failed, was reversed or was
	// not processed, or its product, its amount or our account was refused. The codes 011, 012, 020
	// and 030 belong to verifications. In reply to a purchase, VTpass documents them as failed.
	refusals = provider.Words("010 011 012 013 016 017 018 020 021 022 023 024 027 028 030 031 032 034 035 040 085 087 091")
	// These codes refuse a purchase before VTpass begins it: the order is wrong, the product or our
	// account is switched off, or the wallet is empty. The codes 016, 020, 030, 040 and 091 are not
	// among them, because they do not exclude that VTpass asked the vendor.
	unstarted = provider.Words("010 011 012 013 017 018 021 022 023 024 027 028 031 032 034 035 085 087")
	// In reply to a requery, only these codes mean that the purchase was not made. All other codes
	// then describe the requery itself.
	failures = provider.Words("016 040 091")
)

const (
	processed = "000"
	repeated  = "014" // this request_id was used before
	noSuchID  = "015" // in reply to a requery: this request_id does not exist
)

// delivered is the status of a successful transaction.
const delivered = "delivered"

var undone = provider.Words("failed reversed")

// transaction is a purchase in the replies to a payment and to a requery.
type transaction struct {
	Transactions struct {
		Status text `json:"status"`
		ID     text `json:"transactionId"`
		Amount text `json:"amount"`
	} `json:"transactions"`
}

// sold returns the amount that a reply reports, or 0 if the reply contains no readable amount.
func (e envelope) sold(t transaction) money.Kobo {
	k, ok := naira(text(provider.First(t.Transactions.Amount, e.Amount)))
	if !ok {
		return 0
	}
	return k
}

// judgePayment derives the outcome of a purchase from the reply to its payment.
func judgePayment(r provider.Reply, id string) provider.Answer {
	if r.Trouble != "" {
		return r.Answer()
	}
	e, ok := read(r.Body)
	if e.Code == "" && e.bare() && (r.Status == http.StatusUnauthorized || r.Status == http.StatusForbidden) {
		// VTpass refused our keys and shows no purchase, so nothing was carried out.
		return r.Refused()
	}
	if !ok {
		return provider.Unreadable.Answer()
	}
	a := judge(e, refusals)
	if e.others(id) {
		return provider.Other(a.Reference) // no requery uses that id
	}
	a.Unstarted = a.Outcome == provider.Rejected && unstarted[string(e.Code)] && e.bare()
	return a
}

// judgeRequery derives the outcome of a purchase from the reply to a requery. A failed or refused
// requery proves nothing about the purchase.
func judgeRequery(r provider.Reply, id string) provider.Answer {
	var e envelope
	a, ok := r.Read(&e)
	if !ok {
		return a
	}
	if e.others(id) {
		return provider.Unreadable.Answer()
	}
	a = judge(e, failures)
	a.Missing = e.Code == noSuchID && len(a.Reference) == 0
	a.Found = len(a.Reference) > 0 && a.Code != provider.CodeUnreadable
	return a
}

// others reports whether the reply describes a different purchase, or ours in another spelling.
func (e envelope) others(id string) bool { return e.RequestID != "" && string(e.RequestID) != id }

// judge derives the outcome from the code and the status. A success requires both. A failure counts
// only if nothing in the same reply contradicts it.
func judge(e envelope, nos map[string]bool) provider.Answer {
	var t transaction
	e.into(&t) // without a transaction the status stays empty and decides nothing
	code, word := string(e.Code), strings.ToLower(string(t.Transactions.Status))
	a := provider.Answer{
		Reference: provider.First(t.Transactions.ID, e.TransactionID),
		Code:      provider.First(text(e.Code), text(word), provider.CodeUnreadable),
		Message:   provider.Message(string(e.Description)),
		Token:     e.token(),
		Meter:     e.codes(),
		Sold:      e.sold(t),
	}
	if code == processed && word != "" {
		a.Code = word
	}
	switch {
	case code == repeated:
		a.Code = provider.CodeDuplicate
	case code == processed && word == delivered:
		a.Outcome = provider.Confirmed
	case word != "" && !undone[word]:
		// The status is initiated, pending or unknown, or the code contradicts a delivery.
	case nos[code], code == processed && undone[word]:
		a.Outcome = provider.Rejected
	}
	return a
}
