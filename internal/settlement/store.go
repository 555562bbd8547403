package settlement

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
)

var (
	accountTable = &db.Table{
		Name: "settlement_account", Key: 2, State: "status",
		Columns: []db.Column{
			{Name: "company_id"}, {Name: "id", Type: db.Int}, {Name: "name"}, {Name: "status"}, {Name: "created_at", Type: db.Int},
		},
	}
	bankAccountTable = &db.Table{
		Name: "settlement_bank_account", Key: 3, State: "turn",
		Columns: []db.Column{
			{Name: "company_id"},
			{Name: "account_number"},
			{Name: "bank_code"},
			{Name: "settlement_id", Type: db.Int},
			{Name: "account_name"},
			{Name: "bank_name"},
			{Name: "created_at", Type: db.Int},
			{Name: "turn"},
		},
	}
	adjustmentTable = &db.Table{
		Name: "settlement_adjustment", Key: 2, State: "state",
		Columns: []db.Column{
			{Name: "company_id"},
			{Name: "id"},
			{Name: "settlement_id", Type: db.Int},
			{Name: "amount_kobo", Type: db.Int},
			{Name: "direction"},
			{Name: "reason"},
			{Name: "state"},
			{Name: "created_by"},
			{Name: "decided_by"},
			{Name: "note"},
			{Name: "created_at", Type: db.Int},
			{Name: "decided_at", Type: db.Int},
		},
	}
)

func (a Account) record() db.Record {
	return db.Record{Table: accountTable, Values: []any{
		a.Company, a.ID, a.Name, string(a.Status), clock.Micros(a.CreatedAt),
	}}
}

func (b BankAccount) record(company string, settlementID int64) db.Record {
	return db.Record{Table: bankAccountTable, Values: []any{
		company, b.Number, b.BankCode, settlementID, b.Name, b.BankName, clock.Micros(b.Since), "0",
	}}
}

func (a Adjustment) record() db.Record {
	return db.Record{Table: adjustmentTable, Values: []any{
		a.Company, a.ID, a.SettlementID, int64(a.Amount), string(a.Direction), a.Reason, string(a.State),
		a.CreatedBy, "", "", clock.Micros(a.CreatedAt), int64(0),
	}}
}

func (s *Service) accounts(ctx context.Context, company string) ([]Account, error) {
	return db.All(ctx, s.db, func(r db.Scanner) (Account, error) {
		var a Account
		var at int64
		err := r.Scan(&a.Company, &a.ID, &a.Name, &a.Status, &at)
		a.CreatedAt = clock.Time(at)
		return a, err
	}, `SELECT company_id, id, name, status, created_at FROM settlement_account WHERE company_id = $1 ORDER BY id`, company)
}

// feeders are all bank accounts of a company, the first ones first.
func (s *Service) feeders(ctx context.Context, company string) ([]feed, error) {
	all, err := db.All(ctx, s.db, func(r db.Scanner) (feed, error) {
		var f feed
		var at int64
		err := r.Scan(&f.settlementID, &at, &f.Number, &f.Name, &f.BankName, &f.BankCode)
		f.Since = clock.Time(at)
		return f, err
	}, `
		SELECT settlement_id, created_at, account_number, account_name, bank_name, bank_code FROM settlement_bank_account
		WHERE company_id = $1`, company)
	inOrder(all)
	return all, err
}

// feed is a bank account, and which settlement account it feeds.
type feed struct {
	settlementID int64
	BankAccount
}

func inOrder(all []feed) {
	slices.SortFunc(all, func(a, b feed) int {
		return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.Number, b.Number))
	})
}

// firsts are the first bank account of each settlement account.
func firsts(all []feed) map[int64]BankAccount {
	inOrder(all)
	first := map[int64]BankAccount{}
	for _, f := range all {
		if _, seen := first[f.settlementID]; !seen {
			first[f.settlementID] = f.BankAccount
		}
	}
	return first
}

// enter writes a bank account into the directory, and tells whose it is: of two
// companies the first keeps it.
func (s *Service) enter(ctx context.Context, company string, b BankAccount) (owner string, err error) {
	err = s.db.Tx(ctx, func(q db.Querier) error {
		_, err := q.Exec(ctx, `
			INSERT INTO settlement_directory (account_number, bank_code, company_id) VALUES ($1, $2, $3)
			ON CONFLICT DO NOTHING`, b.Number, b.BankCode, company)
		if err != nil {
			return err
		}
		owner, err = ownerOf(ctx, q, b.Number, b.BankCode)
		return err
	})
	return owner, err
}

func (s *Service) owner(ctx context.Context, accountNumber, bankCode string) (string, error) {
	return ownerOf(ctx, s.db, accountNumber, bankCode)
}

func ownerOf(ctx context.Context, q db.Querier, accountNumber, bankCode string) (string, error) {
	return db.One(ctx, q, db.Value[string], `
		SELECT company_id FROM settlement_directory WHERE account_number = $1 AND bank_code = $2`, accountNumber, bankCode)
}

const adjustmentColumns = `
	SELECT company_id, id, settlement_id, amount_kobo, direction, reason, state, created_by, decided_by, note,
		created_at, decided_at
	FROM settlement_adjustment `

func scanAdjustment(r db.Scanner) (Adjustment, error) {
	var a Adjustment
	var created, decided int64
	err := r.Scan(&a.Company, &a.ID, &a.SettlementID, &a.Amount, &a.Direction, &a.Reason, &a.State,
		&a.CreatedBy, &a.DecidedBy, &a.Note, &created, &decided)
	a.CreatedAt, a.DecidedAt = clock.Time(created), clock.Time(decided)
	return a, err
}

// What follows goes over all companies: it answers operators, who name an
// adjustment by its id alone.

