package torture

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/evidence"
	"github.com/kobo-waas/kobo/internal/report"
)

// verify checks the whole ledger as kobo verify does: sums, copies of facts, MACs and Merkle trees. It returns what it has found, and how many
// ledger entries it has read.
func (r *run) verify(ctx context.Context) (lines []string, read int64, err error) {
	cfg := config(r.folder, r.database)
	keys, err := cfg.Evidence()
	if err != nil {
		return nil, 0, err
	}
	d, err := db.Open(ctx, r.database)
	if err != nil {
		return nil, 0, err
	}
	defer d.Close()
	d.SignWith(keys)
	trees, err := cfg.Trees(d)
	if err != nil {
		return nil, 0, err
	}
	reports := report.New(d, clock.System{})
	companies, err := reports.Companies(ctx)
	if err != nil {
		return nil, 0, err
	}
	for _, one := range companies {
		v, err := reports.Verify(ctx, one)
		if err != nil {
			return nil, 0, err
		}
		found, err := reports.VerifyTree(ctx, trees, one, v.Rows)
		if err != nil {
			return nil, 0, err
		}
		lines, read = slices.Concat(lines, v.Lines(), unsigned(v), found), read+v.Entries
	}
	log, err := reports.VerifyLog(ctx)
	if err != nil {
		return nil, 0, err
	}
	rest, _, err := reports.VerifyTreesOfNoCompany(ctx, trees, log.Rows)
	return slices.Concat(lines, log.Lines(), unsigned(log), rest), read, err
}

// unsigned returns a finding if rows have no signature. A new database has no such rows.
func unsigned(v report.Verification) []string {
	switch {
	case v.Unchecked:
		return []string{"no MAC was checked"}
	case v.Unsigned > 0:
		return []string{fmt.Sprintf("%d rows are not signed", v.Unsigned)}
	}
	return nil
}

// Proof is a receipt as a company fetches it, and the public key that the company has stored.
type Proof struct {
	Reference string
	Key       string
	Receipt   json.RawMessage
}

// mostReceipts is the number of receipts that a run fetches for each company.
const mostReceipts = 10

// receipts fetches the receipts of some payments and of the last event. They are spread over the whole run.
func (w *world) receipts(ctx context.Context, c *company, b *Books) error {
	var public struct{ Key string }
	if err := c.data(ctx, http.MethodGet, "/api/v1/checkpoints/key", nil, &public); err != nil {
		return err
	}
	var of []string
	for i, every := 0, max(len(b.Payments)/mostReceipts, 1); i < len(b.Payments) && len(of) < mostReceipts; i += every {
		of = append(of, b.Payments[i].Reference)
	}
	if len(b.Events) > 0 {
		of = append(of, b.Events[0].ID)
	}
	for _, reference := range of {
		p := Proof{Reference: reference, Key: public.Key}
		err := w.receipt(ctx, c, &p)
		if err != nil {
			return fmt.Errorf("the receipt of %s: %w", reference, err)
		}
		b.Proofs = append(b.Proofs, p)
	}
	return nil
}

// receipt fetches one receipt. Kobo makes at most one checkpoint a second, and answers 429 to who asks for more.
func (w *world) receipt(ctx context.Context, c *company, p *Proof) error {
	const tries = 30
	for range tries {
		a, err := c.call(ctx, http.MethodGet, "/api/v1/receipts/"+p.Reference, nil)
		if err == nil && a.status == http.StatusOK {
			var body struct{ Data json.RawMessage }
			err = a.into(&body)
			p.Receipt = body.Data
			return err
		}
		if err == nil && a.status < http.StatusInternalServerError && a.status != http.StatusTooManyRequests {
			return fmt.Errorf("%d %s", a.status, a.body)
		}
		if !wait(ctx, time.Second) {
			return ctx.Err()
		}
	}
	return errors.New("no answer")
}

// receipts verifies each receipt as kobo receipt verify does. The proven row must be the one that the company asked for.
func receipts(h *History, r *Result) {
	for _, b := range h.Facts.Companies {
		if len(b.Payments) > 0 && len(b.Proofs) == 0 {
			r.wrong("no receipt of %s was fetched", b.Reference)
		}
		payments := map[string]Payment{}
		for _, p := range b.Payments {
			payments[p.Reference] = p
		}
		for _, p := range b.Proofs {
			r.Compared++
			var receipt evidence.Receipt
			err := json.Unmarshal(p.Receipt, &receipt)
			var proven evidence.Statement
			if err == nil {
				proven, err = receipt.Verify(p.Key)
			}
			named := slices.ContainsFunc(proven.Row, func(f evidence.Field) bool {
				return (f.Name == "reference" || f.Name == "id") && f.Value == p.Reference
			})
			switch {
			case err != nil:
				r.wrong("the receipt of %s: %s", p.Reference, err)
			case proven.Company != b.Reference || !named:
				r.wrong("the receipt of %s of %s proves the row %v of %s", p.Reference, b.Reference, proven.Row, proven.Company)
			case !payments[p.Reference].isOf(proven.Row):
				r.wrong("the receipt of the payment %+v proves the row %v", payments[p.Reference], proven.Row)
			}
		}
	}
}

// isOf reports whether a row is the debit of the payment: the amount and the fee left the payment's account. The row of an event says nothing
// about that.
func (p Payment) isOf(row []evidence.Field) bool {
	want := map[string]string{
		"amount_kobo": strconv.FormatInt(int64(p.Amount+p.Fee), 10), "debit_account": fmt.Sprint("settlement/", p.Account), "kind": sources[p.Kind],
	}
	for _, f := range row {
		if text, there := want[f.Name]; there && f.Value == text {
			delete(want, f.Name)
		}
	}
	return p.Reference == "" || len(want) == 0
}
