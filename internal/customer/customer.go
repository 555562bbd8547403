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
	"github.com/kobo-waas/kobo/internal/wire"
)

// Status is a customer's state.
type Status string

// The states of a customer (completion.md §3).
const (
	PendingOTP Status = "PENDING_OTP"
	Active     Status = "ACTIVE" // has an account, and so a proven identity
)

// Profile is what the answer to a customer's creation shows.
type Profile struct {
	ID          string        `db:"id,key" json:"id"`
	FirstName   string        `db:"first_name" json:"firstName"`
	LastName    string        `db:"last_name" json:"lastName"`
	MiddleName  wire.Text     `db:"middle_name" json:"middleName"`
	Email       string        `db:"email" json:"email"`
	PhoneNumber string        `db:"phone_number" json:"phoneNumber"`
	Status      Status        `db:"status,state" json:"status"`
	CreatedAt   clock.Instant `db:"created_at" json:"createdAt"`
}

// Customer is a company's own customer, as the API and the events show it.
type Customer struct {
	Company string `db:"company_id,key" json:"-"`
	Profile
	DateOfBirth wire.Text     `db:"date_of_birth" json:"dateOfBirth"` // YYYY-MM-DD
	Address     *Address      `json:"address"`                        // nil if it is not known
	KYC         string        `json:"kycStatus"`                      // KYCStatus, in JSON alone
	Account     *BankAccount  `json:"bankAccount"`                    // nil before there is one
	UpdatedAt   clock.Instant `db:"updated_at,changes" json:"updatedAt"`
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
	Number       string        `json:"accountNumber"`
	Name         string        `json:"accountName"`
	BankName     string        `json:"bankName"`
	BankCode     string        `json:"bankCode"`
	Currency     wire.Naira    `json:"currency"`
	SettlementID wire.Number   `json:"settlementId"` // gets the payments; 0: the company's default settlement account
	CreatedAt    clock.Instant `json:"createdAt"`
}

// KYCStatus reports whether the customer's identity is proven.
func (c Customer) KYCStatus() string {
	if c.Status == Active {
		return "VERIFIED"
	}
	return "PENDING"
}

// MarshalJSON adds the state of the customer's identity.
func (c Customer) MarshalJSON() ([]byte, error) {
	type plain Customer
	c.KYC = c.KYCStatus()
	return json.Marshal(plain(c))
}

// Config is what the business needs.
type Config struct {
	DB          *db.DB
	Book        *ledger.Book
	Clock       clock.Clock
	Log         *slog.Logger
	Identities  *identity.Service
	Settlements *settlement.Service
	Operations  *operation.Service // opens the cases
	Keys        *idempotency.Service
	Banks       provider.Router[provider.AccountOpener]
}

// Service is the business.
type Service struct {
	Config
	openings *opening.Machine
}

// New returns the business. An account is opened at the bank that sent the OTP.
func New(c Config) *Service {
	s := &Service{Config: c}
	s.openings = &opening.Machine{
		Book: c.Book, Clock: c.Clock, Log: c.Log, Cases: c.Operations, Window: c.Identities.Window,
		Kind: "customer", Job: ResolveJob, Find: s.followed,
		Unknown: "it is unknown whether an account was opened",
		Gone:    "The bank did not open it.",
		TooOld:  "an account whose opening is not known after 72 hours",
	}
	return s
}

var errNoCustomer = fault.New(fault.Missing, "Customer not found")

// Find returns a customer of the company, by id or by e-mail address.
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

// addressKey returns an e-mail address in the form that is compared.
func addressKey(email string) string { return strings.ToLower(strings.TrimSpace(email)) }

// Customers returns a page of the company's customers, newest first, with their number in
// all. Search, if it is not empty, is part of a name, an e-mail address or a phone
// number. Without a search a page is a range of the customers' numbers, so its place
// costs nothing.
func (s *Service) Customers(ctx context.Context, company, search string, offset, limit int) ([]Customer, int, error) {
	if search = strings.ToLower(strings.TrimSpace(search)); search != "" {
		pattern := "%" + strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(search) + "%"
		return s.matches(ctx, company, pattern, limit, offset)
	}
	last, err := s.Book.Last(ctx, company, numbers)
	if err != nil {
		return nil, 0, err
	}
	high := last - int64(offset)
	list, err := s.customers(ctx, company, high, high-int64(limit))
	return list, int(last), err
}
