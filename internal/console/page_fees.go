package console

import (
	"net/url"

	"github.com/kobo-waas/kobo/internal/admin"
)

func (c *console) feeRoutes() map[string]route {
	return map[string]route{"GET /console/money/fees": {show: showFees, query: []string{"page"}}}
}

// feesInForce are the fees of a page of companies, and the proposals that would change them.
type feesInForce struct {
	list[admin.CompanyFees]
	waiting map[string]string // the ids of proposals by company
}

func showFees(v *visit) (view, error) {
	f := feesInForce{waiting: map[string]string{}}
	q := url.Values{"pageSize": {"50"}}
	if page := v.filter("page", ""); page != "" {
		q.Set("page", page)
	}
	if _, err := v.call("listFees", admin.Input{Query: q}, &f.list); err != nil {
		return view{}, err
	}
	var proposals list[admin.ProposedActs]
	_, err := v.call("listProposals", admin.Input{Query: url.Values{"status": {"PROPOSED"}, "pageSize": {"100"}}}, &proposals)
	for _, p := range proposals.Data {
		for _, act := range p.Acts {
			if act.Operation == "setFees" && p.Company != nil {
				f.waiting[*p.Company] = p.ProposalID
			}
		}
	}
	return view{title: "Fees", item: "money", body: feesPage(v, f)}, err
}

// bandWords returns the fee of a band in words, such as "₦25.00 + 0.10 %, at most ₦2,000.00".
func bandWords(b admin.Band) string {
	says := naira(b.Flat)
	switch {
	case b.Flat == 0 && b.Percent == 0:
		return "free"
	case b.Flat == 0:
		says = b.Percent.Decimal() + " %"
	case b.Percent != 0:
		says += " + " + b.Percent.Decimal() + " %"
	}
	if b.Cap != 0 {
		says += ", at most " + naira(b.Cap)
	}
	return says
}
