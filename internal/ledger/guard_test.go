package ledger

import (
	"context"
	"slices"
	"testing"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
)

// guarding is a transaction that reports its changes of lock rows: the columns that must not have changed, the instant
// that was read, and the instant that is written.
type guarding struct {
	db.Pipeline
	seen func(still []string, was, now any)
}

func (g guarding) Commit(ctx context.Context, writes ...db.Write) error {
	for _, w := range writes {
		if w.Table != lockTable || w.Set == nil {
			continue
		}
		for i, row := range w.Rows {
			var was, now any
			if at := slices.Index(w.Set, "dated_at"); at >= 0 {
				now = row[len(w.By)+at]
			}
			if i < len(w.Was) {
				was = w.Was[i][0]
			}
			g.seen(w.Still, was, now)
		}
	}
	return g.Pipeline.Commit(ctx, writes...)
}

// While a company moves to another node of a divided database, a lock of its former node holds back no one. So each
// write of a lock row compares the instant that was read, and changes it: that of a batch, that of the look-up of a lost
// commit, and those that sign rows of an earlier schema.
func TestEachWriteOfALockRowIsGuarded(t *testing.T) {
	d := dbtest.OpenWith(t, dbtest.URL(t, db.Postgres), db.Pools{Routed: true})
	b := open(t, d)
	b.divided = func() bool { return true }
	_, err := d.Exec(t.Context(), newRight)
	must(t, err)
	found(t, b, "c1")
	step, writes, next := "", 0, first(answered)
	b.run = func(ctx context.Context, strokes func(db.Pipeline) error) error {
		return d.Run(ctx, func(p db.Pipeline) error {
			return strokes(losing{guarding{p, func(still []string, was, now any) {
				writes++
				if !slices.Equal(still, []string{"dated_at"}) || was == nil || now == nil || was == now {
					t.Errorf("%s: compares %v, was %v and becomes %v", step, still, was, now)
				}
			}}, next()})
		})
	}
	spoil := func(statement string) {
		t.Helper()
		_, err := d.Exec(t.Context(), statement)
		must(t, err)
	}
	for _, s := range []struct {
		name   string
		do     func() error
		writes int
	}{
		{"a batch", func() error { fund(t, b, "c1", 100); return nil }, 1},
		{"a lost commit", func() error { next = first(lostAfter); return b.Commit(t.Context(), buying("a", "key", 30)) }, 2},
		{"adopted evidence", func() error {
			spoil(`UPDATE ledger_transfer SET leaf = 0, mac = '' WHERE company_id = 'c1'`)
			return b.Adopt(t.Context(), "c1", func(int) {})
		}, 1},
		{"adopted rights", func() error {
			spoil(`UPDATE ledger_account SET mac = '' WHERE company_id = 'c1'`)
			return b.AdoptRights(t.Context(), "c1", func(int) {})
		}, 1},
	} {
		step, writes = s.name, 0
		if must(t, s.do()); writes != s.writes {
			t.Errorf("%s: %d lock rows were written, want %d", step, writes, s.writes)
		}
	}
	must(t, b.Commit(t.Context(), buying("b", "", 10)))
	if got := balance(t, b, "c1", settlement); got != 60 {
		t.Errorf("balance %d", got)
	}
}
