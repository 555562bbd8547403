package settlement

import (
	"context"

	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/operator"
)

// needed counts the accounts that were opened since a company had none.
const needed = "settlement/needed"

// Needed is the company's default settlement account. A company without one gets
// one with nothing in it: one, however many requests and programs find out at once
// that there is none.
func (s *Service) Needed(ctx context.Context, company, name string) (Account, error) {
	a, err := s.Default(ctx, company)
	for fault.Is(err, fault.Missing) {
		// The count first: an account that is opened after it was read raises it, and
		// then the commit is refused.
		var opened int64
		if opened, err = s.book.Last(ctx, company, needed); err != nil {
			return Account{}, err
		}
		if a, err = s.Default(ctx, company); !fault.Is(err, fault.Missing) {
			break
		}
		a, err = s.create(ctx, operator.Self(company).From(ctx), company, name, nil, ledger.Tally{Name: needed, Add: 1, Most: opened + 1})
		if ledger.Is(err, ledger.Over) {
			a, err = s.Default(ctx, company)
		}
	}
	return a, err
}
