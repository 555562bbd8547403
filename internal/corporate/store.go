package corporate

import (
	"context"

	"github.com/kobo-waas/kobo/internal/db"
)

const (
	kycColumns     = `company_id, id, session_id, reference, status, created_at`
	accountColumns = `company_id, id, kyc_id, pending, state, turn, called_until, missing, provider, phone_number, email_address, rn_number,
	settlement_id, account_number, account_name, bank_name, bank_code, provider_id, message, created_at, updated_at`
)

var (
	signatories = db.Declare[KYC]("corporate_kyc", db.Reads(kycColumns), db.Unique("company_id", "session_id"))
	accounts    = db.Declare[Account]("corporate_account", db.Reads(accountColumns), db.UniqueIfGiven("company_id", "pending"))
)

func (s *Service) findKYC(ctx context.Context, company, kycID string) (KYC, error) {
	return db.One(ctx, s.DB, signatories.Scan,
		`SELECT `+kycColumns+` FROM corporate_kyc WHERE company_id = $1 AND id = $2`, company, kycID)
}

const selectAccount = `SELECT ` + accountColumns + ` FROM corporate_account `

func (s *Service) find(ctx context.Context, company, accountID string) (Account, error) {
	return db.One(ctx, s.DB, accounts.Scan, selectAccount+`WHERE company_id = $1 AND id = $2`, company, accountID)
}

func (s *Service) findPending(ctx context.Context, company, pending string) (Account, error) {
	return db.One(ctx, s.DB, accounts.Scan,
		selectAccount+`WHERE company_id = $1 AND pending = $2 AND pending <> ''`, company, pending)
}

func (s *Service) findActive(ctx context.Context, company, accountNumber string) (Account, error) {
	return db.One(ctx, s.DB, accounts.Scan,
		selectAccount+`WHERE company_id = $1 AND account_number = $2 AND state = 'ACTIVE'`, company, accountNumber)
}
