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
// A route may name further providers after ">", such as "vtpass>main". The first provider that fits
// does the work. The others are for work that the provider before them has definitely never started.
//
// A route applies only when work begins. If the routes change later, the work stays with its
// provider.
type Routes map[string]string

// then separates the providers of a route.
const then = ">"

// AnyKind is the key of the default route.
const AnyKind = "*"

// RouteForm describes one list of routes, for error messages.
type RouteForm struct {
	Example string // such as "DATA=biller or DATA/MTN=biller"
	Noun    string // such as "kind of service"
	Kinds   []string
	Further bool // whether a route may name further providers
}

// ParseRoutes parses a text such as "DATA=vtpass, DATA/GLO=main, *=main".
func ParseRoutes(text string, f RouteForm) (Routes, error) {
	out, all := Routes{}, []error(nil)
	for _, line := range strings.Split(text, ",") {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		what, name, ok := strings.Cut(line, "=")
		what = strings.TrimSpace(what)
		name, clear := f.providers(name)
		kind, detail, named := strings.Cut(what, "/")
		switch {
		case ok && !clear && f.Further:
			all = append(all, fmt.Errorf("the route %q must name each provider once, with %q between them", line, then))
		case ok && !clear:
			all = append(all, fmt.Errorf("the route %q must name one provider", line))
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

// providers returns the names of a route without spaces. It returns false if a name occurs twice, or is
// missing next to a different name.
func (f RouteForm) providers(text string) (names string, clear bool) {
	list, seen := strings.Split(text, then), map[string]bool{}
	clear = len(list) == 1 || f.Further
	for i, name := range list {
		list[i] = strings.TrimSpace(name)
		clear = clear && !seen[list[i]] && (list[i] != "" || len(list) == 1)
		seen[list[i]] = true
	}
	return strings.Join(list, then), clear
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
func (r Routes) Names() (names []string) {
	for list := range maps.Values(r) {
		names = append(names, strings.Split(list, then)...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// For returns the provider of a kind and a detail, or "" if no route matches. It skips a route if
// fit returns false for its provider.
func (r Routes) For(kind, detail string, fit func(name string) bool) string {
	if list := r.chain(kind, detail, fit); len(list) > 0 {
		return list[0]
	}
	return ""
}

// After returns the providers that may do the work of a kind and a detail after the provider name has
// definitely never started it. There are none if the route does not name that provider.
func (r Routes) After(kind, detail, name string, fit func(name string) bool) []string {
	list := r.chain(kind, detail, fit)
	if i := slices.Index(list, name); i >= 0 {
		return list[i+1:]
	}
	return nil
}

// chain returns the fitting providers of the route that counts for a kind and a detail.
func (r Routes) chain(kind, detail string, fit func(name string) bool) []string {
	for _, what := range []string{kind + "/" + detail, kind, AnyKind} {
		if r[what] == "" {
			continue
		}
		unfit := func(name string) bool { return !fit(name) }
		if list := slices.DeleteFunc(strings.Split(r[what], then), unfit); len(list) > 0 {
			return list
		}
	}
	return nil
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
	Example: "PAYOUT=bank or PAYOUT/COMPANY=bank", Noun: "kind of work",
	Kinds: []string{CorporateAccounts, CustomerAccounts, VirtualAccounts, Payouts},
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
