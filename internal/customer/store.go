package customer

import (
	"context"
	"encoding/json"
	"math"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/opening"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/wire"
)

const (
	customerColumns = `c.company_id, c.id, c.first_name, c.last_name, c.middle_name, c.email, c.phone_number, c.status,
	c.created_at, c.date_of_birth, c.updated_at, c.erased_at, c.number, c.address, c.search`
	accountColumns = `company_id, customer_id, state, turn, called_until, missing, provider, reference, settlement_id,
	account_number, account_name, bank_name, bank_code, provider_id, message, name_match, created_at, updated_at`
	transactionColumns = `t.company_id, t.number, t.id, t.customer_id, t.settlement_id, t.amount_kobo, t.kind, t.status,
	t.narration, t.session_id, t.created_at`
)

var (
	customers    = db.Declare[row]("customer", db.Reads(customerColumns))
	erasures     = db.Declare[erasure]("customer")
	corrections  = db.Declare[correction]("customer")
	addresses    = db.Declare[email]("customer_email")
	accounts     = db.Declare[account]("customer_account", db.Reads(accountColumns))
	transactions = db.Declare[Transaction]("customer_transaction", db.Reads(transactionColumns), db.Unique("company_id", "id"))
)

// row is the database row of a customer. It has columns that the API does not show.
type row struct {
	Customer
	Number  int64  `db:"number"`
	address []byte `db:"address"`
	search  string `db:"search"`
}

// erasure is the row of a customer with the columns that an erasure writes.
type erasure struct {
	Company string `db:"company_id,key"`
	ID      string `db:"id,key"`
	Status  Status `db:"status,state"`
	personal
	ErasedAt time.Time `db:"erased_at,changes"`
}

// correction is the row of a customer with the columns that a new registration writes.
type correction struct {
	Company string `db:"company_id,key"`
	ID      string `db:"id,key"`
	Status  Status `db:"status,state"`
	personal
	UpdatedAt time.Time `db:"updated_at,changes"`
}

// personal contains the columns with a customer's personal data.
type personal struct {
	FirstName  string `db:"first_name,changes"`
	MiddleName string `db:"middle_name,changes"`
	LastName   string `db:"last_name,changes"`
	Email      string `db:"email,changes"`
	Phone      string `db:"phone_number,changes"`
	Born       string `db:"date_of_birth,changes"`
	Address    []byte `db:"address,changes"`
	Search     string `db:"search,changes"`
}

// email is the database row that reserves an e-mail address for a customer.
type email struct {
	company    string    `db:"company_id,key"`
	address    string    `db:"email,key"`
	customerID string    `db:"customer_id"`
	createdAt  time.Time `db:"created_at"`
}

// state is the state of the opening of an account.
type state string

const (
	pending state = "PENDING" // the bank has neither confirmed nor rejected the request
	opened  state = "OPEN"
	refused state = "FAILED" // the bank rejected the request, so the next request starts a new opening
)

// account is the row of a customer's account. It is written before the bank is asked.
type account struct {
	company    string `db:"company_id,key"`
	customerID string `db:"customer_id,key"`
	state      state  `db:"state,state"`
	turn       string `db:"turn,changes"` // changes with each write, so that programs of earlier releases notice the write
	opening.Intent
	provider     string `db:"provider,changes"`  // the bank's name in the configuration
	reference    string `db:"reference,changes"` // Kobo's reference at the bank
	settlementID int64  `db:"settlement_id,changes"`
	bank
	message   string    `db:"message,changes"`    // why the account was not opened
	nameMatch wire.Text `db:"name_match,changes"` // the result of the comparison with the BVN's record
	createdAt time.Time `db:"created_at"`
	updatedAt time.Time `db:"updated_at,changes"`
}

type bank = provider.Account

