package vtpass

import (
	"context"
	"errors"
	"strings"

	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/provider"
)

// Balance asks for the balance of our wallet. The reply has a shape of its own: the number 1 as code
// and the field contents.
func (p *Plug) Balance(ctx context.Context) (money.Kobo, error) {
	reply := p.look(ctx, "/balance")
	if reply.Trouble != "" {
		return 0, reply.Error(p.Name())
	}
	var r struct {
		Code     code `json:"code"`
		Contents struct {
			Balance text `json:"balance"`
		} `json:"contents"`
	}
	ok := provider.ReadObject(reply.Body, &r)
	whole, fraction, _ := strings.Cut(string(r.Contents.Balance), ".") // commissions leave fractions of a kobo
	k, readable := naira(text(whole + "." + (fraction + "00")[:2]))
	if !ok || !readable || r.Contents.Balance == "" || reply.Status != 200 {
		return 0, &provider.Error{Provider: p.Name(), Code: provider.First(text(r.Code), provider.CodeUnreadable), Message: "the balance of the wallet was not given"}
	}
	return k, nil
}

// ParseSaleNotice returns our reference of the purchase that a callback is about. A callback is not
// signed and proves nothing, so only the reference is read. A callback about something else has no
// reference, such as the notice of a changed price.
func (p *Plug) ParseSaleNotice(body []byte) (reference string, err error) {
	var n struct {
		Type text `json:"type"`
		Data struct {
			RequestID text `json:"requestId"`
		} `json:"data"`
	}
	if !provider.ReadObject(provider.Storable(body), &n) {
		return "", errors.New("the callback is not a JSON object")
	}
	if n.Type != "transaction-update" {
		return "", nil
	}
	return referenceOf(string(n.Data.RequestID)), nil
}
