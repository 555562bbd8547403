package sudo

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/secret"
)

type address struct {
	Line1      string `json:"line1"`
	Line2      string `json:"line2,omitempty"`
	City       string `json:"city"`
	State      string `json:"state"`
	PostalCode string `json:"postalCode"`
	Country    string `json:"country"`
}

type person struct {
	FirstName  string `json:"firstName"`
	LastName   string `json:"lastName"`
	OtherNames string `json:"otherNames,omitempty"`
	Birth      string `json:"dob,omitempty"`
}

// OpenCardholder registers a customer at Sudo. Sudo's BVN field is optional, and the plug does not
// send the BVN.
func (p *Plug) OpenCardholder(ctx context.Context, h provider.Cardholder) (string, error) {
	body := struct {
		Type    string  `json:"type"`
		Name    string  `json:"name"`
		Status  string  `json:"status"`
		Phone   string  `json:"phoneNumber"`
		Email   string  `json:"emailAddress"`
		Person  person  `json:"individual"`
		Billing address `json:"billingAddress"`
	}{
		"individual", h.FirstName + " " + h.LastName, "active", provider.InternationalPhone(h.Phone), h.Email,
		person{h.FirstName, h.LastName, h.MiddleName, strings.ReplaceAll(h.DateOfBirth, "-", "/")},
		address{h.Address.Line1, h.Address.Line2, h.Address.City, h.Address.State, h.Address.PostalCode, "NG"},
	}
	var made struct {
		ID text `json:"_id"`
	}
	if _, err := p.data(p.once(ctx, p.client, http.MethodPost, "/customers", body), &made); err != nil {
		return "", err
	}
	if made.ID == "" {
		return "", p.unreadable()
	}
	return string(made.ID), nil
}

type cardOrder struct {
	Customer      string `json:"customerId"`
	Type          string `json:"type"`
	Brand         string `json:"brand,omitempty"`
	Number        string `json:"number,omitempty"`
	Currency      string `json:"currency"`
	Status        string `json:"status"`
	Country       string `json:"issuerCountry"`
	Program       string `json:"programId,omitempty"`
	FundingSource string `json:"fundingSourceId,omitempty"`
	DebitAccount  string `json:"debitAccountId"`
	SendPIN       bool   `json:"sendPINSMS"`
	Metadata      string `json:"metadata"` // a string in Sudo's schema
}

// CreateCard issues a card. A request with a card number is sent to Sudo's vault host.
func (p *Plug) CreateCard(ctx context.Context, o provider.CardOrder) provider.CardAnswer {
	body := cardOrder{
		Customer: o.Cardholder, Type: o.Type, Brand: o.Brand, Number: o.Number.Reveal(), Currency: o.Currency, Status: "active",
		Country: "NGA", Program: p.cfg.Program, FundingSource: p.cfg.FundingSource, DebitAccount: p.cfg.DebitAccount,
		SendPIN: o.SendPINSMS, Metadata: o.Reference,
	}
	via := p.client
	if body.Number != "" {
		if via = p.vault; via == nil {
			return provider.CardAnswer{Answer: provider.Answer{
				Outcome: provider.Rejected, Code: provider.CodeNotSent, Message: "Physical cards are not set up",
			}}
		}
		body.Brand = "" // the number implies the brand
	}
	var c cardRecord
	a := judge(p.once(ctx, via, http.MethodPost, "/cards", body), func(e envelope) claim {
		// A card cannot be funded if the reply does not contain its account. In that case the
		// outcome is Unknown, and the caller looks for the card on the list of cards.
		whole := e.into(&c) && c.ID != "" && c.Account != ""
		return claim{reference: string(c.ID), done: whole}
	})
	return provider.CardAnswer{Answer: a, Card: c.card()}
}

// pageSize is the largest page that Sudo returns.
const pageSize = 100

