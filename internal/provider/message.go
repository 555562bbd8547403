package provider

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

const messageLimit = 200

// These patterns find personal data and secrets in a provider's message. Phone, account and card
// numbers have more digits than a price. Email addresses contain an @. A token is long, or has the
// prefix of a token. A secret follows its name, as in "PIN 1234" and "api_key=abc"; "Invalid PIN"
// contains no secret.
var (
	personal = regexp.MustCompile(`\d(?:[ -]?\d){6,}|\S+@\S+`)
	tokens   = regexp.MustCompile(`[A-Za-z0-9+/=_.-]{40,}|\beyJ[\w.-]+|\b[sp]k_\w+`)
	secrets  = regexp.MustCompile(`(?i)((?:\b|_)(?:pin|otp|cvv2?|token|password|secret|bearer|(?:api|client)[ _-]?(?:key|id))"?)` +
		`(?:\s*[:=]\s*\S+|(?:\s+(?:is|was|code))?\s+\S*\d\S*)`)
)

// Message returns a provider's message in a form that a company may read. The result is one line of
// at most 200 characters, without personal data.
func Message(s string) string {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "")), " ")
	if len(s) < 40 && !strings.ContainsAny(s, "0123456789@:=_") && !strings.Contains(s, "eyJ") {
		return s // none of the expressions can match, and they take longer than the rest of the reply
	}
	s = secrets.ReplaceAllString(s, "$1 …")
	s = tokens.ReplaceAllString(s, "…")
	s = personal.ReplaceAllString(s, "…")
	if utf8.RuneCountInString(s) > messageLimit {
		s = string([]rune(s)[:messageLimit-1]) + "…"
	}
	return s
}

// Repeated reports whether a provider's message states that a reference was used before. No provider
// documents the words of this message. A refusal that only names a reference does not count.
func Repeated(message string) bool {
	m := strings.ToLower(message)
	return strings.Contains(m, "duplicate") || strings.Contains(m, "reference") &&
		(strings.Contains(m, "already") || strings.Contains(m, "exists") || strings.Contains(m, "been used") || strings.Contains(m, "unique"))
}
