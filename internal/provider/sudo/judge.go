package sudo

import (
	"net/http"
	"slices"

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
	both, isOpen := codes{e.ResponseCode, c.code}, c.open && !c.silent
	a := provider.Answer{Reference: c.reference, Code: provider.First(both.worst(), word(code(status))), Message: e.message()}
	switch {
	case both.has(repeated) || status == http.StatusConflict || provider.Repeated(a.Message):
		a.Code, a.Reference = provider.CodeDuplicate, ""
	case status >= 400 && status < 500 && status != http.StatusRequestTimeout && status != http.StatusTooManyRequests:
		if !c.done && !both.has(approved) && !both.any(unsure) && !isOpen { // nothing in the same reply contradicts the refusal
			a.Outcome = provider.Rejected
		}
	case status >= 300:
		// Sudo failed internally, so the outcome stays Unknown.
	case both.has(approved) && !both.clear(), both.any(unsure):
		// The two codes contradict each other, or one of them leaves the outcome open, so it stays Unknown.
	case both.any(declines) && !c.done && !isOpen, c.undone && !both.has(approved):
		a.Outcome = provider.Rejected
	case both.clear() && !c.open && !c.undone && (c.done || c.silent):
		a.Outcome = provider.Confirmed
	}
	return a
}

// codes holds the two response codes of a reply: the code at the top level and the code inside the
// data.
type codes [2]word

// clear reports whether both codes are compatible with a success.
func (c codes) clear() bool { return plain(c[0]) && plain(c[1]) }

func plain(code word) bool { return code == "" || code == approved }

// any reports whether at least one of the two codes is on the list.
func (c codes) any(list map[string]bool) bool { return list[string(c[0])] || list[string(c[1])] }

// has reports whether at least one of the two codes is equal to code.
func (c codes) has(code word) bool { return slices.Contains(c[:], code) }

// worst returns one of the two codes: a code other than 00 takes precedence over 00.
func (c codes) worst() word {
	if !plain(c[0]) || plain(c[1]) && c[0] != "" {
		return c[0]
	}
	return c[1]
}
