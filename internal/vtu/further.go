package vtu

import (
	"context"
	"slices"

	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/provider"
)

// further returns the function that finds the next biller of a purchase. The purchase moves there
// only after the biller before has definitely never started it (operation.RunOver).
func (s *Shop) further(b basket) operation.Next {
	return func(ctx context.Context, o operation.Operation) (operation.Try, bool) {
		configured := func(name string) bool { return s.Billers[name] != nil }
		names := s.Routes.After(string(b.Type), b.category.vendor, o.Provider, configured)
		if len(names) == 0 {
			return operation.Try{}, false
		}
		same, err := s.elsewhere(ctx, b)
		if err != nil {
			s.Log.Warn("the further billers of a purchase could not be read", "company", o.Company, "operation", o.ID, "error", err)
			return operation.Try{}, false
		}
		for _, name := range names {
			there := slices.DeleteFunc(slices.Clone(same), func(there basket) bool { return there.category.provider != name })
			if len(there) == 1 { // with several, it is not clear which one the company has ordered
				return s.try(there[0]), true
			}
		}
		return operation.Try{}, false
	}
}

// try returns the attempt to buy a basket at its biller.
func (s *Shop) try(b basket) operation.Try {
	return operation.Try{
		Provider: b.category.provider, Kind: string(b.Type), Cost: b.amount, Lasts: s.Call,
		Call: func(ctx context.Context, o operation.Operation) provider.Answer {
			return s.Billers[b.category.provider].Pay(ctx, b.request(o))
		},
	}
}

// elsewhere returns the baskets with the same content at other billers. Airtime and electricity are
// the same if kind and vendor are. Data and TV are the same only if operators have paired the
// products. Then the basket has the other biller's price.
func (s *Shop) elsewhere(ctx context.Context, b basket) (same []basket, err error) {
	if b.Type == provider.Airtime || b.Type == provider.Utility {
		all, err := s.siblings(ctx, b.category.ID)
		for _, c := range all {
			there := b
			there.category = c
			same = append(same, there)
		}
		return same, err
	}
	paired, err := s.pairedWith(ctx, string(b.ProductID))
	for _, p := range paired {
		if p.Kind != b.Type || p.Vendor != b.category.vendor || !p.Active || p.Price <= 0 {
			continue // the billers' lists have changed since the products were paired
		}
		there := b
		there.category.provider, there.category.code, there.productCode, there.amount = p.Provider, p.categoryCode, p.code, p.Price
		same = append(same, there)
	}
	return same, err
}
