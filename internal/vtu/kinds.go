package vtu

import (
	"context"
	"slices"

	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/wire"
)

// DataPurchase is a data bundle for a phone.
type DataPurchase struct {
	Order
	CategoryID string `json:"serviceCategoryId"`
	ProductID  string `json:"productId"`
	Phone      string `json:"phoneNumber"`
}

// PurchaseData buys a data bundle at its price. See buy.
func (s *Shop) PurchaseData(ctx context.Context, d DataPurchase) (Receipt, error) {
	return s.buy(ctx, d.Order, func() (basket, error) {
		category, err := s.findOnSale(ctx, d.CategoryID, provider.Data)
		if err != nil {
			return basket{}, err
		}
		b, err := s.priced(ctx, category, d.ProductID)
		b.Phone = wire.Text(d.Phone)
		return b, err
	})
}

// CableTVPurchase is a TV package for a smartcard.
type CableTVPurchase struct {
	Order
	VerificationID string `json:"meterVerificationId"`
	ProductID      string `json:"productId"`
	Card           string `json:"cardNumber"` // not compared with the verified number
}

// PurchaseCableTV buys a package of the category that was verified. See buy.
func (s *Shop) PurchaseCableTV(ctx context.Context, c CableTVPurchase) (Receipt, error) {
	return s.buy(ctx, c.Order, func() (basket, error) {
		v, err := s.verified(ctx, c.Company, c.VerificationID, provider.CableTV)
		if err != nil {
			return basket{}, err
		}
		category, err := s.findOnSale(ctx, v.CategoryID, provider.CableTV)
		if err != nil {
			return basket{}, err
		}
		b, err := s.priced(ctx, category, c.ProductID)
		b.Card, b.VerificationID = wire.Text(c.Card), v.ID
		return b, err
	})
}

// AirtimePurchase is airtime for a phone.
type AirtimePurchase struct {
	Order
	CategoryID string     `json:"serviceCategoryId"`
	Phone      string     `json:"phoneNumber"`
	Amount     money.Kobo `json:"amount"`
}

// PurchaseAirtime buys airtime for an amount. See buy.
func (s *Shop) PurchaseAirtime(ctx context.Context, a AirtimePurchase) (Receipt, error) {
	return s.buy(ctx, a.Order, func() (basket, error) {
		category, err := s.findOnSale(ctx, a.CategoryID, provider.Airtime)
		b := free(category, a.Amount, category.Name+" airtime")
		b.Phone = wire.Text(a.Phone)
		return b, err
	})
}

// UtilityPurchase is power for the meter that was verified.
type UtilityPurchase struct {
	Order
	VerificationID string     `json:"meterVerificationId"`
	Amount         money.Kobo `json:"amount"`
}

// PurchaseUtility buys power for an amount that the verification allows. See buy.
func (s *Shop) PurchaseUtility(ctx context.Context, u UtilityPurchase) (Receipt, error) {
	return s.buy(ctx, u.Order, func() (basket, error) {
		v, err := s.verified(ctx, u.Company, u.VerificationID, provider.Utility)
		if err != nil {
			return basket{}, err
		}
		switch {
		case v.Least > 0 && u.Amount < v.Least:
			return basket{}, fault.Newf(fault.Refused, "Amount must be at least %s for this meter", v.Least.Decimal())
		case v.Most > 0 && u.Amount > v.Most:
			return basket{}, fault.Newf(fault.Refused, "Amount must be at most %s for this meter", v.Most.Decimal())
		}
		category, err := s.findOnSale(ctx, v.CategoryID, provider.Utility)
		b := free(category, u.Amount, category.Name)
		b.Meter, b.VerificationID, b.vendType = v.Number, v.ID, v.VendType
		return b, err
	})
}

// findOnSale is a category of one of the kinds that is on sale.
func (s *Shop) findOnSale(ctx context.Context, categoryID string, kinds ...provider.ServiceKind) (Category, error) {
	category, err := s.findCategory(ctx, categoryID)
	if fault.Is(err, fault.Missing) || err == nil && !slices.Contains(kinds, category.kind) {
		return Category{}, fault.New(fault.Refused, "Invalid service category")
	}
	return category, err
}

// priced is a product of the category at its price. One without a price ("top
// up", where the buyer chooses) cannot be bought: the contract has no amount to
// charge for it.
func (s *Shop) priced(ctx context.Context, category Category, productID string) (basket, error) {
	product, err := s.findProduct(ctx, category.ID, productID)
	if missing(err) || err == nil && (!product.Fixed || product.Amount <= 0) {
		return basket{}, fault.New(fault.Refused, "Invalid product")
	}
	return basket{
		Purchase: Purchase{Type: category.kind, Goods: Goods{
			CategoryID: category.ID, ProductID: wire.Text(product.ID), ProductName: wire.Text(product.Name),
		}},
		category: category, product: product, amount: money.Kobo(product.Amount), narration: product.Name,
	}, err
}

// free is what is bought for an amount of the buyer's.
func free(category Category, amount money.Kobo, narration string) basket {
	return basket{
		Purchase: Purchase{Type: category.kind, Goods: Goods{CategoryID: category.ID}},
		category: category, amount: amount, narration: narration,
	}
}
