// Package corporate opens a bank account in a company's name ("COOP subaccount").
//
// First a signatory of the company proves their identity with an OTP, which is sent to the phone on
// their BVN. Kobo stores the proof as a KYC record. With the record's ID the company requests the
// account. Payments into the account are credited to a settlement account.
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

// KYC is a signatory whose identity is proven, in the form that the event shows.
type KYC struct {
	Company   string        `db:"company_id,key" json:"-"`
	ID        string        `db:"id,key" json:"kyc_id"` // differs from the OTP session's ID
	SessionID string        `db:"session_id" json:"session_id"`
	reference string        `db:"reference"` // the provider's proof, which the bank requires to open the account
	Status    string        `db:"status" json:"status"`
	CreatedAt clock.Instant `db:"created_at" json:"createdAt"`
}

const verified = "VERIFIED"

// State is the state of an attempt to open an account.
type State string

// The states of an attempt.
const (
	Pending   State = "PENDING"   // the bank has neither confirmed nor rejected the request
	Active    State = "ACTIVE"    // the account is open
	Duplicate State = "DUPLICATE" // the bank replied with an account that the company already held
	Failed    State = "FAILED"    // the bank rejected the request
)

// Account is an attempt to open an account. An attempt in the state Active is an open account.
type Account struct {
	Company string `db:"company_id,key"`
	ID      string `db:"id,key"` // also Kobo's permanent reference at the bank
	KYCID   string `db:"kyc_id,changes"`
	pending string `db:"pending,changes"` // the registration number while the attempt is open; "" afterwards
	State   State  `db:"state,state"`
	turn    string `db:"turn,changes"` // changes with each write, so that concurrent programs, also of earlier releases, notice it
	opening.Intent
	bank         string `db:"provider,changes"` // the configured name of the bank that opens the account
	PhoneNumber  string `db:"phone_number,changes"`
	EmailAddress string `db:"email_address,changes"`
	RNNumber     string `db:"rn_number,changes"`     // the company's registration number
	SettlementID int64  `db:"settlement_id,changes"` // the settlement account that receives the payments
	Bank
	Message   string    `db:"message,changes"` // why the attempt failed
	CreatedAt time.Time `db:"created_at"`
	UpdatedAt time.Time `db:"updated_at,changes"`
}

// Bank contains the account's data from the bank, such as its number and name.
type Bank = provider.Account

// MarshalJSON returns the account as JSON in the form that the API shows.
func (a Account) MarshalJSON() ([]byte, error) { return a.show(0) }

// updated is an account in the form that corporate.account_updated shows. In addition to the
// account, this event shows the settlement account that receives the credits from now on.
type updated struct{ Account }

// MarshalJSON returns the account and its settlement account as JSON.
func (u updated) MarshalJSON() ([]byte, error) { return u.show(u.SettlementID) }

// show returns the account as JSON. The balance is always 0, because payments are credited to the
// settlement account immediately. The API contract requires the spelling "coporate_reference".
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

// Config contains what a Service needs.
type Config struct {
	DB          *db.DB
	Book        *ledger.Book
	Clock       clock.Clock
	Log         *slog.Logger
	Identities  *identity.Service
	Settlements *settlement.Service
	Operations  *operation.Service // opens cases for attempts whose outcome stays unknown
	Keys        *idempotency.Service
	Banks       provider.Router[provider.AccountOpener]
}

// Service proves signatories' identities and opens corporate accounts.
type Service struct {
	Config
	openings *opening.Machine
}

// New returns a Service. The Service opens each account at the bank that checked the identity.
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

// failed returns the fault for an account that could not be opened. The fault's field "error"
// contains the reason.
func failed(why string) *fault.Fault {
	f := fault.New(fault.Refused, "Failed to create COOP subaccount").With(fault.Declined)
	f.Extra = map[string]any{"error": why}
	return f
}
