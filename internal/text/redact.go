package text

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// shownMembers are the members of JSON objects whose values a redacted text may show, since they name no
// person and are no secret.
var shownMembers = []string{
	"amount", "settlementId", "fromSettlementId", "toSettlementId", "serviceCategoryId", "productId", "verify_id", "verificationId",
	"bank_code", "validFor", "amountControl", "lowBalance", "events", "lines", "cardId", "customerId",
}

// ownID matches the ids that Kobo makes: UUIDs, cuids and other ids of letters and digits, and the numbers
// of settlement accounts. No e-mail address, name, phone number or BVN matches.
var ownID = regexp.MustCompile(`^([0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-z]{20,32}|[0-9]{1,9})$`)

// IsOwnID reports whether a text has the form of an id that Kobo makes. A short reference of a company (id.Cuid) is none here: people
// and their e-mail addresses have such names.
func IsOwnID(s string) bool { return ownID.MatchString(s) }

// memberName matches the names of members that a redacted text shows. A harmless value has no ten digits in a
// row, as a BVN, a phone number or an account number has.
var (
	memberName = regexp.MustCompile(`^[A-Za-z][A-Za-z_]{0,39}$`)
	harmless   = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,64}$`)
	manyDigits = regexp.MustCompile(`[0-9]{10}`)
)

// Redacted returns a JSON value as text of at most limit bytes, without what may be a secret or may name a
// person. Such a value is replaced by its type. Numbers of the value must be of the type json.Number. A value
// that JSON cannot show is "".
func Redacted(value any, limit int) string {
	var out strings.Builder
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(redacted(value, false)); err != nil {
		return ""
	}
	return cut(strings.TrimSpace(out.String()), limit)
}

// redacted returns a decoded JSON value without what may be a secret or may name a person. Parameter show is
// true below a member whose value may be shown.
func redacted(value any, show bool) any {
	switch v := value.(type) {
	case map[string]any:
		out := map[string]any{}
		for name, member := range v {
			if !memberName.MatchString(name) {
				name = "<name>"
			}
			out[name] = redacted(member, slices.Contains(shownMembers, name))
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, member := range v {
			out[i] = redacted(member, show)
		}
		return out
	case nil, bool:
		return v
	case string:
		if show && harmless.MatchString(v) && (ownID.MatchString(v) || !manyDigits.MatchString(v)) {
			return v
		}
		return aroundOwn(v, func(other string) string { return fmt.Sprintf("<%d characters>", utf8.RuneCountInString(other)) })
	case json.Number:
		if show && !manyDigits.MatchString(v.String()) {
			return v
		}
	}
	return "<number>"
}

// ownReference matches what looks like a reference of Kobo within other words: a UUID of version 7.
var ownReference = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}`)

// The time of a reference of Kobo is between these, in milliseconds: 2020 and 2100. A number that somebody has written
// in the form of a UUID has hardly such a time.
const firstTime, lastTime = 1_577_836_800_000, 4_102_444_800_000

// isOwnReference reports whether a part of a text is a reference of Kobo, and not a piece of a longer word or of an e-mail
// address.
func isOwnReference(s string, from, to int) bool {
	at, err := strconv.ParseInt(s[from:from+8]+s[from+9:from+13], 16, 64)
	joins := func(c byte) bool {
		return c == '@' || c == '-' || c >= utf8.RuneSelf || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
	}
	return err == nil && at >= firstTime && at < lastTime && (from == 0 || !joins(s[from-1])) && (to == len(s) || !joins(s[to]))
}

// aroundOwn returns a text with the references of Kobo in it as they are. The function hide redacts the other parts.
func aroundOwn(s string, hide func(string) string) string {
	var out strings.Builder
	end := 0
	for _, m := range ownReference.FindAllStringIndex(s, -1) {
		if !isOwnReference(s, m[0], m[1]) {
			continue
		}
		if m[0] > end {
			out.WriteString(hide(s[end:m[0]]))
		}
		out.WriteString(s[m[0]:m[1]])
		end = m[1]
	}
	if end == 0 || end < len(s) {
		out.WriteString(hide(s[end:]))
	}
	return out.String()
}

// mail and longDigits match what may name a person in free text: an e-mail address, and a run of seven digits
// or more. token matches what may be a secret if it has a digit.
var (
	mail       = regexp.MustCompile(`[^\s<>"']+@[^\s<>"']+`)
	longDigits = regexp.MustCompile(`[0-9]{7,}`)
	// groups matches ten digits or more in groups, as on a card. hour matches a day with the beginning of its time.
	groups = regexp.MustCompile(`[0-9](?:[ -]?[0-9]){9,}`)
	hour   = regexp.MustCompile(`^20[0-9]{2}-[0-9]{2}-[0-9]{2} [0-9]{2}$`)
	token  = regexp.MustCompile(`[A-Za-z0-9+_=-]{24,}`)
)

// RedactedBody returns the beginning of the body of an answer, of at most limit bytes, without what may be a
// secret or may name a person. JSON is redacted as by Redacted. Other text, such as a page that reports an
// error, keeps its words, but no e-mail address, no long number and nothing that looks like a key. A reference of Kobo
// stays readable in both, though it may have a long number in it. The result
// has no control characters, so every database accepts it.
func RedactedBody(body []byte, limit int) string {
	body = bytes.TrimSpace(body)
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	var value any
	if dec.Decode(&value) == nil && !dec.More() {
		return Redacted(value, limit)
	}
	s := strings.ToValidUTF8(string(body), "\uFFFD")
	if strings.HasPrefix(s, "{") || strings.HasPrefix(s, "[") {
		return fmt.Sprintf("<%d characters>", utf8.RuneCountInString(s)) // cut JSON, whose members cannot be told apart
	}
	s = strings.TrimSpace(strings.Map(func(c rune) rune {
		if unicode.IsControl(c) {
			return ' '
		}
		return c
	}, s))
	return cut(aroundOwn(s, wordsOnly), limit)
}

// wordsOnly returns free text without addresses, long numbers and what looks like a key.
func wordsOnly(s string) string {
	s = mail.ReplaceAllString(s, "<address>")
	s = token.ReplaceAllStringFunc(s, func(found string) string {
		if ownID.MatchString(found) || !strings.ContainsAny(found, "0123456789") {
			return found
		}
		return "<text>"
	})
	s = groups.ReplaceAllStringFunc(s, func(found string) string {
		if hour.MatchString(found) {
			return found
		}
		return "<number>"
	})
	return longDigits.ReplaceAllString(s, "<number>")
}

// cut shortens a text to at most limit bytes, at the end of a character.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit-3], "") + "..."
}
