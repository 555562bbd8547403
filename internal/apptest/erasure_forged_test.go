package apptest_test

import (
	"encoding/base64"
	"slices"
	"strings"
	"testing"

	"github.com/kobo-waas/kobo/internal/apptest"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/job"
)

// Only the erasures that the audit log records are accepted. Every other change of an event is found.
func TestAForgedErasureIsFound(t *testing.T) {
	each(t, func(t *testing.T, dialect db.Dialect) {
		p := apptest.Start(t, dialect)
		z := zubaidahOf(t, p)
		before := about(t, p, z)[0]
		sale := p.Bought(p.Buy(p.Order(p.Bundle(), "sale", "10")))
		if _, err := p.App.Erasures.Erase(t.Context(), tester, z.id); err != nil {
			t.Fatal(err)
		}
		nowhere(t, p)
		if _, err := p.App.Evidence.Sign(t.Context(), job.Job{}); err != nil {
			t.Fatal(err)
		}
		after, sold := about(t, p, z)[0], saleEvent(t, p, sale.TransactionID)
		hash := base64.StdEncoding.EncodeToString(make([]byte, 32))
		signed, err := p.App.Erasures.Erasing(t.Context(), p.Reference, sold.Leaf)
		if err != nil {
			t.Fatal(err)
		}
		kept := keptRow(t, p, before.Leaf)
		const (
			change = `UPDATE event SET data = $3, mac = $4 WHERE company_id = $1 AND leaf = $2`
			keep   = `INSERT INTO evidence_erased (company_id, leaf, hash, erased_at, mac) VALUES ($1, $2, $3, $4, $5)`
		)
		for _, c := range []struct {
			what, want string
			forge      []any
			undo       []any
		}{
			{
				"an event blanked by hand", "the right MAC",
				[]any{change, sold.Leaf, "{}", sold.MAC},
				[]any{change, sold.Leaf, string(sold.Data), sold.MAC},
			},
			{
				"an event recorded as erased by hand", "an audit line about the erasure",
				append([]any{keep}, signed.Values[1:]...),
				[]any{`DELETE FROM evidence_erased WHERE company_id = $1 AND leaf = $2`, sold.Leaf},
			},
			{
				"an erased event with its old content", "the row without the erased person",
				[]any{change, before.Leaf, string(before.Data), before.MAC},
				[]any{change, before.Leaf, string(after.Data), after.MAC},
			},
			{
				"another hash of an erased event", "the root of their checkpoint",
				[]any{`UPDATE evidence_erased SET hash = $3 WHERE company_id = $1 AND leaf = $2`, before.Leaf, hash},
				[]any{`UPDATE evidence_erased SET hash = $3 WHERE company_id = $1 AND leaf = $2`, before.Leaf, kept[1]},
			},
			{
				"the kept hash of an erased event deleted", "the kept hash of an erased row",
				[]any{`DELETE FROM evidence_erased WHERE company_id = $1 AND leaf = $2`, before.Leaf},
				append([]any{keep}, kept...),
			},
		} {
			do := func(s []any) {
				t.Helper()
				if n, err := p.App.DB.Exec(t.Context(), s[0].(string), append([]any{p.Reference}, s[1:]...)...); err != nil || n != 1 {
					t.Fatal(n, err)
				}
			}
			if wrongs := faultsOf(t, p); wrongs != "" {
				t.Fatalf("before %s: %s", c.what, wrongs)
			}
			do(c.forge)
			if wrongs := faultsOf(t, p); !strings.Contains(wrongs, c.want) {
				t.Errorf("%s: verify finds %q, want %q", c.what, wrongs, c.want)
			}
			do(c.undo)
		}
		if wrongs := faultsOf(t, p); wrongs != "" {
			t.Errorf("at the end: %s", wrongs)
		}
	})
}

// keptRow returns the row that keeps the hash of an erased row, without its company.
func keptRow(t *testing.T, p *apptest.Program, leaf int64) []any {
	t.Helper()
	type row struct {
		Leaf     int64
		Hash     string
		ErasedAt int64
		MAC      string
	}
	r, err := db.One(t.Context(), p.App.DB, db.Fields[row], `SELECT leaf, hash, erased_at, mac FROM evidence_erased
		WHERE company_id = $1 AND leaf = $2`, p.Reference, leaf)
	if err != nil {
		t.Fatal(err)
	}
	return []any{r.Leaf, r.Hash, r.ErasedAt, r.MAC}
}

// saleEvent returns the event about the success of a purchase.
func saleEvent(t *testing.T, p *apptest.Program, reference string) event.Event {
	t.Helper()
	list, _, err := p.App.Events.Feed(t.Context(), p.Reference, 0, 1000, 0)
	at := slices.IndexFunc(list, func(e event.Event) bool {
		return e.Kind == event.VTUSuccess && strings.Contains(string(e.Data), reference)
	})
	if err != nil || at < 0 {
		t.Fatalf("no event about the sale: %v", err)
	}
	return list[at]
}
