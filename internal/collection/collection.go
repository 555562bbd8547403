// Package collection waits for single payments.
//
// A company asks for a virtual account for one payment of one amount, and shows the
// account to the payer. An event tells the company that the money is there, or that
// the time ran out. Money that comes late, twice or in another amount is credited to
// the company too. The collection stays as it is then, and an event says so.
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

// The states. The company sees a collection from Pending on.
const (
	Opening State = "OPENING"
	Pending State = "PENDING"
	Success State = "SUCCESS"
	Failed  State = "FAILED"
)

// Collection is one expected payment. JSON shows it as GET /virtual-account does.
type Collection struct {
	Company           string                 `db:"company_id,key" json:"-"`
	ID                string                 `db:"id,key" json:"-"` // the virtual_trx_id
	Amount            money.Kobo             `db:"amount_kobo" json:"amount"`
	ExpiresAt         clock.Instant          `db:"expires_at,changes" json:"expiryDate"`
	BankName          string                 `db:"bank_name,changes" json:"bankName"`
	AccountNumber     string                 `db:"account_number,changes" json:"accountNumber"`
	ExternalReference string                 `db:"external_reference" json:"externalReference"` // the company's own
	State             State                  `db:"state,state" json:"status"`
	Currency          wire.Naira             `json:"currency"`
	CreatedAt         clock.Instant          `db:"created_at" json:"createdAt"`
	request           string                 `db:"request"`                // what the company asked for, to compare a repetition with
	provider          string                 `db:"provider,changes"`       // the bank, as the ledger names it
	reference         string                 `db:"reference,changes"`      // ours, at the bank
	SettlementID      int64                  `db:"settlement_id" json:"-"` // where the money goes
	Control           provider.AmountControl `db:"amount_control" json:"-"`
	AccountName       string                 `db:"account_name,changes" json:"-"`
	BankCode          string                 `db:"bank_code,changes" json:"-"`
	CreditID          string                 `db:"credit_id,changes" json:"-"` // of the payment; "" until there is one
	opening.Intent    `json:"-"`             // CalledUntil is zero when the bank has certainly opened nothing
	UpdatedAt         time.Time              `db:"updated_at,changes" json:"-"`
}

// Config is what the business needs.
type Config struct {
	DB          *db.DB
	Book        *ledger.Book
	Clock       clock.Clock
	Log         *slog.Logger
	Settlements *settlement.Service
	Operations  *operation.Service // opens the cases
	Banks       provider.Router[provider.AccountOpener]
	Window      time.Duration // the longest time that a call to the bank may take
}

// Service is the business.
type Service struct {
	Config
	openings *opening.Machine
}

// New returns the business.
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

// Find is one collection of the company.
func (s *Service) Find(ctx context.Context, company, collectionID string) (Collection, error) {
	c, err := s.find(ctx, company, collectionID)
	if errors.Is(err, db.ErrNone) || err == nil && c.State == Opening {
		return Collection{}, fault.New(fault.Missing, "Virtual account transaction not found")
	}
	return c, err
}