// shown returns the account in the form that the API shows.
func (o account) shown() *BankAccount {
	return &BankAccount{
		Number: o.bank.Number, Name: o.bank.Name, BankName: o.bank.BankName, BankCode: o.bank.BankCode,
		SettlementID: wire.Number(o.settlementID), CreatedAt: clock.Instant{Time: o.updatedAt},
	}
}

// record returns a new customer's row.
func (c Customer) record() db.Record {
	p := c.personal()
	return customers.Record(row{Customer: c, address: p.Address, search: p.Search}).Put("number", numbers)
}

func (c Customer) personal() personal {
	p := personal{
		FirstName: c.FirstName, MiddleName: string(c.MiddleName), LastName: c.LastName, Email: c.Email, Phone: c.PhoneNumber,
		Born: string(c.DateOfBirth),
	}
	search := strings.ToLower(strings.Join([]string{c.FirstName, string(c.MiddleName), c.LastName, c.Email, c.PhoneNumber}, " "))
	p.Search = strings.Join(strings.Fields(search), " ")
	if c.Address != nil {
		b, err := json.Marshal(c.Address)
		if err != nil {
			panic("customer: texts that are not JSON: " + err.Error()) // cannot happen, because any string can be marshalled
		}
		p.Address = b
	}
	return p
}

const selectCustomer = `SELECT ` + customerColumns + `, coalesce(a.account_number, ''), coalesce(a.account_name, ''),
	coalesce(a.bank_name, ''), coalesce(a.bank_code, ''), coalesce(a.settlement_id, 0), coalesce(a.updated_at, 0),
	coalesce(a.name_match, '')
	FROM customer AS c LEFT JOIN customer_account AS a
		ON a.company_id = c.company_id AND a.customer_id = c.id AND a.state = 'OPEN' `

func scanCustomer(sc db.Scanner) (Customer, error) {
	var r row
	var b BankAccount
	var opened int64
	err := sc.Scan(append(customers.Targets(&r), &b.Number, &b.Name, &b.BankName, &b.BankCode, (*int64)(&b.SettlementID), &opened,
		(*string)(&r.NameMatch))...)
	if b.CreatedAt.Time = clock.Time(opened); b.Number != "" {
		r.Account = &b
	}
	if err == nil && len(r.address) > 0 {
		r.Address = &Address{}
		err = json.Unmarshal(r.address, r.Address)
	}
	r.number = r.Number
	return r.Customer, err
}

func (s *Service) findByID(ctx context.Context, company, customerID string) (Customer, error) {
	return db.One(ctx, s.DB, scanCustomer, selectCustomer+`WHERE c.company_id = $1 AND c.id = $2 AND c.erased_at = 0`, company, customerID)
}

func (s *Service) findByEmail(ctx context.Context, company, email string) (Customer, error) {
	return db.One(ctx, s.DB, scanCustomer, selectCustomer+`
		JOIN customer_email AS e ON e.company_id = c.company_id AND e.customer_id = c.id
		WHERE e.company_id = $1 AND e.email = $2`, company, email)
}

// findByAccount returns the owner of an account. An erased customer still owns the account, because money
// may arrive there, until the bank gives it to another customer.
func (s *Service) findByAccount(ctx context.Context, company, accountNumber string) (Customer, error) {
	return db.One(ctx, s.DB, scanCustomer,
		selectCustomer+`WHERE a.company_id = $1 AND a.account_number = $2 AND a.account_number <> ''`, company, accountNumber)
}

// customers returns the company's customers whose numbers are at most high and greater than low. It
// leaves out erased customers.
func (s *Service) customers(ctx context.Context, company string, high, low int64) ([]Customer, error) {
	return db.All(ctx, s.DB, scanCustomer,
		selectCustomer+`WHERE c.company_id = $1 AND c.number <= $2 AND c.number > $3 AND c.erased_at = 0 ORDER BY c.number DESC`, company, high, low)
}

