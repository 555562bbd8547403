package app

import (
	"fmt"
	"io"
	"log/slog"
)

// NewLogger is the program's log, in the form the configuration asks for.
func NewLogger(w io.Writer, cfg LogConfig) (*slog.Logger, error) {
	var level slog.Level
	var all []error
	if err := level.UnmarshalText([]byte(cfg.Level)); err != nil {
		all = append(all, fmt.Errorf("configuration: log.level must be debug, info, warn or error, not %q", cfg.Level))
	}
	if cfg.Format != "json" && cfg.Format != "text" {
		all = append(all, fmt.Errorf("configuration: log.format must be json or text, not %q", cfg.Format))
	}
	if err := wrongs(all...); err != nil {
		return nil, err
	}
	options := &slog.HandlerOptions{Level: level, ReplaceAttr: redact}
	if cfg.Format == "text" {
		return slog.New(slog.NewTextHandler(w, options)), nil
	}
	return slog.New(slog.NewJSONHandler(w, options)), nil
}

// unloggable are names whose values never reach the log, whoever logs them: the
// last net under the types that hide themselves (secret.Text).
var unloggable = map[string]bool{
	"authorization": true, "access_token": true, "refresh_token": true, "token": true, "client_assertion": true,
	"api_key": true, "x-api-key": true, "pin": true, "otp": true, "bvn": true, "nin": true, "pan": true, "number": true,
	"master_key": true, "password": true, "secret": true, "clientid": true,
}

func redact(_ []string, a slog.Attr) slog.Attr {
	if unloggable[a.Key] {
		return slog.String(a.Key, "[redacted]")
	}
	return a
}
