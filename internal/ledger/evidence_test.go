package ledger_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/secret"
)

// evidence returns the numbers of a company's rows in all tables of evidence, in order. It checks
// the MAC of each row.
func evidence(t *testing.T, d *db.DB, company string) (leaves []int64, rows [][]any) {
	t.Helper()
	for _, table := range db.EvidenceTables() {
		names := table.Names()
		_, err := db.All(t.Context(), d, func(s db.Scanner) (int, error) {
			row, into := make([]any, len(names)), make([]any, len(names))
			for i := range row {
				into[i] = &row[i]
			}
			err := s.Scan(into...)
			if !dbtest.Evidence.Verify(db.Content(nil, table, row), row[len(row)-1].(string)) {
				t.Errorf("the MAC of a row of %s is wrong: %v", table.Name, row)
			}
			leaves, rows = append(leaves, row[len(row)-2].(int64)), append(rows, row)
			return 0, err
		}, "SELECT "+strings.Join(names, ", ")+" FROM "+table.Name+" WHERE company_id = $1", company)
		if err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(leaves)
	return leaves, rows
}

// dense checks that the numbers are 1, 2, 3 … up to the company's last number.
func dense(t *testing.T, d *db.DB, company string, want int) {
	t.Helper()
	leaves, _ := evidence(t, d, company)
	for i, leaf := range leaves {
		if leaf != int64(i)+1 {
			t.Fatalf("the rows of company %q are numbered %v", company, leaves)
		}
	}
	if last, err := ledger.Leaves(t.Context(), d, company); err != nil || len(leaves) != want || last != int64(want) {
		t.Errorf("company %q has %d rows up to number %d, want %d: %v", company, len(leaves), last, want, err)
	}
}

// Transfers, events and audit lines share one sequence of a company without a gap, and each has a
// MAC. A refused unit takes no number.
func TestEvidenceIsNumberedAndSigned(t *testing.T) {
	t.Parallel()
	dbtest.EachForm(t, func(t *testing.T, d *db.DB) {
		now := time.Unix(9, 0)
		book, ada := ledger.New(d, clock.At(now)), operator.Local("ada")
		commit := func(u ledger.Unit) error { return book.Commit(t.Context(), u) }
		for _, company := range []string{"acme", "other"} {
			u := ledger.Found(company)
			u.OpenAccounts(ledger.Account{ID: "out", Floor: money.NoFloor}, ledger.Account{ID: "in"})
			ada.Audit(&u, "company.create", company, nil, now)
			if err := commit(u); err != nil {
				t.Fatal(err)
			}
		}
		var all sync.WaitGroup
		for i := range 20 {
			all.Go(func() {
				u := ledger.For("acme")
				u.Transfer(ledger.Transfer{Reference: id.New(), Debit: "out", Credit: "in", Amount: 5})
				event.Emit(&u, "vtu.success", map[string]int{"n": i})
				ada.Audit(&u, "settlement.fund", "in", map[string]string{"n": fmt.Sprint(i)}, now)
				if err := commit(u); err != nil {
					t.Errorf("%v: %v", err, errors.Unwrap(err))
				}
				short := ledger.For("acme")
				short.Transfer(ledger.Transfer{Reference: id.New(), Debit: "in", Credit: "out", Amount: 1000})
				event.Emit(&short, "vtu.failed", nil)
				if err := commit(short); !ledger.Is(err, ledger.Short) {
					t.Error(err)
				}
			})
		}
		all.Wait()
		dense(t, d, "acme", 61)
		dense(t, d, "other", 1)
	})
}

// Audit lines of no company have their own sequence, without a ledger unit. Without the evidence key
// nothing is written.
func TestTheAuditLinesOfNoCompanyAreNumberedAndSigned(t *testing.T) {
	t.Parallel()
	dbtest.EachForm(t, func(t *testing.T, d *db.DB) {
		service := operator.New(d, nil, clock.System{})
		for _, reason := range []string{"one", "two", "three"} {
			if err := service.CloseAccess(t.Context(), operator.Local("ada"), reason); err != nil {
				t.Fatal(err)
			}
		}
		dense(t, d, "", 3)
		d.SignWith(nil)
		if err := service.OpenAccess(t.Context(), operator.Local("ada")); err == nil {
			t.Error("a line was written without the evidence key")
		}
		if access, err := service.Access(t.Context()); err != nil || !access.Closed {
			t.Errorf("the refused act happened: %+v %v", access, err)
		}
		dense(t, d, "", 3)
	})
}

// A row whose values were changed, moved between columns or taken from a different table has a
// different content. A column that a later schema adds does not change the content.
func TestTheContentOfARowIsUnambiguous(t *testing.T) {
	t.Parallel()
	table := &db.Table{Name: "t", Columns: slices.Concat(db.Texts("a", "b"), db.Ints("n", "leaf"), db.Texts("mac"))}
	longer := &db.Table{Name: "t", Columns: slices.Concat(db.Texts("a", "b"), db.Ints("n", "leaf"), db.Texts("new"), db.Ints("m"), db.Texts("mac"))}
	base := string(db.Content(nil, table, []any{"x", "y", int64(5), int64(1), ""}))
	if want := "\x01t\x01a\x01x\x01b\x01y\x01n\x015\x04leaf\x011"; base != want {
		t.Errorf("the content is %q, want %q", base, want)
	}
	for name, same := range map[string]string{
		"read as text":      string(db.Content(nil, table, []string{"x", "y", "5", "1", "any MAC"})),
		"with more columns": string(db.Content(nil, longer, []any{"x", "y", int64(5), int64(1), "", int64(0), ""})),
	} {
		if same != base {
			t.Errorf("%s: %q", name, same)
		}
	}
	seen := map[string]string{base: "the row"}
	for name, row := range map[string][]string{
		"moved": {"xy", "", "5", "1", ""}, "swapped": {"y", "x", "5", "1", ""}, "zero": {"x", "y", "0", "1", ""}, "empty": {"", "y", "5", "1", ""},
		"text zero": {"0", "y", "5", "1", ""}, "number": {"x", "y", "15", "1", ""}, "leaf": {"x", "y", "5", "11", ""},
	} {
		content := string(db.Content(nil, table, row))
		if seen[content] != "" {
			t.Errorf("%s and %s have the same content", name, seen[content])
		}
		seen[content] = name
	}
}

// Each line of the keyring checks MACs, and the first line makes them.
func TestAnOlderEvidenceKeyStillVerifies(t *testing.T) {
	t.Parallel()
	older, newer := secret.Generate(), secret.Generate()
	keys := func(text string) *secret.Evidence {
		k, err := secret.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		return k.Evidence()
	}
	content := []byte("content")
	before, after, strange := keys(older), keys(newer+older), keys(secret.Generate())
	mac := before.MAC(content)
	if len(mac) != 22 || !after.Verify(content, mac) || before.Verify(content, after.MAC(content)) {
		t.Errorf("%q does not follow the order of the lines", mac)
	}
	if strange.Verify(content, mac) || after.Verify([]byte("other"), mac) || after.Verify(content, "") || after.Verify(content, mac[:21]) {
		t.Error("a wrong MAC passes")
	}
}
