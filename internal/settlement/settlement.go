// Package settlement manages the companies' wallets, which are called settlement accounts.
//
// A company holds its money in settlement accounts, which it numbers 1, 2, 3 and so on. Each
// settlement account has a ledger account, settlement/<number>, that never goes below zero. Bank
// accounts feed a settlement account: credits to a bank account raise the balance of the
// settlement account.
//
// The package also names the ledger accounts that several kinds of operation share. In a
// company's ledger, provider/<name> is the fintech's money at a provider. Ledger account
// clearing/<kind> is money of operations that have no outcome yet.
package settlement

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/idempotency"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/quota"
	"github.com/kobo-waas/kobo/internal/text"
	"github.com/kobo-waas/kobo/internal/wire"
)

// Status states whether a settlement account may be used.
type Status string

// The states of a settlement account.
const (
	Active   Status = "ACTIVE"
	Inactive Status = "INACTIVE"
)

// Account is a settlement account as the API and the events show it. It includes the first bank
// account that feeds the settlement account.
type Account struct {
	Company       string        `db:"company_id,key" json:"-"`
	ID            int64         `db:"id,key" json:"id"`
	Name          string        `db:"name" json:"name"`
	AccountNumber wire.Text     `json:"accountNumber"` // "" until a bank account feeds it
	AccountName   wire.Text     `json:"accountName"`
	BankName      wire.Text     `json:"bankName"`
	BankCode      string        `json:"-"`
	Balance       money.Kobo    `json:"balance"`
	Currency      wire.Naira    `json:"currency"`
	IsDefault     bool          `json:"isDefault"` // whether this is the company's first active account
	Status        Status        `db:"status,state" json:"status"`
	CreatedAt     clock.Instant `db:"created_at" json:"createdAt"`
	LowBalance    money.Kobo    `json:"-"` // the company gets an event when the balance falls below this amount; 0 for no event
}

// MarshalJSON adds the amount of the low-balance alert, which is null if there is no alert.
func (a Account) MarshalJSON() ([]byte, error) {
	type plain Account
	out := struct {
		plain
		LowBalance *money.Kobo `json:"lowBalance"`
	}{plain: plain(a)}
	if a.LowBalance > 0 {
		out.LowBalance = &a.LowBalance
	}
	return json.Marshal(out)
}

// ProviderAccount returns the name of a provider's ledger account, which tracks the fintech's
// money at the provider. Its balance may go below zero, since each credit from a bank debits it.
func ProviderAccount(name string) string { return "provider/" + name }

// ledgerPrefix is the beginning of the names of settlement accounts' ledger accounts.
const ledgerPrefix = "settlement/"

// LedgerAccount returns the name of a settlement account's ledger account.
func LedgerAccount(settlementID int64) string {
	return ledgerPrefix + strconv.FormatInt(settlementID, 10)
}

// ClearingAccount returns the name of the clearing account for one kind of operation.
func ClearingAccount(kind string) string { return "clearing/" + kind }

// FeeAccount is the ledger account of the fees that the company pays for our services.
const FeeAccount = "fee"

// ChargeAccount returns the name of the ledger account for a provider's charges. The provider
// charges the fintech for this company's operations. The charges are the fintech's expense, so
// the account's balance is below zero.
func ChargeAccount(name string) string { return "charge/" + name }

// Config is what the service needs.
type Config struct {
	DB         *db.DB
	Book       *ledger.Book
	Clock      clock.Clock
	Operations *operation.Service // opens the cases about credits
	Banks      map[string]Bank    // the banks by provider name
	Recipients []Recipient        // asked, in this order, how to book a credit
}

// Service manages settlement accounts and books credits.
type Service struct{ Config }

// New returns a service, and registers its handlers for the outcomes of cases.
func New(c Config) *Service {
	s := &Service{c}
	c.Operations.Handle("settlement", operation.Kind{Cases: map[operation.Decision]operation.CaseHandler{
		{Reason: operation.UnknownAccount, Outcome: operation.Assigned}: s.assigned,
		{Reason: operation.MissingCredit, Outcome: operation.Assigned}:  s.found,
		{Reason: operation.UnbookedCharge, Outcome: operation.Booked}:   s.booked,
		{Reason: operation.NotOnStatement, Outcome: operation.Booked}:   s.booked,
		{Reason: operation.BrokenChain, Outcome: operation.Accepted}:    s.accepted,
	}})
	return s
}

var (
	errNoAccount = fault.New(fault.Missing, "Settlement account not found")
	errNoCompany = fault.New(fault.Missing, "Company not found")
	errForeign   = fault.New(fault.Refused, "The bank account belongs to another company")
	errClosed    = fault.New(fault.Refused, "This settlement account is closed to debits. Contact support.").With(fault.AccountClosed)
	errShort     = fault.New(fault.Refused, "Insufficient balance").With(fault.InsufficientBalance)
)

