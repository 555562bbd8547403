package secret

import (
	"fmt"
	"io"
	"log/slog"
)

// redacted is what a secret looks like everywhere but where it is used.
const redacted = "[redacted]"

// Text is a secret value, such as an API key or a PIN. It does not show itself:
// not in fmt, not in slog, not in JSON, not as a field of something else that
// is printed. Whoever really needs it says Reveal.
type Text struct {
	// A pointer, because fmt looks inside the unexported fields of whatever
	// holds a Text without asking its methods.
	value *string
}

// NewText makes a secret of a string.
func NewText(s string) Text { return Text{&s} }

// Reveal is the secret itself.
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
	_, _ = io.WriteString(f, redacted) // fmt has nobody to tell
}

// LogValue hides the secret from slog.
func (t Text) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalText hides the secret from JSON and every other encoding. A secret
// that must be shown once is revealed by name.
func (t Text) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// UnmarshalText reads a secret, from configuration for one.
func (t *Text) UnmarshalText(b []byte) error {
	*t = NewText(string(b))
	return nil
}