func (s *Service) findAdjustment(ctx context.Context, adjustmentID string) (Adjustment, error) {
	return db.One(ctx, s.db, scanAdjustment, adjustmentColumns+`WHERE id = $1`, adjustmentID)
}

func (s *Service) countAdjustments(ctx context.Context, state AdjustmentState) (int64, error) {
	return db.One(ctx, s.db, db.Value[int64],
		`SELECT count(*) FROM settlement_adjustment WHERE ($1 = '' OR state = $1)`, string(state))
}

func (s *Service) adjustments(ctx context.Context, state AdjustmentState, limit, offset int) ([]Adjustment, error) {
	return db.All(ctx, s.db, scanAdjustment,
		adjustmentColumns+`WHERE ($1 = '' OR state = $1) ORDER BY id DESC LIMIT $2 OFFSET $3`, string(state), limit, offset)
}

func (s *Service) status(ctx context.Context, company string, settlementID int64) (Status, error) {
	return db.One(ctx, s.db, db.Value[Status],
		`SELECT status FROM settlement_account WHERE company_id = $1 AND id = $2`, company, settlementID)
}

var creditTable = &db.Table{
	Name: "settlement_credit", Key: 2, Unique: []string{"company_id", "provider", "session_id"},
	Columns: slices.Concat(
		db.Texts("company_id", "id", "session_id", "provider", "account_number"),
		db.Ints("settlement_id", "amount_kobo"),
		db.Texts("sender_name", "sender_account", "sender_bank", "narration", "reference"),
		db.Ints("told_at", "created_at"),
	),
}

func (c Credit) record(company string, settlementID int64, now time.Time) db.Record {
	return db.Record{Table: creditTable, Values: []any{
		company, c.ID, c.Session, c.Provider, c.Account, settlementID, int64(c.Amount),
		c.SenderName, c.SenderAccount, c.SenderBank, c.Narration, c.Reference, clock.Micros(c.At), clock.Micros(now),
	}}
}

// decided is whose a credit was said to be when it was first told.
func (s *Service) decided(ctx context.Context, c Credit) (string, error) {
	return sessionOf(ctx, s.db, c)
}

// decideFor writes down whose a credit is, and tells whose it is: the first
// decision stays.
func (s *Service) decideFor(ctx context.Context, c Credit, company string) (owner string, err error) {
	err = s.db.Tx(ctx, func(q db.Querier) error {
		_, err := q.Exec(ctx, `
			INSERT INTO settlement_session (provider, session_id, company_id) VALUES ($1, $2, $3)
			ON CONFLICT DO NOTHING`, c.Provider, c.Session, company)
		if err != nil {
			return err
		}
		owner, err = sessionOf(ctx, q, c)
		return err
	})
	return owner, err
}

func sessionOf(ctx context.Context, q db.Querier, c Credit) (string, error) {
	return db.One(ctx, q, db.Value[string],
		`SELECT company_id FROM settlement_session WHERE provider = $1 AND session_id = $2`, c.Provider, c.Session)
}

// credited tells whether a credit is in the company's book.
func (s *Service) credited(ctx context.Context, company string, c Credit) (bool, error) {
	n, err := db.One(ctx, s.db, db.Value[int64], `
		SELECT count(*) FROM settlement_credit WHERE company_id = $1 AND provider = $2 AND session_id = $3`,
		company, c.Provider, c.Session)
	return n > 0, err
}

// holder is the one company that an account number belongs to.
func (s *Service) holder(ctx context.Context, accountNumber string) (string, error) {
	owners, err := s.holders(ctx, accountNumber)
	if err != nil {
		return "", err
	}
	if len(owners) != 1 {
		return "", db.ErrNone
	}
	return owners[0], nil
}

// holders are the companies that an account number belongs to: one or none,
// unless it is a number at two banks.
func (s *Service) holders(ctx context.Context, accountNumber string) ([]string, error) {
	return db.All(ctx, s.db, db.Value[string],
		`SELECT DISTINCT company_id FROM settlement_directory WHERE account_number = $1 LIMIT 2`, accountNumber)
}

// fed is the settlement account that a bank account of the company feeds.
func (s *Service) fed(ctx context.Context, company, accountNumber string) (int64, error) {
	return db.One(ctx, s.db, db.Value[int64],
		`SELECT settlement_id FROM settlement_bank_account WHERE company_id = $1 AND account_number = $2`, company, accountNumber)
}

// feeding is the settlement account that a bank account feeds, and the turn of
// that row.
func (s *Service) feeding(ctx context.Context, company string, b BankAccount) (settlementID int64, turn string, err error) {
	_, err = db.One(ctx, s.db, func(r db.Scanner) (bool, error) {
		return true, r.Scan(&settlementID, &turn)
	}, `SELECT settlement_id, turn FROM settlement_bank_account WHERE company_id = $1 AND account_number = $2 AND bank_code = $3`,
		company, b.Number, b.BankCode)
	return settlementID, turn, err
}

// suspendedIn is the house's credit that a case names by bank and session.
func (s *Service) suspendedIn(ctx context.Context, subject string) (Credit, error) {
	bank, session, _ := strings.Cut(subject, "/")
	return db.One(ctx, s.db, func(r db.Scanner) (Credit, error) {
		var c Credit
		var told int64
		err := r.Scan(&c.ID, &c.Session, &c.Provider, &c.Account, &c.Amount, &c.SenderName, &c.SenderAccount, &c.SenderBank,
			&c.Narration, &c.Reference, &told)
		c.At = clock.Time(told)
		return c, err
	}, `SELECT id, session_id, provider, account_number, amount_kobo, sender_name, sender_account, sender_bank, narration,
		reference, told_at FROM settlement_credit WHERE company_id = $1 AND provider = $2 AND session_id = $3`, House, bank, session)
}
