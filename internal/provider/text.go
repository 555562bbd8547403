package provider

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strconv"
	"strings"
	"time"
)

// ReadObject reads a body that is one JSON object. It returns false for any other
// body.
func ReadObject(body []byte, v any) bool {
	return bytes.HasPrefix(bytes.TrimSpace(body), []byte("{")) && json.Unmarshal(body, v) == nil
}

// ReadPart reads a part of an answer. It returns false if the part is absent, null
// or of another shape.
func ReadPart(part json.RawMessage, v any) bool {
	return len(part) > 0 && string(part) != "null" && json.Unmarshal(part, v) == nil
}

// Text is a JSON value that may be a string, a number or a boolean. Any other value
// is an empty Text.
type Text string

// UnmarshalJSON never fails, since one odd field must not make an answer unreadable.
func (t *Text) UnmarshalJSON(b []byte) error {
	*t = ""
	var s string
	var n json.Number
	switch {
	case json.Unmarshal(b, &s) == nil:
		*t = Text(s)
	case json.Unmarshal(b, &n) == nil:
		*t = Text(n)
	case string(b) == "true", string(b) == "false":
		*t = Text(b)
	}
	return nil
}

// First returns the first value that is not empty.
func First[T ~string](values ...T) string { return string(cmp.Or(values...)) }

// Words returns the set of the words of a text: codes or statuses with one meaning.
func Words(text string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(text) {
		out[w] = true
	}
	return out
}

// Number reads a whole number; 0 stands for anything else.
func Number[T ~string](t T) int {
	n, err := strconv.Atoi(string(t))
	if err != nil {
		return 0
	}
	return n
}

// Instant reads a time in ISO 8601; the zero time stands for anything else.
func Instant[T ~string](t T) time.Time {
	at, err := time.Parse(time.RFC3339, string(t))
	if err != nil {
		return time.Time{}
	}
	return at.UTC()
}
