package provider

import (
	"cmp"
	"encoding/json"
	"strings"
)

// Text is a JSON value that is a string here and a number or a truth value
// there. Anything else is empty.
type Text string

// UnmarshalJSON never fails: an odd field must not make an answer unreadable.
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

// First is the first that is not empty.
func First[T ~string](values ...T) string { return string(cmp.Or(values...)) }

// Words are the words of a text, as a set: codes and statuses that mean the same.
func Words(text string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(text) {
		out[w] = true
	}
	return out
}
