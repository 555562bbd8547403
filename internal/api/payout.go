package api

import (
	"context"
	"net/http"

	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/idempotency"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/payout"
	"github.com/kobo-waas/kobo/internal/secret"
)

// keptList is the response with the list of banks, which a caller may cache for an hour.
type keptList ListBanks200JSONResponse

// VisitListBanksResponse writes the header and the list.
func (l keptList) VisitListBanksResponse(w http.ResponseWriter) error {
	w.Header().Set("Cache-Control", "private, max-age=3600")
	return ListBanks200JSONResponse(l).VisitListBanksResponse(w)
}

// ListBanks lists the banks that can receive payouts.
func (h *handlers) ListBanks(ctx context.Context, r ListBanksRequestObject) (ListBanksResponseObject, error) {
	banks, err := h.Payouts.Banks(ctx, callOf(ctx).company, r.Params.Search)
	return keptList{Status: "success", Data: append([]Bank{}, banks...)}, err
}

// ValidateAccount shows the name of a bank account's owner.
func (h *handlers) ValidateAccount(ctx context.Context, r ValidateAccountRequestObject) (ValidateAccountResponseObject, error) {
	return answer(ctx, func(v payout.Verification) (ValidateAccount200JSONResponse, error) {
		return ValidateAccount200JSONResponse{Data: ValidatedAccount{ID: v.ID, AccountName: v.AccountName, AccountNumber: v.AccountNumber}}, nil
	}, func(key *idempotency.Key) (payout.Verification, error) {
		return h.Payouts.Validate(ctx, payout.Enquiry{
			Company: callOf(ctx).company, BankCode: r.Body.BankCode, AccountNumber: r.Body.AccountNumber, PIN: secret.NewText(r.Body.Pin),
			SettlementID: r.Body.FromSettlementID, Key: key,
		})
	})
}

// SendPayout sends a payout to a bank account, or previews the payout in a dry run.
func (h *handlers) SendPayout(ctx context.Context, r SendPayoutRequestObject) (SendPayoutResponseObject, error) {
	c := callOf(ctx)
	order := payout.Order{
		Company: c.company, VerifyID: r.Body.VerifyID, Amount: r.Body.Amount, Narration: r.Body.Narration,
		Labels: operation.Labels{ExternalReference: r.Body.ExternalReference, Metadata: r.Body.Metadata},
	}
	if isDry(c.request) {
		p, err := h.Payouts.Preview(ctx, order)
		c.explain(p)
		return SendPayout200JSONResponse{Status: "success", Message: nothingSent, Data: p}, err
	}
	seen, has := seenOf(ctx)
	if has {
		order.Fee = &seen.Fee
	}
	if waits, err := h.payoutWaits(ctx, order.Amount); waits || err != nil {
		if err != nil {
			return nil, err
		}
		return h.askPayout(ctx, order)
	}
	return resumable(ctx, sentAnswer, h.Payouts.Resume, func(key *idempotency.Key) (payout.Payout, error) {
		if seen.Waits {
			return payout.Payout{}, errWaitsForNobody
		}
		order.Key = key
		return h.Payouts.Send(ctx, order)
	})
}

// nothingSent is the message of a dry run.
const nothingSent = "Dry run. Nothing was sent."

// sentAnswer returns the 200 response for a payout, or the fault of a failed payout.
func sentAnswer(p payout.Payout) (SendPayout200JSONResponse, error) {
	message := "Payout successful"
	switch p.Status {
	case payout.Failed, payout.Reversed:
		return SendPayout200JSONResponse{}, fault.New(fault.Refused, "Payout failed. Your balance has been refunded.").
			With(fault.Declined).About("reference", p.Reference)
	case payout.Pending:
		message = "Payout is being confirmed. Do not retry; check the payout status."
	}
	return SendPayout200JSONResponse{Status: "success", Message: message, Data: p.Sent}, nil
}

// FindPayout shows a payout.
func (h *handlers) FindPayout(ctx context.Context, r FindPayoutRequestObject) (FindPayoutResponseObject, error) {
	c := callOf(ctx)
	p, err := h.Reports.Payout(ctx, c.company, r.Reference)
	c.explain(p)
	return FindPayout200JSONResponse{Status: "success", Data: p}, err
}
