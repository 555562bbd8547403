package admin

import (
	"net/url"
	"strconv"
	"strings"
)

const (
	usualPage = 50
	mostPage  = 100
)

// list is a page of something, with where it stands among the others
// (completion.md §1, list meta).
type list struct {
	Data any  `json:"data"`
	Meta meta `json:"meta"`
}

type meta struct {
	Page        int     `json:"page"`
	PageSize    int     `json:"pageSize"`
	TotalItems  int     `json:"totalItems"`
	TotalPages  int     `json:"totalPages"`
	HasNextPage bool    `json:"hasNextPage"`
	HasPrevPage bool    `json:"hasPrevPage"`
	NextPage    *string `json:"nextPage"`
	PrevPage    *string `json:"prevPage"`
	From        int     `json:"from"`
	To          int     `json:"to"`
}

// page reads the part of a list that is asked for. Larger than the most is the
// most; what is not a number above zero is the default.
func (r *request) page() (number, size int) {
	q := r.URL.Query()
	return clamp(q.Get("page"), 1, 1<<31-1), clamp(q.Get("pageSize"), usualPage, mostPage)
}

func clamp(value string, usual, most int) int {
	if value == "" || strings.Trim(value, "0123456789") != "" {
		return usual
	}
	n, err := strconv.Atoi(value)
	switch {
	case err != nil:
		return most // more digits than a number has
	case n == 0:
		return usual
	}
	return min(n, most)
}

// listed asks for the page of the request and shapes it.
func listed[T, R any](r *request, row func(T) R, ask func(limit, offset int) ([]T, int64, error)) (any, error) {
	number, size := r.page()
	offset := (number - 1) * size
	items, total, err := ask(size, offset)
	if err != nil {
		return nil, err
	}
	rows := make([]R, len(items))
	for i, item := range items {
		rows[i] = row(item)
	}
	m := meta{
		Page: number, PageSize: size, TotalItems: int(total), TotalPages: (int(total) + size - 1) / size,
	}
	m.HasNextPage, m.HasPrevPage = number < m.TotalPages, number > 1 && total > 0
	if m.HasNextPage {
		m.NextPage = link(r.URL, number+1, size)
	}
	if m.HasPrevPage {
		m.PrevPage = link(r.URL, min(number-1, m.TotalPages), size)
	}
	if len(rows) > 0 {
		m.From, m.To = offset+1, offset+len(rows)
	}
	return list{rows, m}, nil
}

func link(at *url.URL, number, size int) *string {
	q := at.Query()
	q.Set("page", strconv.Itoa(number))
	q.Set("pageSize", strconv.Itoa(size))
	s := at.EscapedPath() + "?" + q.Encode()
	return &s
}
