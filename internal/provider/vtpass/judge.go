package vtpass

import (
	"net/http"
	"strings"

	"github.com/kobo-waas/kobo/internal/provider"
)

// The meaning of codes (VTpass's page "Response Codes"). A code in no list means
// nothing definite. VTpass advises to treat it as pending, and to ask again.
var (
	// The codes of a purchase that was not made: failed, reversed, not processed, or
	// refused for its product, its amount or our account.
	refusals = provider.Words("010 011 012 013 016 017 018 021 022 023 024 027 028 030 031 032 034 035 040 085 087 091")
	// The same codes of a requery. All other codes there are about the question.
	failures = provider.Words("016 040 091")
)

const (
	processed = "000"
	repeated  = "014" // this request_id was used before
	noSuchID  = "015" // of a requery: no such request_id
)

// The status of a delivered transaction.
const delivered = "delivered"

var undone = provider.Words("failed reversed")

// transaction is a purchase in the answers to a payment and to a requery.
type transaction struct {
	Transactions struct {
		Status text `json:"status"`
		ID     text `json:"transactionId"`
	} `json:"transactions"`
}

// judgePayment decides the meaning of the answer to a purchase for the money.
func judgePayment(r provider.Reply, id string) provider.Answer {
	if r.Trouble != "" {
		return r.Answer()
	}
	e, ok := read(r.Body)
	if e.Code == "" && (r.Status == http.StatusUnauthorized || r.Status == http.StatusForbidden) {
		// VTpass refused our keys, so nothing was carried out.
		return r.Refused()
	}
	if !ok {
		return provider.Unreadable.Answer()
	}
	return judge(e, id, refusals)
}

// judgeRequery decides the meaning of the answer to a requery for the money. A failed
// or refused question says nothing about the purchase.
func judgeRequery(r provider.Reply, id string) provider.Answer {
	var e envelope
	a, ok := r.Read(&e)
	if !ok {
		return a
	}
	a = judge(e, id, failures)
	a.Missing = e.Code == noSuchID && len(a.Reference) == 0
	return a
}

// judge reads the code and the status together. A success needs both. A failure
// counts only if nothing in the same answer contradicts it.
func judge(e envelope, id string, nos map[string]bool) provider.Answer {
	if e.RequestID != "" && string(e.RequestID) != id {
		return provider.Unreadable.Answer() // another purchase
	}
	var t transaction
	e.into(&t) // without a transaction the status stays empty, and decides nothing
	code, word := string(e.Code), strings.ToLower(string(t.Transactions.Status))
	a := provider.Answer{
		Reference: string(t.Transactions.ID),
		Code:      provider.First(e.Code, text(word), provider.CodeUnreadable),
		Message:   provider.Message(string(e.Description)),
		Token:     e.token(),
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
		// Initiated, pending, an unknown word, or a delivery that the code contradicts.
	case nos[code], code == processed && undone[word]:
		a.Outcome = provider.Rejected
	}
	return a
}
