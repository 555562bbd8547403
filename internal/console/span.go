package console

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/fault"
)

// A list of payments begins with the last seven days of Lagos, because people look at these. period=all in its address asks for
// all time. A list of open payments, and the look-up of a reference, cover all time by themselves: an old open payment is the one
// that must not be missed.

// usualDays is how many days of Lagos a list covers if its address names no period.
const usualDays = 7

var (
	// openStates are the states that an open payment can have, on either side.
	openStates = []string{"open", "unconfirmed", "sending", "accepted", "unknown", "case", "ownerless", "waiting", "pending"}
	// exactFilters are the filters that find one thing.
	exactFilters = []string{"externalReference", "requestId", "idempotencyKey"}
)

// listSpan is the time that a list covers.
type listSpan struct {
	from, to string // as in the address: days of Lagos, or instants; "" for no limit
	isUsual  bool   // the address names no period, so the list covers the last seven days
	isOpen   bool   // it covers all time, because its payments are open
	isExact  bool   // it covers all time, because it looks for one thing
}

// hasSpan reports whether the page is a list that begins with the last seven days.
func (v *visit) hasSpan() bool { return slices.Contains(v.route.query, "period") }

// span returns the time that the list covers.
func (v *visit) span() listSpan {
	s := listSpan{from: v.filter("from", ""), to: v.filter("to", "")}
	state := cmp.Or(v.filter("state", ""), v.filter("status", ""))
	switch {
	case s.from != "" || s.to != "" || v.filter("period", "") == "all":
	case slices.ContainsFunc(exactFilters, func(name string) bool { return v.filter(name, "") != "" }):
		s.isExact = true
	case slices.Contains(openStates, strings.ToLower(state)):
		s.isOpen = true
	default:
		s.isUsual = true
		s.from = v.now().In(lagos).AddDate(0, 0, 1-usualDays).Format(time.DateOnly)
	}
	return s
}

// openPath returns the address of the list's payments without an outcome, of all time. It returns "" for a list without such payments.
func (v *visit) openPath() string {
	switch v.URL.Path {
	case paymentTabs[0].path:
		return v.with("state", "open")
	case payoutTabs[0].path, serviceTabs[1].path:
		return v.with("status", "PENDING")
	}
	return ""
}

// isTurned reports whether the time ends before it begins, so that nothing can be on the list.
func (s listSpan) isTurned() bool {
	begin, end := dayOrInstant(s.from), dayOrInstant(s.to)
	return !begin.IsZero() && !end.IsZero() && end.Before(begin)
}

// dayOrInstant returns the instant of a text, or the begin of its day in Lagos. It returns zero for a text that is neither.
func dayOrInstant(text string) time.Time {
	if at, err := time.ParseInLocation(time.DateOnly, text, lagos); err == nil {
		return at
	}
	return instant(text)
}

// spanned returns a query of the page for an API, with the time that the list covers.
func (v *visit) spanned(q url.Values) url.Values {
	q.Del("period")
	if s := v.span(); s.from != "" {
		q.Set("from", s.from)
	}
	return q
}

// checkPeriod refuses a period that no list knows.
func (v *visit) checkPeriod() error {
	if value := v.filter("period", "all"); value != "all" {
		return fault.Newf(fault.Invalid, `The period %q is not known. Give "all", or days as "from" and "to".`, value)
	}
	return nil
}

// words names the time that the list covers.
func (s listSpan) words() string {
	switch {
	case s.isUsual:
		return "the last 7 days"
	case s.from != "" && s.to != "":
		return dayWord(s.from) + " to " + dayWord(s.to)
	case s.from != "":
		return "since " + dayWord(s.from)
	case s.to != "":
		return "until " + dayWord(s.to)
	}
	return "all time"
}

// sentence says which time the list covers, and why.
func (s listSpan) sentence() string {
	switch {
	case s.isTurned():
		return "The first day, " + dayWord(s.from) + ", is after the last one, " + dayWord(s.to) + ", so nothing can be here."
	case s.isOpen:
		return "All time, because an open payment can be old."
	case s.isExact:
		return "All time, because this looks for one thing."
	}
	return sentence(s.words()) + "."
}

// nothingNow says that nothing of the last seven days is on the list.
func (v *visit) nothingNow() string {
	switch {
	case v.isNarrowed():
		return "Nothing matches in the last 7 days."
	}
	return "Nothing in the last 7 days."
}

// fileWords names the time in the name of a file, by days of Lagos.
func (s listSpan) fileWords(today string) string {
	day := func(text string) string {
		if at := instant(text); !at.IsZero() {
			return at.In(lagos).Format(time.DateOnly)
		}
		return text
	}
	from, to := cmp.Or(day(s.from), "all"), cmp.Or(day(s.to), today)
	return from + "-to-" + to
}
