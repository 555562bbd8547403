package safehaven

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/provider"
)

// kinds maps the names that the bank gives its services (field identifier) to the kinds that we
// sell. The ids of the services are not used, because they differ between the bank's test system
// and its live system.
var kinds = map[string]provider.ServiceKind{
	"AIRTIME": provider.Airtime,
	"DATA":    provider.Data,
	"CABLETV": provider.CableTV,
	"UTILITY": provider.Utility,
}

// Services lists the services that the plug can buy.
func (p *Plug) Services(ctx context.Context) ([]provider.Service, error) {
	var rows []struct {
		ID         string `json:"_id"`
		Name       string `json:"name"`
		Identifier string `json:"identifier"`
	}
	if err := p.list(ctx, "/vas/services", &rows); err != nil {
		return nil, err
	}
	var out []provider.Service
	for _, r := range rows {
		if kind, known := kinds[strings.ToUpper(r.Identifier)]; known && r.ID != "" {
			out = append(out, provider.Service{Code: r.ID, Name: r.Name, Kind: kind})
		}
	}
	return out, nil
}

// Categories lists the vendors within a service.
func (p *Plug) Categories(ctx context.Context, serviceCode string) ([]provider.Category, error) {
	var rows []struct {
		ID         string `json:"_id"`
		Name       string `json:"name"`
		Identifier string `json:"identifier"`
	}
	if err := p.list(ctx, "/vas/service/"+url.PathEscape(serviceCode)+"/service-categories", &rows); err != nil {
		return nil, err
	}
	var out []provider.Category
	for _, r := range rows {
		if r.ID != "" {
			out = append(out, provider.Category{Code: r.ID, Name: r.Name, Vendor: vendor(r.Identifier, r.Name)})
		}
	}
	return out, nil
}

// vendor returns the vendor's name in the form that all billers share. For example, it turns
// "MTN-DATA" into MTN.
func vendor(identifier, name string) string {
	if identifier == "" {
		identifier = name
	}
	return strings.TrimSuffix(strings.ToUpper(identifier), "-DATA")
}

type product struct {
	BundleCode string `json:"bundleCode"`
	Name       text   `json:"name"`
	Validity   text   `json:"validity"`
	Duration   text   `json:"duration"` // for cable TV, this field contains the validity
	Amount     text   `json:"amount"`
	Fixed      *bool  `json:"isAmountFixed"`
}

// Products lists a vendor's products. Safe Haven gives a product no id, so the plug identifies a
// product by its bundle code. A product with an unreadable price is left out, since it could not be
// bought.
func (p *Plug) Products(ctx context.Context, kind provider.ServiceKind, categoryCode string) ([]provider.Product, error) {
	var rows []product
	if err := p.list(ctx, "/vas/service-category/"+url.PathEscape(categoryCode)+"/products", &rows); err != nil {
		return nil, err
	}
	var out []provider.Product
	for _, r := range rows {
		price, ok := p.price(kind, string(r.Amount))
		fixed := price > 0 && (r.Fixed == nil || *r.Fixed)
		// A product with the flag "fixed" but without a price is contradictory, so it is left out.
		contradiction := r.Fixed != nil && *r.Fixed && price == 0
		if !ok || r.BundleCode == "" || contradiction {
			continue
		}
		out = append(out, provider.Product{
			Code: r.BundleCode, Name: string(r.Name), Validity: provider.First(r.Validity, r.Duration), Amount: price, Fixed: fixed,
		})
	}
	return out, nil
}

// price converts an amount in the unit of its kind of service to kobo. An absent amount is zero.
func (p *Plug) price(kind provider.ServiceKind, digits string) (money.Kobo, bool) {
	if digits == "" {
		return 0, true
	}
	if p.units.Of(kind) == string(Kobo) {
		n, err := strconv.ParseInt(digits, 10, 64)
		return money.Kobo(n), err == nil && n >= 0 && money.Kobo(n) <= money.Max
	}
	k, err := money.Parse(digits)
	return k, err == nil
}

// list makes a call that moves no money, and decodes the reply's data into rows.
func (p *Plug) list(ctx context.Context, path string, rows any) error {
	_, err := p.page(ctx, path, rows)
	return err
}

// page works as list does, and also returns the number of pages. The number is 0 if the reply does
// not contain it.
func (p *Plug) page(ctx context.Context, path string, rows any) (pages int, err error) {
	reply := p.ask(ctx, http.MethodGet, path, nil)
	if reply.Trouble != "" {
		return 0, reply.Error(p.Name())
	}
	e, ok := read(reply)
	if status := e.status(reply.Status); status/100 != 2 {
		return 0, &provider.Error{Provider: p.Name(), Code: strconv.Itoa(status), Message: provider.Message(string(e.Message))}
	}
	if !ok || !e.into(rows) {
		return 0, provider.Unreadable.Error(p.Name())
	}
	return e.pages(), nil
}
