// Package settlement keeps the companies' wallets.
//
// A company holds its money in settlement accounts. Each has a small number of
// the company's own, and a line in the ledger, settlement/<number>, that never
// goes below zero. Bank accounts feed it: what is paid into one of them becomes
// part of its balance.
//
// The other accounts of the book that more than one business uses are named
// here too: provider/<name> is the fintech's money at a provider as this
// company's book sees it, and clearing/<kind> is money on its way out.
package settlement

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/idempotency"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/quota"
	"github.com/kobo-waas/kobo/internal/text"
)

// Status tells whether an account may be used.
type Status string

// The states of a settlement account.
const (
	Active   Status = "ACTIVE"
	Inactive Status = "INACTIVE"
)

// Account is a settlement account, with the first bank account that feeds it.
type Account struct {
	ID            int64
	Company       string
	Name          string
	Status        Status
	IsDefault     bool // the first active one of the company
	Balance       money.Kobo
	LowBalance    money.Kobo // the company is told when the balance falls below; 0 for never
	AccountNumber string     // "" until a bank account feeds it
	AccountName   string
	BankName      string
	BankCode      string
	CreatedAt     time.Time
}

// MarshalJSON is the account as GET /settlement/accounts shows it, which is what
// its event carries: the API's answers are made of this very type.
func (a Account) MarshalJSON() ([]byte, error) {
	var low *money.Kobo
	if a.LowBalance > 0 {
		low = &a.LowBalance
	}
	return json.Marshal(struct {
		ID            int64             `json:"id"`
		Name          string            `json:"name"`
		AccountNumber *string           `json:"accountNumber"`
		AccountName   *string           `json:"accountName"`
		BankName      *string           `json:"bankName"`
		Balance       money.Kobo        `json:"balance"`
		Currency      map[string]string `json:"currency"`
		IsDefault     bool              `json:"isDefault"`
		Status        Status            `json:"status"`
		CreatedAt     string            `json:"createdAt"`
		LowBalance    *money.Kobo       `json:"lowBalance"`
	}{
		a.ID, a.Name, present(a.AccountNumber), present(a.AccountName), present(a.BankName), a.Balance,
		map[string]string{"name": "NGN"},
		a.IsDefault, a.Status, clock.Text(a.CreatedAt), low,
	})
}

