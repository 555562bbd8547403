package settlement

import (
	"context"
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/operator"
)

// Bank is a bank at which the fintech has accounts, and which notifies Kobo of credits.
type Bank struct {
	Name, Code string // the name and code that payers see
	Float      string // the number of the fintech's own account at this bank, from which it makes payouts
}

var tenDigits = regexp.MustCompile(`^[0-9]{10}$`)

// Attach makes a bank account feed a settlement account. It is for bank accounts that were opened
// in the bank's dashboard. Earlier credits stay in suspense, with their cases. A bank account
// cannot be detached, because a credit may be on its way at any time. The account number decides
// which company gets such a credit.
//
// Attach does not verify that the account exists, because only the bank knows. Many real accounts
// have a wrong check digit, so Attach ignores check digits.
func (s *Service) Attach(ctx context.Context, by operator.Operator, company string, settlementID int64, provider, number, name string) (BankAccount, error) {
	if err := s.CheckAttach(ctx, company, provider, number, name); err != nil {
		return BankAccount{}, err
	}
	if _, err := s.Find(ctx, company, settlementID); err != nil {
		return BankAccount{}, err
	}
	bank := s.Banks[provider]
	b := BankAccount{Number: number, Name: strings.TrimSpace(name), BankName: bank.Name, BankCode: bank.Code}
	err := s.feed(ctx, by, company, settlementID, b, func(u *ledger.Unit) {
		event.Emit(u, event.SettlementBankAccountAttached, attached{settlementID, number, b.Name, bank.Name, bank.Code})
	})
	if err != nil {
		return BankAccount{}, err
	}
	all, err := s.BankAccounts(ctx, company, settlementID)
	at := slices.IndexFunc(all, func(a BankAccount) bool { return a.Number == number })
	if err != nil || at < 0 {
		return b, err
	}
	return all[at], nil
}

// CheckAttach returns an error if the bank account cannot feed any settlement account of the company.
func (s *Service) CheckAttach(ctx context.Context, company, provider, number, name string) error {
	_, known := s.Banks[provider]
	n := utf8.RuneCountInString(strings.TrimSpace(name))
	switch {
	case !known:
		return fault.Newf(fault.Invalid, `"bank" must be one of [%s]`, strings.Join(slices.Sorted(maps.Keys(s.Banks)), ", "))
	case !tenDigits.MatchString(number):
		return fault.New(fault.Invalid, `"accountNumber" must be exactly 10 digits`)
	case n < 2 || n > 100:
		return fault.New(fault.Invalid, `"accountName" must have 2 to 100 characters`)
	case slices.ContainsFunc(slices.Collect(maps.Values(s.Banks)), func(b Bank) bool { return b.Float == number }):
		// The fintech makes payouts from this bank account, and much of its money is already booked
		// to companies.
		return fault.New(fault.Refused, "We pay from this bank account: it cannot be a company's")
	}
	return s.free(ctx, company, number)
}

// attached is the data of the event that reports an attached bank account.
type attached struct {
	SettlementID  int64  `json:"settlementId"`
	AccountNumber string `json:"accountNumber"`
	AccountName   string `json:"accountName"`
	BankName      string `json:"bankName"`
	BankCode      string `json:"bankCode"`
}

// free returns an error if an account number is in use. A credit names the account number but not
// the bank. So a number that belongs to another company may not be used at any bank.
func (s *Service) free(ctx context.Context, company, number string) error {
	owners, err := s.holders(ctx, number)
	if err != nil {
		return err
	}
	for _, owner := range owners {
		if owner != company {
			return fault.Newf(fault.Refused, "The bank account belongs to another company, %s", owner)
		}
	}
	settlementID, err := s.fed(ctx, company, number)
	if err == nil {
		return fault.Newf(fault.Refused, "The bank account feeds settlement account %d already", settlementID)
	}
	if !errors.Is(err, db.ErrNone) {
		return err
	}
	_, used, err := s.booking(ctx, company, Credit{Account: number})
	if err == nil && used {
		err = fault.New(fault.Refused, "The bank account belongs to a customer, or is a virtual account")
	}
	return err
}

// BankAccounts returns the bank accounts that feed a settlement account. An Account shows only
// the first of these bank accounts.
func (s *Service) BankAccounts(ctx context.Context, company string, settlementID int64) ([]BankAccount, error) {
	if _, err := s.Find(ctx, company, settlementID); err != nil {
		return nil, err
	}
	all, err := s.feeders(ctx, company)
	var out []BankAccount
	for _, f := range all {
		if f.SettlementID == settlementID {
			out = append(out, f.BankAccount)
		}
	}
	return out, err
}
