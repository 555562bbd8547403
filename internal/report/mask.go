package report

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Hidden replaces what a mask takes away.
const Hidden = "•••"

// MaskPhone shows the first and the last four digits of a phone number.
func MaskPhone(phone string) string {
	if len(phone) < 10 {
		return Hidden
	}
	return phone[:4] + Hidden + phone[len(phone)-4:]
}

// MaskEmail shows the first letters of an e-mail address and of its domain, and the domain's last part.
func MaskEmail(email string) string {
	name, domain, whole := strings.Cut(email, "@")
	if !whole || name == "" || domain == "" {
		return Hidden
	}
	_, one := utf8.DecodeRuneInString(name)
	_, two := utf8.DecodeRuneInString(domain)
	ending := ""
	if dot := strings.LastIndexByte(domain, '.'); dot > 0 {
		ending = domain[dot:]
	}
	return name[:one] + Hidden + "@" + domain[:two] + Hidden + ending
}

// emailWithin matches an e-mail address within a text.
var emailWithin = regexp.MustCompile(`[^\s@<>"',;:()]+@[^\s@<>"',;:()]+\.[^\s@<>"',;:()]+`)

// MaskText masks the long numbers and the e-mail addresses within a text that people or providers have written.
func MaskText(s string) string { return emailWithin.ReplaceAllStringFunc(mask(s), MaskEmail) }

// longNumber matches numbers that may be personal, also in groups of digits. It also matches our ids and days,
// but the function mask leaves these unchanged.
var longNumber = regexp.MustCompile(`[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|\b[a-z2-7]{20}\b|\d{8,}|\b\d{2,4}(?:[ -]\d{2,4}){2,5}\b`)

// isoDay matches a day at the beginning of a number in groups.
var isoDay = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}\b`)

// fewestDigits is the number of digits of the shortest number in groups that is masked. A day has one less.
const fewestDigits = 9

// mask replaces all but the last four digits of long numbers with asterisks.
func mask(s string) string {
	return longNumber.ReplaceAllStringFunc(s, func(n string) string {
		isGrouped := strings.ContainsAny(n, " -")
		digits := len(n) - strings.Count(n, " ") - strings.Count(n, "-")
		switch {
		case len(n) == 36 && strings.Count(n, "-") == 4, strings.ContainsFunc(n, unicode.IsLetter): // an id
			return n
		case isGrouped && (digits < fewestDigits || isoDay.MatchString(n)):
			return n
		}
		return strings.Repeat("*", len(n)-4) + n[len(n)-4:]
	})
}
