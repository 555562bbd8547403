// Package corporate opens a company's own bank account ("COOP subaccount").
//
// First somebody who may sign for the company proves who they are: an OTP to the
// phone on their BVN. That leaves a record with an id of its own. With it the
// company asks for the account; what is paid into the account becomes part of a
// settlement account.
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
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/settlement"
)

// KYC is a signatory whose identity has been proven.
type KYC struct {
	Company   string
	ID        string // not the session's
	SessionID string
	CreatedAt time.Time
	reference string // the provider's proof, which the bank wants
}

// MarshalJSON is the record as its event carries it.
func (k KYC) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		KYCID     string `json:"kyc_id"`
		SessionID string `json:"session_id"`
		Status    string `json:"status"`
		CreatedAt string `json:"createdAt"`
	}{k.ID, k.SessionID, verified, clock.Text(k.CreatedAt)})
}

const verified = "VERIFIED"

// State is where an attempt to open an account stands.
type State string

// The states of an attempt.
const (
	Pending   State = "PENDING"   // the bank has been asked and has not said yes or no
	Active    State = "ACTIVE"    // this is the account
	Duplicate State = "DUPLICATE" // the bank answered with an account that we knew
	Failed    State = "FAILED"    // the bank said no
)

// Account is an attempt to open an account and, once it is Active, the account.
type Account struct {
	Company      string
	ID           string // also our permanent reference at the bank
	KYCID        string
	State        State
	PhoneNumber  string
	EmailAddress string
	RNNumber     string // the company's registration number
	SettlementID int64  // where what is paid in goes
	Bank         provider.Account
	Message      string // why it failed
	CreatedAt    time.Time
	UpdatedAt    time.Time

	pending     string // what is being opened; "" once that is over
	turn        string // the call that is at work on it, or was the last to be
	read        string // the turn that was read: what a move expects to find
	calledUntil time.Time
	missing     int64 // looks at the bank's list without it since then
}

// wire is the account as the API shows it. Its balance is always nothing: what
// is paid in goes on at once to the settlement account, which has the balance.
// (The contract spells the first name so.)
type wire struct {
	Reference     string `json:"coporate_reference"`
	AccountNumber string `json:"accountNumber"`
	AccountName   string `json:"accountName"`
	Balance       int64  `json:"balance"`
	CreatedAt     string `json:"createdAt"`
	RNNumber      string `json:"rn_number"`
}

func (a Account) wire() wire {
	return wire{a.ID, a.Bank.Number, a.Bank.Name, 0, clock.Text(a.CreatedAt), a.RNNumber}
}

// MarshalJSON is the account as the API shows it.
func (a Account) MarshalJSON() ([]byte, error) { return json.Marshal(a.wire()) }

// updated is a held account as the event of its change shows it: with the
// settlement account that takes its credits from then on.
type updated struct{ Account }

// MarshalJSON is the account and its settlement account.
func (u updated) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		wire
		SettlementID int64 `json:"settlementId"`
	}{u.wire(), u.SettlementID})
}

// Service is the business.
type Service struct {
	db          *db.DB
	book        *ledger.Book
	clock       clock.Clock
	log         *slog.Logger
	identities  *identity.Service
	settlements *settlement.Service
	operations  *operation.Service
	keys        *idempotency.Service
	bank        provider.AccountOpener
	callback    string
}

// New is the business at one bank. Callback is where the bank tells of payments;
// "" for where it tells of them anyway.
func New(d *db.DB, book *ledger.Book, c clock.Clock, log *slog.Logger, identities *identity.Service,
	settlements *settlement.Service, operations *operation.Service, keys *idempotency.Service, bank provider.AccountOpener, callback string,
) *Service {
	return &Service{
		db: d, book: book, clock: c, log: log,
		identities: identities, settlements: settlements, operations: operations, keys: keys, bank: bank, callback: callback,
	}
}

// failed is the one refusal of an account; why is in the fault's "error".
func failed(why string) *fault.Fault {
	f := fault.New(fault.Refused, "Failed to create COOP subaccount")
	f.Extra = map[string]any{"error": why}
	return f
}
