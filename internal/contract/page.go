package contract

import (
	"math"
	"net/url"
	"strconv"
	"strings"
)

// Page is the part of a list that a request wants.
type Page struct {
	Number, Size int
}

const (
	usualSize = 50
	maxSize   = 100
)

// NewPage parses the query parameters page and pageSize. Invalid values count as missing.
func NewPage(number, size string) Page {
	return Page{Clamp(number, 1, math.MaxInt32), Clamp(size, usualSize, maxSize)}
}

// Offset returns the number of items before the page.
func (p Page) Offset() int { return (p.Number - 1) * p.Size }

// Clamp parses a number from 1 to most. For a larger number it returns most. For a value that is
// not a number above zero, it returns usual.
func Clamp(value string, usual, most int) int {
	if value == "" || strings.Trim(value, "0123456789") != "" {
		return usual
	}
	n, err := strconv.Atoi(value)
	if err != nil {
		return most // the number has too many digits for an int
	}
	if n == 0 {
		return usual
	}
	return min(n, most)
}

// Meta describes a page of a list: the page's position, the total count of items, and the links
// to the previous and the next page.
type Meta struct {
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

// Meta describes the page p of a list. items is the number of items on the page, total is the
// number of items in the list, and at is the URL of the request.
func (p Page) Meta(at *url.URL, items, total int) Meta {
	m := Meta{
		Page: p.Number, PageSize: p.Size, TotalItems: total, TotalPages: (total + p.Size - 1) / p.Size,
	}
	m.HasNextPage = p.Number < m.TotalPages
	m.HasPrevPage = p.Number > 1 && total > 0
	if m.HasNextPage {
		m.NextPage = p.link(at, p.Number+1)
	}
	if m.HasPrevPage {
		// For a page beyond the end of the list, the previous page is the last page.
		m.PrevPage = p.link(at, min(p.Number-1, m.TotalPages))
	}
	if items > 0 {
		m.From, m.To = p.Offset()+1, p.Offset()+items
	}
	return m
}

// link returns the relative URL of a different page of the same list. It keeps the other query
// parameters of the request.
func (p Page) link(at *url.URL, number int) *string {
	values := at.Query()
	values.Set("page", strconv.Itoa(number))
	values.Set("pageSize", strconv.Itoa(p.Size))
	link := at.EscapedPath() + "?" + values.Encode()
	return &link
}
