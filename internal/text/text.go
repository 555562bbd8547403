// Package text finds out which characters of a text are visible, and which a spreadsheet would execute.
package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Trim returns a text without the invisible characters at its ends. The result is empty if the
// whole text is invisible.
func Trim(s string) string { return strings.TrimFunc(s, isBlank) }

// isBlank reports whether a character is invisible. Invisible characters are spaces of any width,
// control and format characters, fillers of a script, and the empty braille pattern.
func isBlank(r rune) bool {
	return unicode.IsSpace(r) || unicode.In(r, unicode.Z, unicode.Cc, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point) || r == '\u2800'
}

// Cell returns a text in a form that a spreadsheet does not execute as a formula. Some
// spreadsheets also execute a formula that begins with a full-width sign.
func Cell(s string) string {
	if first, _ := utf8.DecodeRuneInString(s); s != "" && strings.ContainsRune("=+-@\t\r\n＝＋－＠", first) {
		return "'" + s
	}
	return s
}
