package safehaven

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/kobo-waas/kobo/internal/provider"
)

// The meaning of response codes (NIBSS names). A code in neither list means nothing
// definite.
var (
	declines = provider.Words("03 05 07 51 57 58 61")
	unsure   = provider.Words("01 09 68 91 94 96")
)

const (
	approved  = "00" // success
	repeated  = "94" // this reference was used before
	unlocated = "25" // of a requery: no such record
)

// noAccount are the codes of a name enquiry for an unknown account.
var noAccount = provider.Words("06 07 25")

// The meaning of statuses. Only these words are definite.
var (
	delivered       = provider.Words("successful completed")
	failed          = provider.Words("failed")
	refusedTransfer = provider.Words("failed declined")
)

// reversed is the status of a transfer that came back.
const reversed = "reversed"

// sale is the data of an answer to a payment. The id has two possible names.
type sale struct {
	ID        text `json:"id"`
	OtherID   text `json:"_id"`
	Reference text `json:"reference"`
	Status    text `json:"status"`
	Token     text `json:"utilityToken"`
}

// judgePayment decides the meaning of a sale's reply for the money.
func judgePayment(r provider.Reply) provider.Answer {
	var s sale
	a := judge(r, func(e envelope) claim {
		e.into(&s) // without data the status stays empty, and decides nothing
		word := lower(s.Status)
		return claim{
			reference: provider.First(s.ID, s.OtherID, s.Reference), word: word, done: delivered[word], undone: failed[word],
		}
	})
	a.Token = string(s.Token)
	return a
}

// claim is what the data of an answer says about the request.
type claim struct {
	reference string
	message   string // preferred to the envelope's
	word      string // a status, in lower case; empty decides nothing
	done      bool   // the word is a success
	undone    bool   // the word is a failure
}

// judge decides the meaning of a reply for the request. It reads the HTTP status,
// then the statusCode in the body, then the response codes, then the claim of the
// data. A refusal counts only if nothing in the same answer contradicts it. All
// other answers are Unknown.
func judge(r provider.Reply, claimed func(envelope) claim) provider.Answer {
	if r.Trouble != "" {
		return r.Answer()
	}
	e, ok := read(r.Body)
	if !ok && shut(r) {
		return r.Refused()
	}
	if !ok {
		return provider.Unreadable.Answer()
	}
	c := claimed(e)
	status, codes := e.status(r.Status), e.codes()
	a := provider.Answer{
		Reference: c.reference,
		Code:      provider.First(text(codes.worst()), text(c.word), text(strconv.Itoa(status))),
		Message:   provider.Message(provider.First(text(c.message), e.Message)),
	}
	switch {
	case e.duplicate(r.Status):
		a.Code = provider.CodeDuplicate
	case faulty(status), faulty(e.inner()):
		a.Code = provider.CodeServerError
	case codes.any(unsure):
		// Unknown, despite anything else in the answer.
	case status/100 == 2 && c.done && codes.clear():
		a.Outcome = provider.Confirmed
	case c.word != "" && !c.undone:
		// Pending, an unknown word, or a success that the codes contradict.
	case status/100 == 4, codes.any(declines), c.undone && codes.clear():
		a.Outcome = provider.Rejected
	}
	return a
}

// faulty reports whether a status leaves the outcome open (docs: table of outcomes).
// The client has caught such an HTTP status before; this one is in the body.
func faulty(status int) bool {
	return status >= 500 || status == http.StatusRequestTimeout || status == http.StatusTooManyRequests
}

// record is the provider's record of a sale.
type record struct {
	ID                text `json:"_id"`
	OtherID           text `json:"id"`
	Reference         text `json:"reference"`
	ExternalReference text `json:"externalReference"`
	Status            text `json:"transactionStatus"`
	Reversal          text `json:"reversalPaymentReference"`
	Token             text `json:"utilityToken"`
	Reason            text `json:"responseMessage"`
}

// judgeRequery decides the meaning of a sale's record for the money. A failed or
// refused question says nothing about the sale.
func judgeRequery(r provider.Reply, reference string) provider.Answer {
	var e envelope
	if a, ok := r.Read(&e); !ok {
		return a
	}
	status := e.status(r.Status)
	// The envelope's message is about the question ("fetched successfully"), so it is
	// not passed on.
	a := provider.Answer{Code: strconv.Itoa(status)}
	if e.missing(status) {
		a.Missing = true
		return a
	}
	var rec record
	if status/100 != 2 || !e.into(&rec) {
		return a
	}
	if rec.ExternalReference != "" && string(rec.ExternalReference) != reference {
		a.Code = provider.CodeUnreadable // another sale
		return a
	}
	word := lower(rec.Status)
	a.Reference, a.Token = provider.First(rec.ID, rec.OtherID, rec.Reference), string(rec.Token)
	a.Message = provider.Message(string(rec.Reason))
	a.Code = provider.First(text(word), text(a.Code))
	switch {
	case rec.Reversal != "": // the money came back
		a.Outcome, a.Code = provider.Rejected, "reversed"
	case delivered[word]:
		a.Outcome = provider.Confirmed
	case failed[word]:
		a.Outcome = provider.Rejected
	}
	return a
}

// missing reports whether the provider definitely knows no such sale, since a refund
// may follow. The provider's own envelope must say so. The 404 of a gateway, or of
// a router without such a path ("Cannot GET …"), says nothing about a sale.
func (e envelope) missing(status int) bool {
	m := lower(e.Message)
	if e.StatusCode == "" || e.routed() {
		return false
	}
	return status == http.StatusNotFound ||
		status == http.StatusBadRequest && (strings.Contains(m, "not found") || strings.Contains(m, "unable to locate"))
}

// routed reports whether the answer comes from a router that knows no such path.
func (e envelope) routed() bool { return strings.HasPrefix(lower(e.Message), "cannot ") }

func lower(t text) string { return strings.ToLower(string(t)) }

// judgeLookup decides the meaning of the answer to a question about an account, a
// smartcard or a meter. Shown reports whether the answer has a name, and proven whether
// nothing else is missing. Rejected needs a definite answer of the bank. A failed
// question and a refused token say nothing.
func judgeLookup(r provider.Reply, e envelope, message text, shown, proven bool) provider.Answer {
	status, codes := e.status(r.Status), e.codes()
	a := provider.Answer{
		Code: provider.First(text(codes.worst()), text(strconv.Itoa(status))), Message: provider.Message(provider.First(message, e.Message)),
	}
	switch {
	case status/100 == 2 && shown && proven && codes.clear():
		a.Outcome = provider.Confirmed
	case shown, codes.any(unsure):
		// The answer is not definite.
	case codes.any(noAccount), e.StatusCode != "" && refuses(status) && !e.routed():
		a.Outcome = provider.Rejected
	}
	return a
}

// refuses reports whether a status refuses the question, and not the client.
func refuses(status int) bool {
	return status == http.StatusBadRequest || status == http.StatusNotFound || status == http.StatusUnprocessableEntity
}