// erasedNumbers returns the numbers of the company's erased customers, in descending order.
func (s *Service) erasedNumbers(ctx context.Context, company string) ([]int64, error) {
	return db.All(ctx, s.DB, db.Value[int64],
		`SELECT number FROM customer WHERE company_id = $1 AND erased_at > 0 ORDER BY number DESC`, company)
}

// CompanyOf returns the company of a customer who is not erased.
func (s *Service) CompanyOf(ctx context.Context, customerID string) (string, error) {
	company, err := db.One(ctx, s.DB, db.Value[string], `SELECT company_id FROM customer WHERE id = $1 AND erased_at = 0`, customerID)
	return company, db.Missing(err, "Customer not found")
}

// matches returns a page of the customers whose search text matches a pattern, and the total count.
func (s *Service) matches(ctx context.Context, company, pattern string, limit, offset int) ([]Customer, int, error) {
	list, total, err := db.Page(ctx, s.DB, company, scanCustomer,
		`SELECT count(*) FROM customer WHERE company_id = $1 AND search LIKE $2 ESCAPE '\'`, selectCustomer+`
		WHERE c.company_id = $1 AND c.search LIKE $2 ESCAPE '\' ORDER BY c.number DESC LIMIT $3 OFFSET $4`,
		limit, offset, company, pattern)
	return list, int(total), err
}

// after returns at most limit customers below a number whose search text matches a pattern, or all if the pattern is "", the newest
// first. It leaves out erased customers.
func (s *Service) after(ctx context.Context, company, pattern string, number int64, limit int) ([]Customer, error) {
	return db.All(ctx, s.DB, scanCustomer, selectCustomer+`WHERE c.company_id = $1 AND c.number < $2 AND c.erased_at = 0
		AND ($3 = '' OR c.search LIKE $3 ESCAPE '\') ORDER BY c.number DESC LIMIT $4`, company, number, pattern, limit)
}

// reserved returns the ID of the customer for whom an e-mail address is reserved.
func (s *Service) reserved(ctx context.Context, company, email string) (string, error) {
	return db.One(ctx, s.DB, db.Value[string],
		`SELECT customer_id FROM customer_email WHERE company_id = $1 AND email = $2`, company, email)
}

func (s *Service) findAccount(ctx context.Context, company, customerID string) (account, error) {
	return db.One(ctx, s.DB, accounts.Scan,
		`SELECT `+accountColumns+` FROM customer_account WHERE company_id = $1 AND customer_id = $2`, company, customerID)
}

// findAccountByNumber returns the row with this account number, whatever its state is.
func (s *Service) findAccountByNumber(ctx context.Context, company, number string) (account, error) {
	return db.One(ctx, s.DB, accounts.Scan, `SELECT `+accountColumns+` FROM customer_account
		WHERE company_id = $1 AND account_number = $2 AND account_number <> ''`, company, number)
}

const (
	selectTransaction = `SELECT ` + transactionColumns + `, c.first_name, c.last_name
	FROM customer_transaction AS t JOIN customer AS c ON c.company_id = t.company_id AND c.id = t.customer_id `
	// selectOwn selects a customer's transactions without the customer's name.
	selectOwn = `SELECT ` + transactionColumns + ` FROM customer_transaction AS t `
)

func scanTransaction(sc db.Scanner) (Transaction, error) {
	var t Transaction
	var h Holder
	err := sc.Scan(append(transactions.Targets(&t), &h.FirstName, &h.LastName)...)
	h.ID = t.CustomerID
	return t.of(h), err
}

// transactions returns the company's transactions whose numbers are at most high and greater than
// low.
func (s *Service) transactions(ctx context.Context, company string, high, low int64) ([]Transaction, error) {
	return db.All(ctx, s.DB, scanTransaction,
		selectTransaction+`WHERE t.company_id = $1 AND t.number <= $2 AND t.number > $3 ORDER BY t.number DESC`, company, high, low)
}

