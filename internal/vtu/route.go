package vtu

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kobo-waas/kobo/internal/provider"
)

// Routes say which biller sells what several offer: by kind of service ("DATA")
// or by kind and vendor ("DATA/MTN"). A vendor's own line counts before its
// kind's, and that before the one for everything else ("*").
//
// A route decides where a purchase begins. It never moves one that has begun:
// an operation keeps the biller that it was sent to (see requery).
type Routes map[string]string

// everything is the name of the route for what no other one names.
const everything = "*"

// ParseRoutes reads "DATA=vtpass, DATA/GLO=safehaven, *=safehaven".
func ParseRoutes(text string) (Routes, error) {
	out, all := Routes{}, []error(nil)
	for _, line := range strings.Split(text, ",") {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		what, biller, ok := strings.Cut(line, "=")
		what, biller = strings.TrimSpace(what), strings.TrimSpace(biller)
		kind, vendor, named := strings.Cut(what, "/")
		_, known := Names[provider.ServiceKind(kind)]
		switch {
		case !ok || biller == "" || named && vendor == "":
			all = append(all, fmt.Errorf("a route is written DATA=biller or DATA/MTN=biller, not %q", line))
		case what != everything && !known:
			all = append(all, fmt.Errorf("the route %q names no kind of service: AIRTIME, DATA, CABLE_TV, UTILITY or *", line))
		case out[what] != "":
			all = append(all, fmt.Errorf("there are two routes for %s", what))
		default:
			out[what] = biller
		}
	}
	return out, errors.Join(all...)
}

// Otherwise are the routes with a biller for what they do not name.
func (r Routes) Otherwise(biller string) Routes {
	out := maps.Clone(r)
	if out[everything] == "" {
		out[everything] = biller
	}
	return out
}

// Billers are the billers that the routes name, in order.
func (r Routes) Billers() []string {
	return slices.Compact(slices.Sorted(maps.Values(r)))
}

// seller is which of the billers that offer a vendor's service sells it. One
// that is named and does not offer it leaves it to the others.
func (r Routes) seller(kind provider.ServiceKind, vendor string, offering []string) string {
	for _, what := range []string{string(kind) + "/" + vendor, string(kind), everything} {
		if slices.Contains(offering, r[what]) {
			return r[what]
		}
	}
	return slices.Min(offering)
}

// onSale are the categories that the routes leave on sale, of those that the
// billers offer.
func (s *Shop) onSale(offered []Category) []Category {
	type line struct {
		kind   provider.ServiceKind
		vendor string
	}
	offering := map[line][]string{}
	for _, c := range offered {
		if s.Billers[c.provider] != nil {
			l := line{c.kind, c.vendor}
			offering[l] = append(offering[l], c.provider)
		}
	}
	return slices.DeleteFunc(slices.Clone(offered), func(c Category) bool {
		billers := offering[line{c.kind, c.vendor}]
		return s.Billers[c.provider] == nil || s.Routes.seller(c.kind, c.vendor, billers) != c.provider
	})
}
