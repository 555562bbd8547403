// Package wire provides small types with a special form in JSON. A value with fields of these types
// looks the same in a response, in an event and in a stored response.
package wire

import "encoding/json"

// Text is a text that JSON shows as null when it is empty.
type Text string

// MarshalJSON writes the text, or null if it is empty.
func (t Text) MarshalJSON() ([]byte, error) {
	if t == "" {
		return []byte("null"), nil
	}
	return json.Marshal(string(t))
}

// Optional returns a pointer to a value, or nil for the zero value.
func Optional[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}

// Number is a number that JSON shows as null when it is 0.
type Number int64

// MarshalJSON writes the number, or null if it is 0.
func (n Number) MarshalJSON() ([]byte, error) {
	if n == 0 {
		return []byte("null"), nil
	}
	return json.Marshal(int64(n))
}

// Null is a value that JSON always shows as null.
type Null struct{}

// MarshalJSON writes null.
func (Null) MarshalJSON() ([]byte, error) { return []byte("null"), nil }

// Naira is the currency of every amount. JSON shows it as an object with the currency's name.
type Naira struct{}

// MarshalJSON writes the currency as an object.
func (Naira) MarshalJSON() ([]byte, error) { return []byte(`{"name":"NGN"}`), nil }
