package vtpass

import (
	"encoding/json"
	"regexp"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/provider"
)

// envelope is the common part of all replies. The reply to a list has "000" in the description and
// no code.
type envelope struct {
	Code        code            `json:"code"`
	Description text            `json:"response_description"`
	RequestID   text            `json:"requestId"`
	Content     json.RawMessage `json:"content"`
	Amount      text            `json:"amount"`
	// The older samples of VTpass's documentation have no content, and the transaction's id here.
	TransactionID text `json:"transactionId"`
	// One of these fields contains a prepaid meter's token, depending on the power company.
	Token     text `json:"token"`
	MainToken text `json:"mainToken"`
	Purchased text `json:"purchased_code"`
	// Some power companies report further codes.
	BonusToken     text `json:"bonusToken"`
	KCT1           text `json:"kct1"`
	KCT2           text `json:"kct2"`
	ResetToken     text `json:"resetToken"`
	ConfigureToken text `json:"configureToken"`
	Units          text `json:"units"`
	MainUnits      text `json:"mainTokenUnits"`
}

// read decodes a reply's envelope. It returns false unless the body is one JSON object.
func read(body []byte) (envelope, bool) {
	var e envelope
	ok := provider.ReadObject(body, &e)
	return e, ok
}

// code is VTpass's code of three digits. A code that arrives as a JSON number has lost its leading
// zeros, such as 0 for 000.
type code string

// UnmarshalJSON decodes a value and never fails, since one unexpected field must not make the whole
// reply unreadable.
func (c *code) UnmarshalJSON(b []byte) error {
	s, scalar := provider.Scalar(b)
	if scalar && b[0] != '"' && len(s) < 3 {
		s = strings.Repeat("0", 3-len(s)) + s
	}
	*c = code(s)
	return nil
}

// into decodes the content into v. It returns false if the content is absent or of a different
// shape.
func (e envelope) into(v any) bool { return provider.ReadPart(e.Content, v) }

// bare reports whether the reply contains nothing about a purchase: no transaction of any shape, no ID
// and no token. Content of an unknown shape is not bare.
func (e envelope) bare() bool {
	if e.TransactionID != "" || e.Token != "" || e.MainToken != "" || e.Purchased != "" {
		return false
	}
	if len(e.Content) == 0 {
		return true
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(e.Content, &fields) != nil {
		return false
	}
	_, sold := fields["transactions"]
	return !sold
}

// token returns a prepaid meter's token. The power company of Eko writes both of its tokens into
// purchased_code, so the fields for one token take precedence.
func (e envelope) token() string {
	for _, t := range []text{e.Token, e.MainToken, e.Purchased} {
		if token := cleaned(t); token != "" {
			return token
		}
	}
	return ""
}

// codes returns the further codes for a prepaid meter.
func (e envelope) codes() provider.MeterCodes {
	m := provider.MeterCodes{
		BonusToken: cleaned(e.BonusToken), KCT1: cleaned(e.KCT1), KCT2: cleaned(e.KCT2),
		ResetToken: cleaned(e.ResetToken), ConfigureToken: cleaned(e.ConfigureToken),
	}
	if m.Units = cleaned(e.Units); m.Units == "" {
		m.Units = cleaned(e.MainUnits)
	}
	return m
}

// cleaned returns a token without the prefix "Token : ", which one power company adds. It returns ""
// for "N/A", which is not a token.
func cleaned(t text) string {
	token := strings.TrimSpace(string(t))
	if rest, ok := strings.CutPrefix(strings.ToLower(token), "token"); ok {
		token = strings.TrimLeft(rest, " :")
	}
	switch strings.ToLower(token) {
	case "n/a", "na", "null", "nil", "none", "-":
		return ""
	}
	return token
}

type text = provider.Text

// naira converts an amount in naira to kobo. An absent amount is zero.
func naira(t text) (money.Kobo, bool) {
	if t == "" {
		return 0, true
	}
	k, err := money.Parse(strings.TrimSpace(string(t)))
	return k, err == nil
}

// number writes an amount in naira, without a float.
func number(k money.Kobo) json.Number { return json.Number(k.Number()) }

// requestID converts our reference to VTpass's request_id. A request_id begins with the date and
// the time in Lagos, to the minute. The time comes from the reference if that is a time-ordered
// UUID. Otherwise it is begun, the time at which the purchase was recorded. So the request_id is
// the same each time, and need not be stored. For a reference that VTpass cannot accept, requestID
// returns false.
func requestID(reference string, begun time.Time) (string, bool) {
	if u, err := uuid.Parse(reference); err == nil && u.Version() == 7 {
		seconds, nanos := u.Time().UnixTime()
		begun, reference = time.Unix(seconds, nanos), strings.ReplaceAll(u.String(), "-", "")
	}
	began := begun.In(clock.Lagos).Format("200601021504")
	if begun.IsZero() || len(began) != stamp || !plain.MatchString(reference) { // a UUID can name a year of five digits
		return "", false
	}
	return began + reference, true
}

// stamp is the length of the date and time at the beginning of a request_id.
const stamp = 12

// referenceOf returns our reference in a request_id. Our references have 20 characters. Those of
// older releases were UUIDs, whose dashes a request_id does not have.
func referenceOf(requestID string) string {
	tail := requestID[min(len(requestID), stamp):]
	if u, err := uuid.Parse(tail); err == nil {
		return u.String()
	}
	return tail
}

// plain matches references that may follow the date and time in a request_id.
var plain = regexp.MustCompile(`^[0-9a-z]+$`)
