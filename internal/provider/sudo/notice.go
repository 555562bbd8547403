package sudo

import (
	"crypto/subtle"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/provider"
)

// These are the bodies of our responses to notifications. Sudo's documentation shows the response
// code inside the data on one page, and next to the data elsewhere. So the responses contain the
// code in both places.
var (
	received = []byte(`{"statusCode":200,"responseCode":"00","data":{}}`)
	yes      = []byte(`{"statusCode":200,"responseCode":"00","data":{"responseCode":"00","metadata":{}}}`)
	no       = []byte(`{"statusCode":400,"responseCode":"05","data":{"responseCode":"05"}}`)
	// Sudo itself stores the balance of cards that are funded in advance. If Sudo requests a
	// balance from us, the card is set up wrongly.
	noBalance = []byte(`{"statusCode":400,"responseCode":"96","data":{"responseCode":"96"}}`)
)

type notification struct {
	ID        text            `json:"_id"`
	Type      text            `json:"type"`
	CreatedAt text            `json:"createdAt"` // Unix seconds
	Data      json.RawMessage `json:"data"`
}

// object is the subject of a notification. For card.terminated the subject is the card.
type object struct {
	ID       text `json:"_id"`
	Card     ref  `json:"card"`
	Amount   text `json:"amount"`
	Currency text `json:"currency"`
	Balance  text `json:"balance"` // of card.terminated: what was left, and is back in our account
	Merchant struct {
		Name    text `json:"name"`
		City    text `json:"city"`
		Country text `json:"country"`
	} `json:"merchant"`
}

// ParseCardNotice reads a notification. Its only proof of origin is an Authorization header that
// never changes. The comparison takes the same time for every wrong header, so that an attacker
// cannot guess the header byte by byte.
func (p *Plug) ParseCardNotice(header http.Header, body []byte) (provider.CardNotice, error) {
	if subtle.ConstantTimeCompare([]byte(header.Get("Authorization")), []byte(p.cfg.WebhookAuthorization)) != 1 {
		return provider.CardNotice{}, provider.ErrForged
	}
	var n notification
	if json.Unmarshal(provider.Storable(body), &n) != nil || n.Type == "" {
		return provider.CardNotice{}, errors.New("the notification is not in the format of Sudo")
	}
	o := n.object()
	out := provider.CardNotice{
		ID: string(n.ID), Word: string(n.Type), Card: string(o.Card), At: n.at(), Reply: received, Kind: provider.CardActivity,
		Currency: string(o.Currency), Merchant: o.merchant(),
	}
	switch word := string(n.Type); {
	case word == "authorization.request":
		out.Kind, out.Reply = provider.CardAuthorization, no
		if p.cfg.Approve {
			out.Reply = yes
		}
	case word == "card.balance":
		out.Kind, out.Reply = provider.CardBalance, noBalance
	case word == "card.terminated":
		out.Kind, out.Card, out.ID = provider.CardEnded, provider.First(text(o.Card), o.ID), word+":"+string(o.ID)
	case strings.HasPrefix(word, "transaction.") && o.ID != "":
		// Sudo may report a transaction in several envelopes with different ids. The type and the
		// transaction's id are the same in all of them, so they form the id of the notice.
		out.ID = word + ":" + string(o.ID)
	case !strings.HasPrefix(word, "authorization.") && !strings.HasPrefix(word, "transaction."):
		out.Kind = provider.CardNothing
	}
	if amount, ok := p.amount(o.Amount); ok {
		out.Amount = amount
	}
	if left, ok := p.amount(o.Balance); ok && out.Kind == provider.CardEnded {
		out.Amount = left
	}
	if out.ID == "" {
		return provider.CardNotice{}, errors.New("the notification has no id")
	}
	return out, nil
}

// merchant returns the name and the place of the merchant on one line.
func (o object) merchant() string {
	parts := []string{string(o.Merchant.Name), string(o.Merchant.City), string(o.Merchant.Country)}
	return provider.Message(strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), ", "))
}

func (n notification) object() object {
	var wrapped struct {
		Object *object `json:"object"`
	}
	var o object
	if json.Unmarshal(n.Data, &wrapped) == nil && wrapped.Object != nil {
		return *wrapped.Object
	}
	if json.Unmarshal(n.Data, &o) != nil {
		return object{}
	}
	return o
}

func (n notification) at() time.Time {
	seconds, err := strconv.ParseInt(string(n.CreatedAt), 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.Unix(seconds, 0).UTC()
}
