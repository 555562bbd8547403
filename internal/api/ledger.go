package api

import (
	"context"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/report"
	"github.com/kobo-waas/kobo/internal/wire"
)

// ListLedgerEntries shows the entries of the settlement accounts, newest first.
func (h *handlers) ListLedgerEntries(ctx context.Context, r ListLedgerEntriesRequestObject) (ListLedgerEntriesResponseObject, error) {
	var q query
	filter := report.EntryFilter{
		SettlementID: q.id("settlementId", r.Params.SettlementID),
		Type:         q.oneOf("type", r.Params.Type, "credit", "debit"),
		From:         q.instant("from", r.Params.From, false),
		To:           q.instant("to", r.Params.To, true),
	}
	if err := q.fault(); err != nil {
		return nil, err
	}
	rows, meta, err := shaped(ctx, r.Params.Page, r.Params.PageSize, ledgerRow, func(offset, limit int) ([]report.Entry, int, error) {
		return h.Reports.Entries(ctx, callOf(ctx).company, filter, offset, limit)
	}, func(cursor string, limit int) ([]report.Entry, error) {
		return h.Reports.EntriesAfter(ctx, callOf(ctx).company, filter, cursor, limit)
	})
	return ListLedgerEntries200JSONResponse{Status: "success", Data: LedgerPage{Data: rows, Meta: meta}}, err
}

// FindLedgerEntry shows one entry by its reference. The response does not show the reference.
func (h *handlers) FindLedgerEntry(ctx context.Context, r FindLedgerEntryRequestObject) (FindLedgerEntryResponseObject, error) {
	e, err := h.Reports.Entry(ctx, callOf(ctx).company, r.Reference)
	if err != nil {
		return nil, err
	}
	return FindLedgerEntry200JSONResponse{Status: "success", Data: LedgerEntry{
		Amount: e.Amount, Type: side(e), Status: e.Stands, PreviousBalance: e.Previous, CurrentBalance: e.Current, Fee: e.Fee,
		Source: e.Source, Narration: e.Narration, CreatedAt: clock.Text(e.CreatedAt), Customer: wire.Optional(e.Customer),
		ExternalReference: e.Labels.ExternalReference, Metadata: e.Labels.Metadata,
		SenderName: e.Sender.Name, SenderBank: e.Sender.Bank, SenderAccount: e.Sender.Account, SessionID: e.SessionID,
	}}, nil
}

// ledgerRow returns an entry as a row of a list, with its id, reference and account.
func ledgerRow(e report.Entry) LedgerRow {
	return LedgerRow{
		Amount: e.Amount, Type: side(e), Status: e.Stands, PreviousBalance: e.Previous, CurrentBalance: e.Current, Fee: e.Fee,
		Source: e.Source, Narration: e.Narration, CreatedAt: clock.Text(e.CreatedAt), Customer: wire.Optional(e.Customer),
		ID: e.ID, Reference: e.Reference, SettlementID: e.SettlementID,
		ExternalReference: e.Labels.ExternalReference, Metadata: e.Labels.Metadata,
		SenderName: e.Sender.Name, SenderBank: e.Sender.Bank, SenderAccount: e.Sender.Account, SessionID: e.SessionID,
	}
}

func side(e report.Entry) string {
	if e.Credit {
		return "credit"
	}
	return "debit"
}
