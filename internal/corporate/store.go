package corporate

import (
	"context"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/ledger"
)

var (
	kycTable = &db.Table{
		Name: "corporate_kyc", Key: 2, Unique: []string{"company_id", "session_id"},
		Columns: append(db.Texts("company_id", "id", "session_id", "reference", "status"), db.Ints("created_at")...),
	}
	accountTable = &db.Table{
		Name: "corporate_account", Key: 2, State: "turn", Unique: []string{"company_id", "pending"}, IfGiven: true,
		Columns: []db.Column{
			{Name: "company_id"},
			{Name: "id"},
			{Name: "kyc_id"},
			{Name: "pending"},
			{Name: "state"},
			{Name: "turn"},
			{Name: "called_until", Type: db.Int},
			{Name: "missing", Type: db.Int},
			{Name: "phone_number"},
			{Name: "email_address"},
			{Name: "rn_number"},
			{Name: "settlement_id", Type: db.Int},
			{Name: "account_number"},
			{Name: "account_name"},
			{Name: "bank_name"},
			{Name: "bank_code"},
			{Name: "provider_id"},
			{Name: "message"},
			{Name: "created_at", Type: db.Int},
			{Name: "updated_at", Type: db.Int},
		},
	}
)

func (k KYC) record() db.Record {
	return db.Record{Table: kycTable, Values: []any{
		k.Company, k.ID, k.SessionID, k.reference, verified, clock.Micros(k.CreatedAt),
	}}
}

func (s *Service) findKYC(ctx context.Context, company, kycID string) (KYC, error) {
	return db.One(ctx, s.db, func(sc db.Scanner) (KYC, error) {
		var k KYC
		var at int64
		err := sc.Scan(&k.Company, &k.ID, &k.SessionID, &k.reference, &at)
		k.CreatedAt = clock.Time(at)
		return k, err
	}, `SELECT company_id, id, session_id, reference, created_at FROM corporate_kyc WHERE company_id = $1 AND id = $2`, company, kycID)
}

func (a Account) record() db.Record {
	return db.Record{Table: accountTable, Values: []any{
		a.Company, a.ID, a.KYCID, a.pending, string(a.State), a.turn, clock.Micros(a.calledUntil), a.missing,
		a.PhoneNumber, a.EmailAddress, a.RNNumber, a.SettlementID, a.Bank.Number, a.Bank.Name, a.Bank.BankName, a.Bank.BankCode,
		a.Bank.ProviderID, a.Message, clock.Micros(a.CreatedAt), clock.Micros(a.UpdatedAt),
	}}
}

// move writes the attempt over the one that was read, if nobody else has.
func (a Account) move() ledger.Move { return ledger.Overwrite(a.record(), a.read) }

const accountColumns = `SELECT company_id, id, kyc_id, pending, state, turn, called_until, missing, phone_number, email_address, rn_number,
	settlement_id, account_number, account_name, bank_name, bank_code, provider_id, message, created_at, updated_at
	FROM corporate_account `

func scanAccount(sc db.Scanner) (Account, error) {
	var a Account
	var until, created, updated int64
	err := sc.Scan(&a.Company, &a.ID, &a.KYCID, &a.pending, &a.State, &a.turn, &until, &a.missing, &a.PhoneNumber, &a.EmailAddress, &a.RNNumber,
		&a.SettlementID, &a.Bank.Number, &a.Bank.Name, &a.Bank.BankName, &a.Bank.BankCode, &a.Bank.ProviderID, &a.Message, &created, &updated)
	a.read = a.turn
	a.calledUntil, a.CreatedAt, a.UpdatedAt = clock.Time(until), clock.Time(created), clock.Time(updated)
	return a, err
}

func (s *Service) find(ctx context.Context, company, accountID string) (Account, error) {
	return db.One(ctx, s.db, scanAccount, accountColumns+`WHERE company_id = $1 AND id = $2`, company, accountID)
}

func (s *Service) findPending(ctx context.Context, company, pending string) (Account, error) {
	return db.One(ctx, s.db, scanAccount, accountColumns+`WHERE company_id = $1 AND pending = $2 AND pending <> ''`, company, pending)
}

func (s *Service) findActive(ctx context.Context, company, accountNumber string) (Account, error) {
	return db.One(ctx, s.db, scanAccount,
		accountColumns+`WHERE company_id = $1 AND account_number = $2 AND state = 'ACTIVE'`, company, accountNumber)
}
