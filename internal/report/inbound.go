package report

import (
	"context"
	"math"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/customer"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/settlement"
)

// The kinds of accounts to which a company is paid.
const (
	ToSettlement     = "settlement"
	ToCustomer       = "customer"
	ToVirtualAccount = "virtual_account"
)

// Receivers are all kinds of accounts to which a company is paid.
var Receivers = []string{ToSettlement, ToCustomer, ToVirtualAccount}

// Credit is money that a bank has reported for a company.
type Credit struct {
	ID, Receiver  string
	SettlementID  int64  // the settlement account that received it
	AccountNumber string // the account to which it was paid
	Amount        money.Kobo
	Sender        settlement.Sender
	Narration     string
	SessionID     string
	Customer      customer.Holder // zero unless the receiver is a customer
	CreatedAt     time.Time
}

// CreditFilter narrows a list of credits. A field that is zero does not filter.
type CreditFilter struct {
	SettlementID int64
	Receiver     string
	From, To     time.Time // created at From or later, and before To
}

// These conditions say to which kind of account the credit c of the company $1 was paid. Each one is found by a key. A credit that is
// both counts as a customer's.
const (
	isOfCustomer       = `EXISTS (SELECT 1 FROM customer_transaction AS t WHERE t.company_id = $1 AND t.id = c.id)`
	isOfVirtualAccount = `EXISTS (SELECT 1 FROM ledger_transfer AS t WHERE t.company_id = $1 AND t.reference = c.id AND t.kind = 'collection')`
	receiverOf         = `CASE WHEN ` + isOfCustomer + ` THEN 'customer' WHEN ` + isOfVirtualAccount + ` THEN 'virtual_account' ELSE 'settlement' END`
)

// These are the conditions of the list of each kind. Each kind has a text of its own, because PostgreSQL then joins the rows as a whole.
// In one text for all kinds it would look up each credit of the period by itself. For 300,000 credits this took about three times as long.
const (
	ofCustomers       = ` AND ` + isOfCustomer
	ofVirtualAccounts = ` AND ` + isOfVirtualAccount + ` AND NOT ` + isOfCustomer
	ofOwnAccounts     = ` AND NOT ` + isOfVirtualAccount + ` AND NOT ` + isOfCustomer
)

// These parts make the SQL statements of the list. The inner statement of a page selects its keys in the order of an index.
const (
	inboundFiltered = ` FROM settlement_credit AS c WHERE c.company_id = $1 AND c.created_at >= $2 AND c.created_at < $3
		AND ($4 = CAST(0 AS BIGINT) OR c.settlement_id = $4)`
	inboundSelect = `SELECT c.id, ` + receiverOf + `, c.settlement_id, c.account_number, c.amount_kobo, c.sender_name, c.sender_bank, c.sender_account,
		c.narration, c.session_id, c.created_at, coalesce(p.id, ''), coalesce(p.first_name, ''), coalesce(p.last_name, '') FROM `
	inboundHolder = `LEFT JOIN customer_transaction AS h ON h.company_id = $1 AND h.id = c.id
		LEFT JOIN customer AS p ON p.company_id = $1 AND p.id = h.customer_id `
	inboundCount = `SELECT count(*)` + inboundFiltered
	inboundKeys  = inboundSelect + `(SELECT c.id` + inboundFiltered
	inboundPage  = ` ORDER BY c.created_at DESC, c.id DESC LIMIT $5 OFFSET $6) AS k
		JOIN settlement_credit AS c ON c.company_id = $1 AND c.id = k.id ` + inboundHolder + `ORDER BY c.created_at DESC, c.id DESC`
	inboundAfter = ` AND (c.created_at, c.id) < ($5, $6) ORDER BY c.created_at DESC, c.id DESC LIMIT $7) AS k
		JOIN settlement_credit AS c ON c.company_id = $1 AND c.id = k.id ` + inboundHolder + `ORDER BY c.created_at DESC, c.id DESC`
	inboundOne = inboundSelect + `settlement_credit AS c ` + inboundHolder + `WHERE c.company_id = $1 AND c.id = $2`
)

