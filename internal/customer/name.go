package customer

import (
	"slices"
	"strings"
	"time"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/secret"
	"github.com/kobo-waas/kobo/internal/wire"
)

// The results of the comparison of a customer's name with the name in the BVN's record. The result
// is empty while there is no account, or if the bank did not return a name.
const (
	Match    wire.Text = "MATCH"    // the first and the last name occur in the record
	Partial  wire.Text = "PARTIAL"  // one of the two names occurs
	Mismatch wire.Text = "MISMATCH" // none of the two names occurs
)

// compare returns the result of the comparison. The name in the record is personal data, so Kobo does
// not store it.
func (p Profile) compare(record secret.Text) wire.Text {
	words := fold(record.Reveal())
	if len(words) == 0 {
		return ""
	}
	first, last := occurs(fold(p.FirstName), words), occurs(fold(p.LastName), words)
	switch {
	case first && last:
		return Match
	case first || last:
		return Partial
	}
	return Mismatch
}

// plain replaces letters that Unicode does not decompose, and removes the apostrophes inside names.
var plain = strings.NewReplacer("ɓ", "b", "ɗ", "d", "ƙ", "k", "ƴ", "y", "ø", "o", "ł", "l", "đ", "d", "ß", "ss", "æ", "ae",
	"'", "", "’", "", "‘", "", "ʼ", "", "`", "", "´", "")

// fold returns the words of a name in lower case, without marks and punctuation.
func fold(name string) []string {
	name = plain.Replace(strings.ToLower(name)) // before the decomposition, which splits "´" into a blank and a mark
	name = plain.Replace(strings.Map(func(r rune) rune {
		if unicode.Is(unicode.M, r) {
			return -1
		}
		return unicode.ToLower(r)
	}, norm.NFKD.String(name)))
	return strings.FieldsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// occurs reports whether a name occurs among the words of the record. The parts of a name may be
// separated in one of the two and joined in the other, such as "Abdul-Rahman" and "ABDULRAHMAN".
func occurs(name, words []string) bool {
	if len(name) == 0 {
		return false
	}
	if !slices.ContainsFunc(name, func(w string) bool { return !slices.Contains(words, w) }) {
		return true
	}
	for from := range words {
		for to := from + 1; to <= len(words); to++ {
			if strings.Join(words[from:to], "") == strings.Join(name, "") {
				return true
			}
		}
	}
	return false
}

// judge sets the result of the comparison for an account that the bank has opened, if the bank's
// reply contains the name in the BVN's record.
func (a *attempt) judge(found provider.AccountAnswer) provider.AccountAnswer {
	if found.Outcome == provider.Confirmed {
		if verdict := a.customer.compare(found.Holder); verdict != "" {
			a.nameMatch = verdict
		}
	}
	return found
}

// Checked is a customer in the operators' list of compared names.
type Checked struct {
	Company   string
	ID        string
	FirstName string
	LastName  string
	NameMatch wire.Text
	Status    string // OPEN, or FAILED if the account was not opened
	UpdatedAt time.Time
}

// CheckedFilter selects customers of the operators' list: those with this result of the comparison. An
// empty Company selects all companies.
type CheckedFilter struct{ NameMatch, Company string }
