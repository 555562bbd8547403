package console_test

import (
	"errors"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/operator"
)

// olderLink matches the link to the next page of a list by cursor.
var olderLink = regexp.MustCompile(`<a href="([^"]+)" rel="next">Older</a>`)

// follow follows the links of a list to its end, and returns the marks of its rows. Before each further page it calls the
// function meanwhile.
func (p *person) follow(path string, mark *regexp.Regexp, meanwhile func()) (rows []string) {
	p.t.Helper()
	filters := func(at string) string {
		u, err := url.Parse(at)
		if err != nil {
			p.t.Fatal(err)
		}
		q := u.Query()
		q.Del("after")
		return u.Path + "?" + q.Encode()
	}
	want := filters(path)
	for pages := 1; ; pages++ {
		text := p.read(path)
		for _, m := range mark.FindAllStringSubmatch(text, -1) {
			rows = append(rows, m[1])
		}
		if strings.Contains(text, ">Newest</a>") != (pages > 1) {
			p.t.Errorf("%s: the link to the newest rows", path)
		}
		link := olderLink.FindStringSubmatch(text)
		if link == nil {
			return rows
		}
		if path = html.UnescapeString(link[1]); filters(path) != want || pages > 20 {
			p.t.Fatalf("the list %s goes on at %s", want, path)
		}
		meanwhile()
	}
}

// The operators' audit log, cases and comparisons are read to the end by links. Each row is there once, also while rows arrive,
// and the filters stay.
func TestOperatorsReadLongListsToTheEnd(t *testing.T) {
	each(t, func(w *world) {
		p := w.signIn("dev")
		add := func(n int, when string) {
			w.t.Helper()
			open := w.app.Operations.OpenCase(t.Context(), w.company.Reference, fmt.Sprint("subject ", when, n), operation.CardBalance, "detail")
			failed := w.app.Reports.NotReconciled(t.Context(), "safehaven", errors.New("no answer"))
			read := w.app.Operators.Read(t.Context(), operator.Operator{Name: "zoe"}, "read.test", fmt.Sprint(when, n))
			if err := errors.Join(open, failed, read); err != nil {
				w.t.Fatal(err)
			}
		}
		for n := range 120 {
			add(n, "at first ")
		}
		late := 0
		for path, mark := range map[string]*regexp.Regexp{
			"/console/cases?reason=CARD_BALANCE&status=OPEN":                      regexp.MustCompile(`<a class="act" href="/console/cases/([^"]+)"`),
			"/console/cases?company=" + w.company.Reference:                       regexp.MustCompile(`<a class="act" href="/console/cases/([^"]+)"`),
			"/console/money/runs?provider=safehaven":                              regexp.MustCompile(`<a href="/console/money/runs/([^"]+)"`),
			"/console/system/audit?operator=zoe&action=read.test&from=2020-01-01": regexp.MustCompile(`data-label="About">(.+?)</td>`),
		} {
			before := p.follow(path, mark, func() {})
			if len(before) != 120+late {
				w.t.Errorf("%s: %d rows; want %d", path, len(before), 120+late)
			}
			unique := slices.Compact(slices.Sorted(slices.Values(before)))
			if len(unique) != len(before) {
				w.t.Errorf("%s: %d of %d rows are different", path, len(unique), len(before))
			}
			if got := p.follow(path, mark, func() { late++; add(late, "late ") }); !slices.Equal(got, before) {
				w.t.Errorf("%s: other rows while rows arrive: %d; want %d", path, len(got), len(before))
			}
		}
	})
}

// A cursor that no list has returned gets a page with the reason. A cursor behind which nothing is left says so.
func TestAWrongCursorOfALongListHasAPage(t *testing.T) {
	w := open(t)
	p := w.signIn("dev")
	for _, path := range []string{"/console/cases", "/console/money/runs", "/console/system/audit"} {
		if g := p.get(path + "?after=" + id.New()); g.status != http.StatusBadRequest || !strings.Contains(html.UnescapeString(g.text), `"after" is not a cursor of this list`) {
			t.Errorf("%s: %d, %s", path, g.status, g.text)
		}
		p.says(path+"?after=LTEvYQ", "There is nothing older.", ">Newest</a>")
	}
	p.says("/console/system/audit", "Export all lines as CSV")
	p.says("/console/system/audit?operator=dev", "Export all lines that match as CSV", "/console/system/audit.csv?operator=dev")
}
