// Package event provides a company's feed of events, numbered 1, 2, 3 … without a gap. Each event
// is a row of the ledger unit that causes the event. So an event exists if and only if its cause is
// committed.
package event

import (
	"context"
	"encoding/json"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/deployment"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/ledger"
)

// These are the kinds of event in this release (completion.md §4.4).
const (
	VTUPending = "vtu.pending"
	VTUSuccess = "vtu.success"
	VTUFailed  = "vtu.failed"
	// VTUReversed means that the biller returned the money of a successful purchase.
	VTUReversed = "vtu.reversed"
	KYBChanged  = "kyb.changed"

	// These kinds report changes of a company's access and terms. Operators make most of them.
	APIKeyIssued   = "company.api_key_issued"
	APIKeyRevoked  = "company.api_key_revoked"
	KeyTokenIssued = "company.key_token_issued"
	PINTokenIssued = "company.pin_token_issued"
	PINChanged     = "company.pin_changed"
	PINLocked      = "company.pin_locked"
	PINUnlocked    = "company.pin_unlocked"
	LiveChanged    = "company.live_changed"
	LimitsChanged  = "company.limits_changed"
	FeesChanged    = "company.fees_changed"

	CorporateKYCVerified    = "corporate.kyc_verified"
	CorporateAccountCreated = "corporate.account_created"
	// CorporateAccountUpdated means that a later request has changed an existing account. The list
	// in completion.md does not contain this kind.
	CorporateAccountUpdated = "corporate.account_updated"
	CustomerCreated         = "customer.created"
	CustomerErased          = "customer.erased"
	AccountGenerated        = "customer.account_generated"
	TransactionCredit       = "transaction.credit"

	VirtualAccountSuccess     = "virtual_account.success"
	VirtualAccountFailed      = "virtual_account.failed"
	VirtualAccountLatePayment = "virtual_account.late_payment"

	PayoutPending  = "payout.pending"
	PayoutSuccess  = "payout.success"
	PayoutFailed   = "payout.failed"
	PayoutReversed = "payout.reversed"

	// BulkChecked means that each line of a bulk payout has its verdict.
	BulkChecked = "bulk_payout.checked"
	// BulkCompleted means that each payout of a bulk payout has its outcome.
	BulkCompleted = "bulk_payout.completed"

	// RenewalDue means that API keys or the PIN are revoked in a week, unless the company uses them.
	RenewalDue = "company.renewal_due"

	// WebhookFailing means that a webhook has not accepted an event for three days.
	WebhookFailing = "webhook.endpoint_failing"

	CryptoDepositPending      = "crypto.deposit_pending"
	CryptoDepositCompleted    = "crypto.deposit_completed"
	CryptoDepositFailed       = "crypto.deposit_failed"
	CryptoWithdrawalCompleted = "crypto.withdrawal_completed"
	CryptoWithdrawalFailed    = "crypto.withdrawal_failed"
	// CryptoKeyChanged means that an operator has set the key of the company's next deposit addresses.
	CryptoKeyChanged = "crypto.key_changed"

	CardGenerated      = "card.generated"
	CardFundingPending = "card.funding_pending"
	CardFunded         = "card.funded"
	CardFundingFailed  = "card.funding_failed"
	CardFrozen         = "card.frozen"
	CardUnfrozen       = "card.unfrozen"
	CardTerminated     = "card.terminated"
	// CardAddressChanged means that an operator has set the address for cardholders without an address.
	CardAddressChanged = "card.address_changed"

	// CheckpointSigned means that Kobo has signed the present root of the company's tree.
	CheckpointSigned = "checkpoint.signed"

	// SettlementCredit means that money arrived in a bank account of a settlement account. The list
	// in completion.md does not contain this kind.
	SettlementCredit = "settlement.credit"
	// These kinds report acts of operators about a settlement account: they have attached a bank account,
	// switched the account on or off, adjusted its balance, opened it, or set its low-balance alert.
	SettlementBankAccountAttached = "settlement.bank_account_attached"
	SettlementStatusChanged       = "settlement.status_changed"
	SettlementAdjusted            = "settlement.adjusted"
	SettlementAccountCreated      = "settlement.account_created"
	SettlementAlertChanged        = "settlement.alert_changed"
	// SettlementLowBalance means that an account's balance is below the alert that the company has
	// set.
	SettlementLowBalance = "settlement.low_balance"
)

// Event is one event of a company's feed.
type Event struct {
	Company   string          `db:"company_id,key"`
	Sequence  int64           `db:"sequence,key"`
	ID        string          `db:"id"`
	Kind      string          `db:"kind"`
	Data      json.RawMessage `db:"data"` // the same JSON as the response of the matching GET
	CreatedAt time.Time       `db:"created_at"`
	Leaf      int64           `db:"leaf"`
	MAC       string          `db:"mac"`

	// Environment is that of the database. It is not a column, because a database belongs to one
	// environment.
	Environment deployment.Environment
}

