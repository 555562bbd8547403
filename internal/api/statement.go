package api

import (
	"context"
	"encoding/json"
	"io"
	"mime"
	"net/http"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/contract"
	"github.com/kobo-waas/kobo/internal/report"
)

// FindStatement streams the statement of a settlement account.
func (h *handlers) FindStatement(ctx context.Context, r FindStatementRequestObject) (FindStatementResponseObject, error) {
	var q query
	settlementID := q.id("settlementId", r.Params.SettlementID)
	from, to := q.instant("from", r.Params.From, false), q.instant("to", r.Params.To, true)
	format := q.oneOf("format", r.Params.Format, "json", "csv", "xlsx", "pdf")
	if settlementID == 0 && q.problems == nil {
		q.wrong("settlementId", "is required")
	}
	if !from.IsZero() && !to.IsZero() && !from.Before(to) {
		q.wrong("to", "must not be before from")
	}
	if err := q.fault(); err != nil {
		return nil, err
	}
	s, err := h.Reports.Statement(ctx, callOf(ctx).company, settlementID, from, to)
	if err != nil {
		return nil, err
	}
	return statementFile{ctx, s, format}, nil
}

// statementFile is a statement in the format that the caller requested.
type statementFile struct {
	ctx    context.Context
	from   *report.Statement
	format string
}

// VisitFindStatementResponse writes the statement. An error after the first bytes aborts the
// connection, so that an incomplete statement does not look complete.
func (s statementFile) VisitFindStatementResponse(w http.ResponseWriter) error {
	kind, write := "application/json", s.json
	switch s.format {
	case "csv":
		kind, write = "text/csv; charset=utf-8", s.from.CSV
	case "xlsx":
		kind, write = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", s.from.XLSX
	case "pdf":
		kind, write = "application/pdf", s.from.PDF
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Cache-Control", "no-store")
	if kind != "application/json" {
		name := s.from.Name() + "." + s.format
		w.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": name}))
	}
	begun, err := contract.Stream(w, func(out io.Writer) error { return write(s.ctx, out) })
	if err != nil && begun {
		callOf(s.ctx).err = err
		panic(http.ErrAbortHandler)
	}
	if err != nil {
		w.Header().Del("Content-Disposition")
	}
	return err
}

// json writes the statement as JSON, in the same envelope as the other operations.
func (s statementFile) json(ctx context.Context, w io.Writer) error {
	from := s.from
	head, err := json.Marshal(Statement{
		SettlementID: from.SettlementID, From: clock.Text(from.Opened()), To: clock.Text(from.Last()),
		OpeningBalance: from.Opening, TotalCredits: from.Credits, TotalDebits: from.Debits, ClosingBalance: from.Closing,
		TotalItems: from.Count, Data: []LedgerRow{},
	})
	if err != nil {
		return err
	}
	// The last two characters of head close the list and its object. So they are left out here
	// and written after the entries.
	if _, err := io.WriteString(w, `{"status":"success","data":`+string(head[:len(head)-2])); err != nil {
		return err
	}
	separator := ""
	err = from.Each(ctx, func(e report.Entry) error {
		row, err := json.Marshal(ledgerRow(e))
		if err == nil {
			_, err = io.WriteString(w, separator+string(row))
		}
		separator = ",\n"
		return err
	})
	if err == nil {
		_, err = io.WriteString(w, "]}}\n")
	}
	return err
}
