// Package corporate opens a company's own bank account ("COOP subaccount").
//
// First a signatory of the company proves their identity, with an OTP to the phone
// on their BVN. The proof is a record with an id of its own. With that id the
// company asks for the account. Payments into the account go to a settlement
// account.
package corporate

import (
	"encoding/json"
	"log/slog"
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

// KYC is a signatory whose identity has been proven, as the event shows it.
type KYC struct {
	Company   string        `db:"company_id,key" json:"-"`
	ID        string        `db:"id,key" json:"kyc_id"` // not the session's
	SessionID string        `db:"session_id" json:"session_id"`
	reference string        `db:"reference"` // the provider's proof, which the bank wants
	Status    string        `db:"status" json:"status"`
	CreatedAt clock.Instant `db:"created_at" json:"createdAt"`
}

const verified = "VERIFIED"

// State is the state of an attempt to open an account.
type State string

// The states of an attempt.
const (
	Pending   State = "PENDING"   // the bank has been asked and has not said yes or no
	Active    State = "ACTIVE"    // this is the account
	Duplicate State = "DUPLICATE" // the bank answered with an account that the company held already
	Failed    State = "FAILED"    // the bank said no
)

// Account is an attempt to open an account and, once it is Active, the account.
type Account struct {
	Company string `db:"company_id,key"`
	ID      string `db:"id,key"` // also our permanent reference at the bank
	KYCID   string `db:"kyc_id,changes"`
	pending string `db:"pending,changes"` // the registration number while the attempt is open; "" afterwards
	State   State  `db:"state,state"`
	turn    string `db:"turn,changes"` // another one with each change, for programs of earlier releases
	opening.Intent
	bank         string `db:"provider,changes"` // where the account is opened, by its name in the configuration
	PhoneNumber  string `db:"phone_number,changes"`
	EmailAddress string `db:"email_address,changes"`
	RNNumber     string `db:"rn_number,changes"`     // the company's registration number
	SettlementID int64  `db:"settlement_id,changes"` // the settlement account that gets the payments
	Bank
	Message   string    `db:"message,changes"` // why the attempt failed
	CreatedAt time.Time `db:"created_at"`
	UpdatedAt time.Time `db:"updated_at,changes"`
}

// Bank is what the bank shows of an account.
type Bank = provider.Account

// MarshalJSON returns the account as the API shows it.
func (a Account) MarshalJSON() ([]byte, error) { return a.show(0) }

// updated is a held account as the event of its change shows it: with the
// settlement account that gets its credits from then on.
type updated struct{ Account }

// MarshalJSON returns the account and its settlement account.
func (u updated) MarshalJSON() ([]byte, error) { return u.show(u.SettlementID) }

// show returns the account as JSON. Its balance is always 0, since payments go on to the
// settlement account at once. The contract has the odd spelling of the first field.
func (a Account) show(settlementID int64) ([]byte, error) {
	return json.Marshal(struct {
		Reference     string `json:"coporate_reference"`
		AccountNumber string `json:"accountNumber"`
		AccountName   string `json:"accountName"`
		Balance       int64  `json:"balance"`
		CreatedAt     string `json:"createdAt"`
		RNNumber      string `json:"rn_number"`
		SettlementID  int64  `json:"settlementId,omitempty"`
	}{a.ID, a.Bank.Number, a.Bank.Name, 0, clock.Text(a.CreatedAt), a.RNNumber, settlementID})
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

// New returns the business. An account is opened at the bank that checked the identity.
func New(c Config) *Service {
	s := &Service{Config: c}
	s.openings = &opening.Machine{
		Book: c.Book, Clock: c.Clock, Log: c.Log, Cases: c.Operations, Window: c.Identities.Window,
		Kind: "corporate", Job: ResolveJob, Find: s.followed,
		Unknown: "it is unknown whether an account was opened",
		Gone:    "The bank did not open the account",
		TooOld:  "a corporate account whose opening is not known after 72 hours",
	}
	return s
}

// failed returns the refusal of an account. The reason is in the fault's "error".
func failed(why string) *fault.Fault {
	f := fault.New(fault.Refused, "Failed to create COOP subaccount")
	f.Extra = map[string]any{"error": why}
	return f
}
