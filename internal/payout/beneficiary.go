package payout

import (
	"context"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/operator"
)

// Beneficiary is an account that a company has kept for its next payouts. It pays nobody: each payout asks the bank for the name of the
// account again.
type Beneficiary struct {
	Company       string    `db:"company_id,key"`
	BankCode      string    `db:"bank_code,key"`
	AccountNumber string    `db:"account_number,key"`
	BankName      string    `db:"bank_name"`
	AccountName   string    `db:"account_name"` // as the bank said it when the account was kept
	Label         string    `db:"label"`        // the company's own name of it, or ""
	CreatedAt     time.Time `db:"created_at"`
}

const (
	// MaxBeneficiaries is how many accounts a company keeps at most.
	MaxBeneficiaries = 1_000
	// MaxLabel is the longest label of a kept account in characters.
	MaxLabel = 60
)

var (
	errManyKept   = fault.Newf(fault.Refused, "The company keeps %d accounts, which is the most. Remove one first.", MaxBeneficiaries)
	errKept       = fault.New(fault.Conflict, "This account is kept already")
	errNotKept    = fault.New(fault.Missing, "The company does not keep this account")
	errNoEnquiry  = fault.New(fault.Missing, "There is no answer of a bank about this account")
	errWrongLabel = fault.Newf(fault.Invalid, "The own name of an account has at most %d characters, on one line", MaxLabel)
)

// Masked returns the account number with its last four digits only.
func (b Beneficiary) Masked() string {
	shown := max(len(b.AccountNumber)-4, 0)
	return strings.Repeat("*", shown) + b.AccountNumber[shown:]
}

// Keep keeps the account of a name enquiry for the next payouts. The name is that of the bank's answer.
func (s *Service) Keep(ctx context.Context, by operator.Operator, company, verifyID, label string) error {
	if utf8.RuneCountInString(label) > MaxLabel || strings.ContainsFunc(label, unicode.IsControl) {
		return errWrongLabel
	}
	named, err := s.findTerms(ctx, company, verifyID)
	if err != nil {
		return err
	}
	if len(named) == 0 {
		return errNoEnquiry
	}
	kept, err := s.CountBeneficiaries(ctx, company)
	if err != nil {
		return err
	}
	if kept >= MaxBeneficiaries {
		return errManyKept
	}
	to := named[0].Verification
	b := Beneficiary{company, to.BankCode, to.AccountNumber, to.BankName, to.AccountName, label, s.Clock.Now()}
	u := ledger.For(company)
	u.Insert(beneficiaries.Record(b))
	by.Audit(&u, "beneficiary.keep", verifyID, map[string]string{"bank": b.BankCode, "account": b.Masked()}, b.CreatedAt)
	if err := s.Book.Commit(ctx, u); ledger.Is(err, ledger.Exists) {
		return errKept
	} else if err != nil {
		return explain(err)
	}
	return nil
}

// Forget deletes a kept account.
func (s *Service) Forget(ctx context.Context, by operator.Operator, company, bankCode, account string) error {
	b, err := s.Beneficiary(ctx, company, bankCode, account)
	if err != nil {
		return err
	}
	u := ledger.For(company)
	u.Remove(beneficiaries.Record(b))
	by.Audit(&u, "beneficiary.forget", b.Masked(), map[string]string{"bank": b.BankCode}, s.Clock.Now())
	return explain(s.Book.Commit(ctx, u))
}