// Create opens an empty settlement account. The company gets no event.
func (s *Service) Create(ctx context.Context, by operator.Operator, company, name string) (Account, error) {
	return s.create(ctx, by, ledger.For(company), name, func(*ledger.Unit, Account) {})
}

// CreateFor opens an account like Create, as an act of an operator that an event reports to the company.
func (s *Service) CreateFor(ctx context.Context, by operator.Operator, company, name string) (Account, error) {
	return s.create(ctx, by, ledger.For(company), name, func(u *ledger.Unit, a Account) {
		event.Emit(u, event.SettlementAccountCreated, a)
	})
}

// CreateOwn opens an account like Create, but for a request of the company through the API.
// Parameter key is the request's Idempotency-Key, or nil. Only accounts that CreateOwn opens count
// toward the company's quota. CreateOwn returns a fault of kind Limited if the day's quota is used
// up.
func (s *Service) CreateOwn(ctx context.Context, company, name string, key *idempotency.Key) (Account, error) {
	now, u := s.Clock.Now(), ledger.For(company)
	if err := quota.Count(ctx, s.DB, &u, quota.SettlementAccount, now); err != nil {
		return Account{}, err
	}
	a, err := s.create(ctx, operator.Self(company).From(ctx), u, name, func(u *ledger.Unit, a Account) { key.Answer(u, a, nil) })
	return a, quota.Reached(err, now)
}

// CheckName returns an error if no settlement account can have this name.
func CheckName(name string) error {
	if n := utf8.RuneCountInString(text.Trim(name)); n < 2 || n > 100 {
		return fault.New(fault.Invalid, `"name" must have 2 to 100 characters`)
	}
	return nil
}

// attempts limits how many account numbers create tries while concurrent requests take the same
// numbers.
const attempts = 100

// create opens an account in the unit of parameter counts. The limit counters in that unit may make
// the ledger refuse it. The new number is the company's highest number + 1. If two requests try the
// same number, the ledger accepts the first request, and the second request tries the next number. The
// function more completes the unit.
func (s *Service) create(ctx context.Context, by operator.Operator, counts ledger.Unit, name string, more func(*ledger.Unit, Account)) (Account, error) {
	name = text.Trim(name)
	if err := CheckName(name); err != nil {
		return Account{}, err
	}
	for range attempts {
		earlier, err := s.accounts(ctx, counts.Company)
		if err != nil {
			return Account{}, err
		}
		a := Account{
			ID: 1, Company: counts.Company, Name: name, Status: Active, CreatedAt: clock.Instant{Time: s.Clock.Now()},
			IsDefault: !slices.ContainsFunc(earlier, func(e Account) bool { return e.Status == Active }),
		}
		if n := len(earlier); n > 0 {
			a.ID = earlier[n-1].ID + 1
		}
		u := counts
		u.OpenAccounts(ledger.Account{ID: LedgerAccount(a.ID)})
		more(&u, a)
		u.Insert(accounts.Record(a))
		by.Audit(&u, "settlement.create", LedgerAccount(a.ID), map[string]string{"name": name}, a.CreatedAt.Time)
		err = idempotency.Taken(s.Book.Commit(ctx, u)) // the key is checked first, so a repeated request takes no number
		if ledger.Is(err, ledger.Exists, accounts.Table) {
			continue
		}
		if err != nil {
			return Account{}, explain(err)
		}
		return a, nil
	}
	return Account{}, fault.New(fault.Unavailable, "Service temporarily unavailable")
}

// Accounts returns a company's settlement accounts with their balances, in the order of their
// numbers.
func (s *Service) Accounts(ctx context.Context, company string) ([]Account, error) {
	all, err := s.accounts(ctx, company)
	if err != nil {
		return nil, err
	}
	feeding, err := s.feeders(ctx, company)
	if err != nil {
		return nil, err
	}
	balances, err := s.Book.Balances(ctx, company)
	if err != nil {
		return nil, err
	}
	alerts, err := s.Book.Alerts(ctx, company)
	if err != nil {
		return nil, err
	}
	complete(all, feeding)
	for i := range all {
		a := &all[i]
		a.Balance, a.LowBalance = balances[LedgerAccount(a.ID)], alerts[LedgerAccount(a.ID)]
	}
	return all, nil
}

// complete marks a company's default account, and adds to each account its oldest bank account.
// Parameter all must be sorted by number, and feeding must be sorted oldest first.
func complete(all []Account, feeding []feeder) {
	first := true
	for i := range all {
		a := &all[i]
		a.IsDefault = first && a.Status == Active
		first = first && !a.IsDefault
		at := slices.IndexFunc(feeding, func(f feeder) bool { return f.SettlementID == a.ID })
		if at >= 0 {
			f := feeding[at]
			a.AccountNumber, a.AccountName, a.BankName, a.BankCode = wire.Text(f.Number), wire.Text(f.Name), wire.Text(f.BankName), f.BankCode
		}
	}
}

