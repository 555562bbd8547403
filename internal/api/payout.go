package api

import (
	"context"
	"net/http"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/idempotency"
	"github.com/kobo-waas/kobo/internal/payout"
	"github.com/kobo-waas/kobo/internal/secret"
)

// keptList is the list of banks, which a caller may keep for an hour.
type keptList ListBanks200JSONResponse

// VisitListBanksResponse writes the list and how long it is good.
func (l keptList) VisitListBanksResponse(w http.ResponseWriter) error {
	w.Header().Set("Cache-Control", "private, max-age=3600")
	return ListBanks200JSONResponse(l).VisitListBanksResponse(w)
}

// ListBanks shows which banks can be paid.
func (h *handlers) ListBanks(ctx context.Context, r ListBanksRequestObject) (ListBanksResponseObject, error) {
	banks, err := h.Payouts.Banks(ctx, callOf(ctx).company, r.Params.Search)
	if err != nil {
		return nil, err
	}
	rows := make([]Bank, 0, len(banks))
	for _, b := range banks {
		rows = append(rows, Bank{Name: b.Name, Code: b.Code})
	}
	return keptList{Status: "success", Data: rows}, nil
}

// ValidateAccount says whose a bank account is.
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

// SendPayout pays out, or says what would happen.
func (h *handlers) SendPayout(ctx context.Context, r SendPayoutRequestObject) (SendPayoutResponseObject, error) {
	c := callOf(ctx)
	order := payout.Order{Company: c.company, VerifyID: r.Body.VerifyID, Amount: r.Body.Amount, Narration: r.Body.Narration}
	if isDry(c.request) {
		return h.previewPayout(ctx, order)
	}
	return answer(ctx, sentAnswer, func(key *idempotency.Key) (payout.Payout, error) {
		if begun := key.Subject(); begun != "" {
			return h.Payouts.Resume(ctx, c.company, begun, key)
		}
		order.Key = key
		return h.Payouts.Send(ctx, order)
	})
}

// sentAnswer is the 200 of a payout, or the fault of one that failed.
func sentAnswer(p payout.Payout) (SendPayout200JSONResponse, error) {
	message := "Payout successful"
	switch p.Status {
	case payout.Failed, payout.Reversed:
		return SendPayout200JSONResponse{}, fault.New(fault.Refused, "Payout failed. Your balance has been refunded.")
	case payout.Pending:
		message = "Payout is being confirmed. Do not retry; check the payout status."
	}
	return SendPayout200JSONResponse{Status: "success", Message: message, Data: SentPayout{
		Reference: p.Reference, Amount: p.Amount, Fee: p.Fee, Status: string(p.Status), AccountName: p.AccountName,
		AccountNumber: p.AccountNumber, BankCode: p.BankCode, Narration: present(p.Narration), CreatedAt: clock.Text(p.CreatedAt),
	}}, nil
}

func (h *handlers) previewPayout(ctx context.Context, order payout.Order) (SendPayoutResponseObject, error) {
	p, err := h.Payouts.Preview(ctx, order)
	if err != nil {
		return nil, err
	}
	return SendPayout200JSONResponse{Status: "success", Message: "Dry run. Nothing was sent.", Data: PayoutPreview{
		DryRun: true, WouldSucceed: p.Refusal == "", Refusal: present(p.Refusal), Amount: p.Amount, Fee: p.Fee, Total: p.Amount + p.Fee,
		Balance: p.Balance, BalanceAfter: p.BalanceAfter,
	}}, nil
}

// FindPayout shows what became of a payout.
func (h *handlers) FindPayout(ctx context.Context, r FindPayoutRequestObject) (FindPayoutResponseObject, error) {
	p, err := h.Payouts.Status(ctx, callOf(ctx).company, r.Reference)
	if err != nil {
		return nil, err
	}
	return FindPayout200JSONResponse{Status: "success", Data: Payout{
		Reference: p.Reference, Amount: p.Amount, Fee: p.Fee, Status: string(p.Status), AccountName: p.AccountName,
		AccountNumber: p.AccountNumber, BankCode: p.BankCode, Narration: present(p.Narration), CreatedAt: clock.Text(p.CreatedAt),
		BankName: present(p.BankName), SessionID: present(p.SessionID), FailureReason: present(p.FailureReason), Refunded: p.Refunded,
		SettlementID: p.SettlementID, CompletedAt: moment(p.CompletedAt),
	}}, nil
}
