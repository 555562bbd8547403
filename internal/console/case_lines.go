package console

import (
	"net/url"
	"slices"

	"github.com/kobo-waas/kobo/internal/admin"
	"github.com/kobo-waas/kobo/internal/money"
)

// caseLine is a case of a list, with what it is about.
type caseLine struct {
	admin.Case
	payment *admin.Payment // nil unless the money of a payment waits for the decision
	company string         // its name, or ""
}

const (
	// paymentPages is the number of pages of payments that a list of cases reads to name what the cases are about.
	paymentPages = 4
	// mostNamed is the number of companies that such a list looks up. Other companies are shown by the end of the reference.
	mostNamed = 10
)

// caseLines returns cases with their payments and companies.
func (v *visit) caseLines(cases []admin.Case) ([]caseLine, error) {
	out := make([]caseLine, len(cases))
	for i, c := range cases {
		out[i].Case = c
	}
	isOpen := func(c admin.Case) bool { return c.Status == "OPEN" && c.Amount == nil }
	q := url.Values{"word": {"case"}}
	for n := 0; n < paymentPages && slices.ContainsFunc(cases, isOpen); n++ {
		var page admin.Payments
		if _, err := v.call("listPayments", admin.Input{Query: q}, &page); err != nil {
			return nil, err
		}
		for _, p := range page.Payments {
			for i := range out {
				if out[i].Subject == p.Reference && out[i].Company == p.Company {
					out[i].payment, out[i].company = &p, optional(p.CompanyName)
				}
			}
		}
		if page.Next == nil {
			break
		}
		q.Set("after", *page.Next)
	}
	return out, v.nameCases(out)
}

// nameCases looks the companies up that the payments do not name.
func (v *visit) nameCases(lines []caseLine) (err error) {
	names := map[string]string{"house": ""}
	for i := range lines {
		name, known := names[lines[i].Company]
		if !known && lines[i].company == "" && len(names) <= mostNamed {
			if name, err = v.companyName(lines[i].Company); err != nil {
				return err
			}
			names[lines[i].Company] = name
		}
		if lines[i].company == "" {
			lines[i].company = name
		}
	}
	return nil
}

// amount returns what the case is worth, or nil.
func (l caseLine) amount() *money.Kobo {
	if l.Amount == nil && l.payment != nil {
		return &l.payment.Amount
	}
	return l.Amount
}

// whom returns the counterparty of the payment, or "".
func (l caseLine) whom() string {
	if l.payment == nil {
		return ""
	}
	return optional(l.payment.Counterparty)
}
