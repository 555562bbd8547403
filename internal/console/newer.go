package console

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/fault"
)

// On a list new rows do not push the others. The page says how many newer rows there are, and a click loads them. The
// stream of the page names only their number. All viewers of one list share one read of its first page: a company's list is
// read when the company has a new event, and a list over all companies at most once a second.

// newerQuery are the names in the address of such a stream: the address of the list, and the keys of its first rows.
var newerQuery = []string{"of", "row", "from"}

// mostTop is the number of first rows that the address names. One of them is enough to count from. A row may have left a
// list with a filter.
const mostTop = 3

// lists keeps the keys of the first rows of the lists that somebody looks at.
type lists struct {
	mu   sync.Mutex
	kept map[string]*listNow // by company and address
}

// listNow is the first page of a list, as it was read last.
type listNow struct {
	mu      sync.Mutex
	viewers int   // lists.mu guards it
	head    int64 // the company's last event when it was read; the number of the second for a list over all companies
	rows    []string
}

// enter returns the list with a key, with one viewer more.
func (l *lists) enter(key string) *listNow {
	l.mu.Lock()
	defer l.mu.Unlock()
	one := l.kept[key]
	if one == nil {
		one = &listNow{head: -1}
		l.kept[key] = one
	}
	one.viewers++
	return one
}

func (l *lists) leave(key string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if one := l.kept[key]; one != nil {
		if one.viewers--; one.viewers == 0 {
			delete(l.kept, key)
		}
	}
}

// at returns the rows of the list as they were at a number or later. The first viewer reads them for the others.
func (l *listNow) at(head int64, read func() ([]string, error)) ([]string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if head <= l.head {
		return l.rows, nil
	}
	rows, err := read()
	if err == nil { // otherwise the next viewer reads again: the browser of this one may have gone
		l.head, l.rows = head, rows
	}
	return rows, err
}

// liveList returns the address of the stream about newer rows of the list on this page, or "" for an older page of a list.
func (v *visit) liveList(rows []string) string {
	if v.filter("after", "") != "" || v.problem != nil {
		return ""
	}
	q := url.Values{"of": {v.URL.RequestURI()}, "from": {wire(v.began.Add(-beforehand))}}
	for _, row := range rows[:min(len(rows), mostTop)] {
		q.Add("row", row)
	}
	return v.at("/live/newer?") + q.Encode()
}

var errNoList = fault.New(fault.Invalid, `"of" must be the address of a list.`)

// listVisit returns a visit of the same person to the list that the address of a stream names.
func (v *visit) listVisit() (*visit, error) {
	of, err := url.Parse(v.URL.Query().Get("of"))
	if err != nil || of.Host != "" {
		return nil, errNoList
	}
	r := v.Clone(v.Context())
	r.Method, r.URL = http.MethodGet, &url.URL{Path: of.Path, RawPath: of.RawPath, RawQuery: of.RawQuery}
	_, pattern := v.mux.Handler(r)
	to, known := v.routes[pattern]
	if !known || to.show == nil || !to.isList() {
		return nil, errNoList
	}
	for name := range of.Query() {
		if !slices.Contains(to.query, name) {
			return nil, errNoList
		}
	}
	name(r, pattern)
	sub := *v
	sub.Request, sub.route = r, to
	return &sub, nil
}

// isList reports whether a page has further pages.
func (r route) isList() bool {
	return slices.Contains(r.query, "after")
}

// name gives the parts of an address the names that they have in the pattern of its page.
func name(r *http.Request, pattern string) {
	parts := strings.Split(r.URL.EscapedPath(), "/")
	for i, part := range strings.Split(strings.TrimPrefix(pattern, "GET "), "/") {
		if named, isNamed := strings.CutPrefix(part, "{"); isNamed && i < len(parts) {
			value, err := url.PathUnescape(parts[i])
			if err != nil {
				value = parts[i]
			}
			r.SetPathValue(strings.TrimSuffix(named, "}"), value)
		}
	}
}

// streamNewer writes a line whenever the number of newer rows on a list changes.
func streamNewer(v *visit, say sayer) error {
	list, err := v.listVisit()
	if err != nil {
		return err
	}
	key := v.who.Company + " " + list.URL.RequestURI()
	now := v.lists.enter(key)
	defer v.lists.leave(key)
	said, top := "0", v.URL.Query()["row"]
	look := func(head int64) error {
		rows, err := now.at(head, func() ([]string, error) {
			page, err := list.route.show(list)
			if err == nil && page.rows == nil {
				err = errNoList
			}
			return page.rows, err
		})
		if err != nil {
			return err
		}
		n := newer(rows, top)
		if n == said {
			return nil
		}
		said = n
		return say("newer", n)
	}
	if v.isForCompanies() {
		return v.lookAtEvents(look)
	}
	return v.lookEachSecond(look)
}

// newer returns the number of rows above the first row that the page has. "" is for a list that has other rows altogether.
func newer(rows, top []string) string {
	if len(top) == 0 {
		return strconv.Itoa(len(rows))
	}
	at := slices.IndexFunc(rows, func(row string) bool { return slices.Contains(top, row) })
	if at < 0 {
		return ""
	}
	return strconv.Itoa(at)
}

// lookAtEvents looks whenever the company has a new event.
func (v *visit) lookAtEvents(look func(head int64) error) error {
	changes, leave := v.Events.Watch(v.who.Company, "", instant(v.URL.Query().Get("from")))
	defer leave()
	return v.follow(changes, func(c event.Change) error { return look(c.Head) })
}

// lookEachSecond looks once a second. The number of the second is the same for all viewers, so one of them reads.
func (v *visit) lookEachSecond(look func(second int64) error) error {
	again, ends := time.NewTicker(streamPeriod), time.After(streamLife)
	defer again.Stop()
	for !v.Leaving() {
		select {
		case at := <-again.C:
			if err := look(at.Unix()); err != nil {
				return err
			}
		case <-ends:
			return nil
		case <-v.Context().Done():
			return nil
		}
	}
	return nil
}

// rowKeys returns what names each row of a list. It is not nil.
func rowKeys[R any](rows []R, key func(R) string) []string {
	out := make([]string, len(rows))
	for i, r := range rows {
		out[i] = key(r)
	}
	return out
}
