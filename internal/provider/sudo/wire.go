package sudo

import (
	"bytes"
	"encoding/json"
	"maps"
	"math/big"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/provider"
)

// envelope is the common part of all replies. The message is a string, or an array that lists the
// broken validation rules of each field.
type envelope struct {
	StatusCode   word            `json:"statusCode"`
	Error        word            `json:"error"`
	Message      json.RawMessage `json:"message"`
	ResponseCode word            `json:"responseCode"`
	Data         json.RawMessage `json:"data"`
	Pagination   struct {
		Pages text `json:"pages"`
	} `json:"pagination"`
}

// read decodes a reply's envelope. It returns false if the body is not one JSON object. It also
// returns false if the statusCode is an object or an array.
func read(body []byte) (envelope, bool) {
	var e envelope
	ok := provider.ReadObject(body, &e)
	return e, ok && e.StatusCode != odd
}

// status returns the HTTP status. If HTTP reports a success and the body has a statusCode, it
// returns the statusCode. An error without a statusCode counts as an internal error of Sudo.
func (e envelope) status(httpStatus int) int {
	inner, err := strconv.Atoi(string(e.StatusCode))
	switch {
	case httpStatus >= 300:
		return httpStatus
	case err == nil && inner >= 300:
		return inner
	case e.Error != "" && e.Error != "false":
		return http.StatusInternalServerError
	case err == nil && inner != 0:
		return inner
	}
	return httpStatus
}

func code(status int) string { return strconv.Itoa(status) }

// into decodes the data into v. It returns false if the data is absent or of a different shape.
func (e envelope) into(v any) bool { return provider.ReadPart(e.Data, v) }

// empty reports whether the reply has no data.
func (e envelope) empty() bool { return len(e.Data) == 0 || string(e.Data) == "null" }

// message returns Sudo's message as one line, without personal data. From an array it takes the
// text of each rule. The rules of one field are in alphabetical order.
func (e envelope) message() string {
	var one string
	if json.Unmarshal(e.Message, &one) == nil {
		return provider.Message(one)
	}
	var many []json.RawMessage
	if json.Unmarshal(e.Message, &many) != nil {
		return ""
	}
	var lines []string
	for _, m := range many {
		var line string
		var broken struct {
			Constraints map[string]text `json:"constraints"`
		}
		if json.Unmarshal(m, &line) == nil {
			lines = append(lines, line)
		} else if json.Unmarshal(m, &broken) == nil {
			for _, rule := range slices.Sorted(maps.Values(broken.Constraints)) {
				lines = append(lines, string(rule))
			}
		}
	}
	return provider.Message(strings.Join(lines, "; "))
}

// pages returns the number of pages of a list, or 0 if the reply does not contain it.
func (e envelope) pages() int { return provider.Number(e.Pagination.Pages) }

// ended reports whether a page with this number, from 0, and so many lines is the last one of its list. If Sudo does not
// count the pages, only an empty page is behind the last one.
func (e envelope) ended(page, lines int) bool {
	if pages := e.pages(); pages > 0 {
		return page+1 >= pages && lines < pageSize
	}
	return lines == 0
}

type text = provider.Text

// word is a text that affects the outcome. If Sudo sends an object or an array instead of a text,
// the word gets the value odd. This value does not count as absent, and it never makes an outcome
// definite.
type word string

const odd word = "odd"

// UnmarshalJSON decodes a value and never fails, since one unexpected field must not make the whole
// reply unreadable.
func (w *word) UnmarshalJSON(b []byte) error {
	var t text
	err := t.UnmarshalJSON(b)
	*w = word(t)
	if b[0] == '{' || b[0] == '[' {
		*w = odd
	}
	return err
}

// ref is a reference to an object. Sudo sends it as an id or as the whole object.
type ref string

// UnmarshalJSON decodes a value and never fails, since one unexpected field must not make the whole
// reply unreadable.
func (r *ref) UnmarshalJSON(b []byte) error {
	var object struct {
		ID text `json:"_id"`
	}
	var id text
	if bytes.HasPrefix(bytes.TrimSpace(b), []byte("{")) {
		if json.Unmarshal(b, &object) == nil {
			id = object.ID
		}
	} else if err := id.UnmarshalJSON(b); err != nil {
		return err
	}
	*r = ref(id)
	return nil
}

// note is the metadata of a card. Sudo's schema declares it as a string, which contains our reference.
// Cards from before this version have an object with the field reference.
type note string

// UnmarshalJSON decodes a value and never fails, since one unexpected field must not make the whole
// reply unreadable.
func (n *note) UnmarshalJSON(b []byte) error {
	var object struct {
		Reference text `json:"reference"`
	}
	var one text
	err := one.UnmarshalJSON(b)
	if json.Unmarshal(b, &object) == nil {
		one = object.Reference
	}
	*n = note(one)
	return err
}

// cardRecord is a card in Sudo's replies.
type cardRecord struct {
	ID          text `json:"_id"`
	Account     ref  `json:"account"`
	Type        text `json:"type"`
	Brand       text `json:"brand"`
	Currency    text `json:"currency"`
	MaskedPAN   text `json:"maskedPan"`
	ExpiryMonth text `json:"expiryMonth"`
	ExpiryYear  text `json:"expiryYear"`
	Status      text `json:"status"`
	CreatedAt   text `json:"createdAt"`
	Metadata    note `json:"metadata"`
}

func (c cardRecord) card() provider.IssuedCard {
	return provider.IssuedCard{
		ID: string(c.ID), Reference: string(c.Metadata), Account: string(c.Account),
		Type: string(c.Type), Brand: string(c.Brand), Currency: string(c.Currency), MaskedPAN: mask(string(c.MaskedPAN)),
		ExpiryMonth: string(c.ExpiryMonth), ExpiryYear: string(c.ExpiryYear),
		Status: provider.CardStatus(strings.ToLower(string(c.Status))), CreatedAt: provider.Instant(c.CreatedAt),
	}
}

// Only the first six and the last four digits of a card number may be visible.
const (
	shownFront = 6
	shownBack  = 4
)

var digit = regexp.MustCompile(`[0-9]`)

// mask hides the middle digits of a card number, in case Sudo did not mask them.
func mask(pan string) string {
	out := []byte(strings.TrimSpace(pan))
	digits := digit.FindAllIndex(out, -1)
	if len(digits) <= shownFront+shownBack {
		return string(out)
	}
	for _, at := range digits[shownFront : len(digits)-shownBack] {
		out[at[0]] = '*'
	}
	return string(out)
}

// number converts an amount to the unit of our account, without a float.
func (p *Plug) number(k money.Kobo) json.Number {
	if p.cfg.Unit == Minor {
		return json.Number(strconv.FormatInt(int64(k), 10))
	}
	return json.Number(k.Number())
}

// amount converts an amount to kobo. The amount of a capture is negative.
func (p *Plug) amount(t text) (money.Kobo, bool) {
	r, ok := new(big.Rat).SetString(strings.TrimSpace(string(t)))
	if !ok {
		return 0, false
	}
	if p.cfg.Unit == Major {
		r.Mul(r, big.NewRat(int64(money.Naira), 1))
	}
	if !r.IsInt() || !r.Num().IsInt64() {
		return 0, false
	}
	return money.Kobo(r.Num().Int64()), true
}

func lower[T ~string](t T) string { return strings.ToLower(strings.TrimSpace(string(t))) }
