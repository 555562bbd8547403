package console

import (
	"cmp"
	"net/url"
	"slices"
	"time"

	"github.com/kobo-waas/kobo/internal/admin"
)

// revenueFilters are the names of the filters, as in the address.
var revenueFilters = []string{"from", "to", "company"}

func (c *console) revenueRoutes() map[string]route {
	return map[string]route{
		"GET /console/money/revenue":     {show: showRevenue, query: append([]string{"after"}, revenueFilters...)},
		"GET /console/money/revenue.csv": {download: exportRevenue, query: revenueFilters},
	}
}

// revenueQuery returns the filters that the address has.
func (v *visit) revenueQuery() url.Values {
	q := url.Values{}
	for _, name := range revenueFilters {
		if value := v.filter(name, ""); value != "" {
			q.Set(name, value)
		}
	}
	return q
}

func showRevenue(v *visit) (view, error) {
	var p earnings
	q := v.revenueQuery()
	if _, err := v.call("findRevenue", admin.Input{Query: q}, &p.Revenue); err != nil {
		return view{}, err
	}
	var err error
	if q.Get("company") == "" {
		q.Del("company")
		if after := v.filter("after", ""); after != "" {
			q.Set("after", after)
		}
		_, err = v.call("listRevenue", admin.Input{Query: q}, &p.by)
	}
	return view{title: "Revenue", item: "money", body: revenuePage(v, p)}, err
}

// exportRevenue writes the whole period, by company, day, kind and provider.
func exportRevenue(v *visit) error {
	return v.API.Download(v.Context(), v.w, v.by, "exportRevenue", admin.Input{Query: v.revenueQuery()})
}

// exportRevenueAddress returns the address of the file with the same filters.
func (v *visit) exportRevenueAddress() string {
	if q := v.revenueQuery(); len(q) > 0 {
		return "/console/money/revenue.csv?" + q.Encode()
	}
	return "/console/money/revenue.csv"
}

// earnings are what a period earned, as the page shows them.
type earnings struct {
	admin.Revenue
	by admin.RevenueByCompany
}

// earnedBy is what one day, or one kind of operation at one provider, earned.
type earnedBy struct {
	at             time.Time
	kind, provider string
	admin.Earned
	running bool
}

func (e *earnedBy) add(l admin.RevenueLine) {
	e.Fees += l.Fees
	e.FeeCount += l.FeeCount
	e.Cost += l.Cost
	e.CostCount += l.CostCount
	e.Margin += l.Margin
}

// days returns each day of the period, the oldest first, also the days on which nothing was booked.
func (p earnings) days(now time.Time) (out []earnedBy) {
	first, err := time.ParseInLocation(time.DateOnly, p.From, lagos)
	if err != nil {
		return nil
	}
	at := map[string]int{}
	for day := first; ; day = day.AddDate(0, 0, 1) {
		text := day.Format(time.DateOnly)
		if text > p.To {
			break
		}
		at[text] = len(out)
		out = append(out, earnedBy{at: day, running: text == now.In(lagos).Format(time.DateOnly)})
	}
	for _, l := range p.Lines {
		if i, there := at[l.Day]; there {
			out[i].add(l)
		}
	}
	return out
}

// kinds returns the sums of the period by kind and provider, the highest fees first.
func (p earnings) kinds() (out []earnedBy) {
	for _, l := range p.Lines {
		kind, provider := optional(l.Kind), optional(l.Provider)
		i := slices.IndexFunc(out, func(e earnedBy) bool { return e.kind == kind && e.provider == provider })
		if i < 0 {
			i, out = len(out), append(out, earnedBy{kind: kind, provider: provider})
		}
		out[i].add(l)
	}
	slices.SortStableFunc(out, func(a, b earnedBy) int {
		return cmp.Or(cmp.Compare(b.Fees, a.Fees), cmp.Compare(b.Cost, a.Cost))
	})
	return out
}

// kindOf returns the word for what earns.
func kindOf(kind string) string {
	if kind == "" {
		return "Other bookings"
	}
	return label(kindChoices, kind)
}

// revenueCompanyWord returns the name of a company, or of the house.
func revenueCompanyWord(c admin.CompanyRevenue) string {
	if c.CompanyName == nil {
		return "No company"
	}
	return *c.CompanyName
}

// dayLabel returns a day as the axis of a chart and a table show it, such as "Sun 22 Nov".
func dayLabel(at time.Time) string { return at.In(lagos).Format("Mon 2 Jan") }
