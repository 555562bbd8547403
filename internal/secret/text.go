package secret

import (
	"fmt"
	"io"
	"log/slog"
)

// redacted replaces a secret in every output.
const redacted = "[redacted]"

// Text is a secret value, such as an API key or a PIN. It hides itself in fmt, in slog and
// in JSON, also as a field of another value. Only Reveal shows the secret.
type Text struct {
	// value is a pointer, since fmt prints unexported fields of a struct without their
	// methods.
	value *string
}

// NewText makes a secret of a string.
func NewText(s string) Text { return Text{&s} }

// Reveal returns the secret itself.
func (t Text) Reveal() string {
	if t.value == nil {
		return ""
	}
	return *t.value
}

// String hides the secret.
func (t Text) String() string { return redacted }

// Format hides the secret from every verb of fmt.
func (t Text) Format(f fmt.State, _ rune) {
	_, _ = io.WriteString(f, redacted) // fmt handles no errors
}

// LogValue hides the secret from slog.
func (t Text) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalText hides the secret from JSON and every other encoding.
func (t Text) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// UnmarshalText reads a secret, for example from the configuration.
func (t *Text) UnmarshalText(b []byte) error {
	*t = NewText(string(b))
	return nil
}