func scanCredit(s db.Scanner) (c Credit, err error) {
	var at int64
	err = s.Scan(&c.ID, &c.Receiver, &c.SettlementID, &c.AccountNumber, &c.Amount, &c.Sender.Name, &c.Sender.Bank, &c.Sender.Account,
		&c.Narration, &c.SessionID, &at, &c.Customer.ID, &c.Customer.FirstName, &c.Customer.LastName)
	c.CreatedAt = clock.Time(at)
	return c, err
}

// Credits returns a page of what banks have reported for the company, newest first, and the total count.
func (s *Service) Credits(ctx context.Context, company string, f CreditFilter, offset, limit int) ([]Credit, int, error) {
	to := int64(math.MaxInt64)
	if !f.To.IsZero() {
		to = clock.Micros(f.To)
	}
	list, total, err := s.creditsOf(ctx, company, f.Receiver, offset, limit, company, clock.Micros(f.From), to, f.SettlementID)
	return list, int(total), err
}

// creditsOf returns a page of the credits of one kind of receiver, or of all.
func (s *Service) creditsOf(ctx context.Context, company, receiver string, offset, limit int, args ...any) ([]Credit, int64, error) {
	switch receiver {
	case ToCustomer:
		return db.Page(ctx, s.db, company, scanCredit, inboundCount+ofCustomers, inboundKeys+ofCustomers+inboundPage, limit, offset, args...)
	case ToVirtualAccount:
		return db.Page(ctx, s.db, company, scanCredit, inboundCount+ofVirtualAccounts, inboundKeys+ofVirtualAccounts+inboundPage, limit, offset, args...)
	case ToSettlement:
		return db.Page(ctx, s.db, company, scanCredit, inboundCount+ofOwnAccounts, inboundKeys+ofOwnAccounts+inboundPage, limit, offset, args...)
	}
	return db.Page(ctx, s.db, company, scanCredit, inboundCount, inboundKeys+inboundPage, limit, offset, args...)
}

// Cursor returns the place of a credit in the list of the company's credits.
func (c Credit) Cursor() string { return db.Place{At: clock.Micros(c.CreatedAt), ID: c.ID}.Cursor() }

// CreditsAfter returns at most limit credits of the company that match a filter, the newest first. They follow the credit with
// the cursor after, which is "" for the newest ones. A wrong cursor is a fault of the kind Invalid.
func (s *Service) CreditsAfter(ctx context.Context, company string, f CreditFilter, after string, limit int) ([]Credit, error) {
	at, err := db.PlaceOf(after)
	if err != nil {
		return nil, err
	}
	args := []any{company, clock.Micros(f.From), untilOf(f.To), f.SettlementID, at.At, at.ID, limit}
	switch f.Receiver {
	case ToCustomer:
		return heavyAfter(ctx, s.db, company, scanCredit, inboundKeys+ofCustomers+inboundAfter, args...)
	case ToVirtualAccount:
		return heavyAfter(ctx, s.db, company, scanCredit, inboundKeys+ofVirtualAccounts+inboundAfter, args...)
	case ToSettlement:
		return heavyAfter(ctx, s.db, company, scanCredit, inboundKeys+ofOwnAccounts+inboundAfter, args...)
	}
	return db.All(ctx, s.db, scanCredit, inboundKeys+inboundAfter, args...)
}

// untilOf returns the end of a period in microseconds. A zero time is no end.
func untilOf(to time.Time) int64 {
	if to.IsZero() {
		return math.MaxInt64
	}
	return clock.Micros(to)
}

// heavyAfter reads rows after a place as a heavy read, because it may pass over many rows that the filter leaves out.
func heavyAfter[T any](ctx context.Context, d *db.DB, company string, scan func(db.Scanner) (T, error), rows string, args ...any) (list []T, err error) {
	err = d.Heavy(ctx, company, func(q db.Querier) error {
		list, err = db.All(ctx, q, scan, rows, args...)
		return err
	})
	return list, err
}

// Credit returns what a bank has reported for the company by its id. An unknown id is a fault of the kind Missing.
func (s *Service) Credit(ctx context.Context, company, reference string) (Credit, error) {
	c, err := db.One(ctx, s.db, scanCredit, inboundOne, company, reference)
	return c, db.Missing(err, "Credit not found")
}
