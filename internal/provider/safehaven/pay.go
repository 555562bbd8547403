package safehaven

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"

	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/provider"
)

// payment is the request body of every kind of sale. Each kind omits the fields that it does not
// use.
type payment struct {
	ServiceCategoryID  string      `json:"serviceCategoryId"`
	BundleCode         string      `json:"bundleCode,omitempty"`
	Amount             json.Number `json:"amount"`
	Channel            string      `json:"channel"`
	DebitAccountNumber string      `json:"debitAccountNumber"`
	PhoneNumber        string      `json:"phoneNumber,omitempty"`
	CardNumber         string      `json:"cardNumber,omitempty"`
	MeterNumber        string      `json:"meterNumber,omitempty"`
	VendType           string      `json:"vendType,omitempty"`
	// ExternalReference is the reference for the requery if the reply is lost.
	ExternalReference string `json:"externalReference"`
}

// Pay buys one product. judgePayment derives the outcome from the reply.
func (p *Plug) Pay(ctx context.Context, buy provider.Purchase) provider.Answer {
	body := payment{
		ServiceCategoryID:  buy.Category,
		Amount:             p.amount(buy.Kind, buy.Amount),
		Channel:            "WEB",
		DebitAccountNumber: p.account,
		ExternalReference:  buy.Reference,
	}
	var path string
	switch buy.Kind {
	case provider.Airtime:
		path, body.PhoneNumber = "airtime", buy.Phone
	case provider.Data:
		path, body.PhoneNumber, body.BundleCode = "data", buy.Phone, buy.Product
	case provider.CableTV:
		path, body.CardNumber, body.BundleCode = "cable-tv", buy.Card, buy.Product
	case provider.Utility:
		path, body.MeterNumber, body.VendType = "utility", buy.Meter, buy.VendType
	default:
		return provider.Answer{Outcome: provider.Rejected, Code: provider.CodeNotSent, Message: "Safe Haven does not sell this"}
	}
	a, amount := judgePayment(p.once(ctx, "/vas/pay/"+path, body))
	a.Sold = p.sold(buy.Kind, amount)
	return a
}

// Requery asks for the outcome of a purchase by our reference. Safe Haven documents only the look-up
// by its own id, and may refuse a reference that does not have the form of its ids. So if our
// reference finds no purchase, Requery asks by the id, if a reply contained it.
func (p *Plug) Requery(ctx context.Context, s provider.Sale) provider.Answer {
	a := p.lookUp(ctx, s, s.Reference)
	if a.Found || s.Theirs == "" {
		return a
	}
	if b := p.lookUp(ctx, s, s.Theirs); b.Found || a.Missing && !b.Missing {
		b.Found = false // only the id was found, so this proves nothing about our references
		return b
	}
	return a
}

func (p *Plug) lookUp(ctx context.Context, s provider.Sale, key string) provider.Answer {
	a, amount := judgeRequery(p.ask(ctx, http.MethodGet, "/vas/transaction/"+url.PathEscape(key), nil), s.Reference)
	a.Sold = p.sold(s.Kind, amount)
	return a
}

// sold converts the amount in a reply to kobo. An amount that is absent or unreadable counts as not
// reported.
func (p *Plug) sold(kind provider.ServiceKind, amount text) money.Kobo {
	k, ok := p.price(kind, string(amount))
	if !ok {
		return 0
	}
	return k
}

// amount converts kobo to the configured unit, without a float.
func (p *Plug) amount(kind provider.ServiceKind, k money.Kobo) json.Number {
	if p.units.Of(kind) == string(Kobo) {
		return json.Number(strconv.FormatInt(int64(k), 10))
	}
	return json.Number(k.Number())
}
