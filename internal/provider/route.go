package provider

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Routes map new work, such as a purchase or a payout, to a provider: by kind ("DATA"), or by kind
// and detail ("DATA/MTN"). A route with a detail takes precedence over the route of its kind. The
// default route ("*") comes last.
//
// A route applies only when work begins. If the routes change later, the work stays with its
// provider.
type Routes map[string]string

// AnyKind is the key of the default route.
const AnyKind = "*"

// RouteForm describes one list of routes, for error messages.
type RouteForm struct {
	Example string // such as "DATA=biller or DATA/MTN=biller"
	Noun    string // such as "kind of service"
	Kinds   []string
}

// ParseRoutes parses a text such as "DATA=vtpass, DATA/GLO=main, *=main".
func ParseRoutes(text string, f RouteForm) (Routes, error) {
	out, all := Routes{}, []error(nil)
	for _, line := range strings.Split(text, ",") {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		what, name, ok := strings.Cut(line, "=")
		what, name = strings.TrimSpace(what), strings.TrimSpace(name)
		kind, detail, named := strings.Cut(what, "/")
		switch {
		case !ok || name == "" || named && detail == "":
			all = append(all, fmt.Errorf("a route is written %s, not %q", f.Example, line))
		case what != AnyKind && !slices.Contains(f.Kinds, kind):
			all = append(all, fmt.Errorf("the route %q names no %s: %s or *", line, f.Noun, strings.Join(f.Kinds, ", ")))
		case out[what] != "":
			all = append(all, fmt.Errorf("there are two routes for %s", what))
		default:
			out[what] = name
		}
	}
	return out, errors.Join(all...)
}

// Otherwise returns the routes with the given provider as default, unless the routes already have a
// default.
func (r Routes) Otherwise(name string) Routes {
	out := maps.Clone(r)
	if out[AnyKind] == "" {
		out[AnyKind] = name
	}
	return out
}

// Names returns the names of the providers in the routes, sorted and without duplicates.
func (r Routes) Names() []string { return slices.Compact(slices.Sorted(maps.Values(r))) }

// For returns the provider of a kind and a detail, or "" if no route matches. It skips a route if
// fit returns false for its provider.
func (r Routes) For(kind, detail string, fit func(name string) bool) string {
	for _, what := range []string{kind + "/" + detail, kind, AnyKind} {
		if name := r[what]; name != "" && fit(name) {
			return name
		}
	}
	return ""
}

// The kinds of work that have routes among banks. An identity check before the opening of an
// account uses the route for that account.
const (
	CorporateAccounts = "CORPORATE"
	CustomerAccounts  = "CUSTOMER"
	VirtualAccounts   = "VIRTUAL_ACCOUNT"
	Payouts           = "PAYOUT"
)

// BankRoutes describes routes among banks. The detail of such a route is a company.
var BankRoutes = RouteForm{
	"PAYOUT=bank or PAYOUT/COMPANY=bank", "kind of work", []string{CorporateAccounts, CustomerAccounts, VirtualAccounts, Payouts},
}

// Router chooses the provider of new work, and finds the provider of earlier work.
type Router[T any] struct {
	All    map[string]T // by provider name in the configuration
	Routes Routes
}

// Only returns a router that chooses one provider for all work; name is the name of that provider.
func Only[T any](name string, one T) Router[T] {
	return Router[T]{map[string]T{name: one}, Routes{AnyKind: name}}
}

// For returns the provider of new work for a company. If no route matches, the name is "".
func (r Router[T]) For(kind, company string) (name string, of T) {
	name = r.Routes.For(kind, company, func(name string) bool { _, there := r.All[name]; return there })
	return name, r.All[name]
}

// Named returns a provider by its name, or the zero value if the provider is not configured.
func (r Router[T]) Named(name string) T { return r.All[name] }

// NotConfigured is the Answer for a provider that has been removed from the configuration. Its
// outcome is Unknown.
var NotConfigured = Answer{Code: "not_configured", Message: "The provider is not configured"}
