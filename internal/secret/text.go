package secret

import (
	"fmt"
	"io"
	"log/slog"
)

// redacted is the text that replaces a secret in every output.
const redacted = "[redacted]"

// Text is a secret value, such as an API key or a PIN. Output of fmt, slog and JSON never shows the
// secret, even if it is a field of another value. Only Reveal shows it.
type Text struct {
	// value is a pointer, because fmt prints unexported fields of a struct without calling their
	// methods.
	value *string
}

// NewText returns a string as a secret Text.
func NewText(s string) Text { return Text{&s} }

// Reveal returns the secret value.
func (t Text) Reveal() string {
	if t.value == nil {
		return ""
	}
	return *t.value
}

// String returns a placeholder instead of the secret.
func (t Text) String() string { return redacted }

// Format prints a placeholder instead of the secret, for every verb of fmt.
func (t Text) Format(f fmt.State, _ rune) {
	_, _ = io.WriteString(f, redacted) // ignored, because fmt handles no errors
}

// LogValue gives slog a placeholder instead of the secret.
func (t Text) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalText gives JSON and every other encoding a placeholder instead of the secret.
func (t Text) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// UnmarshalText reads a secret, for example from the configuration.
func (t *Text) UnmarshalText(b []byte) error {
	*t = NewText(string(b))
	return nil
}
