package vtu

import (
	"context"
	"fmt"
	"slices"

	"github.com/kobo-waas/kobo/internal/money"
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
		same, err := s.elsewhere(ctx, o, b)
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
// products, both billers still list them as they were then, and the other biller's price is within
// the limit of a loss. Then the basket has the other biller's price.
func (s *Shop) elsewhere(ctx context.Context, o operation.Operation, b basket) (same []basket, err error) {
	if b.Type == provider.Airtime || b.Type == provider.Utility {
		all, err := s.siblings(ctx, b.category.ID)
		for _, c := range all {
			there := b
			there.category = c
			same = append(same, there)
		}
		return same, err
	}
	pairs, err := s.pairsOf(ctx, string(b.ProductID))
	for _, p := range pairs {
		here, other := p.First, p.Second
		if here.ID != string(b.ProductID) {
			here, other = other, here
		}
		why := p.Stale()
		switch {
		case why != "":
		case other.Kind != b.Type || other.Vendor != b.category.vendor:
			why = "the products are not of the same kind and vendor now"
		case here.Price != b.amount:
			why = "the company bought at another price"
		case other.Price > b.amount+b.amount*money.Kobo(s.MostLoss)/100:
			why = fmt.Sprintf("the other biller's price is more than %d %% above the company's", s.MostLoss)
		}
		if why != "" {
			s.Log.Warn("a purchase does not move along a pair of products", "company", o.Company, "operation", o.ID, "pair", p.ID, "reason", why)
			continue
		}
		there := b
		there.category.provider, there.category.code, there.productCode, there.amount = other.Provider, other.categoryCode, other.code, other.Price
		same = append(same, there)
	}
	return same, err
}
