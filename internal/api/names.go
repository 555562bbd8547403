package api

import (
	"cmp"
	"strings"
	"unicode"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/kobo-waas/kobo/internal/text"
)

// nameFormat is the format of names: texts with a letter or a digit. It is no pattern,
// since the engines of callers do not agree on what a letter is.
const nameFormat = "name"

// name refuses a text without a letter and a digit. An empty text is for the rule of
// its length.
func name(v any) error {
	s, ok := v.(string)
	if !ok || s == "" || strings.ContainsFunc(s, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }) {
		return nil
	}
	return jsonschema.LocalizableError("must have a letter or a digit")
}

// trimName takes invisible characters from the ends of a name. It leaves a space of a
// name without visible characters, since no name is a space.
func trimName(name string) string { return cmp.Or(text.Trim(name), " ") }
