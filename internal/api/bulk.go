package api

import (
	"context"

	"github.com/kobo-waas/kobo/internal/contract"
	"github.com/kobo-waas/kobo/internal/idempotency"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/payout"
	"github.com/kobo-waas/kobo/internal/secret"
	"github.com/kobo-waas/kobo/internal/text"
	"github.com/kobo-waas/kobo/internal/wire"
)

// OpenBulkPayout stores a bulk payout, whose names are then asked for.
func (h *handlers) OpenBulkPayout(ctx context.Context, r OpenBulkPayoutRequestObject) (OpenBulkPayoutResponseObject, error) {
	return answer(ctx, func(b payout.Bulk) (OpenBulkPayout200JSONResponse, error) {
		return OpenBulkPayout200JSONResponse{Status: "success", Data: b}, nil
	}, func(key *idempotency.Key) (payout.Bulk, error) {
		return h.Payouts.OpenBulk(ctx, payout.BulkOrder{
			Company: callOf(ctx).company, SettlementID: r.Body.FromSettlementID, PIN: secret.NewText(r.Body.Pin), Key: key,
			Lines: each(r.Body.Lines, func(l BulkPayoutLineOrder) payout.LineOrder {
				return payout.LineOrder{
					BankCode: l.BankCode, AccountNumber: l.AccountNumber, Amount: l.Amount, Narration: l.Narration,
					Labels: operation.Labels{ExternalReference: l.ExternalReference, Metadata: l.Metadata}, FileLine: l.FileLine,
				}
			}),
		})
	})
}

// ListBulkPayouts lists bulk payouts, newest first.
func (h *handlers) ListBulkPayouts(ctx context.Context, r ListBulkPayoutsRequestObject) (ListBulkPayoutsResponseObject, error) {
	var q query
	state := q.oneOf("state", r.Params.State, string(payout.BulkChecking), string(payout.BulkChecked), string(payout.BulkConfirmed),
		string(payout.BulkCompleted), string(payout.BulkCancelled))
	if r.Params.Cursor != "" && !text.IsOwnID(r.Params.Cursor) {
		q.wrong("cursor", "must be the next of an earlier page")
	}
	if err := q.fault(); err != nil {
		return nil, err
	}
	list, next, err := h.Payouts.Bulks(ctx, callOf(ctx).company, payout.BulkState(state), r.Params.Cursor, contract.Clamp(r.Params.Limit, 20, 20))
	return ListBulkPayouts200JSONResponse{Status: "success", Data: BulkPayoutList{
		Data: append([]payout.Bulk{}, list...), Next: wire.Optional(next),
	}}, err
}

// FindBulkPayout shows a bulk payout and some of its lines.
func (h *handlers) FindBulkPayout(ctx context.Context, r FindBulkPayoutRequestObject) (FindBulkPayoutResponseObject, error) {
	var q query
	after := q.whole("after", r.Params.After)
	if err := q.fault(); err != nil {
		return nil, err
	}
	page, err := h.Payouts.Bulk(ctx, callOf(ctx).company, r.BulkID, after, contract.Clamp(r.Params.Limit, 100, 1000))
	return FindBulkPayout200JSONResponse{Status: "success", Data: page}, err
}

// ConfirmBulkPayout makes each good line of a bulk payout a payout of its own.
func (h *handlers) ConfirmBulkPayout(ctx context.Context, r ConfirmBulkPayoutRequestObject) (ConfirmBulkPayoutResponseObject, error) {
	c := payout.Confirmation{Company: callOf(ctx).company, BulkID: r.BulkID, PIN: secret.NewText(r.Body.Pin)}
	seen, has := seenOf(ctx)
	if has {
		c.Seen = &payout.Approved{Lines: seen.Lines, Amount: seen.Amount, Fee: &seen.Fee}
	}
	if _, sits := seatOf(ctx); sits {
		b, err := h.Payouts.Bulk(ctx, c.Company, c.BulkID, 0, 1)
		if err != nil {
			return nil, err
		}
		if waits, err := h.payoutWaits(ctx, b.Amount); waits || err != nil {
			if err != nil {
				return nil, err
			}
			return h.askBulk(ctx, c)
		}
		// The amount is asked for again in the confirmation itself: the lines of a bulk payout that was not checked a
		// moment ago were not in the sum.
		c.Alone = func(ctx context.Context, amount money.Kobo) (bool, error) {
			waits, err := h.payoutWaits(ctx, amount)
			if err == nil && !waits && seen.Waits {
				err = errWaitsForNobody
			}
			return !waits, err
		}
	}
	return answer(ctx, func(b payout.Bulk) (ConfirmBulkPayout200JSONResponse, error) {
		return ConfirmBulkPayout200JSONResponse{Status: "success", Data: b}, nil
	}, func(key *idempotency.Key) (payout.Bulk, error) {
		c.Key = key
		return h.Payouts.ConfirmBulk(ctx, c)
	})
}

// CancelBulkPayout cancels a bulk payout that is not confirmed.
func (h *handlers) CancelBulkPayout(ctx context.Context, r CancelBulkPayoutRequestObject) (CancelBulkPayoutResponseObject, error) {
	return answer(ctx, func(b payout.Bulk) (CancelBulkPayout200JSONResponse, error) {
		return CancelBulkPayout200JSONResponse{Status: "success", Data: b}, nil
	}, func(key *idempotency.Key) (payout.Bulk, error) {
		return h.Payouts.CancelBulk(ctx, callOf(ctx).company, r.BulkID, key)
	})
}
