// Package wire holds small types that JSON shows in a way of its own. A value with
// fields of these types looks the same in an answer, in an event and in a kept answer.
package wire

import "encoding/json"

// Text is a text that is null when it is empty.
type Text string

// MarshalJSON writes the text, or null.
func (t Text) MarshalJSON() ([]byte, error) { return json.Marshal(Optional(string(t))) }

// Optional returns a pointer to a value, or nil for the zero value.
func Optional[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}

// Number is a number that is null when it is 0.
type Number int64

// MarshalJSON writes the number, or null.
func (n Number) MarshalJSON() ([]byte, error) {
	if n == 0 {
		return []byte("null"), nil
	}
	return json.Marshal(int64(n))
}

// Null is null.
type Null struct{}

// MarshalJSON writes null.
func (Null) MarshalJSON() ([]byte, error) { return []byte("null"), nil }

// Naira is the currency of every amount. JSON shows it as an object with its name.
type Naira struct{}

// MarshalJSON writes the currency.
func (Naira) MarshalJSON() ([]byte, error) { return []byte(`{"name":"NGN"}`), nil }
