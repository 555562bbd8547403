// Package customer manages a company's customers, their bank accounts and the money that arrives
// in these accounts. A customer has at most one account.
//
// A company creates a customer with the customer's BVN, and an OTP is sent to the phone on that
// BVN. With the OTP the bank opens an account in the customer's name. A payment into this account
// is credited to a settlement account of the company, and Kobo records a transaction.
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
	"github.com/kobo-waas/kobo/internal/wire"
)

// Status is a customer's state.
type Status string

// The states of a customer (completion.md §3).
const (
	PendingOTP Status = "PENDING_OTP"
	Active     Status = "ACTIVE" // the customer has an account, and therefore a proven identity
)

// Profile contains the fields that the response to a customer's creation shows.
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

// Customer is a company's customer in the form that the API and the events show.
type Customer struct {
	Company string `db:"company_id,key" json:"-"`
	Profile
	DateOfBirth wire.Text     `db:"date_of_birth" json:"dateOfBirth"` // YYYY-MM-DD
	Address     *Address      `json:"address"`                        // nil if the address is unknown
	KYC         string        `json:"kycStatus"`                      // the result of KYCStatus; set only in JSON
	NameMatch   wire.Text     `json:"nameMatch"`                      // Match, Partial or Mismatch; "" if not known
	Account     *BankAccount  `json:"bankAccount"`                    // nil until the account is opened
	UpdatedAt   clock.Instant `db:"updated_at,changes" json:"updatedAt"`
	ErasedAt    time.Time     `db:"erased_at" json:"-"` // zero unless an operator has erased the customer
	number      int64         // numbers the company's customers; set only in lists
}

// Address is a customer's home address.
type Address struct {
	Line1      string `json:"line1" db:"line1"`
	Line2      string `json:"line2,omitempty" db:"line2"`
	City       string `json:"city" db:"city"`
	State      string `json:"state" db:"state"`
	Country    string `json:"country,omitempty" db:"country"`
	PostalCode string `json:"postalCode,omitempty" db:"postal_code"`
}

// BankAccount is a customer's bank account in the form that the API shows.
type BankAccount struct {
	Number       string        `json:"accountNumber"`
	Name         string        `json:"accountName"`
	BankName     string        `json:"bankName"`
	BankCode     string        `json:"bankCode"`
	Currency     wire.Naira    `json:"currency"`
	SettlementID wire.Number   `json:"settlementId"` // the settlement account for payments; 0 for the company's default
	CreatedAt    clock.Instant `json:"createdAt"`
}

// KYCStatus returns VERIFIED if the customer's identity is proven, and otherwise PENDING.
func (c Customer) KYCStatus() string {
	if c.Status == Active {
		return "VERIFIED"
	}
	return "PENDING"
}

// MarshalJSON returns the customer as JSON, with the result of KYCStatus in kycStatus.
func (c Customer) MarshalJSON() ([]byte, error) {
	type plain Customer
	c.KYC = c.KYCStatus()
	return json.Marshal(plain(c))
}

// Config contains what a Service needs.
type Config struct {
	DB          *db.DB
	Book        *ledger.Book
	Clock       clock.Clock
	Log         *slog.Logger
	Identities  *identity.Service
	Settlements *settlement.Service
	Operations  *operation.Service // opens cases for openings whose outcome stays unknown
	Keys        *idempotency.Service
	Banks       provider.Router[provider.AccountOpener]
	// RefuseNames makes GenerateAccount refuse a customer whose name does not match the BVN's record.
	RefuseNames bool
}

// Service creates customers and opens their accounts.
type Service struct {
	Config
	openings *opening.Machine
}

// New returns a Service. The Service opens each account at the bank that sent the OTP.
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

// Find returns a customer of the company by ID or by e-mail address.
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

// addressKey returns an e-mail address in lower case and without blanks around it, for
// comparisons.
func addressKey(email string) string { return strings.ToLower(strings.TrimSpace(email)) }

// Customers returns a page of the company's customers, newest first, and the total count. If
// search is not empty, Customers includes only customers whose name, e-mail address or phone number
// contains the search text. Without a search, a page is a range of the customers' sequence numbers.
// A page with a large offset is therefore as fast as the first page.
func (s *Service) Customers(ctx context.Context, company, search string, offset, limit int) ([]Customer, int, error) {
	if pattern := patternOf(search); pattern != "" {
		return s.matches(ctx, company, pattern, limit, offset)
	}
	last, err := s.Book.Last(ctx, company, numbers)
	if err != nil {
		return nil, 0, err
	}
	erased, err := s.erasedNumbers(ctx, company)
	if err != nil {
		return nil, 0, err
	}
	high := below(erased, last, int64(offset))
	list, err := s.customers(ctx, company, high, below(erased, high, int64(limit)))
	return list, int(last) - len(erased), err
}

// longestSearch is more than the characters of any customer's search text: names, e-mail address and phone number.
const longestSearch = 1000

// patternOf returns the pattern that a search text matches, or "" for no text. SQLite refuses a pattern of more than
// 50,000 bytes, so only the beginning of a long text is in it, which is still too long for any customer.
func patternOf(search string) string {
	if search = strings.ToLower(strings.TrimSpace(search)); search == "" {
		return ""
	}
	if runes := []rune(search); len(runes) > longestSearch {
		search = string(runes[:longestSearch+1])
	}
	return "%" + strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(search) + "%"
}

// Cursor returns the place of a customer in the list of the company's customers.
func (c Customer) Cursor() string { return db.Place{At: c.number, ID: c.ID}.Cursor() }

// After returns at most limit customers of the company, the newest first, as Customers does. They follow the customer with the
// cursor after, which is "" for the newest ones. A wrong cursor is a fault of the kind Invalid.
func (s *Service) After(ctx context.Context, company, search, after string, limit int) ([]Customer, error) {
	at, err := db.PlaceOf(after)
	if err != nil {
		return nil, err
	}
	return s.after(ctx, company, patternOf(search), at.At, limit)
}

// below returns the number that is n customers below a number. It leaves out the erased customers,
// whose numbers are in descending order.
func below(erased []int64, number, n int64) int64 {
	low := number - n
	for _, e := range erased {
		if e <= number && e > low {
			low--
		}
	}
	return low
}
