package sudo

import (
	"net/http"
	"strings"

	"github.com/kobo-waas/kobo/internal/provider"
)

// What a response code says: the codes that banks use between them. One in no
// list says nothing definite.
const (
	approved = "00"
	repeated = "94" // this reference was used before
)

var declines = provider.Words("03 05 07 12 13 14 30 51 57 58 61 65")

// What a status says. Only these words are definite.
var (
	doneWords   = provider.Words("completed successful success")
	undoneWords = provider.Words("failed declined reversed")
)

// claim is what the data of an answer says of what was asked.
type claim struct {
	reference string
	code      word // a response code in the data
	done      bool // the data by itself is a yes
	silent    bool // the data says nothing, and need not
	undone    bool // the data by itself is a no
	open      bool // it is neither yet
}

// judge decides what a reply means for what was asked. It reads the HTTP status,
// then the statusCode in the body, then the response code, then what the data
// claims. A 4xx is a no, as their pages say, except that of a reference that was
// used before: then an earlier call may have been carried out.
func judge(r provider.Reply, claimed func(envelope) claim) provider.Answer {
	if r.Trouble != "" {
		return r.Answer()
	}
	e, ok := read(r.Body)
	if !ok && (r.Status == http.StatusUnauthorized || r.Status == http.StatusForbidden) {
		return provider.Answer{Outcome: provider.Rejected, Code: code(r.Status), Message: "the provider refused our credentials"}
	}
	if !ok {
		return provider.Unreadable.Answer()
	}
	c, status := claimed(e), e.status(r.Status)
	response := provider.First(e.ResponseCode, c.code)
	a := provider.Answer{Reference: c.reference, Code: provider.First(response, code(status)), Message: e.message()}
	switch {
	case response == repeated || status == http.StatusConflict || strings.Contains(strings.ToLower(a.Message), "duplicate"):
		a.Code, a.Reference = provider.CodeDuplicate, ""
	case status >= 400 && status < 500 && status != http.StatusRequestTimeout && status != http.StatusTooManyRequests:
		if !c.done && response != approved { // nothing in the same answer speaks against it
			a.Outcome = provider.Rejected
		}
	case status >= 300:
		// A fault of theirs, dressed as an answer.
	case declines[response] && !c.done, c.undone && response != approved:
		a.Outcome = provider.Rejected
	case (response == "" || response == approved) && !c.open && !c.undone && (c.done || c.silent):
		a.Outcome = provider.Confirmed
	}
	return a
}
