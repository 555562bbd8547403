package settlement

import (
	"context"

	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/operator"
)

// needed is the name of the limit counter that counts the accounts opened by Needed.
const needed = "settlement/needed"

// Needed returns the company's default settlement account. If the company has no default account,
// Needed opens an empty account. Concurrent requests, even in different programs, open only one
// account.
func (s *Service) Needed(ctx context.Context, company, name string) (Account, error) {
	a, err := s.Default(ctx, company)
	for fault.Is(err, fault.Missing) {
		// The count must be read before the default account. If another request opens an account
		// after this read, it raises the count. The ledger then refuses the unit of this request.
		var opened int64
		if opened, err = s.Book.Last(ctx, company, needed); err != nil {
			return Account{}, err
		}
		if a, err = s.Default(ctx, company); !fault.Is(err, fault.Missing) {
			break
		}
		u := ledger.For(company)
		u.Count(needed, 1, opened+1)
		a, err = s.create(ctx, operator.Self(company).From(ctx), u, name, func(*ledger.Unit, Account) {})
		if ledger.Is(err, ledger.Over) {
			a, err = s.Default(ctx, company)
		}
	}
	return a, err
}
