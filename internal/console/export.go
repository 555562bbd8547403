package console

import (
	"cmp"
	"context"
	"encoding/csv"
	"io"
	"mime"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/kobo-waas/kobo/internal/admin"
	"github.com/kobo-waas/kobo/internal/contract"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/report"
	cells "github.com/kobo-waas/kobo/internal/text"
)

// exported returns the address of the file with all rows that pass the filters of the page.
func (v *visit) exported(file string) string {
	q := url.Values{}
	for _, f := range v.applied() {
		q.Set(f.name, f.value)
	}
	if len(q) == 0 {
		return file
	}
	return file + "?" + q.Encode()
}

// sheet is a file that is written row by row.
type sheet interface {
	Write(row []string) error
	Close() error
}

// csvSheet is a sheet as text. Its cells are no formulas.
type csvSheet struct{ *csv.Writer }

func (c csvSheet) Write(row []string) error {
	for i := range row {
		row[i] = cells.Cell(row[i])
	}
	return c.Writer.Write(row)
}

// Close sends the last rows.
func (c csvSheet) Close() error {
	c.Flush()
	return c.Error()
}

// sheetOf begins a file with the ending of the address: csv or xlsx.
func (v *visit) sheetOf(w io.Writer, ending string, head []string) (sheet, error) {
	if ending == "xlsx" {
		return report.NewSheet(w, v.now(), head, "Amount", "Fee")
	}
	out := csvSheet{csv.NewWriter(w)}
	return out, out.Write(slices.Clone(head))
}

// sendSheet sends rows as a CSV or XLSX file, as they come. A refusal before the first bytes is a page. An error after them aborts
// the connection, so a file that was cut is never taken for a whole one.
func (v *visit) sendSheet(name string, head []string, each func(write func(row ...string) error) error) error {
	ending := strings.TrimPrefix(path.Ext(v.URL.Path), ".")
	kind := "text/csv; charset=utf-8"
	if ending == "xlsx" {
		kind = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
	}
	file := name + "-" + v.span().fileWords(v.today()) + "." + ending
	noted := sync.OnceValue(func() error { return v.noteExport(file, v.URL.RawQuery) })
	v.w.Header().Set("Content-Type", kind)
	v.w.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": file}))
	begun, err := contract.Stream(v.w, func(w io.Writer) error {
		out, err := v.sheetOf(w, ending, head)
		if err != nil {
			return err
		}
		if err := each(func(row ...string) error {
			if err := noted(); err != nil {
				return err
			}
			return out.Write(row)
		}); err != nil {
			return err // without an end of the file, so that a refusal of the first rows is a page
		}
		if err := noted(); err != nil { // of a file without rows
			return err
		}
		return out.Close()
	})
	switch {
	case err == nil:
	case begun:
		v.log(context.WithoutCancel(v.Context()), "an export was aborted: "+v.URL.Path, err)
		panic(http.ErrAbortHandler)
	default:
		v.w.Header().Del("Content-Disposition")
	}
	return err
}

// inBoth returns an instant as the two columns of an export: of Lagos and of UTC.
func inBoth(wire string) (string, string) {
	at := instant(wire)
	if at.IsZero() {
		return "", ""
	}
	return at.In(lagos).Format("2006-01-02 15:04:05"), at.UTC().Format("2006-01-02 15:04:05.000")
}

// mayExportOfAll reports whether an operator may have files with personal data of all companies.
func (v *visit) mayExportOfAll() bool { return v.may(operator.Finance) }

// exportingOfAll returns the function that sends a file with personal data of all companies, to operators whose role permits it.
func exportingOfAll(download func(v *visit) error) func(v *visit) error {
	return func(v *visit) error {
		if !v.mayExportOfAll() {
			return fault.Newf(fault.Forbidden, "This needs the role %s or %s, and %s has the role %s", operator.Finance, operator.Admin, v.by.Name, v.by.Role)
		}
		return download(v)
	}
}

// noteExport records who takes a file, before its first byte. Without the line nothing is sent.
func (v *visit) noteExport(file, query string) error {
	if v.isForCompanies() {
		return v.People.Exported(v.Context(), v.who, file, query)
	}
	return v.Operators.Exported(v.Context(), v.by.From(v.Context()), operator.Export{
		Action: "read.exportPayments", Subject: v.Operators.MaskQuery(query), File: file, Query: query, IsPersonal: true,
	})
}

