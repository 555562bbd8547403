package ledger

import (
	"context"
	"fmt"

	"github.com/kobo-waas/kobo/internal/db"
)

// adoptStep is how many rows a step of Adopt signs under the company's lock.
const adoptStep = 500

// Adopt numbers and signs all rows of evidence of a company that have no number, because a program of
// an earlier schema wrote them. The company may be "". Each step is a short commit under the company's
// lock, so a ledger beside goes on, and an interrupted Adopt continues where it ended. Adopt calls
// signed with the number of rows after each step.
//
// Adopt trusts these rows. The caller must make sure that each company is adopted only once.
func (b *Book) Adopt(ctx context.Context, company string, signed func(rows int)) error {
	for _, t := range db.EvidenceTables() {
		var last []any
		for {
			rows, err := db.Unsigned(ctx, b.db, t, company, last, adoptStep)
			if err != nil {
				return err
			}
			if len(rows) == 0 {
				break
			}
			if err := b.adopt(ctx, t, company, rows); err != nil {
				return fmt.Errorf("ledger: %s of company %q: %w", t.Name, company, err)
			}
			last = rows[len(rows)-1][:t.Key]
			signed(len(rows))
		}
	}
	return nil
}

// adopt numbers and signs rows, unless another program has done so.
func (b *Book) adopt(ctx context.Context, t *db.Table, company string, rows [][]any) error {
	return b.run(ctx, func(p db.Pipeline) error {
		head := db.Lookup{Table: lockTable, By: lockTable.KeyNames(), Keys: [][]any{{company}}}
		last := db.Write{Table: lockTable, By: lockTable.KeyNames(), Set: []string{"leaf"}}
		if company == "" {
			head = db.Lookup{Table: counterTable, By: counterTable.KeyNames(), Keys: [][]any{{company, string(leaves)}}}
			last = db.Write{Table: counterTable}
		}
		var leaf int64
		head.Columns, head.Lock = []string{head.Table.Columns[len(head.Table.Columns)-1].Name}, true
		head.Found = func(row []any) error {
			leaf = row[len(row)-1].(int64)
			last.By, last.Set = head.By, head.Columns
			return nil
		}
		waiting := map[string]bool{}
		keys := make([][]any, len(rows))
		for i, row := range rows {
			keys[i] = row[:t.Key]
		}
		err := p.Read(ctx, head, db.Lookup{
			Table: t, By: t.KeyNames(), Columns: []string{"leaf"}, Keys: keys,
			Found: func(row []any) error {
				waiting[keyOf(row[:t.Key])] = row[t.Key] == int64(0)
				return nil
			},
		})
		if err != nil {
			return err
		}
		signed := db.Write{Table: t, By: t.KeyNames(), Set: []string{"leaf", "mac"}}
		var content []byte
		for _, row := range rows {
			if waiting[keyOf(row[:t.Key])] {
				leaf++
				content = seal(b.db.Signer(), t, row, leaf, content)
				signed.Rows = append(signed.Rows, append(row[:t.Key:t.Key], row[len(row)-2:]...))
			}
		}
		if len(signed.Rows) == 0 {
			p.Rollback()
			return nil
		}
		last.Rows = [][]any{append(head.Keys[0], leaf)}
		return p.Commit(ctx, last, signed)
	})
}
