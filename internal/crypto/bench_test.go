package crypto_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/crypto"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/provider"
)

const (
	manyAddresses = 1_000_000
	// A full Ethereum block has about 300 transfers, whose logs contain about this number of
	// addresses.
	parties = 1200
)

// matching is a fake custodian whose blocks all contain the same addresses.
type matching struct {
	*custodian
	parties []string
	found   int
	took    time.Duration
}

// Since asks Kobo which of the block's addresses it watches, and returns an empty batch.
func (m *matching) Since(ctx context.Context, _ string, ours provider.Ours) (provider.Batch, error) {
	begun := time.Now()
	found, err := ours(ctx, eth, m.parties)
	m.took += time.Since(begun)
	m.found = len(found)
	return provider.Batch{}, err
}

// Finding the watched addresses in a block takes at most 50 ms on average, with 1,000,000 watched
// addresses. The addresses are looked up in the database's index and not kept in memory.
func BenchmarkMatchingABlock(b *testing.B) {
	for _, dialect := range dbtest.Dialects {
		b.Run(string(dialect), func(b *testing.B) {
			d := dbtest.New(b, dialect)
			w := newWorld(b, d)
			fillDirectory(b, d)
			m := &matching{custodian: w.node}
			for i := range parties {
				a := fmt.Sprintf("0x%040x", i*797) // every 300th address is a watched address
				if i%300 != 0 {
					a = "0xff" + a[4:]
				}
				m.parties = append(m.parties, a)
			}
			s := crypto.New(crypto.Config{
				DB: d, Book: w.book, Clock: w.clock, Log: w.Log, Networks: w.Networks,
				Custodies: []crypto.Custody{{Name: "node", Plug: m, Networks: []string{eth}}},
			})
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			b.ResetTimer()
			for b.Loop() {
				if err := s.Read(b.Context(), "node"); err != nil {
					b.Fatal(err)
				}
			}
			b.StopTimer()
			runtime.GC()
			runtime.ReadMemStats(&after)
			each := m.took / time.Duration(b.N)
			if m.found != parties/300 {
				b.Errorf("%d of %d found", m.found, parties/300)
			}
			if each > 50*time.Millisecond {
				b.Errorf("a block took %v", each)
			}
			b.ReportMetric(each.Seconds()*1000, "ms/block")
			b.ReportMetric(max(0, (float64(after.HeapAlloc)-float64(before.HeapAlloc))/1e6), "MB-kept")
		})
	}
}

func fillDirectory(b *testing.B, d *db.DB) {
	b.Helper()
	type entry struct {
		Network string `db:"network_id,key"`
		Address string `db:"address,key"`
		Company string `db:"company_id"`
	}
	table := db.Declare[entry]("crypto_directory")
	const some = 20_000
	for from := 0; from < manyAddresses; from += some {
		rows := make([][]any, some)
		for i := range rows {
			rows[i] = table.Record(entry{eth, fmt.Sprintf("0x%040x", from+i), a}).Values
		}
		err := d.Run(b.Context(), func(p db.Pipeline) error {
			if err := p.Read(b.Context()); err != nil {
				return err
			}
			return p.Commit(b.Context(), db.Write{Table: table.Table, Rows: rows})
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}
