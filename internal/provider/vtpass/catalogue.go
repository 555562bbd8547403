package vtpass

import (
	"context"
	"net/url"
	"strings"

	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/provider"
)

// kinds maps VTpass's identifiers of services to the kinds that we sell.
var kinds = map[string]provider.ServiceKind{
	"airtime":          provider.Airtime,
	"data":             provider.Data,
	"tv-subscription":  provider.CableTV,
	"electricity-bill": provider.Utility,
}

// unsold lists vendors that we cannot sell. They require fields that our purchases do not have,
// such as a country, a customer's account or a subscription without a smartcard.
var unsold = provider.Words("foreign-airtime smile-direct spectranet showmax")

// Services lists the services that the plug can buy.
func (p *Plug) Services(ctx context.Context) ([]provider.Service, error) {
	var rows []struct {
		Identifier string `json:"identifier"`
		Name       string `json:"name"`
	}
	if err := p.list(ctx, "/service-categories", &rows); err != nil {
		return nil, err
	}
	var out []provider.Service
	for _, r := range rows {
		if kind, known := kinds[r.Identifier]; known {
			out = append(out, provider.Service{Code: r.Identifier, Name: r.Name, Kind: kind})
		}
	}
	return out, nil
}

// Categories lists the vendors within a service.
func (p *Plug) Categories(ctx context.Context, serviceCode string) ([]provider.Category, error) {
	if _, known := kinds[serviceCode]; !known {
		return nil, &provider.Error{Provider: p.Name(), Code: "012", Message: "no such service"}
	}
	var rows []struct {
		ServiceID string `json:"serviceID"`
		Name      string `json:"name"`
	}
	if err := p.list(ctx, "/services?identifier="+url.QueryEscape(serviceCode), &rows); err != nil {
		return nil, err
	}
	var out []provider.Category
	for _, r := range rows {
		if r.ServiceID != "" && !unsold[r.ServiceID] {
			out = append(out, provider.Category{Code: r.ServiceID, Name: r.Name, Vendor: vendor(r.ServiceID)})
		}
	}
	return out, nil
}

// vendor returns the vendor's name in the form that all billers share. For example, it turns
// "mtn-data" into MTN.
func vendor(serviceID string) string {
	v := strings.ToUpper(serviceID)
	return strings.TrimSuffix(strings.TrimSuffix(v, "-DATA"), "-ELECTRIC")
}

// variation is VTpass's term for one product. VTpass spells the name of the field that contains the
// variations in two ways.
type variation struct {
	Code   string `json:"variation_code"`
	Name   text   `json:"name"`
	Amount text   `json:"variation_amount"`
	Fixed  text   `json:"fixedPrice"`
}

// Products lists a vendor's variations that have a price. A variation without a price is not a
// product: VTpass lists prepaid and postpaid meters as such variations. VTpass lists some codes twice,
// and a purchase names only the code. If the prices of such twins differ, neither is a product.
func (p *Plug) Products(ctx context.Context, _ provider.ServiceKind, categoryCode string) ([]provider.Product, error) {
	var content struct {
		Variations []variation `json:"variations"`
		Misspelled []variation `json:"varations"`
	}
	if err := p.list(ctx, "/service-variations?serviceID="+url.QueryEscape(categoryCode), &content); err != nil {
		return nil, err
	}
	rows := content.Variations
	if len(rows) == 0 {
		rows = content.Misspelled
	}
	prices := map[string]money.Kobo{}
	twins := map[string]bool{}
	for _, r := range rows {
		price, _ := naira(r.Amount)
		if first, listed := prices[r.Code]; listed && first != price {
			twins[r.Code] = true
		}
		prices[r.Code] = price
	}
	var out []provider.Product
	for _, r := range rows {
		price, ok := naira(r.Amount)
		if !ok || price == 0 || r.Code == "" || r.Name == "" || twins[r.Code] {
			continue
		}
		out = append(out, provider.Product{
			Code: r.Code, Name: string(r.Name), Amount: price, Fixed: !strings.EqualFold(string(r.Fixed), "no"),
		})
	}
	return out, nil
}

// list makes a call that moves no money, and decodes the reply's content.
func (p *Plug) list(ctx context.Context, path string, content any) error {
	reply := p.look(ctx, path)
	if reply.Trouble != "" {
		return reply.Error(p.Name())
	}
	e, ok := read(reply.Body)
	switch {
	case !ok:
		return provider.Unreadable.Error(p.Name())
	case e.Code != processed && e.Description != processed:
		return &provider.Error{
			Provider: p.Name(), Code: provider.First(text(e.Code), provider.CodeUnreadable), Message: provider.Message(string(e.Description)),
		}
	case !e.into(content):
		return provider.Unreadable.Error(p.Name())
	}
	return nil
}
