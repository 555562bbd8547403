package operation_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/operation"
)

// walked returns the subjects of the cases that a filter selects, page by page. Before each further page it calls the
// function meanwhile.
func (p *plant) walked(f operation.CaseFilter, size int, meanwhile func()) (subjects []string) {
	p.t.Helper()
	for after := ""; ; meanwhile() {
		page, err := p.CasesAfter(p.t.Context(), f, after, size)
		p.must(err)
		for _, c := range page {
			subjects = append(subjects, c.Subject)
			after = c.Cursor()
		}
		if len(page) < size {
			return subjects
		}
	}
}

// Pages of cases have each case once, also if cases have the same time, if cases arrive between two pages, and if the last
// case of a page is decided before the next page.
func TestCasesArePagedByCursor(t *testing.T) {
	each(t, func(t *testing.T, p *plant) {
		n := 0
		add := func(reason operation.Reason) {
			n++
			p.must(p.OpenCase(t.Context(), p.company, fmt.Sprint("subject ", n), reason, "detail"))
		}
		for i := range 11 {
			add([]operation.Reason{operation.Unreadable, operation.CardBalance}[i%2])
			if i%3 == 2 {
				p.clock.Advance(time.Second)
			}
		}
		for _, f := range []operation.CaseFilter{
			{State: operation.Open},
			{State: operation.Open, Company: p.company},
			{State: operation.Open, Reason: operation.CardBalance},
			{State: operation.Open, Company: p.company, Reason: operation.Unreadable},
			{State: operation.Open, Subject: "subject 3"},
			{State: operation.Open, Company: "another"},
			{State: operation.Open, Proposed: true},
			{State: operation.Resolved},
		} {
			numbered, total, err := p.Cases(t.Context(), f, 100, 0)
			p.must(err)
			want := []string(nil)
			for _, c := range numbered {
				want = append(want, c.Subject)
			}
			for _, size := range []int{1, 2, 5, 100} {
				if got := p.walked(f, size, func() {}); !slices.Equal(got, want) || int64(len(got)) != total {
					t.Errorf("%+v, %d a page: %q; want %q", f, size, got, want)
				}
			}
			if got := p.walked(f, 3, func() { p.clock.Advance(time.Second); add(operation.CardBalance) }); !slices.Equal(got, want) {
				t.Errorf("%+v, while cases arrive: %q; want %q", f, got, want)
			}
		}
		all := operation.CaseFilter{State: operation.Open}
		page, err := p.CasesAfter(t.Context(), all, "", 3)
		p.must(err)
		want := p.walked(all, 100, func() {})[3:]
		_, err = p.db.Exec(t.Context(), `UPDATE operation_case SET state = 'RESOLVED' WHERE company_id = $1 AND id = $2`, p.company, page[2].ID)
		p.must(err)
		rest, err := p.CasesAfter(t.Context(), all, page[2].Cursor(), 100)
		p.must(err)
		if len(rest) != len(want) || rest[0].Subject != want[0] {
			t.Errorf("after a decided case: %d cases; want %d", len(rest), len(want))
		}
		for _, wrong := range []string{"x", page[0].ID, page[0].Cursor() + "A"} {
			if list, err := p.CasesAfter(t.Context(), all, wrong, 10); !fault.Is(err, fault.Invalid) || list != nil {
				t.Errorf("%s: %d cases, %v", wrong, len(list), err)
			}
		}
	})
}
