package console

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/admin"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operator"
)

// auditFilters are the filters of the audit log.
var auditFilters = []string{"company", "operator", "action", "from", "to"}

func (c *console) systemRoutes() map[string]route {
	return map[string]route{
		"GET /console/system":                  {show: showProviders},
		"GET /console/system/providers/{name}": {show: showProvider},
		"GET /console/system/jobs":             {show: showJobs},
		"POST /console/system/jobs/{id}/run":   {show: showJobs, do: runJob},
		"GET /console/system/audit":            {show: showAudit, query: append([]string{"after"}, auditFilters...)},
		"GET /console/system/audit.csv":        {download: exportingOfAll(exportAudit), query: auditFilters},
		"GET /console/system/settings":         {show: showSettings},
	}
}

// systemTabs are the pages below System.
var systemTabs = []tab{
	{"/console/system", "Providers"},
	{"/console/system/jobs", "Jobs"},
	{"/console/system/inbox", "Inbox"},
	{"/console/system/audit", "Audit"},
	{"/console/people", "People"},
	{"/console/system/settings", "Settings"},
	{"/console/system/maintenance", "Maintenance"},
}

func showProviders(v *visit) (view, error) {
	var p admin.Providers
	_, err := v.call("listProviders", admin.Input{}, &p)
	return view{title: "Providers", item: "system", body: providersPage(v, p)}, err
}

func showProvider(v *visit) (view, error) {
	var p admin.Provider
	_, err := v.call("findProvider", admin.Input{Path: map[string]string{"name": v.PathValue("name")}}, &p)
	return view{title: providerName(p.Name), item: "system", body: providerPage(v, p)}, err
}

func showJobs(v *visit) (view, error) {
	var j admin.Jobs
	_, err := v.call("listJobs", admin.Input{}, &j)
	return view{title: "Jobs", item: "system", body: jobsPage(v, j)}, err
}

func runJob(v *visit) (string, error) {
	in := v.id()
	in.Body = struct{}{}
	_, err := v.call("runJob", in, nil)
	return "/console/system/jobs", err
}

// auditQuery returns the filters of the audit log that the address has.
func (v *visit) auditQuery() url.Values {
	q := url.Values{}
	for _, name := range auditFilters {
		if value := strings.TrimSpace(v.URL.Query().Get(name)); value != "" {
			q.Set(name, value)
		}
	}
	return q
}

func showAudit(v *visit) (view, error) {
	var page cursorList[admin.AuditLine]
	q := v.auditQuery()
	q.Set("pageSize", "50")
	q.Set("after", v.filter("after", ""))
	_, err := v.call("listAudit", admin.Input{Query: q}, &page)
	return view{title: "Audit log", item: "system", body: auditPage(v, page)}, err
}

// exportAudit writes all lines that pass the filters, and not the page. The export is a line of the audit log.
func exportAudit(v *visit) error {
	return v.API.Download(v.Context(), v.w, v.by, "exportAudit", admin.Input{Query: v.auditQuery()})
}

func showSettings(v *visit) (view, error) {
	var s admin.Settings
	_, err := v.call("findSettings", admin.Input{}, &s)
	return view{title: "Settings", item: "system", body: settingsPage(v, s)}, err
}

// providerChip returns the kind and the word of a provider's health in the last fifteen minutes, as one program
// has seen it.
func providerChip(t admin.ProviderTally, lastSuccess, lastFailure *string) (kind, word string) {
	switch {
	case t.Calls == 0:
		return "idle", "No calls"
	case t.Unknowns > 0 && t.Unknowns*2 >= t.Calls:
		return "failed", "No outcomes"
	case t.Unknowns > 0:
		return "unknown", "Some without an outcome"
	case t.NotSent > 0:
		return "failed", "Not reached"
	case t.Successes == 0 && lastFailure != nil && (lastSuccess == nil || *lastFailure > *lastSuccess):
		return "failed", "Refuses"
	}
	return "ok", "Answers"
}

// tallyWords returns the results of calls in words.
func tallyWords(t admin.ProviderTally) string {
	if t.Calls == 0 {
		return "none"
	}
	out := []string{count(int(t.Calls), "call", "calls")}
	for _, part := range []struct {
		n    int64
		word string
	}{{t.Refusals, "refused"}, {t.NotSent, "not sent"}, {t.Unknowns, "without an outcome"}} {
		if part.n > 0 {
			out = append(out, itoa(part.n)+" "+part.word)
		}
	}
	return strings.Join(out, ", ")
}

// speed returns how long calls took.
func speed(t admin.ProviderTally) string {
	if t.Calls == 0 {
		return "–"
	}
	ms := func(n int64) string {
		if n >= 1000 {
			return strconv.FormatInt(n/1000, 10) + "." + strconv.FormatInt(n%1000/100, 10) + " s"
		}
		return itoa(n) + " ms"
	}
	return ms(t.P50Ms) + ", p99 " + ms(t.P99Ms)
}

// ofAge are the classes of ages of unknown outcomes in words.
var ofAge = map[string]string{"5m": "up to 5 min", "1h": "up to 1 h", "24h": "up to 24 h", "older": "over 24 h"}

func koboOf(n int64) money.Kobo { return money.Kobo(n) }

// walletChip returns the kind and the word of a wallet's balance.
func walletChip(w *admin.ProviderWallet) (kind, word string) {
	if w.LowKobo != nil && w.BalanceKobo < *w.LowKobo {
		return "failed", "Low"
	}
	return "ok", "Enough"
}

// jobWord returns the name of a kind of job in words: operation.resolve becomes "Ask for an outcome".
func jobWord(kind string) string { return sentence(words(kind)) }

// queues returns the queues with jobs that are due first.
func queues(j admin.Jobs) []admin.JobQueue {
	out := slices.Clone(j.Queues)
	slices.SortStableFunc(out, func(a, b admin.JobQueue) int { return instantOr(a.DueSince).Compare(instantOr(b.DueSince)) })
	return out
}

// instantOr reads an optional instant. A missing one is later than all others.
func instantOr(text *string) time.Time {
	if text == nil {
		return time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	return instant(*text)
}

// many returns a count that ends at 10,000.
func many(n int64) string {
	if n >= 10_000 {
		return "over 10,000"
	}
	return thousands(itoa(n))
}

// exportAddress returns the address of the file with all lines that pass the filters.
func (v *visit) exportAddress() string {
	if q := v.auditQuery(); len(q) > 0 {
		return "/console/system/audit.csv?" + q.Encode()
	}
	return "/console/system/audit.csv"
}

// exportWords says which lines of the audit log the file has.
func (v *visit) exportWords() string {
	if len(v.auditQuery()) > 0 {
		return "Export all lines that match as CSV"
	}
	return "Export all lines as CSV"
}

// mayRun reports whether the person may run a failing job.
func (v *visit) mayRun() bool { return v.may(operator.Support) }
