package api

import (
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/fault"
)

// query reads the filters of a list and collects what is wrong with them, in
// the words of the rules for bodies. A filter that was not sent, or sent empty,
// filters nothing.
type query struct {
	problems []string
}

func (q *query) wrong(name, text string) { q.problems = append(q.problems, `"`+name+`" `+text) }

// fault is nil when every filter can be used.
func (q *query) fault() error {
	if q.problems == nil {
		return nil
	}
	f := fault.New(fault.Invalid, "Validation error")
	f.Details = q.problems
	return f
}

func (q *query) oneOf(name, value string, allowed ...string) string {
	if value != "" && !slices.Contains(allowed, value) {
		q.wrong(name, "must be one of ["+strings.Join(allowed, ", ")+"]")
		return ""
	}
	return value
}

// whole is a number without sign or fraction; 0 when it was not sent.
func (q *query) whole(name, value string) int64 {
	n, err := strconv.ParseUint(value, 10, 53)
	if err != nil && value != "" {
		q.wrong(name, "must be a number")
	}
	return int64(n)
}

// id is a settlement account's number; 0 when it was not sent. The account 0 is
// none, and not all of them.
func (q *query) id(name, value string) int64 {
	n := q.whole(name, value)
	if n == 0 && value != "" && strings.Trim(value, "0") == "" {
		q.wrong(name, "must be greater than or equal to 1")
	}
	return n
}

// instant is a moment, or a whole day in Lagos. The end of a range is the moment
// after it, so that what was shown with that very millisecond, or happened on
// that day, still belongs to the range.
func (q *query) instant(name, value string, end bool) time.Time {
	if value == "" {
		return time.Time{}
	}
	last := 24 * time.Hour
	t, err := time.ParseInLocation(time.DateOnly, value, clock.Lagos)
	if err != nil {
		last = time.Millisecond
		t, err = time.Parse(time.RFC3339Nano, value)
	}
	if err != nil {
		q.wrong(name, "must be in ISO 8601 date format")
		return time.Time{}
	}
	if end {
		t = t.Truncate(time.Millisecond).Add(last)
	}
	return t.UTC()
}

// page is which part of a list to show (completion.md §1, list meta).
type page struct {
	number, size int
}

const (
	usualPage = 50
	mostPage  = 100
)

// mayAsk refuses texts that no database keeps and PostgreSQL does not even
// compare with.
func mayAsk(op *operation, r *http.Request) error {
	if r.URL.RawQuery == "" {
		return nil
	}
	if !op.lenient {
		if err := unknown(op, r); err != nil {
			return err
		}
	}
	asked := r.URL.Query()
	for _, name := range op.texts {
		if !clean(asked.Get(name)) {
			return slip(name, "must be UTF-8 without control characters")
		}
	}
	return nil
}

// unknown refuses query parameters that the operation does not know, in the order
// in which they were sent (completion.md §1). mayRun has judged dry runs.
func unknown(op *operation, r *http.Request) error {
	var q query
	var fields []string
	for part := range strings.SplitSeq(r.URL.RawQuery, "&") {
		name, _, _ := strings.Cut(part, "=")
		if plain, err := url.QueryUnescape(name); err == nil && clean(plain) {
			name = plain
		}
		judged := r.Method == http.MethodPost && name == dryRun
		if name == "" || judged || slices.Contains(op.query, name) || slices.Contains(fields, name) {
			continue
		}
		q.wrong(name, "is not allowed")
		fields = append(fields, name)
	}
	if fields == nil {
		return nil
	}
	f := fault.Of(q.fault())
	f.Extra = map[string]any{"fields": fields} // one dress names the fields
	return f
}

// onePage leaves the first page and pageSize of several: page numbers are never
// refused, however often they are sent.
func onePage(r *http.Request) {
	if r.URL.RawQuery == "" {
		return
	}
	asked := r.URL.Query()
	if len(asked["page"]) < 2 && len(asked["pageSize"]) < 2 {
		return
	}
	for _, name := range []string{"page", "pageSize"} {
		if asked.Has(name) {
			asked.Set(name, asked.Get(name))
		}
	}
	r.URL.RawQuery = asked.Encode()
}

func newPage(number, size string) page {
	return page{number: clamp(number, 1, math.MaxInt32), size: clamp(size, usualPage, mostPage)}
}

func (p page) offset() int { return (p.number - 1) * p.size }

// clamp reads a number from 1 to most. Larger is most; anything that is not a
// number above zero is the usual value.
func clamp(value string, usual, most int) int {
	if value == "" || strings.Trim(value, "0123456789") != "" {
		return usual
	}
	n, err := strconv.Atoi(value)
	if err != nil {
		return most // more digits than a number has
	}
	if n == 0 {
		return usual
	}
	return min(n, most)
}

// meta describes the page: which items of how many, and where its neighbours are.
func (p page) meta(at *url.URL, items, total int) ListMeta {
	m := ListMeta{
		Page: p.number, PageSize: p.size, TotalItems: total, TotalPages: (total + p.size - 1) / p.size,
	}
	m.HasNextPage = p.number < m.TotalPages
	m.HasPrevPage = p.number > 1 && total > 0
	if m.HasNextPage {
		m.NextPage = p.link(at, p.number+1)
	}
	if m.HasPrevPage {
		// From beyond the end, back leads to the last page.
		m.PrevPage = p.link(at, min(p.number-1, m.TotalPages))
	}
	if items > 0 {
		m.From, m.To = p.offset()+1, p.offset()+items
	}
	return m
}

// link is another page of the same list as a relative URL, with the caller's
// other parameters.
func (p page) link(at *url.URL, number int) *string {
	values := at.Query()
	values.Set("page", strconv.Itoa(number))
	values.Set("pageSize", strconv.Itoa(p.size))
	link := at.EscapedPath() + "?" + values.Encode()
	return &link
}
