package console

import (
	"cmp"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/kobo-waas/kobo/internal/admin"
	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/money"
)

// hour is a row of a chart.
type hour struct {
	at      time.Time
	paid    money.Kobo   // paid out
	before  money.Kobo   // the same a week earlier
	open    []int64      // failed and unknown operations by provider, in the order of providers
	volume  []money.Kobo // what succeeded by business, in the order of businesses
	running bool
}

// providersShown is the number of providers that a chart has a series for.
const providersShown = 4

// chartProviders are the providers of the last day that have failed or unknown operations first.
func (g glance) chartProviders() []string {
	bad := map[string]int64{}
	for _, h := range g.operations() {
		bad[h.Provider] += 0
		if h.Outcome == "failed" || h.Outcome == "unknown" {
			bad[h.Provider] += h.Count
		}
	}
	var names []string
	for name := range bad {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(bad[b], bad[a]), cmp.Compare(a, b)) })
	names = names[:min(len(names), providersShown)]
	slices.Sort(names)
	return names
}

// hours returns the rows of the charts, the oldest hour first.
func (g glance) hours() []hour {
	running := instant(g.At).Truncate(time.Hour)
	names, out := g.chartProviders(), make([]hour, 24)
	for i := range out {
		at := running.Add(time.Duration(i-23) * time.Hour)
		out[i] = hour{at: at, open: make([]int64, len(names)), volume: make([]money.Kobo, len(businesses)), running: at.Equal(running)}
	}
	first := out[0].at
	in := func(text string, later time.Duration) *hour {
		i := int(instant(text).Add(later).Sub(first) / time.Hour)
		if i < 0 || i >= len(out) {
			return &hour{open: make([]int64, len(names)), volume: make([]money.Kobo, len(businesses))}
		}
		return &out[i]
	}
	for _, h := range g.Hours {
		row := in(h.Hour, 0)
		if h.Kind == "payout" && h.Outcome == "paid" {
			row.paid += h.Amount
		}
		if i := slices.Index(businesses, h.Kind); i >= 0 && h.Outcome == "paid" {
			row.volume[i] += h.Amount
		}
		if i := slices.Index(names, h.Provider); i >= 0 && h.Kind != "credit" && (h.Outcome == "failed" || h.Outcome == "unknown") {
			row.open[i] += h.Count
		}
	}
	for _, h := range g.LastWeek {
		if h.Kind == "payout" && h.Outcome == "paid" {
			in(h.Hour, 7*24*time.Hour).before += h.Amount
		}
	}
	return out
}

// operations returns the counts of what Kobo sends. The others are of money that came in.
func (g glance) operations() []admin.HourCount {
	return slices.DeleteFunc(slices.Clone(g.Hours), func(h admin.HourCount) bool { return h.Kind == "credit" })
}

// notConfirmed returns the number of the failed and the unknown operations of the last 24 hours.
func (g glance) notConfirmed() (failed, unknown int64) {
	for _, h := range g.operations() {
		switch h.Outcome {
		case "failed":
			failed += h.Count
		case "unknown":
			unknown += h.Count
		}
	}
	return failed, unknown
}

// hourLabel returns the beginning of an hour as the axis of a chart shows it.
func hourLabel(at time.Time) string { return at.In(lagos).Format("15:04") }

// businesses are the kinds of payments that the hours count, as the payments' filter names them.
var businesses = []string{"payout", "vtu", "card", "credit"}

// deposits is the kind of the business of deposits on chains. They are no naira and have a list of their own.
const deposits = "deposit"

// businessWord returns the name of a business.
func businessWord(kind string) string {
	if kind == deposits {
		return "Crypto deposits"
	}
	for _, c := range kindChoices {
		if c.value == kind {
			return c.label
		}
	}
	return sentence(kind)
}

// business is what one business did at one provider in the last 24 hours, or at all of them if provider is "". The provider
// of deposits on chains is the network.
type business struct {
	kind, provider                  string
	paid, failed, reversed, unknown int64
	volume                          money.Kobo // what succeeded, without fees
	asset, coins                    string     // of deposits: how much of which asset succeeded
}

func (b *business) add(outcome string, n int64) {
	switch outcome {
	case "paid":
		b.paid += n
	case "failed":
		b.failed += n
	case "reversed":
		b.reversed += n
	case "unknown":
		b.unknown += n
	}
}

// addHour adds the count of an hour.
func (b *business) addHour(h admin.HourCount) {
	b.add(h.Outcome, h.Count)
	if h.Outcome == "paid" {
		b.volume += h.Amount
	}
}

// at names the provider.
func (b business) at() string {
	switch {
	case b.provider == "":
		return "All"
	case b.kind == deposits:
		return b.provider
	}
	return providerName(b.provider)
}

