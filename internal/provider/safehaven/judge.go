package safehaven

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/kobo-waas/kobo/internal/provider"
)

// These response codes have the meanings that NIBSS defines. Codes in declines are refusals, and
// codes in unsure leave the outcome open. A code in neither list decides nothing.
var (
	declines = provider.Words("03 05 07 51 57 58 61")
	unsure   = provider.Words("01 09 68 91 94 96")
)

// unstarted lists the response codes that refuse a sale before the bank begins it: our account has too
// little money (51, 61), or the bank does not permit the sale (57, 58). A plain 400 is not among them,
// because the bank also sends it after the vendor has refused.
var unstarted = provider.Words("51 57 58 61")

const (
	approved  = "00" // success
	repeated  = "94" // this reference was used before
	unlocated = "25" // in reply to a requery: the record does not exist
)

// noAccount lists the response codes with which a name enquiry reports an unknown account.
var noAccount = provider.Words("06 07 25")

// These statuses have a definite meaning. Any other status decides nothing.
var (
	delivered       = provider.Words("successful completed")
	failed          = provider.Words("failed")
	refusedTransfer = provider.Words("failed declined")
)

// reversed is the status of a transfer whose money was returned.
const reversed = "reversed"

// admitted is a further status of a credit to a virtual account that is done.
const admitted = "approved"

// sale is the data in the reply to a payment. The id may be in either of two fields.
type sale struct {
	ID        text `json:"id"`
	OtherID   text `json:"_id"`
	Reference text `json:"reference"`
	Status    text `json:"status"`
	Amount    text `json:"amount"`
	Token     text `json:"utilityToken"`
}

// judgePayment derives the outcome of a sale from the reply. It also returns the amount in the
// reply, in the unit of the kind of service.
func judgePayment(r provider.Reply) (provider.Answer, text) {
	var s sale
	refused := false
	a := judge(r, func(e envelope) claim {
		e.into(&s) // without data the status stays empty and decides nothing
		refused = unstarted[string(e.ResponseCode)] && e.bare()
		word := lower(s.Status)
		return claim{
			reference: provider.First(s.ID, s.OtherID, s.Reference), word: word, done: delivered[word], undone: failed[word],
		}
	})
	a.Token = string(s.Token)
	a.Unstarted = a.Unstarted || refused && a.Outcome == provider.Rejected
	return a, s.Amount
}

// claim is what the data of a reply states about the request.
type claim struct {
	reference string
	message   string // takes precedence over the envelope's message
	word      string // a status in lower case; an empty word decides nothing
	done      bool   // the word means success
	undone    bool   // the word means failure
}

// judge derives the outcome of a request from the reply. It reads the HTTP status and the
// statusCode in the body. Then it reads the response codes, and what the data states about the
// request (claimed). A refusal counts only if nothing in the same reply contradicts it. Every other
// reply is Unknown.
func judge(r provider.Reply, claimed func(envelope) claim) provider.Answer {
	if r.Trouble != "" {
		return r.Answer()
	}
	e, ok := read(r)
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
		// A response code leaves the outcome open. So the outcome stays Unknown, whatever else the
		// reply contains.
	case status/100 == 2 && c.done && codes.clear():
		a.Outcome = provider.Confirmed
	case c.word != "" && !c.undone:
		// The status word in the data means "pending" or is not known, or it means success and a
		// response code contradicts it. So the outcome stays Unknown.
	case (status/100 == 4 || codes.any(declines)) && !codes.has(approved), c.undone && codes.clear():
		a.Outcome = provider.Rejected
	}
	return a
}

// faulty reports whether a status in the body leaves the outcome open, according to the tables in
// docs/providers/safehaven.md. If the HTTP status leaves the outcome open, provider.Client has
// already handled it.
func faulty(status int) bool {
	return status >= 500 || status == http.StatusRequestTimeout || status == http.StatusTooManyRequests
}

