package report

import (
	"context"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/operation"
)

// CaseLine is a case of a list, with what the case is about.
type CaseLine struct {
	operation.Case
	CompanyName string       // "" for the house
	Payment     *PaymentLine // the payout, purchase or card funding; nil if the case is about something else
}

// CaseLines returns these cases with their companies and payments. Each is looked up by its key.
func (s *Service) CaseLines(ctx context.Context, cases []operation.Case) (lines []CaseLine, err error) {
	var companies, subjects []string
	for _, c := range cases {
		companies, subjects = append(companies, c.Company), append(subjects, c.Subject)
	}
	err = s.db.Snapshot(ctx, func(q db.Querier) error {
		lines = nil // a snapshot may begin again
		names, err := companyNames(ctx, q, companies)
		if err != nil {
			return err
		}
		rows, err := operationsNamed(ctx, q, companies, subjects)
		if err != nil {
			return err
		}
		page, err := s.paymentPage(ctx, q, rows, position{}, "")
		about := map[[2]string]*PaymentLine{}
		for i, p := range page.Payments {
			about[[2]string{p.Company, p.Reference}] = &page.Payments[i]
		}
		for _, c := range cases {
			lines = append(lines, CaseLine{c, names[c.Company], about[[2]string{c.Company, c.Subject}]})
		}
		return err
	})
	return lines, err
}