// Find returns one settlement account of the company. If the company has no account with this
// number, the fault is Missing.
func (s *Service) Find(ctx context.Context, company string, settlementID int64) (Account, error) {
	return s.pick(ctx, company, func(a Account) bool { return a.ID == settlementID })
}

// Default returns the company's first active settlement account.
func (s *Service) Default(ctx context.Context, company string) (Account, error) {
	return s.pick(ctx, company, func(a Account) bool { return a.IsDefault })
}

func (s *Service) pick(ctx context.Context, company string, is func(Account) bool) (Account, error) {
	all, err := s.Accounts(ctx, company)
	if err != nil {
		return Account{}, err
	}
	if at := slices.IndexFunc(all, is); at >= 0 {
		return all[at], nil
	}
	return Account{}, errNoAccount
}

// BankAccount is an account at a bank that feeds a settlement account.
type BankAccount struct {
	Number   string    `db:"account_number,key"`
	BankCode string    `db:"bank_code,key"`
	Name     string    `db:"account_name"`
	BankName string    `db:"bank_name"`
	Since    time.Time `db:"created_at"`
}

// Feed makes a bank account feed a settlement account from now on. The account number then
// belongs to the company permanently.
func (s *Service) Feed(ctx context.Context, by operator.Operator, company string, settlementID int64, b BankAccount) error {
	return s.feed(ctx, by, company, settlementID, b, func(*ledger.Unit) {})
}

// feed does what Feed does. The function more completes the unit.
func (s *Service) feed(ctx context.Context, by operator.Operator, company string, settlementID int64, b BankAccount, more func(u *ledger.Unit)) error {
	if _, err := s.Find(ctx, company, settlementID); err != nil {
		return err
	}
	// The directory entry is written first, so that a credit which arrives in between is booked for
	// the company. A directory entry without a bank account does no harm.
	owner, err := s.enter(ctx, company, b)
	if err != nil {
		return err
	}
	if owner != company {
		return errForeign
	}
	b.Since = s.Clock.Now()
	u := ledger.For(company)
	u.Insert(feeders.Record(feeder{Company: company, BankAccount: b, SettlementID: settlementID}))
	by.Audit(&u, "settlement.feed", LedgerAccount(settlementID), map[string]string{"accountNumber": b.Number, "bankCode": b.BankCode}, b.Since)
	more(&u)
	err = s.Book.Commit(ctx, u)
	if ledger.Is(err, ledger.Exists) {
		return fault.New(fault.Refused, "The bank account feeds a settlement account already")
	}
	return explain(err)
}

// RedirectFeed adds a change to a unit: the bank account will feed this settlement account instead
// of its current settlement account. It adds nothing if the bank account feeds this settlement
// account already. It returns a Missing fault if the company lacks the settlement account.
func (s *Service) RedirectFeed(ctx context.Context, u *ledger.Unit, by operator.Operator, settlementID int64, b BankAccount) error {
	if _, err := s.Find(ctx, u.Company, settlementID); err != nil {
		return err
	}
	f, err := s.findFeeder(ctx, u.Company, b)
	if err != nil || f.SettlementID == settlementID {
		return err
	}
	by.Audit(u, "settlement.redirect", LedgerAccount(settlementID), map[string]string{
		"accountNumber": b.Number, "bankCode": b.BankCode, "from": LedgerAccount(f.SettlementID),
	}, s.Clock.Now())
	f.SettlementID = settlementID
	f.Turn++
	u.Update(feeders.Record(f))
	return nil
}

// Fund credits a settlement account from the fintech's money at a provider. It supplies a
// development company with its first balance.
func (s *Service) Fund(ctx context.Context, by operator.Operator, company string, settlementID int64, amount money.Kobo, provider, narration string) error {
	if amount <= 0 {
		return fault.New(fault.Invalid, `"amount" must be greater than 0`)
	}
	if _, err := s.Find(ctx, company, settlementID); err != nil {
		return err
	}
	u := ledger.For(company)
	u.OpenAccounts(ledger.Account{ID: ProviderAccount(provider), Floor: money.NoFloor})
	u.Transfer(ledger.Transfer{
		Reference: id.New(), Debit: ProviderAccount(provider), Credit: LedgerAccount(settlementID), Amount: amount,
		Kind: "credit", Narration: narration,
	})
	by.Audit(&u, "settlement.fund", LedgerAccount(settlementID), map[string]string{"amount": amount.Decimal()}, s.Clock.Now())
	return explain(s.Book.Commit(ctx, u))
}

// explain turns a refusal by the ledger into a fault.
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
