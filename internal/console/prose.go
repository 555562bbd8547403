package console

import "strings"

// longWord is the number of letters from which a word may be broken. Anybody can send a transfer under a name without a space, and a
// table must show its other columns beside it.
const longWord = 24

// hasLongWord reports whether a text has a word that is too long for a column.
func hasLongWord(text string) bool {
	for word := range strings.FieldsSeq(text) {
		if len([]rune(word)) > longWord {
			return true
		}
	}
	return false
}
