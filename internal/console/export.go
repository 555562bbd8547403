package console

import (
	"context"
	"encoding/csv"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/kobo-waas/kobo/internal/admin"
	"github.com/kobo-waas/kobo/internal/contract"
	cells "github.com/kobo-waas/kobo/internal/text"
)

// exported returns the address of the file with all rows that pass the filters of the page.
func (v *visit) exported(path string) string {
	q := url.Values{}
	for _, f := range v.applied() {
		q.Set(f.name, f.value)
	}
	if len(q) == 0 {
		return path
	}
	return path + "?" + q.Encode()
}

// sendCSV sends rows as a CSV file, as they come. A refusal before the first bytes is a page. An error after them aborts the
// connection, so a file that was cut is never taken for a whole one.
func (v *visit) sendCSV(name string, head []string, each func(write func(row ...string) error) error) error {
	v.w.Header().Set("Content-Type", "text/csv; charset=utf-8")
	v.w.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": name + "-" + v.today() + ".csv"}))
	begun, err := contract.Stream(v.w, func(w io.Writer) error {
		out := csv.NewWriter(w)
		err := out.Write(head)
		if err == nil {
			err = each(func(row ...string) error {
				for i := range row {
					row[i] = cells.Cell(row[i])
				}
				return out.Write(row)
			})
		}
		if err != nil {
			return err // without a flush, so that a refusal of the first rows is a page
		}
		out.Flush()
		return out.Error()
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

// exportPayments sends all payments that pass the filters. The audit log says once who has exported what.
func exportPayments(v *visit) error {
	q := v.paymentQuery()
	q.Del("after")
	if q.Get("to") == "" {
		q.Set("to", v.now().UTC().Format(time.RFC3339Nano)) // so that the export ends
	}
	head := []string{"Time (Lagos)", "Time (UTC)", "Kind", "Company", "Company name", "Amount", "Fee", "State", "Counterparty", "Provider", "Reference"}
	return v.sendCSV("payments", head, func(write func(row ...string) error) error {
		for {
			var page admin.Payments
			if _, err := v.call("listPayments", admin.Input{Query: q}, &page); err != nil {
				return err
			}
			if q.Get("after") == "" { // without a line of the audit log nothing is sent
				if err := v.Operators.Read(v.Context(), v.by, "read.exportPayments", v.URL.RawQuery); err != nil {
					return err
				}
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

// payoutFilterNames are the filters of a company's payouts, as in the address.
var payoutFilterNames = []string{"page", "status", "from", "to", "externalReference"}

// exportOwnPayouts sends all payouts of the company that pass the filters. Payouts that begin meanwhile come first in the list,
// so the export stops at now, and no page moves under it.
func exportOwnPayouts(v *visit) error {
	more := []string{"pageSize", "100"}
	if v.filter("to", "") == "" {
		more = append(more, "to", v.now().UTC().Format(time.RFC3339Nano))
	}
	head := []string{"Time (Lagos)", "Time (UTC)", "Name", "Account", "Bank", "Amount", "Fee", "State", "Session id", "Own reference", "Narration", "Reference"}
	return v.sendCSV("payouts", head, func(write func(row ...string) error) error {
		for n := 1; ; n++ {
			var l listOf[payoutRow]
			if _, err := v.ask("GET", "/api/v1/settlement/payouts"+v.asked(append(more, "page", strconv.Itoa(n))...), nil, &l); err != nil {
				return err
			}
			for _, p := range l.Data.Data {
				there, utc := inBoth(p.CreatedAt)
				_, word := payoutChip(p.Status)
				err := write(there, utc, p.AccountName, p.AccountNumber, optional(p.BankName), p.Amount.Decimal(), p.Fee.Decimal(), word, optional(p.SessionID), optional(p.OwnReference), optional(p.Narration), p.Reference)
				if err != nil {
					return err
				}
			}
			if n >= l.Data.Meta.TotalPages {
				return nil
			}
		}
	})
}
