package admin

import (
	"context"
	"strconv"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/settlement"
)

type accountRow struct {
	ID            int64       `json:"id"`
	Name          string      `json:"name"`
	AccountNumber *string     `json:"accountNumber"`
	AccountName   *string     `json:"accountName"`
	BankName      *string     `json:"bankName"`
	Balance       money.Kobo  `json:"balance"`
	IsDefault     bool        `json:"isDefault"`
	Status        string      `json:"status"`
	CreatedAt     string      `json:"createdAt"`
	LowBalance    *money.Kobo `json:"lowBalance"` // null: the company is not told
}

func accountOf(a settlement.Account) accountRow {
	row := accountRow{
		ID: a.ID, Name: a.Name, AccountNumber: present(a.AccountNumber), AccountName: present(a.AccountName), BankName: present(a.BankName),
		Balance: a.Balance, IsDefault: a.IsDefault, Status: string(a.Status), CreatedAt: clock.Text(a.CreatedAt),
	}
	if a.LowBalance > 0 {
		row.LowBalance = &a.LowBalance
	}
	return row
}

func (d *door) createAccount(ctx context.Context, r *request) (any, error) {
	name := r.form.text("name")
	if err := r.form.done(); err != nil {
		return nil, err
	}
	a, err := d.Settlements.Create(ctx, r.by, r.PathValue("reference"), name)
	return accountOf(a), err
}

// account is the settlement account that the path names, which need not exist:
// the business says so.
func (d *door) account(ctx context.Context, r *request) (company string, settlementID int64, err error) {
	c, err := d.Companies.Find(ctx, r.PathValue("reference"))
	if err != nil {
		return "", 0, err
	}
	settlementID, err = strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil {
		settlementID = 0 // no account's number
	}
	return c.Reference, settlementID, nil
}

// setStatus switches a settlement account on or off.
func (d *door) setStatus(ctx context.Context, r *request) (any, error) {
	status, reason := r.form.text("status"), r.form.optional("reason")
	if err := r.form.done(); err != nil {
		return nil, err
	}
	company, settlementID, err := d.account(ctx, r)
	if err != nil {
		return nil, err
	}
	a, err := d.Settlements.SetStatus(ctx, r.by, company, settlementID, settlement.Status(status), reason)
	return accountOf(a), err
}

// setAlert says below which balance the company is told, null for never.
func (d *door) setAlert(ctx context.Context, r *request) (any, error) {
	below := r.form.threshold("lowBalance")
	if err := r.form.done(); err != nil {
		return nil, err
	}
	company, settlementID, err := d.account(ctx, r)
	if err != nil {
		return nil, err
	}
	a, err := d.Settlements.Alert(ctx, r.by, company, settlementID, below)
	return accountOf(a), err
}

// bankAccountRow is a bank account whose credits go into a settlement account.
type bankAccountRow struct {
	AccountNumber string `json:"accountNumber"`
	AccountName   string `json:"accountName"`
	BankName      string `json:"bankName"`
	BankCode      string `json:"bankCode"`
	Since         string `json:"since"`
}

func bankAccountOf(b settlement.BankAccount) bankAccountRow {
	return bankAccountRow{b.Number, b.Name, b.BankName, b.BankCode, clock.Text(b.Since)}
}

// listBankAccounts are what feeds a settlement account; the first is shown with
// it.
func (d *door) listBankAccounts(ctx context.Context, r *request) (any, error) {
	company, settlementID, err := d.account(ctx, r)
	if err != nil {
		return nil, err
	}
	all, err := d.Settlements.BankAccounts(ctx, company, settlementID)
	rows := make([]bankAccountRow, len(all))
	for i, b := range all {
		rows[i] = bankAccountOf(b)
	}
	return rows, err
}

// attach has a bank account that was opened otherwise feed a settlement account.
func (d *door) attach(ctx context.Context, r *request) (any, error) {
	bank, number, name := r.form.text("bank"), r.form.text("accountNumber"), r.form.text("accountName")
	if err := r.form.done(); err != nil {
		return nil, err
	}
	company, settlementID, err := d.account(ctx, r)
	if err != nil {
		return nil, err
	}
	b, err := d.Settlements.Attach(ctx, r.by, company, settlementID, bank, number, name)
	return bankAccountOf(b), err
}
