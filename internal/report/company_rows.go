package report

import (
	"context"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/customer"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/settlement"
)

// PageRows is the number of rows on a page of an operators' list.
const PageRows = 50

// Rows is a page of the rows of a company, newest first.
type Rows[T any] struct {
	Rows []T
	// Next is the cursor of the next page. It is "" after the last page.
	Next string
}

// pageOf cuts the row that follows a page, and sets the cursor to the last row of the page.
func pageOf[T any](list []T, cursor func(T) string) Rows[T] {
	if len(list) <= PageRows {
		return Rows[T]{Rows: list}
	}
	return Rows[T]{list[:PageRows], cursor(list[PageRows-1])}
}

// below reads a cursor that is a number. "" is above all numbers.
func below(cursor string) (int64, error) {
	if cursor == "" {
		return math.MaxInt64, nil
	}
	n, err := strconv.ParseInt(cursor, 10, 64)
	if err != nil || n < 1 {
		return 0, db.ErrCursor
	}
	return n, nil
}

// belowID reads a cursor that is an ID. "" is above all IDs.
func belowID(cursor string) (string, error) {
	switch {
	case cursor == "":
		return id.Above, nil
	case !id.IsNew(cursor):
		return "", db.ErrCursor
	}
	return cursor, nil
}

// Person is a customer of a company, as operators see one. Phone number and e-mail address are masked.
type Person struct {
	Number                          int64
	ID                              string
	FirstName, MiddleName, LastName string
	Phone, Email                    string
	Status                          string
	CreatedAt, UpdatedAt            time.Time
	// The account is empty before the bank was asked for it.
	AccountState, AccountNumber, AccountName, BankName string
	SettlementID                                       int64
	NameMatch                                          string
}

const selectPerson = `SELECT c.number, c.id, c.first_name, c.middle_name, c.last_name, c.phone_number, c.email, c.status, c.created_at, c.updated_at,
	coalesce(a.state, ''), coalesce(a.account_number, ''), coalesce(a.account_name, ''), coalesce(a.bank_name, ''), coalesce(a.settlement_id, 0), coalesce(a.name_match, '')
	FROM customer AS c LEFT JOIN customer_account AS a ON a.company_id = c.company_id AND a.customer_id = c.id `

func scanPerson(sc db.Scanner) (Person, error) {
	p, err := db.Fields[Person](sc)
	p.Phone, p.Email = MaskPhone(p.Phone), MaskEmail(p.Email)
	return p, err
}

// People returns a page of the customers of a company, without the erased ones.
func (s *Service) People(ctx context.Context, company, after string) (Rows[Person], error) {
	number, err := below(after)
	if err != nil {
		return Rows[Person]{}, err
	}
	list, err := db.All(ctx, s.db, scanPerson, selectPerson+`
		WHERE c.company_id = $1 AND c.number < $2 AND c.erased_at = 0 ORDER BY c.number DESC LIMIT $3`, company, number, PageRows+1)
	return pageOf(list, func(p Person) string { return strconv.FormatInt(p.Number, 10) }), err
}

// FindPerson returns one customer of a company. An erased customer is Missing.
func (s *Service) FindPerson(ctx context.Context, company, id string) (Person, error) {
	p, err := db.One(ctx, s.db, scanPerson, selectPerson+`WHERE c.company_id = $1 AND c.id = $2 AND c.erased_at = 0`, company, id)
	return p, db.Missing(err, "Customer not found")
}

// Contact is what the other reads mask of a customer.
type Contact struct{ Phone, Email, Born, Address string }

// Contact returns the contact data of a customer. The caller records the read before it shows them.
func (s *Service) Contact(ctx context.Context, company, id string) (Contact, error) {
	c, err := db.One(ctx, s.db, db.Fields[Contact], `SELECT phone_number, email, date_of_birth, address FROM customer
		WHERE company_id = $1 AND id = $2 AND erased_at = 0`, company, id)
	if err != nil || c.Address == "" {
		return c, db.Missing(err, "Customer not found")
	}
	var a customer.Address
	if err := json.Unmarshal([]byte(c.Address), &a); err != nil {
		return Contact{}, err
	}
	c.Address = ""
	for _, part := range []string{a.Line1, a.Line2, a.City, a.State, a.PostalCode, a.Country} {
		if part != "" {
			c.Address = strings.TrimPrefix(c.Address+", "+part, ", ")
		}
	}
	return c, nil
}

// VirtualAccount is an account that waits for one payment to a company.
type VirtualAccount struct {
	ID, OwnReference, State              string
	Amount                               money.Kobo
	Control                              string
	SettlementID                         int64
	AccountNumber, AccountName, BankName string
	CreditID                             string // "" until the payment arrives
	ExpiresAt, CreatedAt                 time.Time
}

// VirtualAccounts returns a page of the virtual accounts of a company. IDs are ordered by time.
func (s *Service) VirtualAccounts(ctx context.Context, company, after string) (Rows[VirtualAccount], error) {
	bound, err := belowID(after)
	if err != nil {
		return Rows[VirtualAccount]{}, err
	}
	list, err := db.All(ctx, s.db, db.Fields[VirtualAccount], `SELECT id, external_reference, state, amount_kobo, amount_control, settlement_id,
		account_number, account_name, bank_name, credit_id, expires_at, created_at
		FROM collection WHERE company_id = $1 AND id < $2 ORDER BY id DESC LIMIT $3`, company, bound, PageRows+1)
	return pageOf(list, func(a VirtualAccount) string { return a.ID }), err
}

