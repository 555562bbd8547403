package api

import (
	"net/url"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestPages(t *testing.T) {
	for _, c := range []struct {
		number, size string
		want         page
	}{
		{"", "", page{1, 50}},
		{"3", "20", page{3, 20}},
		{"0", "0", page{1, 50}},
		{"-3", "-1", page{1, 50}},
		{"two", "1e2", page{1, 50}},
		{"1.5", "+5", page{1, 50}},
		{" 2", "２", page{1, 50}},
		{"2", "101", page{2, 100}},
		{"99999999999999999999", "99999999999999999999", page{1<<31 - 1, 100}},
	} {
		if got := newPage(c.number, c.size); got != c.want {
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
		page         page
		items, total int
		want         ListMeta
	}{
		{page{1, 50}, 0, 0, ListMeta{Page: 1, PageSize: 50}},
		{page{2, 10}, 10, 35, ListMeta{
			Page: 2, PageSize: 10, TotalItems: 35, TotalPages: 4, HasNextPage: true, HasPrevPage: true, From: 11, To: 20,
			NextPage: link("/api/v1/list?a=1+2&b=2&page=3&pageSize=10"), PrevPage: link("/api/v1/list?a=1+2&b=2&page=1&pageSize=10"),
		}},
		{page{4, 10}, 5, 35, ListMeta{
			Page: 4, PageSize: 10, TotalItems: 35, TotalPages: 4, HasPrevPage: true, From: 31, To: 35,
			PrevPage: link("/api/v1/list?a=1+2&b=2&page=3&pageSize=10"),
		}},
		{page{9, 10}, 0, 35, ListMeta{
			Page: 9, PageSize: 10, TotalItems: 35, TotalPages: 4, HasPrevPage: true,
			PrevPage: link("/api/v1/list?a=1+2&b=2&page=4&pageSize=10"),
		}},
	} {
		if diff := cmp.Diff(c.want, c.page.meta(at, c.items, c.total)); diff != "" {
			t.Errorf("%v of %d:\n%s", c.page, c.total, diff)
		}
	}
}

// Whoever follows nextPage sees every item once.
func TestPagesCoverTheList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		total, size := rapid.IntRange(0, 500).Draw(t, "total"), rapid.IntRange(1, 100).Draw(t, "size")
		at, seen := &url.URL{Path: "/list"}, 0
		for p := (page{1, size}); ; {
			items := min(size, max(0, total-p.offset()))
			m := p.meta(at, items, total)
			if items > 0 && m.From != seen+1 {
				t.Fatalf("page %d begins at %d after %d", p.number, m.From, seen)
			}
			seen += items
			if m.NextPage == nil {
				break
			}
			next, err := url.Parse(*m.NextPage)
			if err != nil {
				t.Fatal(err)
			}
			p = newPage(next.Query().Get("page"), next.Query().Get("pageSize"))
		}
		if seen != total {
			t.Fatalf("%d of %d", seen, total)
		}
	})
}

func TestInstants(t *testing.T) {
	day := func(h, m, s, ms int) time.Time {
		return time.Date(2030, 1, 2, h, m, s, ms*int(time.Millisecond), time.UTC)
	}
	for _, c := range []struct {
		text     string
		from, to time.Time
	}{
		{"", time.Time{}, time.Time{}},
		{"2030-01-02", day(-1, 0, 0, 0), day(23, 0, 0, 0)}, // in Lagos
		{"2030-01-02T10:00:00Z", day(10, 0, 0, 0), day(10, 0, 0, 1)},
		{"2030-01-02T10:00:00.678+01:00", day(9, 0, 0, 678), day(9, 0, 0, 679)},
	} {
		var q query
		if from, to := q.instant("from", c.text, false), q.instant("to", c.text, true); !from.Equal(c.from) || !to.Equal(c.to) || q.fault() != nil {
			t.Errorf("%q: %v to %v", c.text, from, to)
		}
	}
	for _, wrong := range []string{"yesterday", "2030-13-01", "2030-01-02 10:00:00", "1893456000"} {
		var q query
		if q.instant("from", wrong, false); q.fault() == nil {
			t.Errorf("%q passed", wrong)
		}
	}
}
