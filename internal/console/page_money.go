package console

import (
	"net/url"

	"github.com/kobo-waas/kobo/internal/admin"
)

func (c *console) moneyRoutes() map[string]route {
	return map[string]route{
		"GET /console/money":             {show: showMoney},
		"GET /console/money/runs":        {show: showRuns, query: []string{"provider", "after"}},
		"GET /console/money/runs/{id}":   {show: showRun},
		"GET /console/money/adjustments": {show: showAdjustments, query: []string{"status", "after"}},
	}
}

// moneyTabs are the pages below Money.
var moneyTabs = []tab{
	{"/console/money", "Banks"},
	{"/console/money/days", "Days"},
	{"/console/money/runs", "Comparisons"},
	{"/console/money/adjustments", "Adjustments"},
	{"/console/money/revenue", "Revenue"},
	{"/console/money/fees", "Fees"},
}

// tab is a page beside others of the same item of the menu.
type tab struct{ path, label string }

// tabsOf returns the tabs whose page the console serves.
func (v *visit) tabsOf(all []tab) (out []tab) {
	for _, t := range all {
		if v.has("GET " + t.path) {
			out = append(out, t)
		}
	}
	return out
}

func showMoney(v *visit) (view, error) {
	var o admin.Overview
	_, err := v.call("findOverview", admin.Input{}, &o)
	return view{title: "Money", item: "money", body: moneyPage(v, glance{o, v})}, err
}

func showRuns(v *visit) (view, error) {
	var page cursorList[admin.Reconciliation]
	q := url.Values{"after": {v.filter("after", "")}, "pageSize": {"50"}}
	if bank := v.filter("provider", ""); bank != "" {
		q.Set("provider", bank)
	}
	_, err := v.call("listReconciliations", admin.Input{Query: q}, &page)
	return view{title: "Comparisons", item: "money", body: runsPage(v, page)}, err
}

func showRun(v *visit) (view, error) {
	var r admin.ReconciliationDetail
	_, err := v.call("findReconciliation", v.id(), &r)
	return view{title: "Comparison of " + providerName(r.Provider), item: "money", body: runPage(v, r)}, err
}

func showAdjustments(v *visit) (view, error) {
	var page cursorList[admin.Adjustment]
	q := url.Values{"after": {v.filter("after", "")}, "pageSize": {"50"}}
	if status := v.filter("status", ""); status != "" {
		q.Set("status", status)
	}
	_, err := v.call("listAdjustments", admin.Input{Query: q}, &page)
	return view{title: "Adjustments", item: "money", body: adjustmentsPage(v, page)}, err
}

// runChip returns the kind and the word of a comparison's result.
func runChip(trouble *string, breaks, undecided int64) (kind, word string) {
	switch {
	case trouble != nil:
		return "failed", "Not compared"
	case undecided > 0:
		return "failed", count(int(undecided), "break", "breaks")
	case breaks > 0:
		return "ok", "All decided"
	}
	return "ok", "Agrees"
}

// adjustmentChip returns the kind and the word of an adjustment's state.
func adjustmentChip(status string) (kind, word string) {
	switch status {
	case "PENDING":
		return "propose", "Waiting for approval"
	case "APPROVED":
		return "ok", "Booked"
	}
	return "failed", "Rejected"
}

// signed returns an amount with the direction of an adjustment.
func signed(a admin.Adjustment) string {
	if a.Direction == "debit" {
		return naira(-a.Amount)
	}
	return naira(a.Amount)
}
