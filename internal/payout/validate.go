package payout

import (
	"context"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/idempotency"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/secret"
)

// Enquiry asks whose an account is.
type Enquiry struct {
	Company       string
	BankCode      string
	AccountNumber string
	PIN           secret.Text // the company's transaction PIN
	SettlementID  int64       // the account that is to pay
	Key           *idempotency.Key
}

// Verification is what the bank said of an account. It is good for one payout.
type Verification struct {
	Company       string
	ID            string // the verify_id
	SettlementID  int64
	Provider      string
	BankCode      string
	BankName      string // "" for a bank that is not on our list
	AccountNumber string
	AccountName   string
	session       string // what the bank wants to see again when it pays
	credentials   int64  // the company's, of which the PIN was one
	CreatedAt     time.Time
}

var (
	errNoSettlement  = fault.New(fault.Refused, "Settlement account not found")
	errNoBeneficiary = fault.New(fault.Refused, "Account does not exist")
	errBankAway      = fault.New(fault.Unavailable, "Service temporarily unavailable")
)

// Validate asks the bank whose an account is, and keeps the answer for one
// payout. The PIN comes first: who does not have it learns nothing. Whether an
// account exists is the bank's word alone; a wrong check digit refuses nothing,
// since many accounts do not keep it.
func (s *Service) Validate(ctx context.Context, e Enquiry) (Verification, error) {
	// Read before the PIN is checked: a reset in between voids the verification.
	credentials, err := s.companies.Credentials(ctx, e.Company)
	if err != nil {
		return Verification{}, err
	}
	if err := s.companies.CheckPIN(ctx, e.Company, e.PIN.Reveal()); err != nil {
		return Verification{}, err
	}
	if err := s.mayPay(ctx, e.Company, e.SettlementID); err != nil {
		return Verification{}, err
	}
	named, err := s.enquire(ctx, s.pays, e.BankCode, e.AccountNumber)
	if err != nil {
		return Verification{}, err
	}
	bank, err := s.bankName(ctx, s.pays, e.BankCode)
	if err != nil {
		return Verification{}, err
	}
	v := Verification{
		Company: e.Company, ID: id.New(), SettlementID: e.SettlementID, Provider: s.pays,
		BankCode: e.BankCode, BankName: bank, AccountNumber: e.AccountNumber, AccountName: named.Name,
		session: named.Session, credentials: credentials, CreatedAt: s.clock.Now(),
	}
	err = s.book.Commit(ctx, ledger.Unit{
		Company: e.Company,
		Claims:  e.Key.Answered(v, nil),
		Notes:   []db.Record{v.record()},
	})
	return v, idempotency.Taken(err)
}

// mayPay refuses a settlement account that is not the company's, or is closed.
func (s *Service) mayPay(ctx context.Context, company string, settlementID int64) error {
	active, err := s.settlements.Active(ctx, company, settlementID)
	if err == nil && !active {
		err = errNoSettlement
	}
	return err
}

// enquire asks a bank for the name on an account. Only its definite word makes
// an account not exist.
func (s *Service) enquire(ctx context.Context, bank, code, account string) (provider.NameAnswer, error) {
	p := s.payers[bank]
	if p == nil {
		return provider.NameAnswer{}, errBankAway
	}
	a := p.NameEnquiry(ctx, code, account)
	switch {
	case a.Outcome == provider.Rejected && a.Code != provider.CodeNotSent:
		return a, errNoBeneficiary
	case a.Outcome != provider.Confirmed || a.Name == "":
		s.log.Warn("a name enquiry gave no answer", "provider", bank, "code", a.Code, "message", a.Message)
		return a, errBankAway
	}
	return a, nil
}
