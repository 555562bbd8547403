package vtu

import (
	"context"
	"slices"

	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/wire"
)

// DataPurchase orders a data bundle for a phone.
type DataPurchase struct {
	Order
	CategoryID string `json:"serviceCategoryId"`
	ProductID  string `json:"productId"`
	Phone      string `json:"phoneNumber"`
}

// PurchaseData buys a data bundle at its listed price. See buy for the faults.
func (s *Shop) PurchaseData(ctx context.Context, d DataPurchase) (Receipt, error) {
	return s.buy(ctx, d.Order, func() (basket, error) {
		b, err := s.pick(ctx, provider.Data, d.CategoryID, d.ProductID)
		b.Phone = wire.Text(d.Phone)
		return b, err
	})
}

// CableTVPurchase orders a TV package for a smartcard.
type CableTVPurchase struct {
	Order
	VerificationID string `json:"meterVerificationId"`
	ProductID      string `json:"productId"`
	Card           string `json:"cardNumber"` // may differ from the verified number, because Kobo does not compare the two numbers
}

// PurchaseCableTV buys a TV package in the category of the verification. See buy for the faults.
func (s *Shop) PurchaseCableTV(ctx context.Context, c CableTVPurchase) (Receipt, error) {
	return s.buy(ctx, c.Order, func() (basket, error) {
		v, err := s.verified(ctx, c.Company, c.VerificationID, provider.CableTV)
		if err != nil {
			return basket{}, err
		}
		b, err := s.pick(ctx, provider.CableTV, v.CategoryID, c.ProductID)
		b.Card, b.VerificationID, b.used = wire.Text(c.Card), v.ID, v.State == used
		return b, err
	})
}

// AirtimePurchase orders airtime for a phone.
type AirtimePurchase struct {
	Order
	CategoryID string     `json:"serviceCategoryId"`
	Phone      string     `json:"phoneNumber"`
	Amount     money.Kobo `json:"amount"`
}

// PurchaseAirtime buys airtime for an amount that the order chooses. See buy for the faults.
func (s *Shop) PurchaseAirtime(ctx context.Context, a AirtimePurchase) (Receipt, error) {
	return s.buy(ctx, a.Order, func() (basket, error) {
		b, err := s.fill(ctx, provider.Airtime, a.CategoryID, a.Amount)
		b.Phone, b.narration = wire.Text(a.Phone), b.narration+" airtime"
		return b, err
	})
}

// UtilityPurchase orders electricity for the verified meter.
type UtilityPurchase struct {
	Order
	VerificationID string     `json:"meterVerificationId"`
	Amount         money.Kobo `json:"amount"`
}

// PurchaseUtility buys electricity for an amount within the meter's limits. See buy for the
// faults.
func (s *Shop) PurchaseUtility(ctx context.Context, u UtilityPurchase) (Receipt, error) {
	return s.buy(ctx, u.Order, func() (basket, error) {
		v, err := s.verified(ctx, u.Company, u.VerificationID, provider.Utility)
		switch {
		case err != nil:
			return basket{}, err
		case v.Least > 0 && u.Amount < v.Least:
			return basket{}, fault.Newf(fault.Refused, "Amount must be at least %s for this meter", v.Least.Decimal()).With(fault.AmountOutOfRange)
		case v.Most > 0 && u.Amount > v.Most:
			return basket{}, fault.Newf(fault.Refused, "Amount must be at most %s for this meter", v.Most.Decimal()).With(fault.AmountOutOfRange)
		}
		b, err := s.fill(ctx, provider.Utility, v.CategoryID, u.Amount)
		b.Meter, b.vendType, b.VerificationID, b.used = v.Number, v.VendType, v.ID, v.State == used
		return b, err
	})
}

// findOnSale returns a category that is on sale and belongs to one of the given kinds of service.
func (s *Shop) findOnSale(ctx context.Context, categoryID string, kinds ...provider.ServiceKind) (Category, error) {
	category, err := s.findCategory(ctx, categoryID)
	if fault.Is(err, fault.Missing) || err == nil && !slices.Contains(kinds, category.kind) {
		return Category{}, fault.New(fault.Refused, "Invalid service category").With(fault.ProductUnavailable)
	}
	return category, err
}

// fill returns a basket without a product, for the given amount.
func (s *Shop) fill(ctx context.Context, kind provider.ServiceKind, categoryID string, amount money.Kobo) (basket, error) {
	category, err := s.findOnSale(ctx, categoryID, kind)
	return basket{
		Purchase: Purchase{Type: kind, Goods: Goods{CategoryID: category.ID}}, category: category, amount: amount, narration: category.Name,
	}, err
}

// pick returns a basket with a product at its listed price. Products without a price ("top up")
// cannot be bought, because the API's request has no field for an amount.
func (s *Shop) pick(ctx context.Context, kind provider.ServiceKind, categoryID, productID string) (basket, error) {
	b, err := s.fill(ctx, kind, categoryID, 0)
	if err != nil {
		return b, err
	}
	product, err := s.product(ctx, b.CategoryID, productID)
	if missing(err) || err == nil && (!product.Fixed || product.Amount <= 0) {
		return b, fault.New(fault.Refused, "Invalid product").With(fault.ProductUnavailable)
	}
	b.ProductID, b.ProductName, b.productCode = wire.Text(product.ID), wire.Text(product.Name), product.code
	b.amount, b.narration = money.Kobo(product.Amount), product.Name
	return b, err
}
