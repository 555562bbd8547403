package safehaven

import (
	"context"
	"net/http"
	"strings"

	"github.com/kobo-waas/kobo/internal/provider"
)

type entityRequest struct {
	ServiceCategoryID string `json:"serviceCategoryId"`
	EntityNumber      string `json:"entityNumber"`
}

// VerifyEntity asks for the owner of a smartcard or a meter. It ignores the sessionId of the reply,
// since payments do not take a sessionId.
func (p *Plug) VerifyEntity(ctx context.Context, q provider.EntityQuery) provider.EntityAnswer {
	reply := p.ask(ctx, http.MethodPost, "/vas/verify", entityRequest{q.Category, q.Number})
	e, a, ok := asked(reply)
	if !ok {
		return provider.EntityAnswer{Answer: a}
	}
	var d entity
	e.into(&d) // without data there is no name, so the outcome is not Confirmed
	out := provider.EntityAnswer{Answer: judgeLookup(reply, e, "", d.Name != "", true)}
	if out.Outcome == provider.Confirmed {
		out.Entity = p.entity(q.Kind, d)
	}
	return out
}

// entity is the data of a reply about a smartcard or a meter. For a smartcard only the name is set.
// For a meter all fields are set.
type entity struct {
	Name          text `json:"name"`
	Address       text `json:"address"`
	VendType      text `json:"vendType"`
	MinVendAmount text `json:"minVendAmount"`
	MaxVendAmount text `json:"maxVendAmount"`
}

func (p *Plug) entity(kind provider.ServiceKind, d entity) provider.Entity {
	return provider.Entity{
		CustomerName: string(d.Name), Address: string(d.Address), VendType: strings.ToUpper(string(d.VendType)),
		Least: p.sold(kind, d.MinVendAmount), Most: p.sold(kind, d.MaxVendAmount),
	}
}
