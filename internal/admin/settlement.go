package admin

import (
	"context"
	"strconv"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/settlement"
	"github.com/kobo-waas/kobo/internal/wire"
)

func accountOf(a settlement.Account) SettlementAccount {
	return SettlementAccount{
		ID: a.ID, Name: a.Name, AccountNumber: wire.Optional(string(a.AccountNumber)),
		AccountName: wire.Optional(string(a.AccountName)), BankName: wire.Optional(string(a.BankName)), Balance: a.Balance, IsDefault: a.IsDefault,
		Status: string(a.Status), CreatedAt: clock.Text(a.CreatedAt.Time), LowBalance: wire.Optional(a.LowBalance),
	}
}

func (e *edge) createAccount(ctx context.Context, r *request, body AccountRequest) (any, error) {
	a, err := e.Settlements.CreateFor(ctx, r.by, r.PathValue("reference"), body.Name)
	return accountOf(a), err
}

// account returns the company and the number of the settlement account in the path. If there is
// no account with this number, the settlement service refuses the number.
func (e *edge) account(ctx context.Context, r *request) (company string, settlementID int64, err error) {
	c, err := e.Companies.Find(ctx, r.PathValue("reference"))
	if err != nil {
		return "", 0, err
	}
	settlementID, err = strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil {
		settlementID = 0 // no account has the number 0
	}
	return c.Reference, settlementID, nil
}

func (e *edge) setAccountStatus(ctx context.Context, r *request, body StatusRequest) (any, error) {
	company, settlementID, err := e.account(ctx, r)
	if err != nil {
		return nil, err
	}
	a, err := e.Settlements.SetStatus(ctx, r.by, company, settlementID, settlement.Status(body.Status), body.Reason)
	return accountOf(a), err
}

// setAccountAlert sets the balance below which the company gets an alert. null means no alert.
func (e *edge) setAccountAlert(ctx context.Context, r *request, body AlertRequest) (any, error) {
	company, settlementID, err := e.account(ctx, r)
	if err != nil {
		return nil, err
	}
	var below money.Kobo
	if body.LowBalance != nil {
		below = *body.LowBalance
	}
	a, err := e.Settlements.Alert(ctx, r.by, company, settlementID, below)
	return accountOf(a), err
}

func bankAccountOf(b settlement.BankAccount) BankAccount {
	return BankAccount{b.Number, b.Name, b.BankName, b.BankCode, clock.Text(b.Since)}
}

// listBankAccounts lists the bank accounts whose credits go into a settlement account. The
// company sees only the first bank account.
func (e *edge) listBankAccounts(ctx context.Context, r *request) (any, error) {
	company, settlementID, err := e.account(ctx, r)
	if err != nil {
		return nil, err
	}
	all, err := e.Settlements.BankAccounts(ctx, company, settlementID)
	return rows(all, bankAccountOf), err
}

// attachBankAccount assigns a bank account that was opened elsewhere to a settlement account.
// Credits to the bank account then go into the settlement account.
func (e *edge) attachBankAccount(ctx context.Context, r *request, body BankAccountRequest) (any, error) {
	company, settlementID, err := e.account(ctx, r)
	if err != nil {
		return nil, err
	}
	b, err := e.Settlements.Attach(ctx, r.by, company, settlementID, body.Bank, body.AccountNumber, body.AccountName)
	return bankAccountOf(b), err
}
