package vtu

import (
	"cmp"
	"slices"

	"github.com/kobo-waas/kobo/internal/provider"
)

// Routes determines which biller sells a service that several billers offer. A route is for a kind
// of service ("DATA"), or for a kind and a vendor ("DATA/MTN"). It may name further billers, for
// purchases that the biller before them has definitely never started (see further). A change of the
// routes does not change the biller of an existing purchase (see requery).
type Routes = provider.Routes

// ParseRoutes parses a text such as "AIRTIME=vtpass>safehaven, DATA/GLO=safehaven, *=vtpass".
func ParseRoutes(text string) (Routes, error) {
	return provider.ParseRoutes(text, provider.RouteForm{
		Example: "DATA=biller or DATA/MTN=biller", Noun: "kind of service", Kinds: []string{"AIRTIME", "DATA", "CABLE_TV", "UTILITY"},
		Further: true,
	})
}

// seller returns the biller that sells a vendor's service. It chooses among the billers that offer
// the service. A route to a biller that does not offer the service is ignored.
func (s *Shop) seller(kind provider.ServiceKind, vendor string, offering []string) string {
	name := s.Routes.For(string(kind), vendor, func(name string) bool { return slices.Contains(offering, name) })
	return cmp.Or(name, slices.Min(offering))
}

// onSale returns the offered categories whose biller the routes choose. Only one biller therefore
// sells a vendor's service.
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