func present(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// ProviderAccount is the ledger account that stands for the fintech's money at
// a provider, by the provider's name. It may go below zero: the bank's is where
// credits come from.
func ProviderAccount(name string) string { return "provider/" + name }

// LedgerAccount is the ledger account of a settlement account.
func LedgerAccount(settlementID int64) string {
	return "settlement/" + strconv.FormatInt(settlementID, 10)
}

// ClearingAccount is the ledger account that holds money on its way out, by the
// kind of operation.
func ClearingAccount(kind string) string { return "clearing/" + kind }

// FeeAccount is the ledger account of what the company was charged for our
// services.
const FeeAccount = "fee"

// ChargeAccount is the ledger account of what a provider charged the fintech for
// this company's operations, by the provider's name. It is the fintech's expense
// and goes below zero.
func ChargeAccount(name string) string { return "charge/" + name }

// Service is all that can be done with settlement accounts.
type Service struct {
	db         *db.DB
	book       *ledger.Book
	clock      clock.Clock
	operations *operation.Service // for the cases of money that nobody claims
	takers     []Taker
	banks      map[string]Bank // by the provider's name
}

// New is the service on a database and its book.
func New(d *db.DB, book *ledger.Book, clk clock.Clock, operations *operation.Service) *Service {
	s := &Service{db: d, book: book, clock: clk, operations: operations, banks: map[string]Bank{}}
	operations.Settle(operation.UnknownAccount, operation.Assigned, s.assigned)
	operations.Settle(operation.MissingCredit, operation.Assigned, s.found)
	operations.Settle(operation.UnbookedCharge, operation.Booked, s.booked)
	operations.Settle(operation.NotOnStatement, operation.Booked, s.booked)
	book.Watch(s.fell)
	return s
}

var (
	errNoAccount = fault.New(fault.Missing, "Settlement account not found")
	errNoCompany = fault.New(fault.Missing, "Company not found")
	errForeign   = fault.New(fault.Refused, "The bank account belongs to another company")
	errShort     = fault.New(fault.Refused, "Insufficient balance")
)

// Create opens a settlement account with nothing in it.
func (s *Service) Create(ctx context.Context, by operator.Operator, company, name string) (Account, error) {
	return s.create(ctx, by, company, name, nil)
}

// CreateOwn is Create by the company itself, through its API. Key is the
// request's Idempotency-Key; nil for none. The company's quota counts here alone:
// a fault of kind Limited says that the day's is used up.
func (s *Service) CreateOwn(ctx context.Context, company, name string, key *idempotency.Key) (Account, error) {
	now := s.clock.Now()
	one, err := quota.Next(ctx, s.db, company, quota.SettlementAccount, now)
	if err != nil {
		return Account{}, err
	}
	a, err := s.create(ctx, operator.Self(company).From(ctx), company, name, key, one)
	return a, quota.Reached(err, now)
}

// attempts is how many numbers create tries when others take them first.
const attempts = 100

// create gives the account the number above the company's highest, in the unit that
// makes it. Of two who want the same number the ledger gives it to one, and the
// other tries the next. The tallies may refuse it.
func (s *Service) create(
	ctx context.Context, by operator.Operator, company, name string, key *idempotency.Key, tallies ...ledger.Tally,
) (Account, error) {
	name = text.Trim(name)
	if n := utf8.RuneCountInString(name); n < 2 || n > 100 {
		return Account{}, fault.New(fault.Invalid, `"name" must have 2 to 100 characters`)
	}
	for range attempts {
		earlier, err := s.accounts(ctx, company)
		if err != nil {
			return Account{}, err
		}
		now := s.clock.Now()
		a := Account{
			ID: 1, Company: company, Name: name, Status: Active, CreatedAt: now,
			IsDefault: !slices.ContainsFunc(earlier, func(e Account) bool { return e.Status == Active }),
		}
		if n := len(earlier); n > 0 {
			a.ID = earlier[n-1].ID + 1
		}
		u := ledger.For(company)
		u.Tallies = tallies
		u.OpenAccounts(ledger.Account{ID: LedgerAccount(a.ID), Floor: 0})
		key.Answer(&u, a, nil)
		u.Insert(a.record())
		u.Append(by.Note(company, "settlement.create", LedgerAccount(a.ID), map[string]string{"name": name}, now))
		err = idempotency.Taken(s.book.Commit(ctx, u)) // the key first: a repeated request takes no number
		if ledger.Is(err, ledger.Exists, accountTable) {
			continue
		}
		if err != nil {
			return Account{}, explain(err)
		}
		return a, nil
	}
	return Account{}, fault.New(fault.Unavailable, "Service temporarily unavailable")
}

// Accounts are a company's settlement accounts with their balances, by number.
func (s *Service) Accounts(ctx context.Context, company string) ([]Account, error) {
	accounts, err := s.accounts(ctx, company)
	if err != nil {
		return nil, err
	}
	feeds, err := s.feeders(ctx, company)
	if err != nil {
		return nil, err
	}
	balances, err := s.book.Balances(ctx, company)
	if err != nil {
		return nil, err
	}
	alerts, err := s.book.Alerts(ctx, company)
	if err != nil {
		return nil, err
	}
	complete(accounts, firsts(feeds))
	for i := range accounts {
		a := &accounts[i]
		a.Balance, a.LowBalance = balances[LedgerAccount(a.ID)], alerts[LedgerAccount(a.ID)]
	}
	return accounts, nil
}

// complete adds to all of a company's accounts, by number, which is the default
// and what feeds them.
func complete(accounts []Account, feeds map[int64]BankAccount) {
	first := true
	for i := range accounts {
		a := &accounts[i]
		a.IsDefault = first && a.Status == Active
		first = first && !a.IsDefault
		if f, fed := feeds[a.ID]; fed {
			a.AccountNumber, a.AccountName, a.BankName, a.BankCode = f.Number, f.Name, f.BankName, f.BankCode
		}
	}
}

// Find is one settlement account of the company. Another company's number is
// like one that does not exist.
func (s *Service) Find(ctx context.Context, company string, settlementID int64) (Account, error) {
	return s.pick(ctx, company, func(a Account) bool { return a.ID == settlementID })
}

// Default is the company's first active settlement account.
func (s *Service) Default(ctx context.Context, company string) (Account, error) {
	return s.pick(ctx, company, func(a Account) bool { return a.IsDefault })
}

func (s *Service) pick(ctx context.Context, company string, is func(Account) bool) (Account, error) {
	accounts, err := s.Accounts(ctx, company)
	if err != nil {
		return Account{}, err
	}
	for _, a := range accounts {
		if is(a) {
			return a, nil
		}
	}
	return Account{}, errNoAccount
}

// BankAccount is an account at a bank that feeds a settlement account.
type BankAccount struct {
	Number   string
	Name     string
	BankName string
	BankCode string
	Since    time.Time
}

// Feed has a bank account feed a settlement account from here on. An account
// number belongs to one company for good.
func (s *Service) Feed(ctx context.Context, by operator.Operator, company string, settlementID int64, b BankAccount) error {
	if _, err := s.Find(ctx, company, settlementID); err != nil {
		return err
	}
	// First the directory, then the account: a credit that arrives in between
	// finds its company, and an entry without an account harms nobody.
	owner, err := s.enter(ctx, company, b)
	if err != nil {
		return err
	}
	if owner != company {
		return errForeign
	}
	now := s.clock.Now()
	b.Since = now
	err = s.book.Commit(ctx, ledger.Unit{
		Company: company,
		Claims:  []db.Record{b.record(company, settlementID)},
		Notes: []db.Record{
			by.Note(company, "settlement.feed", LedgerAccount(settlementID), map[string]string{"accountNumber": b.Number, "bankCode": b.BankCode}, now),
		},
	})
	if ledger.Is(err, ledger.Exists) {
		return fault.New(fault.Refused, "The bank account feeds a settlement account already")
	}
	return explain(err)
}

// Redirect is the paperwork by which a bank account of the company feeds another
// settlement account from its commit on. It is nothing where the account feeds
// that one already. Faults are Missing.
func (s *Service) Redirect(ctx context.Context, by operator.Operator, company string, settlementID int64, b BankAccount) ([]ledger.Move, []db.Record, error) {
	if _, err := s.Find(ctx, company, settlementID); err != nil {
		return nil, nil, err
	}
	from, turn, err := s.feeding(ctx, company, b)
	if err != nil || from == settlementID {
		return nil, nil, err
	}
	n, err := strconv.ParseInt(turn, 10, 64)
	if err != nil {
		return nil, nil, fmt.Errorf("settlement: turn of bank account: %w", err)
	}
	move := ledger.Move{
		Table: bankAccountTable, Key: []any{company, b.Number, b.BankCode},
		From: []string{turn}, To: strconv.FormatInt(n+1, 10),
		Set: []ledger.Change{{Column: "settlement_id", Value: settlementID}},
	}
	note := by.Note(company, "settlement.redirect", LedgerAccount(settlementID), map[string]string{
		"accountNumber": b.Number, "bankCode": b.BankCode, "from": LedgerAccount(from),
	}, s.clock.Now())
	return []ledger.Move{move}, []db.Record{note}, nil
}

// Redirected tells whether a unit was refused because somebody else has just had
// the bank account feed another settlement account.
func Redirected(err error) bool { return ledger.Is(err, ledger.Moved, bankAccountTable) }

// Owner is the company whose bank account this is.
func (s *Service) Owner(ctx context.Context, accountNumber, bankCode string) (company string, err error) {
	company, err = s.owner(ctx, accountNumber, bankCode)
	if errors.Is(err, db.ErrNone) {
		return "", fault.New(fault.Missing, "Bank account not found")
	}
	return company, err
}

// Fund credits a settlement account from the fintech's money at a provider: the
// seed of a development company.
func (s *Service) Fund(ctx context.Context, by operator.Operator, company string, settlementID int64, amount money.Kobo, provider, narration string) error {
	if amount <= 0 {
		return fault.New(fault.Invalid, `"amount" must be greater than 0`)
	}
	if _, err := s.Find(ctx, company, settlementID); err != nil {
		return err
	}
	now := s.clock.Now()
	return explain(s.book.Commit(ctx, ledger.Unit{
		Company: company,
		Open:    []ledger.Account{{ID: ProviderAccount(provider), Floor: money.NoFloor}},
		Transfers: []ledger.Transfer{{
			Reference: id.New(), Debit: ProviderAccount(provider), Credit: LedgerAccount(settlementID), Amount: amount,
			Kind: "credit", Narration: narration,
		}},
		Notes: []db.Record{
			by.Note(company, "settlement.fund", LedgerAccount(settlementID), map[string]string{"amount": amount.Decimal()}, now),
		},
	}))
}

// explain turns the book's refusals into words.
func explain(err error) error {
	switch {
	case ledger.Is(err, ledger.NoCompany):
		return errNoCompany
	case ledger.Is(err, ledger.NoAccount):
		return errNoAccount
	case ledger.Is(err, ledger.Short):
		return errShort
	}
	return err
}
