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

// envelope is what all answers have in common. Lists say "000" in the
// description and have no code.
type envelope struct {
	Code        text            `json:"code"`
	Description text            `json:"response_description"`
	RequestID   text            `json:"requestId"`
	Content     json.RawMessage `json:"content"`
	// Where the distribution companies' answers carry a prepaid meter's token.
	Token     text `json:"token"`
	MainToken text `json:"mainToken"`
	Purchased text `json:"purchased_code"`
}

// read takes an answer's envelope off. It is false for anything but one whole
// JSON object.
func read(body []byte) (envelope, bool) {
	var e envelope
	ok := provider.ReadObject(body, &e)
	return e, ok
}

// into reads the content into v. It is false when there is none of that shape.
func (e envelope) into(v any) bool { return provider.ReadPart(e.Content, v) }

// token is a prepaid meter's. One company writes "Token : 1234…".
func (e envelope) token() string {
	t := strings.TrimSpace(provider.First(e.Token, e.MainToken, e.Purchased))
	if rest, ok := strings.CutPrefix(strings.ToLower(t), "token"); ok {
		t = strings.TrimLeft(rest, " :")
	}
	return t
}

type text = provider.Text

// naira reads an amount that may be absent, which is zero.
func naira(t text) (money.Kobo, bool) {
	if t == "" {
		return 0, true
	}
	k, err := money.Parse(strings.TrimSpace(string(t)))
	return k, err == nil
}

// number writes an amount in digits and never through a float.
func number(k money.Kobo) json.Number { return json.Number(k.Number()) }

// requestID is our reference as VTpass wants it: it must begin with the date and
// the time, to the minute, in Lagos. The time is that of the purchase; a
// time-ordered UUID carries its own. The same id comes out whenever it is asked
// for, and nothing is stored. It is false for a reference that VTpass cannot take.
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

// plain is what may follow the stamp.
var plain = regexp.MustCompile(`^[0-9a-z]+$`)