// MarshalJSON writes the event as the API and webhooks show it. Only the data needs the encoder, and
// the data is JSON already. So MarshalJSON does not encode the event a second time.
func (e Event) MarshalJSON() ([]byte, error) {
	out := make([]byte, 0, len(e.Data)+256)
	out = append(append(out, `{"id":"`...), e.ID...)
	out = strconv.AppendInt(append(out, `","sequence":`...), e.Sequence, 10)
	out = append(append(out, `,"event":"`...), e.Kind...)
	out = append(append(out, `","createdAt":"`...), clock.Text(e.CreatedAt)...)
	out = append(append(out, `","companyId":"`...), e.Company...)
	out = append(append(out, `","environment":"`...), e.Environment...)
	out = append(append(out, `","data":`...), e.Data...)
	return append(out, '}'), nil
}

// Emit makes a unit append an event to its company's feed.
func Emit(u *ledger.Unit, kind string, data any) { u.Append(New(u.Company, kind, data)) }

// New returns the row that appends an event to the company's feed. It converts data to JSON
// immediately, and data must not contain a secret. The ledger sets the number and the instant, so a
// later number never has an earlier instant. The ID contains the number, so that no second index is
// needed to find the event by its ID.
func New(company, kind string, data any) db.Record {
	b, err := json.Marshal(data)
	if err != nil {
		// Data is one of our structs. A struct that JSON cannot represent is a bug, which the first
		// test with this event finds.
		panic("event: " + kind + " cannot be written as JSON: " + err.Error())
	}
	from := id.New()
	named := ledger.Numbered(func(sequence int64) string { return id.Numbered(from, sequence) })
	row := table.Record(Event{Company: company, Kind: kind, Data: b})
	return row.Put("sequence", ledger.Sequence).Put("id", named).Put("created_at", ledger.Now)
}

// Service reads the feeds of all companies and wakes readers that wait for events.
type Service struct {
	// Environment is the environment that all events state.
	Environment deployment.Environment

	db   *db.DB
	book *ledger.Book

	count *prometheus.CounterVec

	every time.Duration // the time between two reads of the last event numbers
	heads func(ctx context.Context, companies []string) (map[string]int64, error)

	mu      sync.Mutex
	waiting map[string][]*waiter // the waiting readers by company
	looking bool

	watchEvery time.Duration
	pageOf     func(ctx context.Context, company string, after int64, limit int) ([]Event, error)
	watched    map[string]*watched // the companies with viewers
	following  bool

	closed chan struct{}
	close  sync.Once
}

// NewService returns a service that reads the events of a ledger.
func NewService(d *db.DB, book *ledger.Book) *Service {
	s := &Service{
		db: d, book: book, every: interval, heads: book.LastEvents,
		waiting: map[string][]*waiter{}, closed: make(chan struct{}), count: newCount(),
		watchEvery: watchPeriod, watched: map[string]*watched{},
	}
	s.pageOf = s.page
	book.Committed(s.wake)
	book.Appended(table.Table, s.counted)
	return s
}

// Close ends all present and future waits. A program calls Close when it stops.
func (s *Service) Close() { s.close.Do(func() { close(s.closed) }) }

// Since returns the number of a company's first event at an instant or later. If there is no such
// event, Since returns the last number plus one. It uses binary search, because a later number
// never has an earlier instant.
//
// Events are archived in whole months of Lagos. If the month of the instant is kept, Since skips the
// archived numbers before it.
func (s *Service) Since(ctx context.Context, company string, at time.Time) (int64, error) {
	head, err := s.book.LastEvent(ctx, company)
	low, high := int64(1), head+1
	for err == nil && low < high {
		middle := (low + high) / 2
		var page []Event
		if page, err = s.pageOf(ctx, company, middle-1, 1); err != nil || len(page) == 0 {
			break
		}
		if page[0].CreatedAt.Before(at) {
			low = middle + 1
		} else {
			high = middle
		}
	}
	if err != nil || low > head {
		return low, err
	}
	next, err := s.pageOf(ctx, company, low-1, 1)
	if len(next) > 0 {
		kept := next[0].CreatedAt.In(clock.Lagos)
		if month := time.Date(kept.Year(), kept.Month(), 1, 0, 0, 0, 0, clock.Lagos); !at.Before(month) {
			low = next[0].Sequence
		}
	}
	return low, err
}

// Feed returns at most limit events whose sequence is above the parameter after, oldest first. It
// also reports whether there are more. If there is no such event, Feed waits for one. It waits at
// most for the duration wait, and no longer than ctx.
func (s *Service) Feed(ctx context.Context, company string, after int64, limit int, wait time.Duration) ([]Event, bool, error) {
	var events []Event
	var err error
	if wait > 0 {
		events, err = s.await(ctx, company, after, limit+1, wait)
	} else {
		events, err = s.page(ctx, company, after, limit+1)
	}
	// Numbers have no gap, and the newest event is never archived.
	if len(events) > 0 && events[0].Sequence > after+1 {
		return nil, false, gone(events[0].Sequence)
	}
	if err != nil || len(events) <= limit {
		return events, false, err
	}
	return events[:limit], true, nil
}

// gone returns the fault of a reader whose next events have been archived.
func gone(first int64) error {
	f := fault.Newf(fault.Gone, "Events before %d are archived", first)
	f.Extra = map[string]any{"firstSequence": first}
	return f
}
