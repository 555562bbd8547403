// Package customer keeps a company's own customers, their bank accounts and the
// money that comes in. A customer has at most one account.
//
// A customer is created with their BVN: an OTP goes to the phone on that number.
// With the OTP the bank opens an account in the customer's name. Payments into the
// account go to a settlement account of the company, and each leaves a transaction.
package customer

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/idempotency"
	"github.com/kobo-waas/kobo/internal/identity"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/opening"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/settlement"
)

// Status is a customer's state.
type Status string

// The states of a customer (completion.md §3).
const (
	PendingOTP Status = "PENDING_OTP"
	Active     Status = "ACTIVE" // has an account, and so a proven identity
)

// Customer is a company's own customer.
type Customer struct {
	Company     string       `db:"company_id,key"`
	ID          string       `db:"id,key"`
	FirstName   string       `db:"first_name"`
	MiddleName  string       `db:"middle_name"`
	LastName    string       `db:"last_name"`
	Email       string       `db:"email"`
	PhoneNumber string       `db:"phone_number"`
	DateOfBirth string       `db:"date_of_birth"` // YYYY-MM-DD
	Address     *Address     // nil if it is not known
	Status      Status       `db:"status,state"`
	Account     *BankAccount // nil before there is one
	CreatedAt   time.Time    `db:"created_at"`
	UpdatedAt   time.Time    `db:"updated_at,changes"`
}

// Address is where a customer lives.
type Address struct {
	Line1      string `json:"line1" db:"line1"`
	Line2      string `json:"line2,omitempty" db:"line2"`
	City       string `json:"city" db:"city"`
	State      string `json:"state" db:"state"`
	Country    string `json:"country,omitempty" db:"country"`
	PostalCode string `json:"postalCode,omitempty" db:"postal_code"`
}

// BankAccount is a customer's account as payers see it.
type BankAccount struct {
	Number       string
	Name         string
	BankName     string
	BankCode     string
	SettlementID int64 // the settlement account that gets the payments; 0: the company's default one
	CreatedAt    time.Time
}

// KYCStatus tells whether the customer's identity is proven.
func (c Customer) KYCStatus() string {
	if c.Status == Active {
		return "VERIFIED"
	}
	return "PENDING"
}

type currency struct {
	Name string `json:"name"`
}

var naira = currency{"NGN"}

// MarshalJSON is the account as the API shows it.
func (b BankAccount) MarshalJSON() ([]byte, error) {
	out := struct {
		AccountNumber string   `json:"accountNumber"`
		AccountName   string   `json:"accountName"`
		BankName      string   `json:"bankName"`
		BankCode      string   `json:"bankCode"`
		Currency      currency `json:"currency"`
		SettlementID  *int64   `json:"settlementId"`
		CreatedAt     string   `json:"createdAt"`
	}{b.Number, b.Name, b.BankName, b.BankCode, naira, nil, clock.Text(b.CreatedAt)}
	if b.SettlementID != 0 {
		out.SettlementID = &b.SettlementID
	}
	return json.Marshal(out)
}

// MarshalJSON is the customer as GET /customer and the events show it.
func (c Customer) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		ID          string       `json:"id"`
		FirstName   string       `json:"firstName"`
		LastName    string       `json:"lastName"`
		MiddleName  *string      `json:"middleName"`
		Email       string       `json:"email"`
		PhoneNumber string       `json:"phoneNumber"`
		Status      Status       `json:"status"`
		CreatedAt   string       `json:"createdAt"`
		DateOfBirth *string      `json:"dateOfBirth"`
		Address     *Address     `json:"address"`
		KYCStatus   string       `json:"kycStatus"`
		BankAccount *BankAccount `json:"bankAccount"`
		UpdatedAt   string       `json:"updatedAt"`
	}{
		c.ID, c.FirstName, c.LastName, present(c.MiddleName), c.Email, c.PhoneNumber, c.Status, clock.Text(c.CreatedAt),
		present(c.DateOfBirth), c.Address, c.KYCStatus(), c.Account, clock.Text(c.UpdatedAt),
	})
}

func present(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// Service is the business.
type Service struct {
	db          *db.DB
	book        *ledger.Book
	clock       clock.Clock
	log         *slog.Logger
	identities  *identity.Service
	settlements *settlement.Service
	keys        *idempotency.Service
	banks       provider.Router[provider.AccountOpener]
	openings    *opening.Machine
}

// New is the business, as a recipient of the credits on its customers' accounts. An
// account is opened at the bank that sent the OTP.
func New(d *db.DB, book *ledger.Book, c clock.Clock, log *slog.Logger, identities *identity.Service,
	settlements *settlement.Service, operations *operation.Service, keys *idempotency.Service, banks provider.Router[provider.AccountOpener],
) *Service {
	s := &Service{
		db: d, book: book, clock: c, log: log,
		identities: identities, settlements: settlements, keys: keys, banks: banks,
	}
	s.openings = opening.New(book, c, log, operations, identities.Window(), opening.Kind{
		Name: "customer", Job: ResolveJob, Find: s.followed,
		Unknown: "it is unknown whether an account was opened",
		Gone:    "The bank did not open it.",
		TooOld:  "an account whose opening is not known after 72 hours",
	})
	settlements.AddRecipient(s.bookCredit)
	return s
}

var errNoCustomer = fault.New(fault.Missing, "Customer not found")

// Find is a customer of the company, by id or by e-mail address.
func (s *Service) Find(ctx context.Context, company, idOrEmail string) (Customer, error) {
	c, err := s.findByID(ctx, company, idOrEmail)
	if errors.Is(err, db.ErrNone) && strings.Contains(idOrEmail, "@") {
		c, err = s.findByEmail(ctx, company, addressKey(idOrEmail))
	}
	if errors.Is(err, db.ErrNone) {
		err = errNoCustomer
	}
	return c, err
}

// addressKey is an e-mail address in the form that is compared.
func addressKey(email string) string { return strings.ToLower(strings.TrimSpace(email)) }

// Customers is a page of the company's customers, newest first, with their number in
// all. Search, if it is not empty, is part of a name, an e-mail address or a phone
// number. Without a search a page is a range of the customers' numbers, so its place
// costs nothing.
func (s *Service) Customers(ctx context.Context, company, search string, offset, limit int) ([]Customer, int, error) {
	if search = strings.ToLower(strings.TrimSpace(search)); search != "" {
		pattern := "%" + strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(search) + "%"
		total, err := s.countMatches(ctx, company, pattern)
		if err != nil {
			return nil, 0, err
		}
		list, err := s.matches(ctx, company, pattern, limit, offset)
		return list, int(total), err
	}
	last, err := s.book.Last(ctx, company, numbers)
	if err != nil {
		return nil, 0, err
	}
	high := last - int64(offset)
	list, err := s.customers(ctx, company, high, high-int64(limit))
	return list, int(last), err
}
