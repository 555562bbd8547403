package safehaven

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"github.com/kobo-waas/kobo/internal/provider"
)

// envelope is what all answers have in common. The data is read by the call
// that asked for it.
type envelope struct {
	StatusCode   text            `json:"statusCode"`
	Message      text            `json:"message"`
	ResponseCode text            `json:"responseCode"`
	Data         json.RawMessage `json:"data"`
}

// read takes an answer's envelope off. It is false for anything but one whole
// JSON object.
func read(body []byte) (envelope, bool) {
	var e envelope
	ok := bytes.HasPrefix(bytes.TrimSpace(body), []byte("{")) && json.Unmarshal(body, &e) == nil
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
func (e envelope) inner() int {
	n, err := strconv.Atoi(string(e.StatusCode))
	if err != nil {
		return 0
	}
	return n
}

// into reads the data into v. It is false when there is none of that shape.
func (e envelope) into(v any) bool {
	data := bytes.TrimSpace(e.Data)
	return len(data) > 0 && !bytes.Equal(data, []byte("null")) && json.Unmarshal(data, v) == nil
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
	return httpStatus == http.StatusConflict || e.StatusCode == "409" || e.code() == "94" ||
		strings.Contains(strings.ToLower(string(e.Message)), "duplicate")
}

// code is the response code: at the top, or inside the data.
func (e envelope) code() string {
	if e.ResponseCode != "" {
		return string(e.ResponseCode)
	}
	var inside struct {
		ResponseCode text `json:"responseCode"`
	}
	if !e.into(&inside) {
		return ""
	}
	return string(inside.ResponseCode)
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
