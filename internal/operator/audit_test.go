package operator_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/operator"
)

// walked returns the IDs of the lines that pass a filter, page by page, the newest first. Before each further page it calls
// the function meanwhile.
func (o *office) walked(f operator.AuditFilter, size int, meanwhile func()) (ids []string) {
	o.t.Helper()
	for after := ""; ; meanwhile() {
		page, err := o.AuditAfter(o.t.Context(), f, after, size)
		if err != nil {
			o.t.Fatal(err)
		}
		for _, l := range page {
			ids = append(ids, l.ID)
			after = l.Cursor()
		}
		if len(page) < size {
			return ids
		}
	}
}

// pagesLikeTheWalk checks that the pages by cursor have the lines of the export, the other way round.
func (o *office) pagesLikeTheWalk(f operator.AuditFilter, size int) {
	o.t.Helper()
	var want []string
	if err := o.EachLine(o.t.Context(), f, func(l operator.Line) error { want = append(want, l.ID); return nil }); err != nil {
		o.t.Fatal(err)
	}
	slices.Reverse(want)
	if got := o.walked(f, size, func() {}); !slices.Equal(got, want) {
		o.t.Errorf("%+v: %d lines by cursor; want %d\n%q\n%q", f, len(got), len(want), got, want)
	}
}

// Pages of the audit log have each line once, also if lines have the same time, and if lines arrive between two pages.
func TestTheAuditLogIsPagedByCursor(t *testing.T) {
	eachOffice(t, func(t *testing.T, d *office) {
		book := ledger.New(d.db, d.clock)
		t.Cleanup(book.Drain)
		start := d.clock.Now()
		add := func(company, name, action string, at time.Time) {
			u := ledger.For(company)
			operator.Operator{Name: name}.Audit(&u, action, "thing", nil, at)
			if err := book.Commit(t.Context(), u); err != nil {
				t.Fatal(err)
			}
		}
		for _, company := range []string{"acme", "bolt"} {
			if err := book.Commit(t.Context(), ledger.Found(company)); err != nil {
				t.Fatal(err)
			}
		}
		for i := range 23 {
			add([]string{"acme", "bolt"}[i%2], []string{"ada", "bob", "cyd"}[i%3], fmt.Sprint("act.", i%4), start.Add(time.Duration(i/5)*time.Second))
			if i%6 == 0 {
				d.fail(fmt.Sprint("192.0.2.", i), "acme")
			}
		}
		for _, f := range []operator.AuditFilter{
			{},
			{Company: "acme"},
			{Company: "bolt", Operator: "ada"},
			{Operator: "bob"},
			{Action: "act.1"},
			{Action: "act.1", From: start.Add(time.Second), To: start.Add(4 * time.Second)},
			{To: start.Add(2 * time.Second)},
			{Company: "acme", To: start.Add(time.Microsecond)},
			{Company: "nobody"},
		} {
			for _, size := range []int{1, 3, 100} {
				d.pagesLikeTheWalk(f, size)
			}
			before := d.walked(f, 100, func() {})
			got := d.walked(f, 4, func() {
				d.clock.Advance(time.Minute)
				add("acme", "ada", "act.1", d.clock.Now())
			})
			if !slices.Equal(got, before) {
				t.Errorf("%+v, while lines arrive: %q; want %q", f, got, before)
			}
		}
		cursor := d.first(operator.AuditFilter{Operator: "bob"}).Cursor()
		if lines, err := d.AuditAfter(t.Context(), operator.AuditFilter{Operator: "ada", To: start.Add(time.Second)}, cursor, 100); err != nil || len(lines) != 2 {
			t.Errorf("a cursor beyond the end of the period: %d lines, %v", len(lines), err)
		}
		for _, wrong := range []string{"x", "1", "AAAA", cursor + "A", strings.Repeat("A", 4000)} {
			if lines, err := d.AuditAfter(t.Context(), operator.AuditFilter{}, wrong, 10); !fault.Is(err, fault.Invalid) || lines != nil {
				t.Errorf("%.20s: %d lines, %v", wrong, len(lines), err)
			}
		}
	})
}

// first returns the newest line that passes a filter.
func (o *office) first(f operator.AuditFilter) operator.Line {
	o.t.Helper()
	page, err := o.AuditAfter(o.t.Context(), f, "", 1)
	if err != nil || len(page) != 1 {
		o.t.Fatalf("%d lines, %v", len(page), err)
	}
	return page[0]
}
