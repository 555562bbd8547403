package safehaven

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/provider"
)

type entityRequest struct {
	ServiceCategoryID string `json:"serviceCategoryId"`
	EntityNumber      string `json:"entityNumber"`
}

// VerifyEntity asks whose a smartcard or a meter is. The answer's sessionId is
// of no use: the calls that pay do not take it.
func (p *Plug) VerifyEntity(ctx context.Context, q provider.EntityQuery) provider.EntityAnswer {
	reply := p.ask(ctx, http.MethodPost, "/vas/verify", entityRequest{q.Category, q.Number})
	if reply.Trouble != "" {
		return provider.EntityAnswer{Answer: reply.Unknown()}
	}
	e, ok := read(reply.Body)
	if !ok {
		return provider.EntityAnswer{Answer: provider.Unreadable.Answer()}
	}
	var d entity
	e.into(&d) // without data there is no name, and so no yes
	status, codes := e.status(reply.Status), e.codes()
	out := provider.EntityAnswer{Answer: provider.Answer{
		Code: provider.First(text(codes.worst()), text(strconv.Itoa(status))), Message: provider.Message(string(e.Message)),
	}}
	switch {
	case status/100 == 2 && d.Name != "" && codes.clear():
		out.Outcome, out.Entity = provider.Confirmed, p.entity(d)
	case d.Name != "" || codes.any(unsure):
		// Nothing definite.
	case codes.any(noAccount), e.StatusCode != "" && refuses(status) && !e.routed():
		out.Outcome = provider.Rejected
	}
	return out
}

// entity is the data of a verification: a name alone for a smartcard, all of it
// for a meter.
type entity struct {
	Name          text `json:"name"`
	Address       text `json:"address"`
	VendType      text `json:"vendType"`
	MinVendAmount text `json:"minVendAmount"`
	MaxVendAmount text `json:"maxVendAmount"`
}

func (p *Plug) entity(d entity) provider.Entity {
	return provider.Entity{
		CustomerName: string(d.Name), Address: string(d.Address), VendType: strings.ToUpper(string(d.VendType)),
		Least: p.limit(d.MinVendAmount), Most: p.limit(d.MaxVendAmount),
	}
}

// limit is an amount that may be absent. One we cannot read is none: the
// provider will hold the purchase against its own.
func (p *Plug) limit(t text) money.Kobo {
	k, ok := p.price(string(t))
	if !ok {
		return 0
	}
	return k
}