// share returns the share that succeeded, in words: of the operations and the deposits with an outcome, and of all credits. A
// credit has no other outcome than that it is booked.
func (b business) share() string {
	if b.kind == "credit" {
		return shareOf(b.paid, b.paid+b.unknown)
	}
	return shareOf(b.paid, b.paid+b.failed+b.reversed)
}

// canReverse reports whether what has succeeded can still be reversed.
func (b business) canReverse() bool { return b.kind != "credit" && b.kind != deposits }

// shareOf returns a share in percent with one decimal place. It rounds down, so that one failure among many is never 100 %.
func shareOf(part, of int64) string {
	if of == 0 {
		return "–"
	}
	tenths := part * 1000 / of
	return strconv.FormatInt(tenths/10, 10) + "." + strconv.FormatInt(tenths%10, 10) + "%"
}

// byBusiness returns what each business did at each provider, and before several providers a row of all of them.
func (g glance) byBusiness() (out []business) {
	for _, kind := range businesses {
		all, at := business{kind: kind}, map[string]*business{}
		for _, h := range g.Hours {
			if h.Kind != kind {
				continue
			}
			if at[h.Provider] == nil {
				at[h.Provider] = &business{kind: kind, provider: h.Provider}
			}
			at[h.Provider].addHour(h)
			all.addHour(h)
		}
		if len(at) > 1 {
			out = append(out, all)
		}
		for _, name := range slices.Sorted(maps.Keys(at)) {
			out = append(out, *at[name])
		}
	}
	return append(out, g.byAsset()...)
}

// byAsset returns what arrived of each asset on each network.
func (g glance) byAsset() (out []business) {
	for _, d := range g.Deposits {
		at := slices.IndexFunc(out, func(b business) bool { return b.provider == d.Network && b.asset == d.Asset })
		if at < 0 {
			at, out = len(out), append(out, business{kind: deposits, provider: d.Network, asset: d.Asset, coins: "0"})
		}
		if out[at].add(d.Outcome, d.Count); d.Outcome == "paid" {
			out[at].coins = d.Amount
		}
	}
	return out
}

// span is a part of the list of payments: from and to are instants, and to is in it.
type span struct{ from, to time.Time }

// hourOf returns the span of an hour. Addresses have instants in milliseconds.
func hourOf(at time.Time) span { return span{at, at.Add(time.Hour - time.Millisecond)} }

// day returns the span that the charts show.
func (g glance) day() span {
	running := instant(g.At).Truncate(time.Hour)
	return span{running.Add(-23 * time.Hour), hourOf(running).to}
}

// paymentsAt returns the address of the payments in a state and a span. A zero instant is no limit, and a filter
// without a value is left out.
func paymentsAt(state, kind, provider string, at span) string {
	q := url.Values{"state": {state}}
	for name, value := range map[string]string{"kind": kind, "provider": provider} {
		if value != "" {
			q.Set(name, value)
		}
	}
	for name, limit := range map[string]time.Time{"from": at.from, "to": at.to} {
		if !limit.IsZero() {
			q.Set(name, clock.Text(limit))
		}
	}
	return "/console/payments?" + q.Encode()
}

// statesOf are the states of a list by the figure of a business, where they are not those of operations.
var statesOf = map[string]map[string]string{
	"credit": {"paid": "received", "unconfirmed": "ownerless"},
	deposits: {"paid": "completed", "unconfirmed": "unconfirmed"},
}

// succeeded returns the state of the payments of a kind that have succeeded.
func succeeded(kind string) string { return cmp.Or(statesOf[kind]["paid"], "paid") }

// businessAt returns the address of the payments or deposits of a business in a state.
func (g glance) businessAt(b business, state string) string {
	if of, differs := statesOf[b.kind]; differs {
		state = of[state]
	}
	if b.kind != deposits {
		return paymentsAt(state, b.kind, b.provider, g.day())
	}
	day := g.day()
	return "/console/payments/crypto?" + url.Values{
		"state": {state}, "network": {b.provider}, "asset": {b.asset}, "from": {clock.Text(day.from)}, "to": {clock.Text(day.to)},
	}.Encode()
}

// clearingPath returns the address of the payments in clearing of a class of ages, which lies between two ages.
func (g glance) clearingPath(class string) string {
	at := instant(g.At)
	ages := map[string][2]time.Duration{
		"1m": {0, time.Minute}, "10m": {time.Minute, 10 * time.Minute}, "2h": {10 * time.Minute, 2 * time.Hour}, "72h": {2 * time.Hour, 72 * time.Hour}, "older": {72 * time.Hour, 0},
	}
	var s span
	if youngest := ages[class][0]; youngest > 0 {
		s.to = at.Add(-youngest)
	}
	if oldest := ages[class][1]; oldest > 0 {
		s.from = at.Add(-oldest + time.Millisecond)
	}
	return paymentsAt("open", "", "", s)
}
