package report

import (
	"cmp"
	"context"
	"slices"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/settlement"
	"github.com/kobo-waas/kobo/internal/wire"
)

// Accounts returns what settlement.Service.Accounts returns, with one SQL query: a company's
// settlement accounts with their balances, in the order of their numbers. Each account shows its
// oldest bank account.
func (s *Service) Accounts(ctx context.Context, company string) ([]settlement.Account, error) {
	rows, err := db.All(ctx, s.db, scanAccount, `
		SELECT a.company_id, a.id, a.name, a.status, a.created_at, coalesce(l.balance_kobo, 0), coalesce(l.alert_kobo, 0),
			coalesce(b.account_number, ''), coalesce(b.account_name, ''), coalesce(b.bank_name, ''), coalesce(b.bank_code, ''),
			coalesce(b.created_at, 0)
		FROM settlement_account AS a
		LEFT JOIN ledger_account AS l ON l.company_id = a.company_id AND l.id = 'settlement/' || CAST(a.id AS TEXT)
		LEFT JOIN settlement_bank_account AS b ON b.company_id = a.company_id AND b.settlement_id = a.id
		WHERE a.company_id = $1`, company)
	slices.SortFunc(rows, func(a, b accountRow) int { // PostgreSQL takes longer for the few rows
		return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.since, b.since), cmp.Compare(a.AccountNumber, b.AccountNumber))
	})
	var out []settlement.Account
	found := false // whether the default account has been found
	for _, a := range rows {
		if n := len(out); n > 0 && out[n-1].ID == a.ID {
			continue // a later bank account of the same settlement account
		}
		a.IsDefault = a.Status == settlement.Active && !found
		found = found || a.IsDefault
		out = append(out, a.Account)
	}
	return out, err
}

// accountRow is a settlement account with one of its bank accounts.
type accountRow struct {
	settlement.Account
	since int64 // when the bank account was attached
}

func scanAccount(s db.Scanner) (accountRow, error) {
	var a accountRow
	var at int64
	var number, name, bank string
	err := s.Scan(&a.Company, &a.ID, &a.Name, &a.Status, &at, &a.Balance, &a.LowBalance, &number, &name, &bank, &a.BankCode, &a.since)
	a.CreatedAt.Time = clock.Time(at)
	a.AccountNumber, a.AccountName, a.BankName = wire.Text(number), wire.Text(name), wire.Text(bank)
	return a, err
}