// record is the provider's record of a sale, which a requery returns.
type record struct {
	ID                text `json:"_id"`
	OtherID           text `json:"id"`
	Reference         text `json:"reference"`
	ExternalReference text `json:"externalReference"`
	Status            text `json:"transactionStatus"`
	Reversal          text `json:"reversalPaymentReference"`
	Token             text `json:"utilityToken"`
	Reason            text `json:"responseMessage"`
	Amount            text `json:"transactionAmount"`
}

// judgeRequery derives the outcome of a sale from its record. A failed or refused requery proves
// nothing about the sale. It also returns the amount in the record, in the unit of the kind of
// service.
func judgeRequery(r provider.Reply, reference string) (provider.Answer, text) {
	e, a, ok := asked(r)
	if !ok {
		return a, ""
	}
	status := e.status(r.Status)
	// The envelope's message describes the requery ("fetched successfully"), so it is not passed
	// on.
	a = provider.Answer{Code: strconv.Itoa(status)}
	if e.missing(status) {
		a.Missing = true
		return a, ""
	}
	var rec record
	if status/100 != 2 || !e.into(&rec) {
		return a, ""
	}
	if rec.ExternalReference != "" && string(rec.ExternalReference) != reference {
		a.Code = provider.CodeUnreadable // the reply is about a different sale
		return a, ""
	}
	word := lower(rec.Status)
	a.Reference, a.Token = provider.First(rec.ID, rec.OtherID, rec.Reference), string(rec.Token)
	a.Message = provider.Message(string(rec.Reason))
	a.Code = provider.First(text(word), text(a.Code))
	a.Found = word != "" && a.Reference != ""
	switch {
	case rec.Reversal != "": // the money was returned
		a.Outcome, a.Code = provider.Rejected, "reversed"
	case delivered[word]:
		a.Outcome = provider.Confirmed
	case failed[word]:
		a.Outcome = provider.Rejected
	}
	return a, rec.Amount
}

// missing reports whether the sale definitely does not exist at the provider. The company may then
// be refunded, so only a reply in the provider's usual format counts. A 404 of a gateway does not
// count, because it proves nothing about a sale. The same is true for a 404 of a web framework that
// has no such path ("Cannot GET …").
func (e envelope) missing(status int) bool {
	m := lower(e.Message)
	if e.StatusCode == "" || e.routed() {
		return false
	}
	return status == http.StatusNotFound ||
		status == http.StatusBadRequest && (strings.Contains(m, "not found") || strings.Contains(m, "unable to locate"))
}

// routed reports whether the provider's web framework sent the reply because it has no such path.
func (e envelope) routed() bool { return strings.HasPrefix(lower(e.Message), "cannot ") }

func lower(t text) string { return strings.ToLower(string(t)) }

// judgeLookup derives the outcome of a lookup of an account, a smartcard or a meter. Shown is true
// if the reply contains a name, and proven is true if nothing else is missing. Rejected requires a
// definite reply from the bank. A failed lookup or a refused token leaves the outcome Unknown.
func judgeLookup(r provider.Reply, e envelope, message text, shown, proven bool) provider.Answer {
	status, codes := e.status(r.Status), e.codes()
	a := provider.Answer{
		Code: provider.First(text(codes.worst()), text(strconv.Itoa(status))), Message: provider.Message(provider.First(message, e.Message)),
	}
	switch {
	case status/100 == 2 && shown && proven && codes.clear():
		a.Outcome = provider.Confirmed
	case shown, codes.any(unsure):
		// The reply decides nothing, so the outcome stays Unknown.
	case codes.any(noAccount), e.StatusCode != "" && refuses(status) && !e.routed():
		a.Outcome = provider.Rejected
	}
	return a
}

// refuses reports whether a status refuses the content of the request. A status that refuses the
// client's credentials does not count.
func refuses(status int) bool {
	return status == http.StatusBadRequest || status == http.StatusNotFound || status == http.StatusUnprocessableEntity
}
