package safehaven

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/provider"
)

// envelope is what all answers have in common. The data is read by the call
// that asked for it.
type envelope struct {
	StatusCode   text            `json:"statusCode"`
	Message      text            `json:"message"`
	ResponseCode text            `json:"responseCode"`
	Data         json.RawMessage `json:"data"`
	Pagination   json.RawMessage `json:"pagination"`
}

// read takes an answer's envelope off. It is false for anything but one whole
// JSON object.
func read(body []byte) (envelope, bool) {
	var e envelope
	ok := provider.ReadObject(body, &e)
	return e, ok
}

// status is what the answer says of itself: the HTTP status, or the statusCode
// in the body when HTTP says 200. Failures do come as HTTP 200.
func (e envelope) status(httpStatus int) int {
	if inner := e.inner(); httpStatus < 300 && inner != 0 {
		return inner
	}
	return httpStatus
}

// inner is the statusCode in the body, or 0.
func (e envelope) inner() int { return provider.Number(e.StatusCode) }

// into reads the data into v. It returns false if there is none of that shape.
func (e envelope) into(v any) bool { return provider.ReadPart(e.Data, v) }

// pages is how many pages a list has, or 0 when it does not say.
func (e envelope) pages() int {
	var p struct {
		Pages text `json:"pages"`
	}
	if json.Unmarshal(e.Pagination, &p) != nil {
		return 0
	}
	return provider.Number(p.Pages)
}

// shut tells whether the provider refused at the door, before looking at what
// was asked.
func shut(r provider.Reply) bool {
	if r.Trouble != "" {
		return false
	}
	s := r.Status
	if e, ok := read(r.Body); ok {
		if e.duplicate(s) {
			return false
		}
		s = e.status(s)
	}
	return s == http.StatusUnauthorized || s == http.StatusForbidden
}

// duplicate tells whether the provider has seen our reference before. Then an
// earlier call may have been carried out, whatever this answer is dressed as.
func (e envelope) duplicate(httpStatus int) bool {
	return httpStatus == http.StatusConflict || e.StatusCode == "409" || e.codes().has(repeated) ||
		strings.Contains(strings.ToLower(string(e.Message)), "duplicate")
}

// codes are the response codes of an answer: at the top, and inside the data.
type codes [2]string

func (e envelope) codes() codes {
	var inside struct {
		ResponseCode text `json:"responseCode"`
	}
	e.into(&inside) // without data there is none inside
	return codes{string(e.ResponseCode), string(inside.ResponseCode)}
}

// clear tells whether no code speaks against a success.
func (c codes) clear() bool { return plain(c[0]) && plain(c[1]) }

func plain(code string) bool { return code == "" || code == approved }

// any tells whether one of the codes is in a list.
func (c codes) any(list map[string]bool) bool { return list[c[0]] || list[c[1]] }

// has tells whether one of the codes is this one.
func (c codes) has(code string) bool { return slices.Contains(c[:], code) }

// worst is the code that says most: one that is not plain before one that is.
func (c codes) worst() string {
	if !plain(c[0]) || plain(c[1]) && c[0] != "" {
		return c[0]
	}
	return c[1]
}

// text is a JSON value that is a string here and a number there. A list of
// strings, as validation messages come, is joined. Anything else is empty.
type text string

// UnmarshalJSON never fails: an odd field must not make an answer unreadable.
func (t *text) UnmarshalJSON(b []byte) error {
	*t = ""
	var s string
	var n json.Number
	var list []string
	switch {
	case json.Unmarshal(b, &s) == nil:
		*t = text(s)
	case json.Unmarshal(b, &n) == nil:
		*t = text(n)
	case json.Unmarshal(b, &list) == nil:
		*t = text(strings.Join(list, "; "))
	}
	return nil
}

// flag is a yes or no that comes as a boolean, a word or a number.
type flag bool

// UnmarshalJSON never fails, as text's does not.
func (f *flag) UnmarshalJSON(b []byte) error {
	*f = flag(slices.Contains([]string{"true", `"true"`, "1", `"1"`}, strings.ToLower(string(b))))
	return nil
}

// naira reads an amount from the digits that came, in whatever JSON type.
func naira(t text) (money.Kobo, bool) {
	var k money.Kobo
	err := k.UnmarshalJSON([]byte(t))
	return k, err == nil
}
