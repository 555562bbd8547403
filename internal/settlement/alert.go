package settlement

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/idempotency"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operator"
)

// Alert sets the low-balance alert of a settlement account; 0 ends it. The company gets
// an event each time the balance falls below the amount. A balance that is below already
// must first rise to the amount. Key is the request's Idempotency-Key; nil for none.
func (s *Service) Alert(
	ctx context.Context, by operator.Operator, company string, settlementID int64, below money.Kobo, key *idempotency.Key,
) (Account, error) {
	if below < 0 || below > money.Max {
		return Account{}, fault.New(fault.Invalid, `"lowBalance" is not an amount`)
	}
	a, err := s.Find(ctx, company, settlementID)
	if err != nil {
		return Account{}, err
	}
	a.LowBalance = below
	u := ledger.For(company)
	key.Answer(&u, a, nil)
	u.SetAlert(LedgerAccount(settlementID), below)
	by.Audit(&u, "settlement.alert", LedgerAccount(settlementID), map[string]string{"lowBalance": below.Decimal()}, s.Clock.Now())
	if err = s.Book.Commit(ctx, u); err != nil {
		return Account{}, explain(idempotency.Taken(err))
	}
	return a, nil
}

// AlertOwn is Alert by the company itself, through its API.
func (s *Service) AlertOwn(ctx context.Context, company string, settlementID int64, below money.Kobo, key *idempotency.Key) (Account, error) {
	return s.Alert(ctx, operator.Self(company).From(ctx), company, settlementID, below, key)
}

// fell makes the events for the falls of a batch, with the accounts as they are after
// the batch. The ledger calls fell inside the batch.
func (s *Service) fell(falls []ledger.Fall, read func(lookups ...db.Lookup) error) ([]db.Record, error) {
	byCompany, err := accountsUnder(falls, read)
	if err != nil {
		return nil, err
	}
	out := make([]db.Record, len(falls))
	for i, f := range falls {
		at := slices.IndexFunc(byCompany[f.Company], func(a Account) bool { return LedgerAccount(a.ID) == f.Account })
		if at < 0 {
			return nil, fmt.Errorf("settlement: an alert of %s, which is no settlement account", f.Account)
		}
		a := byCompany[f.Company][at]
		a.Balance, a.LowBalance = f.Balance, f.Below
		out[i] = event.New(f.Company, event.SettlementLowBalance, a)
	}
	return out, nil
}

// accountsUnder reads the accounts of all companies with a fall. It leaves out balances
// and alerts.
func accountsUnder(falls []ledger.Fall, read func(lookups ...db.Lookup) error) (map[string][]Account, error) {
	var keys [][]any
	byCompany, feeding := map[string][]Account{}, map[string][]feeder{}
	for _, f := range falls {
		if _, named := byCompany[f.Company]; !named {
			byCompany[f.Company] = nil
			keys = append(keys, []any{f.Company})
		}
	}
	err := read(
		lookUp(accounts, keys, func(a Account) { byCompany[a.Company] = append(byCompany[a.Company], a) }),
		lookUp(feeders, keys, func(f feeder) { feeding[f.Company] = append(feeding[f.Company], f) }),
	)
	for company, list := range byCompany {
		slices.SortFunc(list, func(a, b Account) int { return cmp.Compare(a.ID, b.ID) })
		sortByAge(feeding[company])
		complete(list, feeding[company])
	}
	return byCompany, err
}

// lookUp finds all rows of some companies in a table.
func lookUp[T any](table *db.Declared[T], companies [][]any, found func(T)) db.Lookup {
	return db.Lookup{
		Table: table.Table, By: []string{"company_id"}, Columns: table.Names()[1:], Keys: companies,
		Found: func(row []any) error {
			v, err := table.Value(db.Record{Table: table.Table, Values: row})
			if err == nil {
				found(v)
			}
			return err
		},
	}
}
