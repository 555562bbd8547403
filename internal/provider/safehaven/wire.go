package safehaven

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/provider"
)

// envelope is the common part of all replies. Each call decodes the data differently.
type envelope struct {
	StatusCode   text            `json:"statusCode"`
	Message      text            `json:"message"`
	ResponseCode text            `json:"responseCode"`
	Data         *part           `json:"data"`
	Pagination   json.RawMessage `json:"pagination"`
}

// part is the data of a reply, which is decoded when its shape is known.
type part struct {
	text   json.RawMessage
	looked bool
	inside inside
}

// inside is what data of each shape may have.
type inside struct {
	ResponseCode  text `json:"responseCode"`
	Status        text `json:"status"`
	AccountNumber text `json:"accountNumber"`
	Queued        flag `json:"queued"`
	LimitExceeded flag `json:"limitExceeded"`
	IsReversed    flag `json:"isReversed"`
}

// begun reports whether the data shows that the provider has begun the request, or may have.
func (i inside) begun() bool {
	word := lower(i.Status)
	return word != "" && !failed[word] || i.AccountNumber != "" || bool(i.Queued || i.LimitExceeded || i.IsReversed)
}

// UnmarshalJSON keeps the text of the data.
func (p *part) UnmarshalJSON(b []byte) error { return p.text.UnmarshalJSON(b) }

// look returns what data of each shape may have. Only the first call decodes the data.
func (p *part) look() inside {
	if p == nil {
		return inside{}
	}
	if !p.looked {
		provider.ReadPart(p.text, &p.inside) // data of a different shape has none of them
		p.looked = true
	}
	return p.inside
}

// read returns a reply's envelope. It returns false unless the body is one JSON object. The function
// with has decoded the envelope already, if the reply came through it.
func read(r provider.Reply) (envelope, bool) {
	if e, ok := r.Object.(envelope); ok {
		return e, true
	}
	var e envelope
	ok := provider.ReadObject(r.Body, &e)
	return e, ok
}

// asked returns the envelope of the reply to a question, such as a requery. If the reply cannot be
// read, asked returns false and an Answer whose outcome is Unknown.
func asked(r provider.Reply) (envelope, provider.Answer, bool) {
	e, ok := read(r)
	if r.Trouble == "" && !ok {
		r = provider.Unreadable
	}
	return e, r.Unknown(), r.Trouble == ""
}

// status returns the HTTP status. If HTTP reports a success and the body has a statusCode, it
// returns the statusCode. The reason is that some failures arrive as HTTP 200.
func (e envelope) status(httpStatus int) int {
	if inner := e.inner(); httpStatus < 300 && inner != 0 {
		return inner
	}
	return httpStatus
}

// inner returns the statusCode in the body, or 0 if it is absent.
func (e envelope) inner() int { return provider.Number(e.StatusCode) }

// into decodes the data into v. It returns false if the data is absent or of a different shape.
func (e envelope) into(v any) bool { return e.Data != nil && provider.ReadPart(e.Data.text, v) }

// bare reports whether the reply has no data, or empty data.
func (e envelope) bare() bool {
	if e.Data == nil {
		return true
	}
	var fields map[string]json.RawMessage
	return json.Unmarshal(e.Data.text, &fields) == nil && len(fields) == 0 // null has no fields either
}

// pages returns the number of pages of a list, or 0 if the reply does not contain it.
func (e envelope) pages() int {
	var p struct {
		Pages text `json:"pages"`
	}
	if json.Unmarshal(e.Pagination, &p) != nil {
		return 0
	}
	return provider.Number(p.Pages)
}

// shut reports whether the provider refused our access token. In that case it did not process the
// request. A reply that also shows a success, an open outcome or a begun request is not such a refusal.
func shut(r provider.Reply) bool {
	if r.Trouble != "" {
		return false
	}
	s := r.Status
	if e, ok := read(r); ok {
		if codes := e.codes(); e.duplicate(s) || codes.has(approved) || codes.any(unsure) || e.Data.look().begun() {
			return false
		}
		s = e.status(s)
	}
	return s == http.StatusUnauthorized || s == http.StatusForbidden
}

// duplicate reports whether the provider has seen our reference before. If so, the provider may
// have carried out an earlier call, although it refuses this call.
func (e envelope) duplicate(httpStatus int) bool {
	return httpStatus == http.StatusConflict || e.StatusCode == "409" || e.codes().has(repeated) || provider.Repeated(string(e.Message))
}

// codes holds the two response codes of a reply: the code at the top level and the code inside the
// data.
type codes [2]string

func (e envelope) codes() codes {
	return codes{string(e.ResponseCode), string(e.Data.look().ResponseCode)}
}

// clear reports whether both codes are compatible with a success.
func (c codes) clear() bool { return plain(c[0]) && plain(c[1]) }

func plain(code string) bool { return code == "" || code == approved }

// any reports whether at least one of the two codes is on the list.
func (c codes) any(list map[string]bool) bool { return list[c[0]] || list[c[1]] }

// has reports whether at least one of the two codes is equal to code.
func (c codes) has(code string) bool { return slices.Contains(c[:], code) }

// worst returns one of the two codes: a code other than 00 takes precedence over 00.
func (c codes) worst() string {
	if !plain(c[0]) || plain(c[1]) && c[0] != "" {
		return c[0]
	}
	return c[1]
}

// text is a JSON value that may be a string or a number. Spaces around it do not count: a session ID or a reference with a
// space is the same one. A list of strings, such as validation messages, is joined to one string. Any other value becomes
// an empty text.
type text string

// UnmarshalJSON decodes a value and never fails, since one unexpected field must not make the whole
// reply unreadable.
func (t *text) UnmarshalJSON(b []byte) error {
	s, ok := provider.Scalar(b)
	if *t = text(strings.TrimSpace(s)); ok {
		return nil
	}
	var list []string
	if json.Unmarshal(b, &list) == nil {
		*t = text(strings.Join(list, "; "))
	}
	return nil
}

// flag is a boolean that may be written as a JSON boolean, a string or a number.
type flag bool

// UnmarshalJSON decodes a value and never fails, since one unexpected field must not make the whole
// reply unreadable.
func (f *flag) UnmarshalJSON(b []byte) error {
	*f = flag(slices.Contains([]string{"true", `"true"`, "1", `"1"`}, strings.ToLower(string(b))))
	return nil
}

// naira converts a text with an amount in naira to kobo.
func naira(t text) (money.Kobo, bool) {
	var k money.Kobo
	err := k.UnmarshalJSON([]byte(t))
	return k, err == nil
}
