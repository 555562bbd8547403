package customer

import (
	"context"
	"encoding/json"
	"math"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/ledger"
)

var (
	table = &db.Table{
		Name: "customer", Key: 2, State: "status",
		Columns: []db.Column{
			{Name: "company_id"},
			{Name: "id"},
			{Name: "number", Type: db.Int},
			{Name: "first_name"},
			{Name: "middle_name"},
			{Name: "last_name"},
			{Name: "email"},
			{Name: "phone_number"},
			{Name: "date_of_birth"},
			{Name: "address"},
			{Name: "search"},
			{Name: "status"},
			{Name: "created_at", Type: db.Int},
			{Name: "updated_at", Type: db.Int},
		},
	}
	emailTable = &db.Table{
		Name: "customer_email", Key: 2,
		Columns: append(db.Texts("company_id", "email", "customer_id"), db.Ints("created_at")...),
	}
	accountTable = &db.Table{
		Name: "customer_account", Key: 2, State: "turn",
		Columns: []db.Column{
			{Name: "company_id"},
			{Name: "customer_id"},
			{Name: "state"},
			{Name: "turn"},
			{Name: "called_until", Type: db.Int},
			{Name: "reference"},
			{Name: "missing", Type: db.Int},
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
	transactionTable = &db.Table{
		Name: "customer_transaction", Key: 2, Unique: []string{"company_id", "id"},
		Columns: []db.Column{
			{Name: "company_id"},
			{Name: "number", Type: db.Int},
			{Name: "id"},
			{Name: "customer_id"},
			{Name: "settlement_id", Type: db.Int},
			{Name: "amount_kobo", Type: db.Int},
			{Name: "kind"},
			{Name: "status"},
			{Name: "narration"},
			{Name: "session_id"},
			{Name: "created_at", Type: db.Int},
		},
	}
)

func (c Customer) record() db.Record {
	address := ""
	if c.Address != nil {
		b, err := json.Marshal(c.Address)
		if err != nil {
			panic("customer: texts that are not JSON: " + err.Error()) // there are none
		}
		address = string(b)
	}
	search := strings.ToLower(strings.Join([]string{c.FirstName, c.MiddleName, c.LastName, c.Email, c.PhoneNumber}, " "))
	return db.Record{Table: table, Values: []any{
		c.Company, c.ID, numbers, c.FirstName, c.MiddleName, c.LastName, c.Email, c.PhoneNumber, c.DateOfBirth, address,
		strings.Join(strings.Fields(search), " "), string(c.Status), clock.Micros(c.CreatedAt), clock.Micros(c.UpdatedAt),
	}}
}

// activate is the move of a customer who has an account.
func (c Customer) activate() ledger.Move {
	return ledger.Move{
		Table: table, Key: []any{c.Company, c.ID}, From: []string{string(PendingOTP)}, To: string(Active),
		Set: []ledger.Change{{Column: "updated_at", Value: clock.Micros(c.UpdatedAt)}},
	}
}

const customerColumns = `SELECT c.company_id, c.id, c.first_name, c.middle_name, c.last_name, c.email, c.phone_number, c.date_of_birth,
	c.address, c.status, c.created_at, c.updated_at, coalesce(a.account_number, ''), coalesce(a.account_name, ''),
	coalesce(a.bank_name, ''), coalesce(a.bank_code, ''), coalesce(a.settlement_id, 0), coalesce(a.updated_at, 0)
	FROM customer AS c LEFT JOIN customer_account AS a
		ON a.company_id = c.company_id AND a.customer_id = c.id AND a.state = 'OPEN' `

func scanCustomer(sc db.Scanner) (Customer, error) {
	var c Customer
	var b BankAccount
	var address string
	var created, updated, opened int64
	err := sc.Scan(&c.Company, &c.ID, &c.FirstName, &c.MiddleName, &c.LastName, &c.Email, &c.PhoneNumber, &c.DateOfBirth,
		&address, &c.Status, &created, &updated, &b.Number, &b.Name, &b.BankName, &b.BankCode, &b.SettlementID, &opened)
	c.CreatedAt, c.UpdatedAt, b.CreatedAt = clock.Time(created), clock.Time(updated), clock.Time(opened)
	if b.Number != "" {
		c.Account = &b
	}
	if err == nil && address != "" {
		c.Address = &Address{}
		err = json.Unmarshal([]byte(address), c.Address)
	}
	return c, err
}

func (s *Service) findByID(ctx context.Context, company, customerID string) (Customer, error) {
	return db.One(ctx, s.db, scanCustomer, customerColumns+`WHERE c.company_id = $1 AND c.id = $2`, company, customerID)
}

func (s *Service) findByEmail(ctx context.Context, company, email string) (Customer, error) {
	return db.One(ctx, s.db, scanCustomer, customerColumns+`
		JOIN customer_email AS e ON e.company_id = c.company_id AND e.customer_id = c.id
		WHERE e.company_id = $1 AND e.email = $2`, company, email)
}

func (s *Service) findByAccount(ctx context.Context, company, accountNumber string) (Customer, error) {
	return db.One(ctx, s.db, scanCustomer,
		customerColumns+`WHERE a.company_id = $1 AND a.account_number = $2 AND a.account_number <> ''`, company, accountNumber)
}

// customers have numbers up to high and above low.
func (s *Service) customers(ctx context.Context, company string, high, low int64) ([]Customer, error) {
	return db.All(ctx, s.db, scanCustomer,
		customerColumns+`WHERE c.company_id = $1 AND c.number <= $2 AND c.number > $3 ORDER BY c.number DESC`, company, high, low)
}

func (s *Service) countMatches(ctx context.Context, company, pattern string) (int64, error) {
	return db.One(ctx, s.db, db.Value[int64],
		`SELECT count(*) FROM customer WHERE company_id = $1 AND search LIKE $2 ESCAPE '\'`, company, pattern)
}

func (s *Service) matches(ctx context.Context, company, pattern string, limit, offset int) ([]Customer, error) {
	return db.All(ctx, s.db, scanCustomer, customerColumns+`
		WHERE c.company_id = $1 AND c.search LIKE $2 ESCAPE '\' ORDER BY c.number DESC LIMIT $3 OFFSET $4`,
		company, pattern, limit, offset)
}

func emailRecord(c Customer, at time.Time) db.Record {
	return db.Record{Table: emailTable, Values: []any{c.Company, addressKey(c.Email), c.ID, clock.Micros(at)}}
}

// reserved is whose an e-mail address is.
func (s *Service) reserved(ctx context.Context, company, email string) (string, error) {
	return db.One(ctx, s.db, db.Value[string],
		`SELECT customer_id FROM customer_email WHERE company_id = $1 AND email = $2`, company, email)
}

func (o opening) record() db.Record {
	return db.Record{Table: accountTable, Values: []any{
		o.company, o.customerID, string(o.state), o.turn, clock.Micros(o.calledUntil), o.reference, o.missing, o.settlementID,
		o.bank.Number, o.bank.Name, o.bank.BankName, o.bank.BankCode, o.bank.ProviderID, o.message,
		clock.Micros(o.createdAt), clock.Micros(o.updatedAt),
	}}
}

// move writes the opening over the one that was read, if nobody else has.
func (o opening) move() ledger.Move { return ledger.Overwrite(o.record(), o.read) }

func (o opening) account() *BankAccount {
	return &BankAccount{
		Number: o.bank.Number, Name: o.bank.Name, BankName: o.bank.BankName, BankCode: o.bank.BankCode,
		SettlementID: o.settlementID, CreatedAt: o.updatedAt,
	}
}

func (s *Service) findOpening(ctx context.Context, company, customerID string) (opening, error) {
	return db.One(ctx, s.db, func(sc db.Scanner) (opening, error) {
		var o opening
		var until, created int64
		err := sc.Scan(&o.company, &o.customerID, &o.state, &o.turn, &until, &o.reference, &o.missing, &o.settlementID, &created)
		o.read, o.calledUntil, o.createdAt = o.turn, clock.Time(until), clock.Time(created)
		return o, err
	}, `SELECT company_id, customer_id, state, turn, called_until, reference, missing, settlement_id, created_at
		FROM customer_account WHERE company_id = $1 AND customer_id = $2`, company, customerID)
}

func (t Transaction) record() db.Record {
	return db.Record{Table: transactionTable, Values: []any{
		t.Company, transactionNumbers, t.ID, t.CustomerID, t.SettlementID, int64(t.Amount), t.Type, t.Status,
		t.Narration, t.SessionID, clock.Micros(t.CreatedAt),
	}}
}

const transactionColumns = `SELECT t.company_id, t.id, t.customer_id, c.first_name, c.last_name, t.settlement_id, t.amount_kobo,
	t.kind, t.status, t.narration, t.session_id, t.created_at
	FROM customer_transaction AS t JOIN customer AS c ON c.company_id = t.company_id AND c.id = t.customer_id `

func scanTransaction(sc db.Scanner) (Transaction, error) {
	var t Transaction
	var at int64
	err := sc.Scan(&t.Company, &t.ID, &t.CustomerID, &t.FirstName, &t.LastName, &t.SettlementID, &t.Amount,
		&t.Type, &t.Status, &t.Narration, &t.SessionID, &at)
	t.CreatedAt = clock.Time(at)
	return t, err
}

// transactions have numbers up to high and above low.
func (s *Service) transactions(ctx context.Context, company string, high, low int64) ([]Transaction, error) {
	return db.All(ctx, s.db, scanTransaction,
		transactionColumns+`WHERE t.company_id = $1 AND t.number <= $2 AND t.number > $3 ORDER BY t.number DESC`, company, high, low)
}

// within is the filter's range of instants, which every transaction has one of.
func (f TransactionFilter) within() (from, to int64) {
	if f.To.IsZero() {
		return clock.Micros(f.From), math.MaxInt64
	}
	return clock.Micros(f.From), clock.Micros(f.To)
}

func (s *Service) countTransactions(ctx context.Context, company string, f TransactionFilter) (int64, error) {
	from, to := f.within()
	return db.One(ctx, s.db, db.Value[int64], `
		SELECT count(*) FROM customer_transaction
		WHERE company_id = $1 AND ($2 = '' OR customer_id = $2) AND created_at >= $3 AND created_at < $4`, company, f.CustomerID, from, to)
}

func (s *Service) filteredTransactions(ctx context.Context, company string, f TransactionFilter, offset, limit int) ([]Transaction, error) {
	from, to := f.within()
	return db.All(ctx, s.db, scanTransaction, transactionColumns+`
		WHERE t.company_id = $1 AND ($2 = '' OR t.customer_id = $2) AND t.created_at >= $3 AND t.created_at < $4
		ORDER BY t.number DESC LIMIT $5 OFFSET $6`, company, f.CustomerID, from, to, limit, offset)
}

func (s *Service) transactionsOf(ctx context.Context, company, customerID string, limit int) ([]Transaction, error) {
	return db.All(ctx, s.db, scanTransaction,
		transactionColumns+`WHERE t.company_id = $1 AND t.customer_id = $2 ORDER BY t.number DESC LIMIT $3`, company, customerID, limit)
}

func (s *Service) findTransaction(ctx context.Context, company, customerID, transactionID string) (Transaction, error) {
	return db.One(ctx, s.db, scanTransaction,
		transactionColumns+`WHERE t.company_id = $1 AND t.customer_id = $2 AND t.id = $3`, company, customerID, transactionID)
}
