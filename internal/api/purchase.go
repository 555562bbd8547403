package api

import (
	"context"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/idempotency"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/vtu"
	"github.com/kobo-waas/kobo/internal/wire"
)

// PurchaseData buys a data bundle.
func (h *handlers) PurchaseData(ctx context.Context, r PurchaseDataRequestObject) (PurchaseDataResponseObject, error) {
	a, err := buy(ctx, purchaseAnswer, h, r.Body, &r.Body.Order, h.VTU.PurchaseData)
	return PurchaseData200JSONResponse(a), err
}

// PurchaseCableTV buys a TV package.
func (h *handlers) PurchaseCableTV(ctx context.Context, r PurchaseCableTVRequestObject) (PurchaseCableTVResponseObject, error) {
	a, err := buy(ctx, purchaseAnswer, h, r.Body, &r.Body.Order, h.VTU.PurchaseCableTV)
	return PurchaseCableTV200JSONResponse(a), err
}

// PurchaseAirtime buys airtime.
func (h *handlers) PurchaseAirtime(ctx context.Context, r PurchaseAirtimeRequestObject) (PurchaseAirtimeResponseObject, error) {
	a, err := buy(ctx, purchaseAnswer, h, r.Body, &r.Body.Order, h.VTU.PurchaseAirtime)
	return PurchaseAirtime200JSONResponse(a), err
}

// PurchaseUtility buys electricity.
func (h *handlers) PurchaseUtility(ctx context.Context, r PurchaseUtilityRequestObject) (PurchaseUtilityResponseObject, error) {
	a, err := buy(ctx, powerAnswer, h, r.Body, &r.Body.Order, h.VTU.PurchaseUtility)
	return PurchaseUtility200JSONResponse(a), err
}

// errPriceChanged refuses a purchase at a price that the person has not seen. A purchase has no fee.
var errPriceChanged = fault.New(fault.Conflict, "The price has changed since it was shown. Look again").With(fault.ApprovalState)

// buy makes the purchase that a request body describes. order points to the part of the body that
// all types of purchases share.
func buy[B any](
	ctx context.Context, dress func(vtu.Receipt) (PurchaseAnswer, error), h *handlers, body *B, order *vtu.Order,
	purchase func(context.Context, B) (vtu.Receipt, error),
) (PurchaseAnswer, error) {
	c := callOf(ctx)
	return resumable(ctx, dress, h.VTU.Resume, func(key *idempotency.Key) (vtu.Receipt, error) {
		order.Company, order.Key, order.DryRun = c.company, key, isDry(c.request)
		order.May = func(price money.Kobo) error {
			err := h.mayAlone(ctx, price)
			if seen, has := seenOf(ctx); err == nil && has && (seen.Amount != price || seen.Fee != 0) {
				err = errPriceChanged
			}
			return err
		}
		return purchase(ctx, *body)
	})
}

// messageOf returns the message of a purchase's 200 response, or the fault of a failed or reversed
// purchase. A later request with the same key gets the same fault (completion.md §3). The response to
// a repeated TV purchase has no message (wallet-api.md, outcomes of purchases).
func messageOf(r vtu.Receipt) (*string, error) {
	t := r.Transaction
	message := vtu.Names[t.Type] + " purchase "
	switch {
	case t.Status == vtu.Failed, t.Status == vtu.Reversed:
		return nil, fault.New(fault.Refused, message+"failed. Your balance has been refunded.").
			With(fault.Declined).About("transactionId", t.ID)
	case r.Replayed && t.Type == provider.CableTV:
		return nil, nil
	case r.Replayed:
		message = "Duplicate request — returning existing transaction"
	case t.Status == vtu.Pending:
		message += "is being confirmed. Do not retry; check the transaction status."
	default:
		message += "successful"
	}
	return &message, nil
}

// purchaseAnswer returns the 200 response for a purchase or a dry run, or the fault of a failed
// purchase.
func purchaseAnswer(r vtu.Receipt) (PurchaseAnswer, error) {
	if r.Preview != nil {
		return PurchaseAnswer{Success: true, Message: wire.Optional("Dry run. Nothing was bought."), Data: r.Preview}, nil
	}
	message, err := messageOf(r)
	return PurchaseAnswer{Success: true, Message: message, Data: r.Transaction.Bought}, err
}

// powerAnswer returns the same response as purchaseAnswer, with the electricity token added.
func powerAnswer(r vtu.Receipt) (PurchaseAnswer, error) {
	a, err := purchaseAnswer(r)
	if r.Preview == nil {
		a.Data = vtu.BoughtPower{Bought: r.Transaction.Bought, Token: r.Transaction.Token, MeterCodes: r.Transaction.MeterCodes}
	}
	return a, err
}

// VerifyEntity shows the owner of a smartcard or a meter.
func (h *handlers) VerifyEntity(ctx context.Context, r VerifyEntityRequestObject) (VerifyEntityResponseObject, error) {
	return answer(ctx, func(v vtu.Verification) (VerifyEntity200JSONResponse, error) {
		return VerifyEntity200JSONResponse{Success: true, Data: EntityVerification{
			MeterVerificationID: v.ID, ServiceCategoryID: v.CategoryID, EntityNumber: v.Number, CustomerName: v.CustomerName,
			Address: wire.Optional(v.Address), CurrentPackage: wire.Optional(v.CurrentPackage), DueDate: wire.Optional(v.DueDate), RenewalAmount: wire.Optional(money.Text(v.Renewal)),
			VendType: wire.Optional(v.VendType), CreatedAt: clock.Text(v.CreatedAt), MinVendAmount: wire.Optional(money.Text(v.Least)), MaxVendAmount: wire.Optional(money.Text(v.Most)),
		}}, nil
	}, func(key *idempotency.Key) (vtu.Verification, error) {
		return h.VTU.VerifyEntity(ctx, vtu.EntityQuery{
			Company: callOf(ctx).company, CategoryID: r.Body.ServiceCategoryID, Number: r.Body.EntityNumber, Key: key,
		})
	})
}
