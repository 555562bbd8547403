package contract

import (
	"net/url"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestPages(t *testing.T) {
	for _, c := range []struct {
		number, size string
		want         Page
	}{
		{"", "", Page{1, 50}},
		{"3", "20", Page{3, 20}},
		{"0", "0", Page{1, 50}},
		{"-3", "-1", Page{1, 50}},
		{"two", "1e2", Page{1, 50}},
		{"1.5", "+5", Page{1, 50}},
		{" 2", "２", Page{1, 50}},
		{"2", "101", Page{2, 100}},
		{"99999999999999999999", "99999999999999999999", Page{1<<31 - 1, 100}},
	} {
		if got := NewPage(c.number, c.size); got != c.want {
			t.Errorf("%q %q: %v, want %v", c.number, c.size, got, c.want)
		}
	}
}

func TestListMeta(t *testing.T) {
	at, err := url.Parse("/api/v1/list?b=2&page=2&a=1%202")
	if err != nil {
		t.Fatal(err)
	}
	link := func(s string) *string { return &s }
	for _, c := range []struct {
		page         Page
		items, total int
		want         Meta
	}{
		{Page{1, 50}, 0, 0, Meta{Page: 1, PageSize: 50}},
		{Page{2, 10}, 10, 35, Meta{
			Page: 2, PageSize: 10, TotalItems: 35, TotalPages: 4, HasNextPage: true, HasPrevPage: true, From: 11, To: 20,
			NextPage: link("/api/v1/list?a=1+2&b=2&page=3&pageSize=10"), PrevPage: link("/api/v1/list?a=1+2&b=2&page=1&pageSize=10"),
		}},
		{Page{4, 10}, 5, 35, Meta{
			Page: 4, PageSize: 10, TotalItems: 35, TotalPages: 4, HasPrevPage: true, From: 31, To: 35,
			PrevPage: link("/api/v1/list?a=1+2&b=2&page=3&pageSize=10"),
		}},
		{Page{9, 10}, 0, 35, Meta{
			Page: 9, PageSize: 10, TotalItems: 35, TotalPages: 4, HasPrevPage: true,
			PrevPage: link("/api/v1/list?a=1+2&b=2&page=4&pageSize=10"),
		}},
	} {
		if diff := cmp.Diff(c.want, c.page.Meta(at, c.items, c.total)); diff != "" {
			t.Errorf("%v of %d:\n%s", c.page, c.total, diff)
		}
	}
}

// A caller who follows nextPage sees every item exactly once.
func TestPagesCoverTheList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		total, size := rapid.IntRange(0, 500).Draw(t, "total"), rapid.IntRange(1, 100).Draw(t, "size")
		at, seen := &url.URL{Path: "/list"}, 0
		for p := (Page{1, size}); ; {
			items := min(size, max(0, total-p.Offset()))
			m := p.Meta(at, items, total)
			if items > 0 && m.From != seen+1 {
				t.Fatalf("page %d begins at %d after %d", p.Number, m.From, seen)
			}
			seen += items
			if m.NextPage == nil {
				break
			}
			next, err := url.Parse(*m.NextPage)
			if err != nil {
				t.Fatal(err)
			}
			p = NewPage(next.Query().Get("page"), next.Query().Get("pageSize"))
		}
		if seen != total {
			t.Fatalf("%d of %d", seen, total)
		}
	})
}