// filteredTransactions returns a page of the transactions that match a filter, and the total count.
func (s *Service) filteredTransactions(
	ctx context.Context, company string, f TransactionFilter, offset, limit int,
) ([]Transaction, int, error) {
	from, to := clock.Micros(f.From), int64(math.MaxInt64)
	if !f.To.IsZero() {
		to = clock.Micros(f.To)
	}
	list, total, err := db.Page(ctx, s.DB, company, scanTransaction, `
		SELECT count(*) FROM customer_transaction
		WHERE company_id = $1 AND ($2 = '' OR customer_id = $2) AND created_at >= $3 AND created_at < $4`, selectTransaction+`
		WHERE t.company_id = $1 AND ($2 = '' OR t.customer_id = $2) AND t.created_at >= $3 AND t.created_at < $4
		ORDER BY t.number DESC LIMIT $5 OFFSET $6`, limit, offset, company, f.CustomerID, from, to)
	return list, int(total), err
}

// SQL statements that read transactions below a number, the newest first. Those of one customer have an index of their own.
const (
	transactionsAfter = selectTransaction + `WHERE t.company_id = $1 AND t.number < $2 AND t.created_at >= $3 AND t.created_at < $4 `
	ofCustomerAfter   = `AND t.customer_id = $6 `
	newestAfter       = `ORDER BY t.number DESC LIMIT $5`
)

func (s *Service) transactionsAfter(ctx context.Context, company string, f TransactionFilter, number int64, limit int) ([]Transaction, error) {
	to := int64(math.MaxInt64)
	if !f.To.IsZero() {
		to = clock.Micros(f.To)
	}
	if f.CustomerID == "" {
		return db.All(ctx, s.DB, scanTransaction, transactionsAfter+newestAfter, company, number, clock.Micros(f.From), to, limit)
	}
	return db.All(ctx, s.DB, scanTransaction, transactionsAfter+ofCustomerAfter+newestAfter, company, number, clock.Micros(f.From), to, limit, f.CustomerID)
}

func (s *Service) transactionsOf(ctx context.Context, company, customerID string) ([]Transaction, error) {
	return db.All(ctx, s.DB, transactions.Scan,
		selectOwn+`WHERE t.company_id = $1 AND t.customer_id = $2 ORDER BY t.number DESC LIMIT $3`, company, customerID, mostOfOne)
}

func (s *Service) findTransaction(ctx context.Context, company, customerID, transactionID string) (Transaction, error) {
	return db.One(ctx, s.DB, transactions.Scan,
		selectOwn+`WHERE t.company_id = $1 AND t.customer_id = $2 AND t.id = $3`, company, customerID, transactionID)
}

// checkedCustomers is the FROM and WHERE clause of the operators' list.
const checkedCustomers = ` FROM customer_account AS a JOIN customer AS c ON c.company_id = a.company_id AND c.id = a.customer_id
	WHERE a.name_match <> '' AND a.name_match = $1 AND ($2 = '' OR a.company_id = $2) AND c.erased_at = 0`

// Checked returns a page of the customers whose name was compared with the BVN's record, and the
// total count. It begins with the latest.
func (s *Service) Checked(ctx context.Context, f CheckedFilter, limit, offset int) ([]Checked, int64, error) {
	return db.Page(ctx, s.DB, "", func(sc db.Scanner) (c Checked, err error) {
		var at int64
		err = sc.Scan(&c.Company, &c.ID, &c.FirstName, &c.LastName, (*string)(&c.NameMatch), &c.Status, &at)
		c.UpdatedAt = clock.Time(at)
		return c, err
	}, `SELECT count(*)`+checkedCustomers, `SELECT a.company_id, a.customer_id, c.first_name, c.last_name, a.name_match, a.state, a.updated_at`+
		checkedCustomers+` ORDER BY a.updated_at DESC, a.customer_id LIMIT $3 OFFSET $4`, limit, offset, f.NameMatch, f.Company)
}
