package safehaven

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/kobo-waas/kobo/internal/provider"
)

// What a response code says (NIBSS names). A code in neither list says nothing
// definite by itself.
var (
	declines = provider.Words("03 05 07 51 57 58 61")
	unsure   = provider.Words("01 09 68 91 94 96")
)

const (
	approved  = "00" // a success
	repeated  = "94" // this reference was used before
	unlocated = "25" // of a requery: there is no such record
)

// noAccount is said of a name enquiry: there is no such account.
var noAccount = provider.Words("06 07 25")

// What a status says. Only these words are definite.
var (
	delivered       = provider.Words("successful completed")
	failed          = provider.Words("failed")
	refusedTransfer = provider.Words("failed declined")
)

// reversed is the word of a transfer that came back.
const reversed = "reversed"

// sale is the data of an answer to a payment. The id has two spellings.
type sale struct {
	ID        text `json:"id"`
	OtherID   text `json:"_id"`
	Reference text `json:"reference"`
	Status    text `json:"status"`
	Token     text `json:"utilityToken"`
}

// judgePayment decides what a sale's reply means for the money.
func judgePayment(r provider.Reply) provider.Answer {
	var s sale
	a := judge(r, func(e envelope) claim {
		e.into(&s) // without data the words below stay empty, which decides nothing
		word := lower(s.Status)
		return claim{
			reference: provider.First(s.ID, s.OtherID, s.Reference), word: word, done: delivered[word], undone: failed[word],
		}
	})
	a.Token = string(s.Token)
	return a
}

// claim is what the data of an answer says of what was asked.
type claim struct {
	reference string
	message   string // better than the envelope's
	word      string // a status, in lower case; empty decides nothing
	done      bool   // the word is a yes
	undone    bool   // the word is a no
}

// judge decides what a reply means for what was asked. It reads the HTTP status,
// then the statusCode in the body, then the response codes, then what the data
// claims; a refusal counts only if nothing in the same answer speaks against it,
// and what is left is unknown.
func judge(r provider.Reply, claimed func(envelope) claim) provider.Answer {
	if r.Trouble != "" {
		return r.Answer()
	}
	e, ok := read(r.Body)
	if !ok && shut(r) {
		return provider.Answer{Outcome: provider.Rejected, Code: strconv.Itoa(r.Status), Message: "the provider refused our credentials"}
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
		// Unknown, whatever else the answer says.
	case status/100 == 2 && c.done && codes.clear():
		a.Outcome = provider.Confirmed
	case c.word != "" && !c.undone:
		// Pending, a word we do not know, or a success that the codes deny.
	case status/100 == 4, codes.any(declines), c.undone && codes.clear():
		a.Outcome = provider.Rejected
	}
	return a
}

// faulty tells whether a status leaves open what was done (docs: table of
// outcomes). The client has caught these where HTTP says so; here the body does.
func faulty(status int) bool {
	return status >= 500 || status == http.StatusRequestTimeout || status == http.StatusTooManyRequests
}

// record is a sale as the provider remembers it.
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

// judgeRequery decides what a sale's record means for the money. No trouble on
// the way, and no refusal to tell us, says anything about the sale.
func judgeRequery(r provider.Reply, reference string) provider.Answer {
	if r.Trouble != "" {
		return r.Unknown()
	}
	e, ok := read(r.Body)
	if !ok {
		return provider.Unreadable.Answer()
	}
	status := e.status(r.Status)
	// The envelope's message is about the asking ("fetched successfully"), so it
	// is not passed on as a word about the sale.
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
		a.Code = provider.CodeUnreadable // somebody else's sale
		return a
	}
	word := lower(rec.Status)
	a.Reference, a.Token = provider.First(rec.ID, rec.OtherID, rec.Reference), string(rec.Token)
	a.Message = provider.Message(string(rec.Reason))
	a.Code = provider.First(text(word), text(a.Code))
	switch {
	case rec.Reversal != "": // our money came back
		a.Outcome, a.Code = provider.Rejected, "reversed"
	case delivered[word]:
		a.Outcome = provider.Confirmed
	case failed[word]:
		a.Outcome = provider.Rejected
	}
	return a
}

// missing tells whether the provider knows no such sale. It must say so in its
// own envelope: a gateway's 404, or a router's that knows no such path ("Cannot
// GET …"), is no word about a sale, and a refund hangs on it.
func (e envelope) missing(status int) bool {
	m := lower(e.Message)
	if e.StatusCode == "" || e.routed() {
		return false
	}
	return status == http.StatusNotFound ||
		status == http.StatusBadRequest && (strings.Contains(m, "not found") || strings.Contains(m, "unable to locate"))
}

// routed tells whether a router answered that knows no such path.
func (e envelope) routed() bool { return strings.HasPrefix(lower(e.Message), "cannot ") }

func lower(t text) string { return strings.ToLower(string(t)) }
