package vtpass

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/kobo-waas/kobo/internal/provider"
)

// payment is the request body of every kind of purchase. Each kind omits the fields that it does
// not use.
type payment struct {
	RequestID        string      `json:"request_id"`
	ServiceID        string      `json:"serviceID"`
	BillersCode      string      `json:"billersCode,omitempty"`
	VariationCode    string      `json:"variation_code,omitempty"`
	Amount           json.Number `json:"amount"`
	Phone            string      `json:"phone"`
	SubscriptionType string      `json:"subscription_type,omitempty"`
}

// bouquets lists the TV companies that distinguish a new package from a renewal. Our purchases
// always name a package, so the subscription type is always "change".
var bouquets = provider.Words("dstv gotv")

// Pay buys one product. judgePayment derives the outcome from the reply.
func (p *Plug) Pay(ctx context.Context, buy provider.Purchase) provider.Answer {
	id, ok := requestID(buy.Reference, buy.Begun)
	if !ok {
		return provider.Answer{Outcome: provider.Rejected, Code: provider.CodeNotSent, Message: "the reference does not fit into a request_id"}
	}
	body := payment{RequestID: id, ServiceID: buy.Category, Amount: number(buy.Amount), Phone: p.phone}
	switch buy.Kind {
	case provider.Airtime:
		body.Phone = buy.Phone
	case provider.Data:
		body.Phone, body.BillersCode, body.VariationCode = buy.Phone, buy.Phone, buy.Product
	case provider.CableTV:
		body.BillersCode, body.VariationCode = buy.Card, buy.Product
		if bouquets[buy.Category] {
			body.SubscriptionType = "change"
		}
	case provider.Utility:
		body.BillersCode, body.VariationCode = buy.Meter, strings.ToLower(buy.VendType)
	default:
		return provider.Answer{Outcome: provider.Rejected, Code: provider.CodeNotSent, Message: "VTpass does not sell this"}
	}
	return judgePayment(p.once(ctx, "/pay", body), id)
}

// Requery asks for the outcome of a purchase, by its reference and the time at which the purchase
// was recorded.
func (p *Plug) Requery(ctx context.Context, s provider.Sale) provider.Answer {
	id, ok := requestID(s.Reference, s.Begun)
	if !ok {
		return provider.Answer{Code: provider.CodeNotSent, Message: "the reference does not fit into a request_id"}
	}
	return judgeRequery(p.ask(ctx, "/requery", map[string]string{"request_id": id}), id)
}
