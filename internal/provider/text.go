package provider

import (
	"cmp"
	"encoding/json"
	"strings"
)

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

// First is the first value that is not empty.
func First[T ~string](values ...T) string { return string(cmp.Or(values...)) }

// Words is the set of the words of a text: codes or statuses with one meaning.
func Words(text string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(text) {
		out[w] = true
	}
	return out
}
