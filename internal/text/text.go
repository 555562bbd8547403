// Package text tells which characters of a text people see.
package text

import (
	"strings"
	"unicode"
)

// Trim returns a text without the characters at its ends that nobody sees. It is empty
// if nobody sees anything of the text.
func Trim(s string) string { return strings.TrimFunc(s, isBlank) }

// isBlank reports whether a character leaves the paper white: a space of any width, a
// control or format character, a filler of a script, or the empty braille pattern.
func isBlank(r rune) bool {
	return unicode.IsSpace(r) || unicode.In(r, unicode.Z, unicode.Cc, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point) || r == '\u2800'
}
