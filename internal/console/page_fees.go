package console

import (
	"net/url"

	"github.com/kobo-waas/kobo/internal/admin"
)

func (c *console) feeRoutes() map[string]route {
	return map[string]route{"GET /console/money/fees": {show: showFees, query: []string{"after"}}}
}

// feesInForce are the fees of a page of companies, and the proposals that would change them.
type feesInForce struct {
	cursorList[admin.CompanyFees]
	waiting map[string]string // the ids of proposals by company
}

func showFees(v *visit) (view, error) {
	f := feesInForce{waiting: map[string]string{}}
	q := url.Values{"after": {v.filter("after", "")}, "pageSize": {"50"}}
	if _, err := v.call("listFees", admin.Input{Query: q}, &f.cursorList); err != nil {
		return view{}, err
	}
	proposals, err := allOf[admin.ProposedActs](v, "listProposals", url.Values{"status": {"PROPOSED"}})
	for _, p := range proposals {
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
