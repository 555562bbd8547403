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
	"github.com/kobo-waas/kobo/internal/settlement"
	"github.com/kobo-waas/kobo/internal/wire"
)

// leave is the least balance of a settlement account after a purchase. The contract
// wants a balance greater than the price.
const leave = 1

var (
	errShort            = fault.New(fault.Refused, "Insufficient balance")
	errVerificationUsed = fault.New(fault.Refused, "Verification already used")
	errKeyUsed          = fault.New(fault.Refused, "idempotencyKey was used before: the existing transaction would be returned")
	errKeyFailed        = fault.New(fault.Refused, "idempotencyKey was used before, by a purchase that failed: use another one")
)

// Order is the part of a purchase that all kinds share. The orders of the kinds are
// the bodies of the API's requests.
type Order struct {
	Company        string           `json:"-"`
	IdempotencyKey string           `json:"idempotencyKey"`
	SettlementID   int64            `json:"settlementId"`
	Key            *idempotency.Key `json:"-"` // from the header; nil for none
	DryRun         bool             `json:"-"` // ask for a preview
}

// Receipt is the result of an order.
type Receipt struct {
	Transaction Transaction
	Replayed    bool     // an earlier order with the same key made the transaction
	Preview     *Preview // of a dry run, which makes no transaction
}

// Goods are the part of a purchase that its row and its JSON share.
type Goods struct {
	CategoryID  string    `db:"category_id" json:"serviceCategoryId"`
	ProductID   wire.Text `db:"product_id" json:"productId"`
	ProductName wire.Text `db:"product_name" json:"productName"`
	Phone       wire.Text `db:"phone_number" json:"phoneNumber"`
	Card        wire.Text `db:"card_number" json:"cardNumber"`
}

// Purchase is the row that a purchase has beside its operation.
type Purchase struct {
	Company string               `db:"company_id,key"`
	ID      string               `db:"id,key"` // the operation's
	Type    provider.ServiceKind `db:"kind"`
	Goods
	Meter          string    `db:"meter_number"`
	VerificationID string    `db:"verification_id"`
	CreatedAt      time.Time `db:"created_at"`
}

// basket is the content of an order, with the parameters of the call to the biller.
type basket struct {
	Purchase
	category    Category
	productCode string // the biller's; "" for airtime and power
	amount      money.Kobo
	vendType    string
	narration   string
	used        bool // another purchase uses the verification
}

// buy makes a purchase of any kind. Choose looks up the content. Buy does not call
// choose for a used key.
//
// The receipt may be PENDING: the money is debited, and Kobo follows the outcome.
// Faults are Refused (nothing was charged), Conflict (another request with the same key
// is running) and Unavailable.
func (s *Shop) buy(ctx context.Context, order Order, choose func() (basket, error)) (Receipt, error) {
	earlier, err := s.Operations.FindByKey(ctx, order.Company, Kind, order.IdempotencyKey)
	switch {
	case err == nil && order.DryRun && earlier.State == Failed:
		return s.preview(ctx, order, earlier.Amount, errKeyFailed)
	case err == nil && order.DryRun:
		return s.preview(ctx, order, earlier.Amount, errKeyUsed)
	case err == nil:
		return s.replay(ctx, earlier)
	}
	if !fault.Is(err, fault.Missing) {
		return Receipt{}, err
	}
	if err := s.Settlements.MayPay(ctx, order.Company, order.SettlementID); err != nil {
		return Receipt{}, err
	}
	b, err := choose()
	switch {
	case err != nil:
		return Receipt{}, err
	case order.DryRun && b.used:
		return s.preview(ctx, order, b.amount, errVerificationUsed)
	case order.DryRun:
		return s.preview(ctx, order, b.amount, nil)
	}
	o := s.Operations.Start(operation.Operation{
		Company: order.Company, Kind: Kind, IdempotencyKey: order.IdempotencyKey, Provider: b.category.provider,
		SettlementID: order.SettlementID, Amount: b.amount,
	})
	return s.pay(ctx, o, b, order.Key)
}

