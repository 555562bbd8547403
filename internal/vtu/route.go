package vtu

import (
	"cmp"
	"slices"

	"github.com/kobo-waas/kobo/internal/provider"
)

// Routes say which biller sells what several offer: by kind of service ("DATA") or
// by kind and vendor ("DATA/MTN"). An operation keeps its biller (see requery).
type Routes = provider.Routes

// ParseRoutes reads "DATA=vtpass, DATA/GLO=safehaven, *=safehaven".
func ParseRoutes(text string) (Routes, error) {
	return provider.ParseRoutes(text, provider.RouteForm{
		Example: "DATA=biller or DATA/MTN=biller", Noun: "kind of service", Kinds: []string{"AIRTIME", "DATA", "CABLE_TV", "UTILITY"},
	})
}

// seller returns the one of the billers offering a vendor's service that sells it. A route
// to a biller that does not offer the service does not count.
func (s *Shop) seller(kind provider.ServiceKind, vendor string, offering []string) string {
	name := s.Routes.For(string(kind), vendor, func(name string) bool { return slices.Contains(offering, name) })
	return cmp.Or(name, slices.Min(offering))
}

// onSale returns the categories that the routes leave on sale, of those that the
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
		return s.Billers[c.provider] == nil || s.seller(c.kind, c.vendor, billers) != c.provider
	})
}
