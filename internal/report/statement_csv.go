package report

import (
	"context"
	"encoding/csv"
	"io"
	"slices"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/money"
	spreadsheet "github.com/kobo-waas/kobo/internal/text"
)

// amountHeadings are headings of a statement's columns. A debit includes its fee. A refund
// includes the returned fee, which the fee column shows as a negative number. The closing
// balance is the opening balance plus credits less debits.
var amountHeadings = []string{"Reference", "Source", "Narration", "Debit (NGN)", "Credit (NGN)", "Balance (NGN)", "of which fee (NGN)"}

// lastHeadings are the last headings of a statement's columns: the company's own labels, and the payer
// of a credit.
var lastHeadings = []string{"External reference", "Metadata", "Sender name", "Sender bank", "Sender account", "Session ID"}

// blank fills the last columns of a row that is no entry.
var blank = make([]string, len(lastHeadings))

// last returns the texts for the columns of lastHeadings.
func (e Entry) last() []string {
	return []string{e.Labels.ExternalReference, string(e.Labels.Metadata), e.Sender.Name, e.Sender.Bank, e.Sender.Account, e.SessionID}
}

// CSV writes the statement as comma-separated text. The first row is the opening balance, and
// the last row is the closing balance. Times are in UTC.
func (s *Statement) CSV(ctx context.Context, w io.Writer) error {
	out := csv.NewWriter(w)
	// The writer stores its first error, and Error returns that error.
	_ = out.Write(slices.Concat([]string{"Date (UTC)"}, amountHeadings, []string{"Day (Lagos)"}, lastHeadings))
	_ = out.Write(slices.Concat([]string{clock.Text(s.Opened()), "", "", "Opening balance", "", "", s.Opening.Decimal(), "", lagos(s.Opened(), time.DateOnly)}, blank))
	err := s.Each(ctx, func(e Entry) error {
		debit, credit := sides(e)
		row := []string{
			clock.Text(e.CreatedAt), spreadsheet.Cell(e.Reference), e.Source, spreadsheet.Cell(e.Narration), debit, credit, e.Current.Decimal(), some(e.Fee),
			lagos(e.CreatedAt, time.DateOnly),
		}
		for _, text := range e.last() {
			row = append(row, spreadsheet.Cell(text))
		}
		return out.Write(row)
	})
	if err != nil {
		return err
	}
	_ = out.Write(slices.Concat([]string{clock.Text(s.To), "", "", "Closing balance", "", "", s.Closing.Decimal(), "", lagos(s.Last(), time.DateOnly)}, blank))
	out.Flush()
	return out.Error()
}

// sides returns the texts for the debit column and the credit column of an entry. One of the two
// texts is empty.
func sides(e Entry) (debit, credit string) {
	if e.Credit {
		return "", e.Moved().Decimal()
	}
	return (-e.Moved()).Decimal(), ""
}

func some(k money.Kobo) string {
	if k == 0 {
		return ""
	}
	return k.Decimal()
}