// pay commits the intent, calls the biller and commits the outcome.
func (s *Shop) pay(ctx context.Context, o operation.Operation, b basket, key *idempotency.Key) (Receipt, error) {
	p := b.Purchase
	p.Company, p.ID, p.CreatedAt = o.Company, o.ID, o.CreatedAt
	u := s.Operations.Unit(o, leave, b.narration)
	key.Begin(&u, o.ID, o.CalledUntil)
	u.Append(purchases.Record(p))
	event.Emit(&u, event.VTUPending, Of(o, p))
	p.verification(&u, unused, used)
	if err := s.Book.Commit(ctx, u); err != nil {
		return s.refused(ctx, err)
	}
	key.Begun()
	o, err := s.Operations.Run(ctx, o,
		func(ctx context.Context) provider.Answer { return s.Billers[o.Provider].Pay(ctx, b.request(o)) },
		func(after operation.Operation, u *ledger.Unit) {
			key.Finish(u, Receipt{Transaction: Of(after, p)}, nil)
		})
	if err != nil {
		// The ledger does not hold the biller's answer, so the purchase stays PENDING. The
		// resolver asks the biller again.
		s.Log.Error("the outcome of a purchase was not written", "company", o.Company, "operation", o.ID, "error", err)
	}
	return Receipt{Transaction: Of(o, p)}, nil
}

// request returns the order to the biller.
func (b basket) request(o operation.Operation) provider.Purchase {
	return provider.Purchase{
		Reference: o.ID, Begun: o.CreatedAt, Kind: b.Type, Category: b.category.code, Product: b.productCode, Amount: b.amount,
		Phone: string(b.Phone), Card: string(b.Card), Meter: b.Meter, VendType: b.vendType,
	}
}

// refused explains a refused first unit. The ledger checks new rows before transitions,
// so a repeated order is a replay although its first try has used the verification.
func (s *Shop) refused(ctx context.Context, err error) (Receipt, error) {
	if earlier, ok := operation.Earlier(err); ok {
		return s.replay(ctx, earlier)
	}
	switch {
	case ledger.Is(err, ledger.Short):
		return Receipt{}, errShort
	case ledger.Is(err, ledger.Moved, verifications.Table):
		return Receipt{}, errVerificationUsed
	}
	return Receipt{}, idempotency.Taken(err)
}

// replay answers an order with a used key.
func (s *Shop) replay(ctx context.Context, o operation.Operation) (Receipt, error) {
	if o.InFlight(s.Clock.Now()) {
		return Receipt{}, idempotency.ErrInFlight
	}
	t, err := s.complete(ctx, o)
	return Receipt{Transaction: t, Replayed: true}, err
}

// Resume answers a retry under the same Idempotency-Key after a crash of the first try.
// It stores the answer that the first try would have given.
func (s *Shop) Resume(ctx context.Context, company, transactionID string, key *idempotency.Key) (Receipt, error) {
	t, err := s.Transaction(ctx, company, transactionID)
	if err != nil {
		return Receipt{}, err
	}
	receipt := Receipt{Transaction: t}
	return receipt, key.Resume(ctx, s.Book, receipt)
}

// Preview is the effect that a purchase would have.
type Preview = operation.Preview[money.Text]

// preview answers an order with DryRun. It writes nothing and calls no biller, so it
// does not know the biller's answer. Why is the known reason for a refusal. A missing
// product or account is a fault before, as in a purchase.
func (s *Shop) preview(ctx context.Context, order Order, amount money.Kobo, why error) (Receipt, error) {
	balance, err := s.Book.Balance(ctx, order.Company, settlement.LedgerAccount(order.SettlementID))
	if err != nil {
		return Receipt{}, err
	}
	if why == nil && balance < amount+leave {
		why = errShort
	}
	p := operation.NewPreview[money.Text](operation.Operation{Amount: amount}, balance, why)
	return Receipt{Preview: &p}, nil
}
