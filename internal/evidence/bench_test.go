package evidence_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/evidence"
	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/secret"
)

// million is the number of rows in the benchmark's tree.
const million = 1_000_000

// fill adds transfers and events in turns to the ledger of acme, without MACs of their own.
func fill(b *testing.B, d *db.DB) {
	b.Helper()
	for _, query := range []string{
		`INSERT INTO ledger_transfer (company_id, reference, step, debit_account, credit_account, amount_kobo, kind, narration, debit_entry,
			credit_entry, stamp, created_at, leaf, mac)
		SELECT 'acme', 'p' || n, '', 'settlement/1', 'clearing/payout', 10000, 'payout', 'Payout to Bola', n, n, n, n, 2 * n - 1, 'AAAAAAAAAAAAAAAAAAAAAA' FROM g`,
		`INSERT INTO event (company_id, sequence, id, kind, data, created_at, leaf, mac)
		SELECT 'acme', n, 'e' || n, 'payout.pending', '{"reference":"p' || n || '","amount":100,"fee":0,"status":"PENDING","account_name":"BOLA SAMPLE",'
			|| '"account_number":"0123456789","bank_code":"000014","narration":null,"settlementId":1,"completedAt":null}', n, 2 * n, 'AAAAAAAAAAAAAAAAAAAAAA' FROM g`,
	} {
		head, rest, _ := strings.Cut(query, "SELECT")
		query = fmt.Sprintf("%s WITH RECURSIVE g (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM g WHERE n < %d) SELECT%s", head, million/2, rest)
		if _, err := d.Exec(db.WithLongTimeout(b.Context()), query); err != nil {
			b.Fatal(err)
		}
	}
	if _, err := d.Exec(b.Context(), `UPDATE ledger_head SET leaf = $1, event_sequence = $2 WHERE company_id = 'acme'`, million, million/2); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkMillionRows measures a tree of a million rows: the first checkpoint, which reads all rows, an
// hourly checkpoint with one new row, a receipt, and kobo verify's check of the tree.
func BenchmarkMillionRows(b *testing.B) {
	dbtest.Each(b, func(b *testing.B, d *db.DB) {
		clk := clock.At(time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC))
		book := ledger.New(d, clk)
		if err := book.Commit(b.Context(), ledger.Found("acme")); err != nil {
			b.Fatal(err)
		}
		fill(b, d)
		ring, err := secret.Parse(secret.Generate())
		if err != nil {
			b.Fatal(err)
		}
		s := evidence.New(evidence.Config{
			DB: d, Book: book, Events: event.NewService(d, book), Clock: clk, Log: slog.New(slog.NewTextHandler(&bytes.Buffer{}, nil)),
			Keys: ring.CheckpointKeys(), Name: func(context.Context) (string, error) { return name, nil },
			Hidden: func(string) bool { return false }, Folder: b.TempDir(),
		})
		round := func() {
			for next := clk.Now(); !next.After(clk.Now()); {
				if next, err = s.Sign(b.Context(), job.Job{}); err != nil {
					b.Fatal(err)
				}
			}
		}
		began := time.Now()
		round()
		b.Logf("the first checkpoint of %d rows took %s", million, time.Since(began).Round(time.Millisecond))
		b.Run("checkpoint", func(b *testing.B) {
			for b.Loop() {
				for range 2 { // one event alone would be taken for that about the last checkpoint
					u := ledger.For("acme")
					event.Emit(&u, "n", nil)
					if err := book.Commit(b.Context(), u); err != nil {
						b.Fatal(err)
					}
				}
				clk.Advance(time.Hour)
				round()
			}
		})
		b.Run("receipt", func(b *testing.B) {
			for n := 0; b.Loop(); n++ {
				if _, err := s.Receipt(b.Context(), "acme", fmt.Sprint("p", 1+n*7919%(million/2)), nil); err != nil {
					b.Fatal(err)
				}
			}
		})
		for _, rows := range []*evidence.Tally{nil, tallied(b, d, "acme")} {
			b.Run(fmt.Sprintf("verify tallied=%t", rows != nil), func(b *testing.B) {
				for b.Loop() {
					if wrongs, err := s.Verify(db.WithLongTimeout(b.Context()), d, "acme", 0, rows); err != nil || len(wrongs) > 0 {
						b.Fatal(wrongs, err)
					}
				}
			})
		}
	})
}
