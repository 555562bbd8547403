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
	Code        text            `json:"code"`
	Description text            `json:"response_description"`
	RequestID   text            `json:"requestId"`
	Content     json.RawMessage `json:"content"`
	// One of these fields contains a prepaid meter's token, depending on the power company.
	Token     text `json:"token"`
	MainToken text `json:"mainToken"`
	Purchased text `json:"purchased_code"`
}

// read decodes a reply's envelope. It returns false unless the body is one JSON object.
func read(body []byte) (envelope, bool) {
	var e envelope
	ok := provider.ReadObject(body, &e)
	return e, ok
}

// into decodes the content into v. It returns false if the content is absent or of a different
// shape.
func (e envelope) into(v any) bool { return provider.ReadPart(e.Content, v) }

// token returns a prepaid meter's token. It removes the prefix "Token : ", which one power company
// adds.
func (e envelope) token() string {
	t := strings.TrimSpace(provider.First(e.Token, e.MainToken, e.Purchased))
	if rest, ok := strings.CutPrefix(strings.ToLower(t), "token"); ok {
		t = strings.TrimLeft(rest, " :")
	}
	return t
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
	if begun.IsZero() || !plain.MatchString(reference) {
		return "", false
	}
	return begun.In(clock.Lagos).Format("200601021504") + reference, true
}

// plain matches references that may follow the date and time in a request_id.
var plain = regexp.MustCompile(`^[0-9a-z]+$`)
