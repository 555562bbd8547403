package settlement

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/idempotency"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operator"
)

// Alert has the company told when what a settlement account holds falls below an
// amount, 0 for never again. Who is below it already is told after the balance
// has been up.
func (s *Service) Alert(ctx context.Context, by operator.Operator, company string, settlementID int64, below money.Kobo) (Account, error) {
	return s.alert(ctx, by, company, settlementID, below, nil)
}

// AlertOwn is Alert by the company itself, through its API. Key is the request's
// Idempotency-Key; nil for none.
func (s *Service) AlertOwn(ctx context.Context, company string, settlementID int64, below money.Kobo, key *idempotency.Key) (Account, error) {
	return s.alert(ctx, operator.Self(company).From(ctx), company, settlementID, below, key)
}

func (s *Service) alert(ctx context.Context, by operator.Operator, company string, settlementID int64, below money.Kobo, key *idempotency.Key) (Account, error) {
	if below < 0 || below > money.Max {
		return Account{}, fault.New(fault.Invalid, `"lowBalance" is not an amount`)
	}
	a, err := s.Find(ctx, company, settlementID)
	if err != nil {
		return Account{}, err
	}
	a.LowBalance = below
	err = s.book.Commit(ctx, ledger.Unit{
		Company: company,
		Claims:  key.Answered(a, nil),
		Alerts:  []ledger.Alert{{Account: LedgerAccount(settlementID), Below: below}},
		Notes: []db.Record{by.Note(
			company, "settlement.alert", LedgerAccount(settlementID), map[string]string{"lowBalance": below.Decimal()}, s.clock.Now(),
		)},
	})
	if err != nil {
		return Account{}, explain(idempotency.Taken(err))
	}
	return a, nil
}

// fell is what a company is told of the falls of a batch: its accounts as they
// are then. It is asked inside the batch, of whatever debits an account.
func (s *Service) fell(falls []ledger.Fall, read func(lookups ...db.Lookup) error) ([]db.Record, error) {
	accounts, err := accountsUnder(falls, read)
	if err != nil {
		return nil, err
	}
	out := make([]db.Record, len(falls))
	for i, f := range falls {
		at := slices.IndexFunc(accounts[f.Company], func(a Account) bool { return LedgerAccount(a.ID) == f.Account })
		if at < 0 {
			return nil, fmt.Errorf("settlement: an alert of %s, which is no settlement account", f.Account)
		}
		a := accounts[f.Company][at]
		a.Balance, a.LowBalance = f.Balance, f.Below
		out[i] = event.New(f.Company, event.SettlementLowBalance, a)
	}
	return out, nil
}

// accountsUnder reads the accounts of the companies of some falls, without
// balances and alerts.
func accountsUnder(falls []ledger.Fall, read func(lookups ...db.Lookup) error) (map[string][]Account, error) {
	var keys [][]any
	accounts, feeds := map[string][]Account{}, map[string][]feed{}
	for _, f := range falls {
		if _, named := accounts[f.Company]; !named {
			accounts[f.Company] = nil
			keys = append(keys, []any{f.Company})
		}
	}
	err := read(db.Lookup{
		Table: accountTable, By: []string{"company_id"}, Columns: accountTable.Names()[1:], Keys: keys,
		Found: func(row []any) error {
			a := Account{
				Company: row[0].(string), ID: row[1].(int64), Name: row[2].(string), Status: Status(row[3].(string)), CreatedAt: clock.Time(row[4].(int64)),
			}
			accounts[a.Company] = append(accounts[a.Company], a)
			return nil
		},
	}, db.Lookup{
		Table: bankAccountTable, By: []string{"company_id"}, Columns: bankAccountTable.Names()[1:], Keys: keys,
		Found: func(row []any) error {
			company := row[0].(string)
			feeds[company] = append(feeds[company], feed{row[3].(int64), BankAccount{
				Number: row[1].(string), BankCode: row[2].(string), Name: row[4].(string), BankName: row[5].(string),
				Since: clock.Time(row[6].(int64)),
			}})
			return nil
		},
	})
	for company, list := range accounts {
		slices.SortFunc(list, func(a, b Account) int { return cmp.Compare(a.ID, b.ID) })
		complete(list, firsts(feeds[company]))
	}
	return accounts, err
}