// exportPayments sends all payments that pass the filters.
func exportPayments(v *visit) error {
	q, err := v.paymentQuery()
	if err != nil {
		return err
	}
	q.Del("after")
	if q.Get("to") == "" {
		q.Set("to", v.now().UTC().Format(time.RFC3339Nano)) // so that the export ends
	}
	head := []string{"Time (Lagos)", "Time (UTC)", "Kind", "Company", "Company name", "Amount", "Fee", "State", "Counterparty", "Provider", "Reference"}
	return v.sendSheet("payments", head, func(write func(row ...string) error) error {
		for {
			var page admin.Payments
			if _, err := v.call("listPayments", admin.Input{Query: q}, &page); err != nil {
				return err
			}
			for _, p := range page.Payments {
				there, utc := inBoth(p.CreatedAt)
				_, word := paymentChip(p)
				err := write(there, utc, kindWord(p.Kind), p.Company, optional(p.CompanyName), p.Amount.Decimal(), p.Fee.Decimal(), word, optional(p.Counterparty), optional(p.Provider), p.Reference)
				if err != nil {
					return err
				}
			}
			if page.Next == nil {
				return nil
			}
			q.Set("after", *page.Next)
		}
	})
}

// eachOf calls f with each row of a list of the companies' API.
func eachOf[R any](v *visit, list string, f func(R) error) error {
	return pagesOf(v, list, func(rows []R) error {
		for _, r := range rows {
			if err := f(r); err != nil {
				return err
			}
		}
		return nil
	})
}

// pagesOf calls f with each page of a list of the companies' API. Rows that begin meanwhile come first in the list, so the export
// stops at now, and no page moves under it.
func pagesOf[R any](v *visit, list string, f func([]R) error) error {
	more := []string{"pageSize", "100"}
	if v.filter("to", "") == "" {
		more = append(more, "to", v.now().UTC().Format(time.RFC3339Nano))
	}
	q := v.askedQuery(more...)
	q.Del("after")
	for next := new(string); next != nil; {
		l, err := rowsAfter[R](v, list+"?"+q.Encode(), *next)
		if err != nil {
			return err
		}
		if err := f(l.rows); err != nil {
			return err
		}
		next = l.next
	}
	return nil
}

// eachPayment calls f with each row of a list of the company's payments of a kind, and with the word of its state. As on the pages, the
// word says if the outcome is contradicted.
func eachPayment[R any](v *visit, kind, list string, stateOf func(R) (reference, status string), f func(r R, word string) error) error {
	return pagesOf(v, list, func(rows []R) error {
		references := make([]string, len(rows))
		for i, r := range rows {
			references[i], _ = stateOf(r)
		}
		doubts, err := v.Reports.Doubts(v.Context(), v.who.Company, references)
		if err != nil {
			return err
		}
		for _, r := range rows {
			reference, status := stateOf(r)
			_, word := stateChipOf(kind, status)
			if doubt := doubtOf(doubts[reference]); doubt != nil {
				_, word = doubtChip(kind, doubt, status == "SUCCESS")
			}
			if err := f(r, word); err != nil {
				return err
			}
		}
		return nil
	})
}

// exportOwnPayouts sends all payouts of the company that pass the filters.
func exportOwnPayouts(v *visit) error {
	head := []string{"Time (Lagos)", "Time (UTC)", "Name", "Account", "Bank", "Amount", "Fee", "State", "Session id", "Own reference", "Narration", "Reference"}
	return v.sendSheet("payouts", head, func(write func(row ...string) error) error {
		states := func(p payoutRow) (reference, status string) { return p.Reference, p.Status }
		return eachPayment(v, "payout", "/api/v1/settlement/payouts", states, func(p payoutRow, word string) error {
			there, utc := inBoth(p.CreatedAt)
			return write(there, utc, p.AccountName, p.AccountNumber, optional(p.BankName), p.Amount.Decimal(), p.Fee.Decimal(), word, optional(p.SessionID), optional(p.OwnReference), optional(p.Narration), p.Reference)
		})
	})
}

// exportPurchases sends all purchases of the company. The codes of meters stay on the pages of the purchases.
func exportPurchases(v *visit) error {
	head := []string{"Time (Lagos)", "Time (UTC)", "What", "Product", "For", "Amount", "Fee", "State", "Own reference", "Reference"}
	return v.sendSheet("purchases", head, func(write func(row ...string) error) error {
		states := func(p purchaseRow) (reference, status string) { return p.ID, p.Status }
		return eachPayment(v, "vtu", "/api/v1/vtu/transactions", states, func(p purchaseRow, word string) error {
			there, utc := inBoth(p.CreatedAt)
			to := cmp.Or(optional(p.Phone), optional(p.Card), optional(p.Meter))
			return write(there, utc, purchaseWord(p.Type), optional(p.Product), to, money.Kobo(p.Amount).Decimal(), money.Kobo(p.Fee).Decimal(), word, p.OwnReference, p.ID)
		})
	})
}

// payoutFilterNames are the filters of a company's payouts, as in the address.
var payoutFilterNames = []string{"after", "status", "from", "to", "externalReference", "period"}
