// Package text finds out which characters of a text are visible.
package text

import (
	"strings"
	"unicode"
)

// Trim returns a text without the invisible characters at its ends. The result is empty if the
// whole text is invisible.
func Trim(s string) string { return strings.TrimFunc(s, isBlank) }

// isBlank reports whether a character is invisible. Invisible characters are spaces of any width,
// control and format characters, fillers of a script, and the empty braille pattern.
func isBlank(r rune) bool {
	return unicode.IsSpace(r) || unicode.In(r, unicode.Z, unicode.Cc, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point) || r == '\u2800'
}
