// Package collection waits for single payments.
//
// A company asks for a virtual account for one payment of one amount, and shows the
// account to the payer. An event tells the company that the money is there, or that
// the time ran out. Money that comes late, twice or in another amount is credited to
// the company too. The collection stays as it is then, and an event says so.
package collection

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/opening"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/settlement"
)

// State is the state of a collection.
type State string

// The states. The company sees a collection from Pending on.
const (
	Opening State = "OPENING"
	Pending State = "PENDING"
	Success State = "SUCCESS"
	Failed  State = "FAILED"
)

// Collection is one expected payment.
type Collection struct {
	Company           string                 `db:"company_id,key"`
	ID                string                 `db:"id,key"`             // the virtual_trx_id
	ExternalReference string                 `db:"external_reference"` // the company's own
	request           string                 `db:"request"`            // what the company asked for, to compare a repetition with
	State             State                  `db:"state,state"`
	provider          string                 `db:"provider,changes"`  // the bank, as the ledger names it
	reference         string                 `db:"reference,changes"` // ours, at the bank
	SettlementID      int64                  `db:"settlement_id"`     // where the money goes
	Amount            money.Kobo             `db:"amount_kobo"`
	Control           provider.AmountControl `db:"amount_control"`
	AccountNumber     string                 `db:"account_number,changes"`
	AccountName       string                 `db:"account_name,changes"`
	BankName          string                 `db:"bank_name,changes"`
	BankCode          string                 `db:"bank_code,changes"`
	CreditID          string                 `db:"credit_id,changes"` // of the payment; "" until there is one
	opening.Intent                           // CalledUntil is zero when the bank has certainly opened nothing
	ExpiresAt         time.Time              `db:"expires_at,changes"`
	CreatedAt         time.Time              `db:"created_at"`
	UpdatedAt         time.Time              `db:"updated_at,changes"`
}

// currency is the currency of every amount.
type currency struct {
	Name string `json:"name"`
}

// shown is a collection as GET /virtual-account shows it.
type shown struct {
	Amount            money.Kobo `json:"amount"`
	ExpiryDate        string     `json:"expiryDate"`
	BankName          string     `json:"bankName"`
	AccountNumber     string     `json:"accountNumber"`
	ExternalReference string     `json:"externalReference"`
	Status            string     `json:"status"`
	Currency          currency   `json:"currency"`
	CreatedAt         string     `json:"createdAt"`
}

func (c Collection) shown() shown {
	return shown{
		c.Amount, clock.Text(c.ExpiresAt), c.BankName, c.AccountNumber, c.ExternalReference, string(c.State),
		currency{"NGN"},
		clock.Text(c.CreatedAt),
	}
}

// MarshalJSON is the collection as GET /virtual-account shows it. A test compares
// the two.
func (c Collection) MarshalJSON() ([]byte, error) { return json.Marshal(c.shown()) }

// Service is the business.
type Service struct {
	db          *db.DB
	book        *ledger.Book
	clock       clock.Clock
	log         *slog.Logger
	settlements *settlement.Service
	banks       provider.Router[provider.AccountOpener]
	openings    *opening.Machine
}

// New is the business, as a recipient of the credits on its accounts. Window is how
// long a call to the bank may take.
func New(d *db.DB, book *ledger.Book, c clock.Clock, log *slog.Logger,
	settlements *settlement.Service, operations *operation.Service, banks provider.Router[provider.AccountOpener], window time.Duration,
) *Service {
	s := &Service{db: d, book: book, clock: c, log: log, settlements: settlements, banks: banks}
	s.openings = opening.New(book, c, log, operations, window, opening.Kind{
		Name: "collection", Job: ResolveJob, Find: s.followed,
		Unknown: "it is unknown whether a virtual account was opened",
		Gone:    "The bank did not open it.",
		TooOld:  "a virtual account whose opening is not known after 72 hours",
	})
	settlements.AddRecipient(s.bookCredit)
	return s
}

// Find is one collection of the company.
func (s *Service) Find(ctx context.Context, company, collectionID string) (Collection, error) {
	c, err := s.find(ctx, company, collectionID)
	if errors.Is(err, db.ErrNone) || err == nil && c.State == Opening {
		return Collection{}, fault.New(fault.Missing, "Virtual account transaction not found")
	}
	return c, err
}
