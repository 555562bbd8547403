package app

import (
	"io"
	"log/slog"
	"regexp"
	"strings"
)

// NewLogger returns the program's log with the configured level and format.
func NewLogger(w io.Writer, cfg LogConfig) (*slog.Logger, error) {
	var level slog.Level
	err := listErrors(
		errorIf(level.UnmarshalText([]byte(cfg.Level)) != nil, "log.level must be debug, info, warn or error, not %q", cfg.Level),
		errorIf(cfg.Format != "json" && cfg.Format != "text", "log.format must be json or text, not %q", cfg.Format),
	)
	if err != nil {
		return nil, err
	}
	options := &slog.HandlerOptions{Level: level, ReplaceAttr: redact}
	if cfg.Format == "text" {
		return slog.New(slog.NewTextHandler(w, options)), nil
	}
	return slog.New(slog.NewJSONHandler(w, options)), nil
}

// hiddenAttributes are the log attributes whose values the log hides. Secrets have the type
// secret.Text, which already hides its value, so this is a second protection.
var hiddenAttributes = map[string]bool{
	"authorization": true, "access_token": true, "refresh_token": true, "token": true, "client_assertion": true,
	"api_key": true, "x-api-key": true, "pin": true, "otp": true, "bvn": true, "nin": true, "pan": true, "number": true,
	"master_key": true, "password": true, "secret": true, "clientid": true,
}

// keyText matches API keys and admin keys in any text. Keys of earlier releases begin with kobo_key_.
var keyText = regexp.MustCompile(`\bkobo_(test|live|key|admin)_[A-Za-z0-9_-]{43}`)

// redact hides an attribute with the name of a secret, and every key in the text of another one.
func redact(_ []string, a slog.Attr) slog.Attr {
	if hiddenAttributes[a.Key] {
		return slog.String(a.Key, "[redacted]")
	}
	text := ""
	switch a.Value.Kind() {
	case slog.KindString:
		text = a.Value.String()
	case slog.KindAny:
		if err, ok := a.Value.Any().(error); ok {
			text = err.Error()
		}
	}
	if strings.Contains(text, "kobo_") && keyText.MatchString(text) {
		return slog.String(a.Key, keyText.ReplaceAllString(text, "kobo_${1}_[redacted]"))
	}
	return a
}
