package api

import (
	"context"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/report"
)

// ListCredits lists what banks have reported for the company, newest first, whichever account received it.
func (h *handlers) ListCredits(ctx context.Context, r ListCreditsRequestObject) (ListCreditsResponseObject, error) {
	var q query
	filter := report.CreditFilter{
		SettlementID: q.id("settlementId", r.Params.SettlementID),
		Receiver:     q.oneOf("receiver", r.Params.Receiver, report.Receivers...),
		From:         q.instant("from", r.Params.From, false),
		To:           q.instant("to", r.Params.To, true),
	}
	if err := q.fault(); err != nil {
		return nil, err
	}
	rows, meta, err := shaped(ctx, r.Params.Page, r.Params.PageSize, inboundCredit, func(offset, limit int) ([]report.Credit, int, error) {
		return h.Reports.Credits(ctx, callOf(ctx).company, filter, offset, limit)
	}, func(cursor string, limit int) ([]report.Credit, error) {
		return h.Reports.CreditsAfter(ctx, callOf(ctx).company, filter, cursor, limit)
	})
	return ListCredits200JSONResponse{Status: "success", Data: InboundCreditPage{Data: rows, Meta: meta}}, err
}

// FindCredit shows one credit.
func (h *handlers) FindCredit(ctx context.Context, r FindCreditRequestObject) (FindCreditResponseObject, error) {
	c, err := h.Reports.Credit(ctx, callOf(ctx).company, r.Reference)
	return FindCredit200JSONResponse{Status: "success", Data: inboundCredit(c)}, err
}

func inboundCredit(c report.Credit) InboundCredit {
	out := InboundCredit{
		ID: c.ID, Amount: c.Amount, Receiver: c.Receiver, SettlementID: c.SettlementID, AccountNumber: c.AccountNumber,
		SenderName: c.Sender.Name, SenderBank: c.Sender.Bank, SenderAccount: c.Sender.Account,
		Narration: c.Narration, SessionID: c.SessionID, CreatedAt: clock.Text(c.CreatedAt),
	}
	if c.Customer.ID != "" {
		out.Customer = &TransactionCustomer{ID: c.Customer.ID, FirstName: c.Customer.FirstName, LastName: c.Customer.LastName}
	}
	return out
}