// Cards lists all the cards of a cardholder. If Sudo does not count the pages, the list ends with a page without a further card.
func (p *Plug) Cards(ctx context.Context, cardholder string) ([]provider.IssuedCard, error) {
	var out []provider.IssuedCard
	known := map[text]bool{}
	for page := range mostPages {
		var rows []cardRecord
		e, err := p.data(p.look(ctx, "/cards/customer/"+url.PathEscape(cardholder)+paging(page)), &rows)
		if err != nil {
			return nil, err
		}
		before := len(out)
		for _, c := range rows {
			if c.ID == "" {
				return nil, p.unreadable()
			}
			if !known[c.ID] {
				out, known[c.ID] = append(out, c.card()), true
			}
		}
		if e.ended(page, len(rows)) || e.pages() == 0 && len(out) == before {
			return out, nil
		}
		if len(rows) == 0 {
			break
		}
	}
	return nil, p.unreadable()
}

func paging(page int) string {
	return "?page=" + strconv.Itoa(page) + "&limit=" + strconv.Itoa(pageSize)
}

func cardPath(cardID string) string { return "/cards/" + url.PathEscape(cardID) }

// Card returns one card.
func (p *Plug) Card(ctx context.Context, cardID string) (provider.IssuedCard, error) {
	var c cardRecord
	_, err := p.data(p.look(ctx, cardPath(cardID)), &c)
	if err == nil && string(c.ID) != cardID {
		err = p.unreadable()
	}
	return c.card(), err
}

// usualLife is the assumed lifetime of a card token that does not contain its lifetime.
const usualLife = 2 * time.Minute

// CardToken creates a token with which a card's secrets can be read from Sudo's vault. The call is
// not repeated, since each call creates a new token.
func (p *Plug) CardToken(ctx context.Context, cardID string) (provider.CardToken, error) {
	var t struct {
		Token string `json:"token"`
	}
	if _, err := p.data(p.once(ctx, p.client, http.MethodGet, cardPath(cardID)+"/token", nil), &t); err != nil {
		return provider.CardToken{}, err
	}
	if t.Token == "" {
		return provider.CardToken{}, p.unreadable()
	}
	return provider.CardToken{Value: secret.NewText(t.Token), ExpiresIn: life(t.Token)}, nil
}

// life returns the lifetime of a token, from the claims iat and exp inside the token. No other
// claim is used.
func life(token string) time.Duration {
	parts := strings.Split(token, ".")
	var claims struct {
		From int64 `json:"iat"`
		To   int64 `json:"exp"`
	}
	if len(parts) != 3 {
		return usualLife
	}
	b, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil || json.Unmarshal(b, &claims) != nil || claims.To <= claims.From {
		return usualLife
	}
	return time.Duration(claims.To-claims.From) * time.Second
}

// SendDefaultPIN makes Sudo send the PIN to the cardholder. The call is not repeated, since each
// call sends a message.
func (p *Plug) SendDefaultPIN(ctx context.Context, cardID string) (string, error) {
	e, err := p.data(p.once(ctx, p.client, http.MethodPut, cardPath(cardID)+"/send-pin", nil), nil)
	return e.message(), err
}

// SetCardStatus changes a card's status. The plug names our own account as the account that gets what
// is left on a canceled card.
func (p *Plug) SetCardStatus(ctx context.Context, cardID string, to provider.CardStatus, reason string) provider.Answer {
	body := struct {
		Status provider.CardStatus `json:"status"`
		Reason string              `json:"cancellationReason,omitempty"`
		Refund string              `json:"creditAccountId,omitempty"`
	}{Status: to}
	if to == provider.CardCanceled {
		body.Reason, body.Refund = reason, p.cfg.DebitAccount
	}
	return judge(p.once(ctx, p.client, http.MethodPut, cardPath(cardID), body), func(e envelope) claim {
		var c cardRecord
		ours := e.into(&c) && string(c.ID) == cardID && c.card().Status == to
		return claim{done: ours, open: !ours, silent: !ours}
	})
}

// CardBalance returns what is left on a card.
func (p *Plug) CardBalance(ctx context.Context, cardID string) (money.Kobo, error) {
	var b struct {
		Current text `json:"currentBalance"`
	}
	if _, err := p.data(p.look(ctx, cardPath(cardID)+"/balance"), &b); err != nil {
		return 0, err
	}
	left, ok := p.amount(b.Current)
	if !ok || left < 0 {
		return 0, p.unreadable()
	}
	return left, nil
}
