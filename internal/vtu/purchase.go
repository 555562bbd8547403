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
	"github.com/kobo-waas/kobo/internal/peer"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/settlement"
	"github.com/kobo-waas/kobo/internal/wire"
)

// leave is the lowest balance in kobo that a settlement account may have after a purchase. The API
// contract requires a balance greater than the price.
const leave = 1

var (
	errShort            = fault.New(fault.Refused, "Insufficient balance").With(fault.InsufficientBalance)
	errVerificationUsed = fault.New(fault.Refused, "Verification already used").With(fault.VerificationUsed)
	errKeyUsed          = fault.New(fault.Refused, "idempotencyKey was used before: the existing transaction would be returned").With(fault.IdempotencyKeyUsed)
	errKeyFailed        = fault.New(fault.Refused, "idempotencyKey was used before, by a purchase that failed: use another one").With(fault.Declined)
)

// Order is the part of a purchase request that all kinds of service share. Each kind's order type
// embeds Order and is the body of an API request.
type Order struct {
	Company        string           `json:"-"`
	IdempotencyKey string           `json:"idempotencyKey"`
	SettlementID   int64            `json:"settlementId"`
	Key            *idempotency.Key `json:"-"` // from the Idempotency-Key header; nil without this header
	DryRun         bool             `json:"-"` // whether to return a preview and buy nothing
	// May returns why the caller may not buy at this price, or nil. No function means that the caller may.
	May func(price money.Kobo) error `json:"-"`
	operation.Labels
}

// Receipt is the result of an order.
type Receipt struct {
	Transaction Transaction
	Replayed    bool     // whether an earlier order with the same idempotencyKey made the transaction
	Preview     *Preview // the result of a dry run, which makes no transaction
}

// Reason returns the word of the header Kobo-Reason for a response with this receipt, or "".
func (r Receipt) Reason() fault.Reason {
	if r.Preview != nil {
		return r.Preview.Reason()
	}
	return r.Transaction.Status.Reason()
}

// Goods is the part of a purchase that its database row and its JSON share.
type Goods struct {
	CategoryID  string    `db:"category_id" json:"serviceCategoryId"`
	ProductID   wire.Text `db:"product_id" json:"productId"`
	ProductName wire.Text `db:"product_name" json:"productName"`
	Phone       wire.Text `db:"phone_number" json:"phoneNumber"`
	Card        wire.Text `db:"card_number" json:"cardNumber"`
}

// Purchase is the database row of a purchase. The purchase's price and state are in the row of its
// operation.
type Purchase struct {
	Company string               `db:"company_id,key"`
	ID      string               `db:"id,key"` // the ID of the operation
	Type    provider.ServiceKind `db:"kind"`
	Goods
	Meter          string    `db:"meter_number"`
	VerificationID string    `db:"verification_id"`
	CreatedAt      time.Time `db:"created_at"`
	SettlementID   int64     `db:"settlement_id"` // 0 in rows from before schema 46; the operation has it in every case
}

// basket is the content of an order, with the data that the biller needs.
type basket struct {
	Purchase
	category    Category
	productCode string // the biller's code for the product; "" for airtime and electricity
	amount      money.Kobo
	vendType    string
	narration   string
	used        bool // whether an earlier purchase has used the verification
}

// buy makes a purchase of any kind of service. It calls choose to look up the ordered product and
// its price.
//
// A PENDING transaction is debited, and Kobo asks the biller for its outcome later. Buy returns a
// Refused fault if Kobo refuses the order, and then debits nothing. It returns a Conflict fault
// while an earlier request with the same Idempotency-Key is running. It may also return an
// Unavailable fault.
//
// Almost every order is new and comes from an active account. So buy reads neither an earlier
// transaction with the same idempotencyKey nor the account: the ledger checks both in the commit.
func (s *Shop) buy(ctx context.Context, order Order, choose func() (basket, error)) (Receipt, error) {
	if order.DryRun {
		return s.dryRun(ctx, order, choose)
	}
	b, err := choose()
	if err == nil && order.May != nil {
		err = order.May(b.amount)
	}
	if err != nil {
		return s.unstarted(ctx, order, err)
	}
	o := s.Operations.Start(operation.Operation{
		Company: order.Company, Kind: Kind, IdempotencyKey: order.IdempotencyKey, Provider: b.category.provider,
		SettlementID: order.SettlementID, Amount: b.amount, Labels: order.Labels,
	})
	p := b.Purchase
	p.Company, p.ID, p.CreatedAt, p.SettlementID = o.Company, o.ID, o.CreatedAt, o.SettlementID
	err = s.begin(ctx, o, p, b.narration, order.Key)
	switch {
	case ledger.Refused(err) != nil:
		return s.refused(ctx, err)
	case fault.Is(err, fault.Unknown): // the transaction that unstarted would find may be this one
		return Receipt{}, err
	case err != nil:
		return s.unstarted(ctx, order, err)
	}
	peer.SetSubject(ctx, o.ID)
	return s.pay(ctx, o, p, b, order.Key), nil
}

// unstarted returns the result of an order that was not committed because of the error why. An
// order that repeats an earlier order gets the earlier transaction, whatever became of the account
// or the product. No unit has checked that a standby has that transaction, so unstarted proves it. An
// account that may not pay takes precedence over a product that is not on sale.
func (s *Shop) unstarted(ctx context.Context, order Order, why error) (Receipt, error) {
	earlier, err := s.Operations.FindByKey(ctx, order.Company, Kind, order.IdempotencyKey)
	if err == nil {
		if err := s.Book.Prove(ctx, order.Company); err != nil {
			return Receipt{}, err
		}
		return s.replay(ctx, earlier)
	}
	if !fault.Is(err, fault.Missing) {
		return Receipt{}, err
	}
	if err := s.Settlements.MayPay(ctx, order.Company, order.SettlementID); err != nil {
		return Receipt{}, err
	}
	return Receipt{}, why
}

