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

// receiverOf is the kind of the account to which the credit c of the company $1 was paid. Each part is found by a key.
const receiverOf = `CASE
	WHEN EXISTS (SELECT 1 FROM customer_transaction AS t WHERE t.company_id = $1 AND t.id = c.id) THEN 'customer'
	WHEN EXISTS (SELECT 1 FROM ledger_transfer AS t WHERE t.company_id = $1 AND t.reference = c.id AND t.kind = 'collection') THEN 'virtual_account'
	ELSE 'settlement' END`

// These parts make the SQL statements of the list. The inner statement of a page selects its keys in the order of an index.
const (
	inboundFiltered = ` FROM settlement_credit AS c WHERE c.company_id = $1 AND c.created_at >= $2 AND c.created_at < $3
		AND ($4 = CAST(0 AS BIGINT) OR c.settlement_id = $4) AND ($5 = '' OR ` + receiverOf + ` = $5)`
	inboundSelect = `SELECT c.id, ` + receiverOf + `, c.settlement_id, c.account_number, c.amount_kobo, c.sender_name, c.sender_bank, c.sender_account,
		c.narration, c.session_id, c.created_at, coalesce(p.id, ''), coalesce(p.first_name, ''), coalesce(p.last_name, '') FROM `
	inboundHolder = `LEFT JOIN customer_transaction AS h ON h.company_id = $1 AND h.id = c.id
		LEFT JOIN customer AS p ON p.company_id = $1 AND p.id = h.customer_id `
	inboundCount = `SELECT count(*)` + inboundFiltered
	inboundPage  = inboundSelect + `(SELECT c.id` + inboundFiltered + ` ORDER BY c.created_at DESC, c.id DESC LIMIT $6 OFFSET $7) AS k
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
	list, total, err := db.Page(ctx, s.db, company, scanCredit, inboundCount, inboundPage, limit, offset,
		company, clock.Micros(f.From), to, f.SettlementID, f.Receiver)
	return list, int(total), err
}

// Credit returns what a bank has reported for the company by its id. An unknown id is a fault of the kind Missing.
func (s *Service) Credit(ctx context.Context, company, reference string) (Credit, error) {
	c, err := db.One(ctx, s.db, scanCredit, inboundOne, company, reference)
	return c, db.Missing(err, "Credit not found")
}
