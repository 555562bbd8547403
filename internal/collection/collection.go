// Package collection waits for single payments.
//
// A company asks for a virtual account for one payment of one amount, shows it
// to whoever shall pay, and is told when the money is there, or that the time
// ran out. Money that comes late, twice or in another amount than was asked for
// is the company's all the same: it is credited, the collection stays as it is,
// and an event says so.
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
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/settlement"
)

// State is where a collection stands.
type State string

// The states. The company sees a collection from Pending on.
const (
	Opening State = "OPENING"
	Pending State = "PENDING"
	Success State = "SUCCESS"
	Failed  State = "FAILED"
)

// Collection is one payment that is waited for.
type Collection struct {
	Company           string
	ID                string // the virtual_trx_id
	ExternalReference string // the company's own
	State             State
	SettlementID      int64 // where the money goes
	Amount            money.Kobo
	Control           provider.AmountControl
	AccountNumber     string
	AccountName       string
	BankName          string
	BankCode          string
	ExpiresAt         time.Time
	CreditID          string // of the payment; "" until there is one
	CreatedAt         time.Time
	UpdatedAt         time.Time

	request     string    // what was asked for, to be compared with a repetition
	provider    string    // the bank, as the books name it
	reference   string    // ours, at the bank: a new one for each try to open
	calledUntil time.Time // by then the call to the bank is over, whatever happens
}

// currency is that of every amount.
type currency struct {
	Name string `json:"name"`
}

// shown is what GET /virtual-account shows.
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

// MarshalJSON is the collection as GET /virtual-account shows it. A test holds
// the two together.
func (c Collection) MarshalJSON() ([]byte, error) { return json.Marshal(c.shown()) }

// Service is the business.
type Service struct {
	db          *db.DB
	book        *ledger.Book
	clock       clock.Clock
	log         *slog.Logger
	settlements *settlement.Service
	bank        Bank
	window      time.Duration
}

// Bank is who opens virtual accounts.
type Bank struct {
	Name   string // as the books know it
	Opener provider.AccountOpener
	// Callback is where the bank tells of payments; "" for where it tells of
	// everything else.
	Callback string
}

// New opens the business, and has it asked about every credit. Window is how
// long a call to the bank may take.
func New(d *db.DB, book *ledger.Book, c clock.Clock, log *slog.Logger,
	settlements *settlement.Service, bank Bank, window time.Duration,
) *Service {
	s := &Service{db: d, book: book, clock: c, log: log, settlements: settlements, bank: bank, window: window}
	settlements.Take(s.take)
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

// move is the guarded change of a collection to its new self.
func (c Collection) move(from State) ledger.Move {
	return ledger.Move{
		Table: table, Key: []any{c.Company, c.ID}, From: []string{string(from)}, To: string(c.State), Set: []ledger.Change{
			{Column: "reference", Value: c.reference},
			{Column: "account_number", Value: c.AccountNumber},
			{Column: "account_name", Value: c.AccountName},
			{Column: "bank_name", Value: c.BankName},
			{Column: "bank_code", Value: c.BankCode},
			{Column: "credit_id", Value: c.CreditID},
			{Column: "called_until", Value: clock.Micros(c.calledUntil)},
			{Column: "expires_at", Value: clock.Micros(c.ExpiresAt)},
			{Column: "updated_at", Value: clock.Micros(c.UpdatedAt)},
		},
	}
}
