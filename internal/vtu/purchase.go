package vtu

import (
	"context"
	"time"

	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/idempotency"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/provider"
)

// leave is what a purchase must leave in the settlement account: one kobo,
// since the contract wants a balance strictly greater than the price.
const leave = 1

// Order is what every purchase begins with.
type Order struct {
	Company        string
	IdempotencyKey string // from the body
	SettlementID   int64
	Key            *idempotency.Key // from the header; nil for none
	DryRun         bool             // only say what it would come to
}

// Receipt is what a purchase request came to.
type Receipt struct {
	Transaction Transaction
	Replayed    bool     // the key had been used: nothing was charged now
	Preview     *Preview // instead of all that, of an order that was only tried
}

// Purchase is what was bought, beside its operation.
type Purchase struct {
	Company        string               `db:"company_id,key"`
	ID             string               `db:"id,key"` // the operation's
	Type           provider.ServiceKind `db:"kind"`
	CategoryID     string               `db:"category_id"`
	ProductID      string               `db:"product_id"`
	ProductName    string               `db:"product_name"`
	PhoneNumber    string               `db:"phone_number"`
	CardNumber     string               `db:"card_number"`
	MeterNumber    string               `db:"meter_number"`
	VerificationID string               `db:"verification_id"`
	CreatedAt      time.Time            `db:"created_at"`
}

// basket is what an order comes to once it is looked up: what is bought, from
// which biller, and how the biller is asked.
type basket struct {
	Purchase
	category  Category
	product   Product // none for airtime and power
	amount    money.Kobo
	vendType  string
	narration string
}

// buy goes the way of every purchase. Choose looks up what is bought; it is not
// asked when the caller's key has been used.
//
// A receipt may be PENDING: then the money is debited and the outcome is being
// followed. Faults are Refused (nothing was charged), Conflict (the same key is
// at work right now) and Unavailable.
func (s *Shop) buy(ctx context.Context, order Order, choose func() (basket, error)) (Receipt, error) {
	earlier, err := s.operations.FindByKey(ctx, order.Company, Kind, order.IdempotencyKey)
	switch {
	case err == nil && order.DryRun:
		return s.preview(ctx, order, earlier.Amount, keyRefusal(earlier))
	case err == nil:
		return s.replay(ctx, earlier)
	}
	if !fault.Is(err, fault.Missing) {
		return Receipt{}, err
	}
	active, err := s.settlements.Active(ctx, order.Company, order.SettlementID)
	if err != nil {
		return Receipt{}, err
	}
	if !active {
		return Receipt{}, fault.New(fault.Refused, "Settlement account not found")
	}
	b, err := choose()
	if err != nil {
		return Receipt{}, err
	}
	if order.DryRun {
		refusal, err := s.unusable(ctx, order.Company, b.VerificationID)
		if err != nil {
			return Receipt{}, err
		}
		return s.preview(ctx, order, b.amount, refusal)
	}
	o := s.operations.Start(operation.Operation{
		Company: order.Company, Kind: Kind, IdempotencyKey: order.IdempotencyKey, Provider: b.category.provider,
		SettlementID: order.SettlementID, Amount: b.amount,
	})
	return s.pay(ctx, o, b, order.Key)
}

// pay goes the three steps, the same for everything the shop sells.
func (s *Shop) pay(ctx context.Context, o operation.Operation, b basket, key *idempotency.Key) (Receipt, error) {
	p := b.Purchase
	p.Company, p.ID, p.CreatedAt = o.Company, o.ID, o.CreatedAt
	u := s.operations.Unit(o, leave, b.narration)
	key.Begin(&u, o.ID, o.CalledUntil)
	u.Append(purchases.Record(p))
	event.Emit(&u, event.VTUPending, Of(o, p))
	p.useVerification(&u)
	if err := s.book.Commit(ctx, u); err != nil {
		return s.refused(ctx, err)
	}
	key.Begun()
	o, err := s.operations.Run(ctx, o,
		func(ctx context.Context) provider.Answer { return s.billers[o.Provider].Pay(ctx, b.request(o)) },
		func(after operation.Operation, u *ledger.Unit) {
			key.Finish(u, Receipt{Transaction: Of(after, p)}, nil)
		})
	if err != nil {
		// The provider has been asked and what it said is not in the book: that is
		// what PENDING means. The resolver will ask again.
		s.log.Error("the outcome of a purchase was not written", "company", o.Company, "operation", o.ID, "error", err)
	}
	return Receipt{Transaction: Of(o, p)}, nil
}

// request is the basket as the biller is asked for it.
func (b basket) request(o operation.Operation) provider.Purchase {
	return provider.Purchase{
		Reference: o.ID, Begun: o.CreatedAt, Kind: b.Type, Category: b.category.code, Product: b.product.code, Amount: b.amount,
		Phone: b.PhoneNumber, Card: b.CardNumber, Meter: b.MeterNumber, VendType: b.vendType,
	}
}

// refused answers for a first unit that the ledger did not take. The ledger looks at
// new rows before transitions. So a repeated order is a replay even though its own
// first try has used its verification.
func (s *Shop) refused(ctx context.Context, err error) (Receipt, error) {
	if earlier, ok := operation.Earlier(err); ok {
		return s.replay(ctx, earlier)
	}
	switch {
	case ledger.Is(err, ledger.Short):
		return Receipt{}, fault.New(fault.Refused, "Insufficient balance")
	case ledger.Is(err, ledger.Moved, verifications.Table):
		return Receipt{}, fault.New(fault.Refused, verificationUsed)
	}
	return Receipt{}, idempotency.Taken(err)
}

// replay answers for a key that has been used.
func (s *Shop) replay(ctx context.Context, o operation.Operation) (Receipt, error) {
	if o.InFlight(s.clock.Now()) {
		return Receipt{}, idempotency.ErrInFlight
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
	return receipt, key.Resume(ctx, s.book, receipt)
}