// CardLine is a card of a company, with the cards that are being made or were refused.
type CardLine struct {
	ID, CustomerID, State, Status, Kind, Brand, Currency, MaskedPAN string
	ExpiryMonth, ExpiryYear, Provider                               string
	CreatedAt                                                       time.Time
}

const selectCard = `SELECT id, customer_id, state, status, kind, brand, currency, masked_pan, expiry_month, expiry_year, provider, created_at FROM card `

// Cards returns a page of the cards of a company, or of one customer.
func (s *Service) Cards(ctx context.Context, company, customerID, after string) (Rows[CardLine], error) {
	bound, err := belowID(after)
	if err != nil {
		return Rows[CardLine]{}, err
	}
	var list []CardLine
	if customerID == "" {
		list, err = db.All(ctx, s.db, db.Fields[CardLine], selectCard+`WHERE company_id = $1 AND id < $2 ORDER BY id DESC LIMIT $3`,
			company, bound, PageRows+1)
	} else {
		list, err = db.All(ctx, s.db, db.Fields[CardLine], selectCard+`WHERE company_id = $1 AND customer_id = $4 AND id < $2 ORDER BY id DESC LIMIT $3`,
			company, bound, PageRows+1, customerID)
	}
	return pageOf(list, func(c CardLine) string { return c.ID }), err
}

// EntryLine is a ledger entry of a settlement account.
type EntryLine struct {
	Sequence        int64
	Amount, Balance money.Kobo // Amount is negative if money left the account
	Step, Reference string     // the step of the payment, such as debit or refund
	CreatedAt       time.Time
}

// EntryLines returns a page of the ledger entries of a settlement account. An account without entries has an
// empty page, and an unknown account is Missing.
func (s *Service) EntryLines(ctx context.Context, company string, account int64, after string) (Rows[EntryLine], error) {
	sequence, err := below(after)
	if err != nil {
		return Rows[EntryLine]{}, err
	}
	known, err := db.All(ctx, s.db, db.Value[int64], `SELECT id FROM settlement_account WHERE company_id = $1 AND id = $2`, company, account)
	if err != nil {
		return Rows[EntryLine]{}, err
	}
	if len(known) == 0 {
		return Rows[EntryLine]{}, fault.New(fault.Missing, "Settlement account not found")
	}
	list, err := db.All(ctx, s.db, db.Fields[EntryLine], `SELECT sequence, amount_kobo, current_kobo, step, reference, created_at FROM ledger_entry
		WHERE company_id = $1 AND account_id = $2 AND sequence < $3 ORDER BY sequence DESC LIMIT $4`,
		company, settlement.LedgerAccount(account), sequence, PageRows+1)
	return pageOf(list, func(e EntryLine) string { return strconv.FormatInt(e.Sequence, 10) }), err
}

// EventLine is an event of a company, without its data.
type EventLine struct {
	Sequence  int64
	ID, Kind  string
	CreatedAt time.Time
}

// Events returns a page of the events of a company that are not archived.
func (s *Service) Events(ctx context.Context, company, after string) (Rows[EventLine], error) {
	sequence, err := below(after)
	if err != nil {
		return Rows[EventLine]{}, err
	}
	list, err := db.All(ctx, s.db, db.Fields[EventLine], `SELECT sequence, id, kind, created_at FROM event
		WHERE company_id = $1 AND sequence < $2 ORDER BY sequence DESC LIMIT $3`, company, sequence, PageRows+1)
	return pageOf(list, func(e EventLine) string { return strconv.FormatInt(e.Sequence, 10) }), err
}

// DeliveryLine is a delivery of an event to a webhook, with its last attempt.
type DeliveryLine struct {
	ID, Endpoint, EventID, Kind  string
	Sequence                     int64
	State                        string
	Attempts, Status             int64 // Status is 0 for no response
	Trouble                      string
	NextAt, CreatedAt, UpdatedAt time.Time
}

// Deliveries returns a page of the deliveries to the webhooks of a company, in one state if state is not "". IDs are
// ordered by time. A page looks at 10,000 deliveries at most. So a page of a rare state may have few rows or none, and
// still a next page.
func (s *Service) Deliveries(ctx context.Context, company, state, after string) (Rows[DeliveryLine], error) {
	bound, err := belowID(after)
	if err != nil {
		return Rows[DeliveryLine]{}, err
	}
	list, err := db.All(ctx, s.db, func(sc db.Scanner) (DeliveryLine, error) {
		d, err := db.Fields[DeliveryLine](sc)
		d.Trouble = MaskText(d.Trouble)
		return d, err
	}, `SELECT id, endpoint_id, event_id, kind, sequence, state, attempts, status, trouble, next_at, created_at, updated_at FROM (
			SELECT id, endpoint_id, event_id, kind, sequence, state, attempts, status, trouble, next_at, created_at, updated_at FROM webhook_delivery
			WHERE company_id = $1 AND id < $2 ORDER BY id DESC LIMIT $3) AS newest
		WHERE $4 = '' OR state = $4 ORDER BY id DESC LIMIT $5`, company, bound, s.depth, state, PageRows+1)
	page := pageOf(list, func(d DeliveryLine) string { return d.ID })
	if err != nil || page.Next != "" || state == "" {
		return page, err
	}
	page.Next, err = db.OrZero(db.One(ctx, s.db, db.Value[string],
		`SELECT id FROM webhook_delivery WHERE company_id = $1 AND id < $2 ORDER BY id DESC LIMIT 1 OFFSET $3`, company, bound, s.depth-1))
	return page, err
}
