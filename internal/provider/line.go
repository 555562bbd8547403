package provider

import (
	"fmt"
	"regexp"
	"strings"
)

// shape matches our references and the session IDs between banks.
var shape = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|\b[a-z2-7]{20}\b|\b[0-9]{30}\b`)

// References returns the words of a text that have the form of our references or of a session ID between banks.
func References(text string) []string { return shape.FindAllString(strings.ToLower(text), -1) }

// Names returns the names that may identify the payment or credit of a line, the likeliest first.
// They are the line's reference, and our references within that reference. For a debit or a return,
// our references in the narration count too, since the bank wrote that narration. The sender writes
// the narration of a credit, so that narration proves nothing.
func (l StatementLine) Names() (out []string) {
	reference := strings.TrimSpace(l.Reference)
	if reference != "" {
		out = append(out, reference)
	}
	out = append(out, References(reference)...)
	if !l.Credit || l.Reversal {
		out = append(out, References(l.Narration)...)
	}
	return out
}

// Identity returns the bank's id of a line, or all fields of the line if the bank gives no id. A new line may move an
// old one to the next page, so a line may come twice.
func (l StatementLine) Identity() string {
	if l.ID != "" {
		return l.ID
	}
	return fmt.Sprint(l.At.UnixMicro(), l.Credit, l.Amount, l.Balance, l.Reference, l.Narration)
}
