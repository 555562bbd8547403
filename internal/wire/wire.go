// Package wire holds small types that JSON shows in a way of its own. A value with
// fields of these types looks the same in an answer, in an event and in a kept answer.
package wire

import "encoding/json"

// Text is a text that is null when it is empty.
type Text string

// MarshalJSON writes the text, or null.
func (t Text) MarshalJSON() ([]byte, error) { return json.Marshal(Optional(string(t))) }

// Optional is a text as a pointer, nil when it is empty.
func Optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
