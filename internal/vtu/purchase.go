package vtu

import (
	"context"

	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/idempotency"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/provider"
)

// leave is what a purchase must leave in the settlement account: one kobo,
// since the contract wants a balance strictly greater than the price.
const leave = 1

// DataPurchase is a data bundle for a phone.
type DataPurchase struct {
	Company        string
	IdempotencyKey string // from the body
	CategoryID     string
	ProductID      string
	PhoneNumber    string
	SettlementID   int64
	Key            *idempotency.Key // from the header; nil for none
}

// Receipt is what a purchase request came to.
type Receipt struct {
	Transaction Transaction
	Replayed    bool // the key had been used: nothing was charged now
}

// PurchaseData buys a data bundle. A receipt may be PENDING: then the money is
// debited and the outcome is being followed. Faults are Refused (nothing was
// charged), Conflict (the same key is at work right now) and Unavailable.
func (s *Shop) PurchaseData(ctx context.Context, d DataPurchase) (Receipt, error) {
	earlier, err := s.operations.FindByKey(ctx, d.Company, Kind, d.IdempotencyKey)
	if err == nil {
		return s.replay(ctx, earlier)
	}
	if !fault.Is(err, fault.Missing) {
		return Receipt{}, err
	}
	active, err := s.settlements.Active(ctx, d.Company, d.SettlementID)
	if err != nil {
		return Receipt{}, err
	}
	if !active {
		return Receipt{}, fault.New(fault.Refused, "Settlement account not found")
	}
	category, product, err := s.findOnSale(ctx, provider.Data, d.CategoryID, d.ProductID)
	if err != nil {
		return Receipt{}, err
	}
	o := s.operations.Start(operation.Operation{
		Company: d.Company, Kind: Kind, IdempotencyKey: d.IdempotencyKey, Provider: category.provider,
		SettlementID: d.SettlementID, Amount: product.Amount,
	})
	p := Purchase{
		Type: provider.Data, CategoryID: category.ID, ProductID: product.ID,
		ProductName: product.Name, PhoneNumber: d.PhoneNumber,
	}
	return s.buy(ctx, o, p, provider.Purchase{
		Reference: o.ID, Kind: provider.Data, Category: category.code, Product: product.code,
		Amount: product.Amount, Phone: d.PhoneNumber,
	}, d.Key)
}

// buy goes the three steps, the same for everything the shop sells.
func (s *Shop) buy(ctx context.Context, o operation.Operation, p Purchase, order provider.Purchase, key *idempotency.Key) (Receipt, error) {
	u := s.operations.Unit(o, leave, p.ProductName)
	u.Claims = append(u.Claims, key.Running(o.ID, o.CalledUntil)...)
	u.Notes = append(u.Notes, purchaseRecord(o, p), event.New(o.Company, event.VTUPending, Of(o, p), o.CreatedAt))
	if err := s.book.Commit(ctx, u); err != nil {
		return s.refused(ctx, err)
	}
	o, err := s.operations.Run(ctx, o,
		func(ctx context.Context) provider.Answer { return s.billers[o.Provider].Pay(ctx, order) },
		func(after operation.Operation) operation.Paper {
			return operation.Paper{Moves: key.Done(Receipt{Transaction: Of(after, p)}, nil)}
		})
	if err != nil {
		// The provider has been asked and what it said is not in the book: that is
		// what PENDING means. The resolver will ask again.
		s.log.Error("the outcome of a purchase was not written", "company", o.Company, "operation", o.ID, "error", err)
	}
	return Receipt{Transaction: Of(o, p)}, nil
}

// refused answers for a first unit that the book did not take.
func (s *Shop) refused(ctx context.Context, err error) (Receipt, error) {
	if earlier, ok := operation.Earlier(err); ok {
		return s.replay(ctx, earlier)
	}
	if r := ledger.Refused(err); r != nil && r.Reason == ledger.Short {
		return Receipt{}, fault.New(fault.Refused, "Insufficient balance")
	}
	return Receipt{}, idempotency.Taken(err)
}

// replay answers for a key that has been used.
func (s *Shop) replay(ctx context.Context, o operation.Operation) (Receipt, error) {
	if o.InFlight(s.clock.Now()) {
		return Receipt{}, fault.New(fault.Conflict, "Duplicate request in flight")
	}
	t, err := s.complete(ctx, o)
	return Receipt{Transaction: t, Replayed: true}, err
}

// Resume answers a request whose first try, under the same Idempotency-Key, was
// cut off after it had begun: with the answer that try would have given, which
// it stores.
func (s *Shop) Resume(ctx context.Context, company, transactionID string, key *idempotency.Key) (Receipt, error) {
	t, err := s.Transaction(ctx, company, transactionID)
	if err != nil {
		return Receipt{}, err
	}
	receipt := Receipt{Transaction: t}
	err = s.book.Commit(ctx, ledger.Unit{Company: company, Moves: key.Done(receipt, nil)})
	if r := ledger.Refused(err); r != nil && r.Reason == ledger.Moved {
		return Receipt{}, fault.New(fault.Conflict, "Duplicate request in flight")
	}
	return receipt, err
}

// Purchase is what was bought, beside its operation.
type Purchase struct {
	Type                               provider.ServiceKind
	CategoryID, ProductID, ProductName string
	PhoneNumber, CardNumber            string
}

// findOnSale is an active category of the kind and an active, priced product in
// it.
func (s *Shop) findOnSale(ctx context.Context, kind provider.ServiceKind, categoryID, productID string) (Category, Product, error) {
	category, err := s.findCategory(ctx, categoryID)
	if missing(err) || err == nil && (category.Kind != kind || s.billers[category.provider] == nil) {
		return Category{}, Product{}, fault.New(fault.Refused, "Invalid service category")
	}
	if err != nil {
		return Category{}, Product{}, err
	}
	product, err := s.findProduct(ctx, categoryID, productID)
	if missing(err) || err == nil && (!product.Fixed || product.Amount <= 0) {
		return Category{}, Product{}, fault.New(fault.Refused, "Invalid product")
	}
	return category, product, err
}
