package payout

import (
	"context"
	"time"

	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/idempotency"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/secret"
)

// Enquiry is a company's request for the name on a bank account.
type Enquiry struct {
	Company       string
	BankCode      string
	AccountNumber string
	PIN           secret.Text // the company's transaction PIN
	SettlementID  int64       // the settlement account that is to pay
	Key           *idempotency.Key
}

// Verification is the bank's reply to a name enquiry. Each verification is valid for one payout.
type Verification struct {
	Company       string    `db:"company_id,key"`
	ID            string    `db:"id,key"` // the verify_id
	SettlementID  int64     `db:"settlement_id"`
	Provider      string    `db:"provider"`
	BankCode      string    `db:"bank_code"`
	BankName      string    `db:"bank_name"` // "" for a bank that is not on the provider's list
	AccountNumber string    `db:"account_number"`
	AccountName   string    `db:"account_name"`
	session       string    `db:"session"`     // the name enquiry's session, which the transfer order repeats
	credentials   int64     `db:"credentials"` // the version of the company's credentials when the PIN was checked
	CreatedAt     time.Time `db:"created_at"`
}

var (
	errNoBeneficiary = fault.New(fault.Refused, "Account does not exist").With(fault.RecipientNotFound)
	errBankAway      = fault.New(fault.Unavailable, "Service temporarily unavailable")
)

// Validate asks the bank for the name on an account, and stores the reply for one payout.
// Validate checks the PIN first, so that a caller without the PIN learns nothing. Only the bank
// decides whether an account exists. Many valid accounts have a wrong check digit, so Validate
// ignores check digits.
func (s *Service) Validate(ctx context.Context, e Enquiry) (Verification, error) {
	// The credentials' version is read before the PIN is checked. A PIN reset between these two
	// steps therefore invalidates the verification.
	credentials, err := s.Companies.Credentials(ctx, e.Company)
	if err != nil {
		return Verification{}, err
	}
	if err := s.Companies.CheckPIN(ctx, e.Company, e.PIN.Reveal()); err != nil {
		return Verification{}, err
	}
	if err := s.Settlements.MayPay(ctx, e.Company, e.SettlementID); err != nil {
		return Verification{}, err
	}
	payer, _ := s.Payers.For(provider.Payouts, e.Company)
	asked := s.Clock.Now() // the bank counts the age of its session from the question
	named, err := s.enquire(ctx, payer, e.BankCode, e.AccountNumber)
	if err != nil {
		return Verification{}, err
	}
	bank, err := s.bankName(ctx, payer, e.BankCode)
	if err != nil {
		return Verification{}, err
	}
	v := Verification{
		Company: e.Company, ID: id.New(), SettlementID: e.SettlementID, Provider: payer,
		BankCode: e.BankCode, BankName: bank, AccountNumber: e.AccountNumber, AccountName: named.Name,
		session: named.Session, credentials: credentials, CreatedAt: asked,
	}
	u := ledger.For(e.Company)
	e.Key.Answer(&u, v, nil)
	u.Append(verifications.Record(v))
	return v, idempotency.Taken(s.Book.Commit(ctx, u))
}

// enquire asks a bank for the name on an account. Only a definite rejection by the bank means
// that the account does not exist.
func (s *Service) enquire(ctx context.Context, bank, code, account string) (provider.NameAnswer, error) {
	p := s.Payers.Named(bank)
	if p == nil {
		return provider.NameAnswer{}, errBankAway
	}
	a := p.NameEnquiry(ctx, code, account)
	switch {
	case a.Outcome == provider.Rejected && a.Code != provider.CodeNotSent:
		return a, errNoBeneficiary
	case a.Outcome != provider.Confirmed || a.Name == "":
		s.Log.Warn("a name enquiry gave no answer", "provider", bank, "code", a.Code, "message", a.Message)
		return a, errBankAway
	}
	return a, nil
}
