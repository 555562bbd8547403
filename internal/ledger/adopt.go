package ledger

import (
	"context"
	"fmt"
	"slices"

	"github.com/kobo-waas/kobo/internal/db"
)

// Adopt numbers and signs all rows of evidence of a company that have no number, because a program of
// an earlier schema wrote them. The company may be "". Each step is a short commit of a page of rows
// (db.DB.EachPage) under the company's lock, so a ledger beside goes on, and an interrupted Adopt continues
// where it ended. Adopt calls signed with the number of rows after each step.
//
// Adopt trusts these rows. The caller must make sure that each company is adopted only once.
func (b *Book) Adopt(ctx context.Context, company string, signed func(rows int)) error {
	for _, t := range db.EvidenceTables() {
		// The walk is by the primary key. The index of the numbers has all unsigned rows under one number, so
		// each step would read and sort all of them.
		err := b.db.EachPage(ctx, t, company, func(page [][]any) error {
			var rows [][]any
			for _, row := range page {
				if row[len(row)-2] == int64(0) {
					rows = append(rows, row)
				}
			}
			if len(rows) == 0 {
				return nil
			}
			err := b.adopt(ctx, t, company, rows)
			if err == nil {
				signed(len(rows))
			}
			return err
		})
		if err != nil {
			return fmt.Errorf("ledger: %s of company %q: %w", t.Name, company, err)
		}
	}
	return nil
}

// adopt numbers and signs rows, unless another program has done so.
func (b *Book) adopt(ctx context.Context, t *db.Table, company string, rows [][]any) error {
	return b.run(ctx, func(p db.Pipeline) error {
		head := db.Lookup{Table: lockTable, By: lockTable.KeyNames(), Columns: []string{"dated_at", "leaf"}, Keys: [][]any{{company}}}
		last := db.Write{Table: lockTable, By: lockTable.KeyNames(), Set: head.Columns}
		dated := []any{int64(0)} // the instant of the lock row; a counter has none
		unsigned := any(nil)     // the MAC of a new counter
		if company == "" {
			dated = nil
			head = db.Lookup{Table: counterTable, By: counterTable.KeyNames(), Columns: []string{"value"}, Keys: [][]any{{company, string(leaves)}}}
			last, unsigned = db.Write{Table: counterTable}, ""
		}
		var leaf int64
		head.Lock = true
		head.Found = func(row []any) error {
			leaf = row[len(row)-1].(int64)
			if company != "" {
				dated = []any{b.guard(&last, row[1].(int64))}
			}
			last.By, last.Set, unsigned = head.By, head.Columns, nil
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
		last.Rows = [][]any{slices.Concat(head.Keys[0], dated, []any{leaf})}
		if unsigned != nil {
			last.Rows[0] = append(last.Rows[0], unsigned)
		}
		return p.Commit(ctx, last, signed)
	})
}

// AdoptRights signs all rows of rights of a company that have no MAC or a wrong one, because a program
// of an earlier schema wrote them. It works in steps, as Adopt does, and trusts these rows too.
func (b *Book) AdoptRights(ctx context.Context, company string, signed func(rows int)) error {
	for _, t := range db.RightsTables() {
		if !t.OfCompanies() {
			continue
		}
		err := b.db.EachPage(ctx, t, company, func(page [][]any) error {
			var keys [][]any
			for _, row := range page {
				if !Signed(b.db.Signer(), t, row) {
					keys = append(keys, row[:t.Key])
				}
			}
			if len(keys) == 0 {
				return nil
			}
			n, err := b.adoptRights(ctx, t, company, keys)
			signed(n)
			return err
		})
		if err != nil {
			return fmt.Errorf("ledger: %s of company %q: %w", t.Name, company, err)
		}
	}
	return nil
}

// Signed reports whether a row of rights has the right MAC.
func Signed(by db.Signer, t *db.Table, row []any) bool {
	mac, _ := row[len(row)-1].(string)
	return mac != "" && by.Verify(db.Content(nil, t, row), mac)
}

// adoptRights signs the rows with these keys, unless another program has done so. It returns the number
// of rows that it has signed.
func (b *Book) adoptRights(ctx context.Context, t *db.Table, company string, keys [][]any) (n int, err error) {
	by := b.db.Signer()
	err = b.run(ctx, func(p db.Pipeline) error {
		var sum rightsOf
		var dated int64
		head := db.Write{Table: lockTable, By: lockTable.KeyNames(), Set: []string{"dated_at", "rights"}}
		renewed := db.Write{Table: t, By: t.KeyNames(), Set: []string{"mac"}}
		err := p.Read(ctx, db.Lookup{
			Table: lockTable, By: head.By, Columns: head.Set, Keys: [][]any{{company}}, Lock: true,
			Found: func(row []any) error { dated, sum.text = row[1].(int64), row[2].(string); return nil },
		}, db.Lookup{
			Table: t, By: t.KeyNames(), Columns: t.Names()[t.Key:], Keys: keys,
			Found: func(row []any) error {
				if !Signed(by, t, row) {
					mac := by.MAC(db.Content(nil, t, row))
					renewed.Rows = append(renewed.Rows, append(row[:t.Key:t.Key], mac))
					sum.replace(by, company, row[len(row)-1].(string), mac)
				}
				return nil
			},
		})
		if n = len(renewed.Rows); err != nil || n == 0 {
			p.Rollback()
			return err
		}
		head.Rows = [][]any{{company, b.guard(&head, dated), sum.sealed(by, company)}}
		return p.Commit(ctx, head, renewed)
	})
	return n, err
}