// dryRun previews an order. It checks the order in the order of buy's answers.
func (s *Shop) dryRun(ctx context.Context, order Order, choose func() (basket, error)) (Receipt, error) {
	earlier, err := s.Operations.FindByKey(ctx, order.Company, Kind, order.IdempotencyKey)
	switch {
	case err == nil && earlier.Refunded():
		return s.preview(ctx, order, earlier.Amount, errKeyFailed)
	case err == nil:
		return s.preview(ctx, order, earlier.Amount, errKeyUsed)
	case !fault.Is(err, fault.Missing):
		return Receipt{}, err
	}
	if err := s.Settlements.MayPay(ctx, order.Company, order.SettlementID); err != nil {
		return Receipt{}, err
	}
	b, err := choose()
	switch {
	case err != nil:
		return Receipt{}, err
	case b.used:
		return s.preview(ctx, order, b.amount, errVerificationUsed)
	}
	if taken, err := s.Operations.Referenced(ctx, order.Company, Kind, order.ExternalReference); err != nil {
		return Receipt{}, err
	} else if taken {
		return s.preview(ctx, order, b.amount, operation.ErrReferenceUsed)
	}
	return s.preview(ctx, order, b.amount, nil)
}

// begin writes the operation of a purchase and debits its price.
func (s *Shop) begin(ctx context.Context, o operation.Operation, p Purchase, narration string, key *idempotency.Key) error {
	u := s.Operations.Unit(o, leave, narration)
	settlement.ExpectActive(&u, o.SettlementID)
	key.Begin(&u, o.ID, o.CalledUntil)
	u.Append(purchases.Record(p))
	event.Emit(&u, event.VTUPending, Of(o, p))
	p.verification(&u, unused, used)
	return s.Book.Commit(ctx, u)
}

// pay calls the biller and writes the outcome.
func (s *Shop) pay(ctx context.Context, o operation.Operation, p Purchase, b basket, key *idempotency.Key) Receipt {
	o.Known = p
	o, err := s.Operations.RunOver(ctx, o,
		func(ctx context.Context) provider.Answer { return s.first(ctx, o, b) }, s.further(b),
		func(after operation.Operation, u *ledger.Unit) {
			key.Finish(u, Receipt{Transaction: Of(after, p)}, nil)
		})
	if err != nil {
		// The biller's reply is not in the ledger, so the purchase stays PENDING. The resolver will
		// ask the biller again.
		s.Log.Error("the outcome of a purchase was not written", "company", o.Company, "operation", o.ID, "error", err)
	}
	return Receipt{Transaction: Of(o, p)}
}

// request converts a basket and its operation into the purchase order for the biller.
func (b basket) request(o operation.Operation) provider.Purchase {
	return provider.Purchase{
		Reference: o.OurReference(), Begun: o.CreatedAt, Kind: b.Type, Category: b.category.code, Product: b.productCode, Amount: b.amount,
		Phone: string(b.Phone), Card: string(b.Card), Meter: b.Meter, VendType: b.vendType,
	}
}

// refused turns the ledger's refusal to start a purchase into a fault. If the order repeats an
// earlier order, refused returns the earlier transaction instead. The ledger checks for a repeated
// order first. Then it checks that the account is active and the verification unused, and last the
// balance.
func (s *Shop) refused(ctx context.Context, err error) (Receipt, error) {
	if earlier, ok := operation.Earlier(err); ok {
		return s.replay(ctx, earlier)
	}
	if inactive := settlement.MayNotPay(err); inactive != nil {
		return Receipt{}, inactive
	}
	switch {
	case operation.IsReferenceUsed(err):
		return Receipt{}, operation.ErrReferenceUsed
	case ledger.Is(err, ledger.Short):
		return Receipt{}, errShort
	case ledger.Is(err, ledger.Moved, verifications.Table):
		return Receipt{}, errVerificationUsed
	}
	return Receipt{}, idempotency.Taken(err)
}

// replay returns the earlier transaction for an order whose idempotencyKey was used before.
func (s *Shop) replay(ctx context.Context, o operation.Operation) (Receipt, error) {
	if o.InFlight(s.Clock.Now()) {
		return Receipt{}, idempotency.ErrInFlight
	}
	t, err := s.complete(ctx, o)
	return Receipt{Transaction: t, Replayed: true}, err
}

// Resume returns the receipt for a retry with the same Idempotency-Key, after Kobo crashed during
// the first request. Resume also stores this receipt as the stored response of the
// Idempotency-Key.
func (s *Shop) Resume(ctx context.Context, company, transactionID string, key *idempotency.Key) (Receipt, error) {
	o, err := s.Operations.Find(ctx, company, transactionID)
	if err != nil {
		return Receipt{}, err
	}
	t, err := s.complete(ctx, o)
	if err != nil {
		return Receipt{}, err
	}
	receipt := Receipt{Transaction: t}
	return receipt, key.Resume(ctx, s.Book, receipt)
}

// Preview is the effect that a purchase would have on the balance, or the reason for a refusal.
type Preview = operation.Preview[money.Text]

// preview returns the receipt of a dry run. It writes nothing and calls no biller, so it cannot
// foresee the biller's reply. The argument why is a reason for a refusal that the caller already
// knows. A missing product or account does not reach preview, because buy returns a fault earlier.
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
