package settlement

import (
	"cmp"
	"context"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/idempotency"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/peer"
)

// TransferKind is the kind of the ledger's transfers between two settlement accounts of a company.
const TransferKind = "transfer"

// Transfer is a movement of money between two settlement accounts of a company.
type Transfer struct {
	Company   string        `db:"company_id,key" json:"-"`
	Reference string        `db:"id,key" json:"reference"`
	From      int64         `db:"from_id" json:"fromSettlementId"`
	To        int64         `db:"to_id" json:"toSettlementId"`
	Amount    money.Kobo    `db:"amount_kobo" json:"amount"`
	Narration string        `json:"narration"` // stored with the ledger's transfer
	CreatedAt clock.Instant `db:"created_at" json:"createdAt"`
}

var errSameAccount = fault.New(fault.Refused, "fromSettlementId and toSettlementId must be different accounts").With(fault.InvalidRequest)

// Move carries out a transfer immediately. Both accounts must belong to the company and be active.
// Parameter key is the request's Idempotency-Key, or nil. Move returns a Refused fault if the
// transfer is not possible, and a Conflict fault while an equal request is running.
func (s *Service) Move(ctx context.Context, t Transfer, key *idempotency.Key) (Transfer, error) {
	switch {
	case t.Amount <= 0:
		return Transfer{}, fault.New(fault.Invalid, `"amount" must be greater than 0`)
	case t.From == t.To:
		return Transfer{}, errSameAccount
	}
	t.Reference, t.Narration, t.CreatedAt.Time = id.New(), cmp.Or(t.Narration, "Transfer between own accounts"), s.Clock.Now()
	u := ledger.For(t.Company)
	key.Answer(&u, t, nil)
	ExpectActive(&u, t.From)
	ExpectActive(&u, t.To)
	u.Append(transfers.Record(t))
	u.Transfer(ledger.Transfer{
		Reference: t.Reference, Debit: LedgerAccount(t.From), Credit: LedgerAccount(t.To), Amount: t.Amount,
		Kind: TransferKind, Narration: t.Narration,
	})
	err := idempotency.Taken(s.Book.Commit(ctx, u))
	if inactive := MayNotPay(err); inactive != nil {
		return Transfer{}, inactive
	}
	if err != nil {
		return Transfer{}, explain(err)
	}
	peer.SetSubject(ctx, t.Reference)
	return t, nil
}
