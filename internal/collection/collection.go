// Package collection opens virtual accounts, each for a single payment.
//
// A company requests a virtual account for a payment of a certain amount, and shows the account to
// the payer. An event reports to the company that the payment arrived, or that the account expired.
// A payment that arrives late, twice or with a wrong amount is credited to the company too. Such a
// payment does not change the collection, and a different event reports it.
package collection

import (
	"context"
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
	"github.com/kobo-waas/kobo/internal/wire"
)

// State is the state of a collection.
type State string

// The states of a collection. In the state Opening, the company cannot see the collection yet.
const (
	Opening State = "OPENING"
	Pending State = "PENDING"
	Success State = "SUCCESS"
	Failed  State = "FAILED"
)

// Collection is an expected payment and its virtual account. Its JSON is the response of
// GET /virtual-account.
type Collection struct {
	Company           string                 `db:"company_id,key" json:"-"`
	ID                string                 `db:"id,key" json:"-"` // the virtual_trx_id
	Amount            money.Kobo             `db:"amount_kobo" json:"amount"`
	ExpiresAt         clock.Instant          `db:"expires_at,changes" json:"expiryDate"`
	BankName          string                 `db:"bank_name,changes" json:"bankName"`
	AccountNumber     string                 `db:"account_number,changes" json:"accountNumber"`
	ExternalReference string                 `db:"external_reference" json:"externalReference"` // the company's reference
	State             State                  `db:"state,state" json:"status"`
	Currency          wire.Naira             `json:"currency"`
	CreatedAt         clock.Instant          `db:"created_at" json:"createdAt"`
	request           string                 `db:"request"`                // the company's request, to recognise a repetition
	provider          string                 `db:"provider,changes"`       // the bank's name in the ledger
	reference         string                 `db:"reference,changes"`      // Kobo's reference at the bank
	SettlementID      int64                  `db:"settlement_id" json:"-"` // the settlement account for the money
	Control           provider.AmountControl `db:"amount_control" json:"-"`
	AccountName       string                 `db:"account_name,changes" json:"-"`
	BankCode          string                 `db:"bank_code,changes" json:"-"`
	CreditID          string                 `db:"credit_id,changes" json:"-"` // the credit of the payment; "" until the payment arrives
	opening.Intent    `json:"-"`             // CalledUntil is zero if the bank has certainly not opened an account
	UpdatedAt         time.Time              `db:"updated_at,changes" json:"-"`
	Metadata          operation.Metadata     `db:"metadata" json:"metadata,omitempty"`
}

// Config contains what a Service needs.
type Config struct {
	DB          *db.DB
	Book        *ledger.Book
	Clock       clock.Clock
	Log         *slog.Logger
	Settlements *settlement.Service
	Operations  *operation.Service // opens cases for openings whose outcome stays unknown
	Banks       provider.Router[provider.AccountOpener]
	Window      time.Duration // the longest time that a call to the bank may take
}

// Service opens virtual accounts and matches payments with them.
type Service struct {
	Config
	openings *opening.Machine
}

// New returns a Service.
func New(c Config) *Service {
	s := &Service{Config: c}
	s.openings = &opening.Machine{
		Book: c.Book, Clock: c.Clock, Log: c.Log, Cases: c.Operations, Window: c.Window,
		Kind: "collection", Job: ResolveJob, Find: s.followed,
		Unknown: "it is unknown whether a virtual account was opened",
		Gone:    "The bank did not open it.",
		TooOld:  "a virtual account whose opening is not known after 72 hours",
	}
	return s
}

// Find returns a collection of the company by its ID.
func (s *Service) Find(ctx context.Context, company, collectionID string) (Collection, error) {
	c, err := s.find(ctx, company, collectionID)
	if errors.Is(err, db.ErrNone) || err == nil && c.State == Opening {
		return Collection{}, fault.New(fault.Missing, "Virtual account transaction not found")
	}
	return c, err
}
