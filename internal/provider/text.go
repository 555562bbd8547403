package provider

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// nul is the only form in which a JSON text can contain the character U+0000.
var nul = []byte(`\u0000`)

// Storable returns a provider's JSON text without what PostgreSQL stores in no text. Each escape of the character U+0000
// becomes one of U+FFFD. Bytes that are not UTF-8 become U+FFFD, as they do in encoding/json, which also replaces
// surrogates without their half. So one character in a name holds back no outcome. Nothing is removed: a text with such a
// character still equals no text without one. A signature must be verified before, because it covers the bytes as they came.
func Storable(body []byte) []byte {
	if !utf8.Valid(body) {
		body = bytes.ToValidUTF8(body, []byte("\uFFFD"))
	}
	if !bytes.Contains(body, nul) {
		return body
	}
	body = bytes.Clone(body)
	for i := 0; i < len(body); i++ {
		if body[i] != '\\' {
			continue
		}
		if bytes.HasPrefix(body[i:], nul) {
			copy(body[i:], `\ufffd`)
		}
		i++ // the character after a backslash may be a backslash, which begins nothing
	}
	return body
}

// ReadObject decodes a body that is one JSON object into v. It returns false for any other body.
func ReadObject(body []byte, v any) bool {
	return bytes.HasPrefix(bytes.TrimSpace(body), []byte("{")) && json.Unmarshal(body, v) == nil
}

// ReadPart decodes a part of a response into v. It returns false if the part is absent, null or of
// a different shape.
func ReadPart(part json.RawMessage, v any) bool {
	return len(part) > 0 && string(part) != "null" && json.Unmarshal(part, v) == nil
}

// Text is a JSON value that may be a string, a number or a boolean. Any other value becomes an
// empty Text.
type Text string

// UnmarshalJSON decodes a value and never fails, since one unexpected field must not make the whole
// response unreadable.
func (t *Text) UnmarshalJSON(b []byte) error {
	*t = ""
	switch s, ok := Scalar(b); {
	case ok:
		*t = Text(s)
	case string(b) == "true", string(b) == "false":
		*t = Text(b)
	}
	return nil
}

// Scalar returns the text of a JSON string or number. It returns false for any other value. The
// value must be valid JSON, as a json.Unmarshaler gets it.
func Scalar(b []byte) (string, bool) {
	switch {
	case len(b) == 0:
		return "", false
	case b[0] == '-' || b[0] >= '0' && b[0] <= '9':
		return string(b), true
	case b[0] == '"' && !bytes.ContainsRune(b, '\\') && utf8.Valid(b):
		return string(b[1 : len(b)-1]), true
	}
	var s *string // with a string in place of the pointer, null would be a text
	err := json.Unmarshal(b, &s)
	if err != nil || s == nil {
		return "", false
	}
	return *s, true
}

// InternationalPhone converts a Nigerian phone number to the form +234…. It returns any other number
// without spaces and hyphens.
func InternationalPhone(phone string) string {
	phone = strings.NewReplacer(" ", "", "-", "").Replace(phone)
	switch {
	case len(phone) == 11 && phone[0] == '0':
		return "+234" + phone[1:]
	case len(phone) == 13 && strings.HasPrefix(phone, "234"):
		return "+" + phone
	}
	return phone
}

// First returns the first value that is not empty.
func First[T ~string](values ...T) string { return string(cmp.Or(values...)) }

// Words splits a text into the set of its words. Plugs use it for codes or statuses that share a
// meaning.
func Words(text string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(text) {
		out[w] = true
	}
	return out
}

// Number converts a text to a whole number. It returns 0 for any other text.
func Number[T ~string](t T) int {
	n, err := strconv.Atoi(string(t))
	if err != nil {
		return 0
	}
	return n
}

// Instant converts a time in ISO 8601. It returns the zero time for any other text.
func Instant[T ~string](t T) time.Time {
	at, err := time.Parse(time.RFC3339, string(t))
	if err != nil {
		return time.Time{}
	}
	return at.UTC()
}
