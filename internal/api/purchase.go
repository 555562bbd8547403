package api

import (
	"context"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/idempotency"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/vtu"
)

// PurchaseData buys a data bundle.
func (h *handlers) PurchaseData(ctx context.Context, r PurchaseDataRequestObject) (PurchaseDataResponseObject, error) {
	a, err := buy(ctx, h, purchaseAnswer, func(o vtu.Order) (vtu.Receipt, error) {
		o.IdempotencyKey, o.SettlementID = r.Body.IdempotencyKey, r.Body.SettlementID
		return h.VTU.PurchaseData(ctx, vtu.DataPurchase{
			Order: o, CategoryID: r.Body.ServiceCategoryID, ProductID: r.Body.ProductID, PhoneNumber: r.Body.PhoneNumber,
		})
	})
	return PurchaseData200JSONResponse(a), err
}

// PurchaseCableTV buys a TV package.
func (h *handlers) PurchaseCableTV(ctx context.Context, r PurchaseCableTVRequestObject) (PurchaseCableTVResponseObject, error) {
	a, err := buy(ctx, h, purchaseAnswer, func(o vtu.Order) (vtu.Receipt, error) {
		o.IdempotencyKey, o.SettlementID = r.Body.IdempotencyKey, r.Body.SettlementID
		return h.VTU.PurchaseCableTV(ctx, vtu.CableTVPurchase{
			Order: o, VerificationID: r.Body.MeterVerificationID, ProductID: r.Body.ProductID, CardNumber: r.Body.CardNumber,
		})
	})
	return PurchaseCableTV200JSONResponse(a), err
}

// PurchaseAirtime buys airtime.
func (h *handlers) PurchaseAirtime(ctx context.Context, r PurchaseAirtimeRequestObject) (PurchaseAirtimeResponseObject, error) {
	a, err := buy(ctx, h, purchaseAnswer, func(o vtu.Order) (vtu.Receipt, error) {
		o.IdempotencyKey, o.SettlementID = r.Body.IdempotencyKey, r.Body.SettlementID
		return h.VTU.PurchaseAirtime(ctx, vtu.AirtimePurchase{
			Order: o, CategoryID: r.Body.ServiceCategoryID, PhoneNumber: r.Body.PhoneNumber, Amount: r.Body.Amount,
		})
	})
	return PurchaseAirtime200JSONResponse(a), err
}

// PurchaseUtility buys power.
func (h *handlers) PurchaseUtility(ctx context.Context, r PurchaseUtilityRequestObject) (PurchaseUtilityResponseObject, error) {
	a, err := buy(ctx, h, powerAnswer, func(o vtu.Order) (vtu.Receipt, error) {
		o.IdempotencyKey, o.SettlementID = r.Body.IdempotencyKey, r.Body.SettlementID
		return h.VTU.PurchaseUtility(ctx, vtu.UtilityPurchase{Order: o, VerificationID: r.Body.MeterVerificationID, Amount: r.Body.Amount})
	})
	return PurchaseUtility200JSONResponse(a), err
}

// buy is the same for every kind.
func buy[A any](ctx context.Context, h *handlers, dress func(vtu.Receipt) (A, error), purchase func(vtu.Order) (vtu.Receipt, error)) (A, error) {
	c := callOf(ctx)
	return answer(ctx, dress, func(key *idempotency.Key) (vtu.Receipt, error) {
		if begun := key.Subject(); begun != "" {
			return h.VTU.Resume(ctx, c.company, begun, key)
		}
		return purchase(vtu.Order{Company: c.company, Key: key, DryRun: isDry(c.request)})
	})
}

// goods are what is bought, as the messages call it.
var goods = map[provider.ServiceKind]string{
	provider.Airtime: "Airtime", provider.Data: "Data", provider.CableTV: "Cable TV", provider.Utility: "Utility",
}

// wordsOf are the message of a purchase's 200, or the fault of one that failed. A
// failed purchase answers the same whether it failed now or under this key
// before (completion.md §3). A repeated TV purchase has no message (wallet-api.md,
// outcomes of purchases).
func wordsOf(r vtu.Receipt) (*string, error) {
	t := r.Transaction
	message := goods[t.Type] + " purchase "
	switch {
	case t.Status == vtu.Failed:
		return nil, fault.New(fault.Refused, message+"failed. Your balance has been refunded.")
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

// previewOf is the answer's data of a purchase that was only tried.
func previewOf(p vtu.Preview) (message *string, data PurchasePreview) {
	return present("Dry run. Nothing was bought."), PurchasePreview{
		DryRun: true, WouldSucceed: p.Refusal == "", Refusal: present(p.Refusal), Amount: money.Text(p.Amount), Fee: money.Text(p.Fee),
		Total: money.Text(p.Amount + p.Fee), Balance: money.Text(p.Balance), BalanceAfter: money.Text(p.BalanceAfter),
	}
}

func purchaseAnswer(r vtu.Receipt) (PurchaseAnswer, error) {
	if r.Preview != nil {
		message, data := previewOf(*r.Preview)
		return PurchaseAnswer{Success: true, Message: message, Data: data}, nil
	}
	message, err := wordsOf(r)
	t := r.Transaction
	return PurchaseAnswer{Success: true, Message: message, Data: Purchase{
		TransactionID: t.ID, Status: string(t.Status), Type: string(t.Type), Amount: t.Amount, CreatedAt: clock.Text(t.CreatedAt.Time),
	}}, err
}

func powerAnswer(r vtu.Receipt) (UtilityPurchaseAnswer, error) {
	if r.Preview != nil {
		message, data := previewOf(*r.Preview)
		return UtilityPurchaseAnswer{Success: true, Message: message, Data: data}, nil
	}
	message, err := wordsOf(r)
	t := r.Transaction
	return UtilityPurchaseAnswer{Success: true, Message: message, Data: PowerPurchase{
		TransactionID: t.ID, Status: string(t.Status), Type: string(t.Type), Amount: t.Amount, CreatedAt: clock.Text(t.CreatedAt.Time),
		Token: present(string(t.Token)),
	}}, err
}

// VerifyEntity asks whose a smartcard or a meter is.
func (h *handlers) VerifyEntity(ctx context.Context, r VerifyEntityRequestObject) (VerifyEntityResponseObject, error) {
	return answer(ctx, func(v vtu.Verification) (VerifyEntity200JSONResponse, error) {
		return VerifyEntity200JSONResponse{Success: true, Data: EntityVerification{
			MeterVerificationID: v.ID, ServiceCategoryID: v.CategoryID, EntityNumber: v.Number, CustomerName: v.CustomerName,
			Address: present(v.Address), CurrentPackage: present(v.CurrentPackage), DueDate: present(v.DueDate), RenewalAmount: priced(v.Renewal),
			VendType: present(v.VendType), CreatedAt: clock.Text(v.CreatedAt), MinVendAmount: priced(v.Least), MaxVendAmount: priced(v.Most),
		}}, nil
	}, func(key *idempotency.Key) (vtu.Verification, error) {
		return h.VTU.VerifyEntity(ctx, vtu.EntityQuery{
			Company: callOf(ctx).company, CategoryID: r.Body.ServiceCategoryID, Number: r.Body.EntityNumber, Key: key,
		})
	})
}

// priced is an amount, or null for one that nobody named.
func priced(k money.Kobo) *money.Text {
	if k == 0 {
		return nil
	}
	t := money.Text(k)
	return &t
}
