package sudo

import (
	"net/http"

	"github.com/kobo-waas/kobo/internal/provider"
)

// These response codes have the meanings that are usual between Nigerian banks. A code that is
// in none of the lists decides nothing.
const (
	approved = "00"
	repeated = "94" // this reference was used before
)

var (
	declines = provider.Words("03 05 07 12 13 14 30 51 57 58 61 65")
	unsure   = provider.Words("01 09 68 91 96") // the outcome is open
)

// These statuses have a definite meaning. Any other status decides nothing.
var (
	doneWords   = provider.Words("completed successful success")
	undoneWords = provider.Words("failed declined reversed")
)

// claim is what the data of a reply states about the request.
type claim struct {
	reference string
	code      word // a response code in the data
	done      bool // the data by itself means success
	silent    bool // the data states nothing, which does not prevent a success
	undone    bool // the data by itself means failure
	open      bool // the data leaves the outcome open; with silent, because it could not be read
}

// judge derives the outcome of a request from the reply. It reads the HTTP status and the
// statusCode in the body. Then it reads the response code and the claim of the data. A 4xx is a
// refusal, as Sudo's documentation states, unless the same reply says that the outcome is open or a success.
// A repeated reference is an exception too, since an earlier call may have been carried out.
func judge(r provider.Reply, claimed func(envelope) claim) provider.Answer {
	if r.Trouble != "" {
		return r.Answer()
	}
	e, ok := read(r.Body)
	if !ok && (r.Status == http.StatusUnauthorized || r.Status == http.StatusForbidden) {
		return r.Refused()
	}
	if !ok {
		return provider.Unreadable.Answer()
	}
	c, status := claimed(e), e.status(r.Status)
	response := provider.First(e.ResponseCode, c.code)
	a := provider.Answer{Reference: c.reference, Code: provider.First(response, code(status)), Message: e.message()}
	switch {
	case response == repeated || status == http.StatusConflict || provider.Repeated(a.Message):
		a.Code, a.Reference = provider.CodeDuplicate, ""
	case status >= 400 && status < 500 && status != http.StatusRequestTimeout && status != http.StatusTooManyRequests:
		isOpen := unsure[response] || c.open && !c.silent
		if !c.done && response != approved && !isOpen { // nothing in the same reply contradicts the refusal
			a.Outcome = provider.Rejected
		}
	case status >= 300:
		// Sudo failed internally, so the outcome stays Unknown.
	case declines[response] && !c.done, c.undone && response != approved:
		a.Outcome = provider.Rejected
	case (response == "" || response == approved) && !c.open && !c.undone && (c.done || c.silent):
		a.Outcome = provider.Confirmed
	}
	return a
}
