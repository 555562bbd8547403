package safehaven

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"time"

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
		Amount:             p.amount(buy.Amount),
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
	return judgePayment(p.once(ctx, "/vas/pay/"+path, body))
}

// Requery asks for the outcome of a purchase.
func (p *Plug) Requery(ctx context.Context, reference string, _ time.Time) provider.Answer {
	return judgeRequery(p.ask(ctx, http.MethodGet, "/vas/transaction/"+url.PathEscape(reference), nil), reference)
}

// amount converts kobo to the configured unit, without a float.
func (p *Plug) amount(k money.Kobo) json.Number {
	if p.unit == Kobo {
		return json.Number(strconv.FormatInt(int64(k), 10))
	}
	return json.Number(k.Number())
}
