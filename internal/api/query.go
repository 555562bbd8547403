package api

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/contract"
)

// query reads the filters of a list and collects their problems. The error messages have the same
// wording as those for bodies. A filter that is absent or empty has no effect.
type query struct {
	problems []string
}

func (q *query) wrong(name, text string) { q.problems = append(q.problems, `"`+name+`" `+text) }

// fault returns one fault for all wrong filters, or nil if no filter is wrong.
func (q *query) fault() error {
	if q.problems == nil {
		return nil
	}
	return contract.Invalid(q.problems...)
}

func (q *query) oneOf(name, value string, allowed ...string) string {
	if value != "" && !slices.Contains(allowed, value) {
		q.wrong(name, "must be one of ["+strings.Join(allowed, ", ")+"]")
		return ""
	}
	return value
}

// whole parses a number without sign or fraction. An absent number is 0.
func (q *query) whole(name, value string) int64 {
	n, err := strconv.ParseUint(value, 10, 53)
	if err != nil && value != "" {
		q.wrong(name, "must be a number")
	}
	return int64(n)
}

// mostTexts is the largest number of texts that a filter takes.
const mostTexts = 100

// list parses texts with commas between them. An absent list has no texts.
func (q *query) list(name, value string) []string {
	if value == "" {
		return nil
	}
	texts := strings.Split(value, ",")
	if len(texts) > mostTexts {
		q.wrong(name, "must contain less than or equal to "+strconv.Itoa(mostTexts)+" items")
	}
	return texts
}

// id parses the number of a settlement account. An absent number is 0. A 0 in the request is
// refused, because no account has the number 0.
func (q *query) id(name, value string) int64 {
	n := q.whole(name, value)
	if n == 0 && value != "" && strings.Trim(value, "0") == "" {
		q.wrong(name, "must be greater than or equal to 1")
	}
	return n
}

// instant parses an instant, or a date, which is a whole day in Lagos. If end is true, it returns the
// start of the next millisecond or day. The filter excludes that start, so the whole day counts.
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

// day parses a required date, and returns its midnight in Lagos.
func (q *query) day(name, value string) time.Time {
	t, err := time.ParseInLocation(time.DateOnly, value, clock.Lagos)
	switch {
	case value == "":
		q.wrong(name, "is required")
	case err != nil:
		q.wrong(name, "must be a date as 2030-01-02")
	}
	return t
}

// mayAsk refuses unknown query parameters, values that cannot be read, and texts that PostgreSQL does not accept. It reports
// them in the order of the query (completion.md §1). The dry_run parameter is left to mayRun.
func mayAsk(op *contract.Operation, r *http.Request) error {
	if r.URL.RawQuery == "" {
		return nil
	}
	if !op.Lenient {
		unknown := slices.DeleteFunc(op.Unknown(r.URL.RawQuery), func(name string) bool { return r.Method == http.MethodPost && name == dryRun })
		if len(unknown) > 0 {
			return wrongFields(unknown, "is not allowed")
		}
	}
	if unreadable := op.Unreadable(r.URL.RawQuery); len(unreadable) > 0 {
		return wrongFields(unreadable, "must be percent-encoded")
	}
	asked := r.URL.Query()
	for _, p := range op.Query {
		if p.IsText && !clean(asked.Get(p.Name)) {
			return slip(p.Name, "must be UTF-8 without control characters")
		}
	}
	return nil
}

// onePage keeps only the first page number and the first page size of a query. A query that repeats
// these parameters is not refused.
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

// each shapes the rows of a list. In JSON, an empty list becomes [] and not null.
func each[T, R any](list []T, shape func(T) R) []R {
	rows := make([]R, len(list))
	for i, one := range list {
		rows[i] = shape(one)
	}
	return rows
}
