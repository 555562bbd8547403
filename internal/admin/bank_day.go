package admin

import (
	"cmp"
	"context"
	"encoding/csv"
	"io"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/report"
	"github.com/kobo-waas/kobo/internal/text"
	"github.com/kobo-waas/kobo/internal/wire"
)

// bankDays is the number of days of a period whose beginning a request does not name.
const bankDays = 7

// bankPeriod returns the period that a request asks for. A period that is too long is refused.
func (e *edge) bankPeriod(r *request) (from, to time.Time, err error) {
	if from, to, err = e.wholeDays(r, bankDays); err == nil {
		err = report.CheckBankDays(from, to)
	}
	return from, to, err
}

func (e *edge) listBankDays(ctx context.Context, r *request) (any, error) {
	from, to, err := e.bankPeriod(r)
	if err != nil {
		return nil, err
	}
	list, err := e.Reports.BankDays(ctx, r.filter("provider"), from, to)
	return BankDays{From: from.Format(time.DateOnly), To: to.AddDate(0, 0, -1).Format(time.DateOnly), Days: rows(list, bankDayOf)}, err
}

func bankDayOf(d report.BankDay) BankDay {
	return BankDay{
		Provider: d.Bank, Day: d.Began.Format(time.DateOnly), Lines: int64(d.Lines), In: d.In, Out: d.Out, Bank: d.Moved(), Ledger: d.Booked(),
		Difference: d.Difference, Explained: d.Explained(), ChargesCompared: d.Charges, Breaks: d.Breaks, Reconciliation: d.Run, At: clock.Text(d.At),
		Findings: rows(d.Findings, func(f report.DayBreak) BankDayBreak {
			return BankDayBreak{
				Reason: string(f.Reason), Company: f.Company, Subject: f.Subject, Bank: f.Bank, Ledger: f.Book, Effect: f.Effect, Explained: f.Explained, Detail: f.Detail,
				At: clock.Optional(f.At), Case: wire.Optional(f.Case), Status: wire.Optional(string(f.State)), Outcome: wire.Optional(f.Outcome),
			}
		}),
	}
}

// exportBankDays returns the days as CSV, each with its differences below it.
func (e *edge) exportBankDays(ctx context.Context, r *request) (any, error) {
	from, to, err := e.bankPeriod(r)
	if err != nil {
		return nil, err
	}
	list, err := e.Reports.BankDays(ctx, r.filter("provider"), from, to)
	if err != nil {
		return nil, err
	}
	name := "bank-days-" + from.Format(time.DateOnly) + "-" + to.AddDate(0, 0, -1).Format(time.DateOnly) + ".csv"
	return file{name, "text/csv; charset=utf-8", func(w io.Writer) error {
		out := csv.NewWriter(w)
		// The writer stores its first error, and Error returns that error.
		_ = out.Write([]string{"Day (Lagos)", "Bank", "What", "Statement", "Ledger", "Difference", "Explained", "State", "Company", "Subject", "Detail", "Case"})
		for _, d := range list {
			day, bank := d.Began.Format(time.DateOnly), text.Cell(d.Bank)
			_ = out.Write([]string{day, bank, "DAY", d.Moved().Decimal(), d.Booked().Decimal(), d.Difference.Decimal(), d.Explained().Decimal(), "", "", "", "", ""})
			for _, f := range d.Findings {
				_ = out.Write([]string{
					day, bank, string(f.Reason), f.Bank.Decimal(), f.Book.Decimal(), f.Effect.Decimal(), "", cmp.Or(string(f.State), "none"),
					text.Cell(f.Company), text.Cell(f.Subject), text.Cell(f.Detail), f.Case,
				})
			}
		}
		out.Flush()
		return out.Error()
	}}, nil
}
