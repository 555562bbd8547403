// Package operation is the machine shared by everything that moves money
// through a provider: an intent is written down, the provider is asked, and the
// outcome is followed until it is known.
//
// The order never changes (completion.md §3):
//
//  1. One unit writes the operation, moves the money from the settlement
//     account into the clearing account, and puts the resolver on the to-do
//     list.
//  2. The provider is called, outside any transaction, under the operation's id
//     as our permanent reference.
//  3. One guarded unit writes the outcome: confirmed moves the money on to the
//     provider's account (and a fee to the account for fees), rejected moves it
//     back. Unknown moves nothing.
//
// A crash anywhere leaves a PENDING operation, its money in clearing, and a job
// that asks again.
package operation

import (
	"time"

	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/provider"
)

// State is where an operation stands.
type State string

// The states. Failed always means that the money is back, in the same unit.
const (
	Pending  State = "PENDING"
	Success  State = "SUCCESS"
	Failed   State = "FAILED"
	Reversed State = "REVERSED"
)

// Operation is one intent to move money and what became of it.
type Operation struct {
	Company        string     `db:"company_id,key"`
	ID             string     `db:"id,key"`          // our permanent reference at the provider
	Kind           string     `db:"kind"`            // the business that asked: vtu
	IdempotencyKey string     `db:"idempotency_key"` // the caller's own, from the body; "" for none
	State          State      `db:"state,state"`
	Provider       string     `db:"provider"` // the plug that was asked, and the only one to be asked again
	SettlementID   int64      `db:"settlement_id"`
	Amount         money.Kobo `db:"amount_kobo"`
	Fee            money.Kobo `db:"fee_kobo"`

	CalledUntil time.Time `db:"called_until,changes"` // by then the first call is over, whatever happens
	Polls       int64     `db:"polls,changes"`        // how often the provider has been asked since, rechecks included
	Missing     int64     `db:"missing,changes"`      // how many of the last polls said "no such reference"
	AskedAt     time.Time `db:"asked_at,changes"`     // the last poll; zero before the first
	NextAt      time.Time `db:"next_at,changes"`      // the next poll, or the next recheck of a FAILED one; zero when none is planned

	Outcome           string    `db:"outcome,changes"` // of the last answer: confirmed, rejected, unknown; "" before any
	Code              string    `db:"code,changes"`    // of the last answer
	Message           string    `db:"message,changes"` // the provider's last words
	ProviderReference string    `db:"provider_reference,changes"`
	Token             string    `db:"token,changes"` // what the provider gave for the customer: a prepaid meter's
	CreatedAt         time.Time `db:"created_at"`
	UpdatedAt         time.Time `db:"updated_at,changes"`

	// Charge is what the provider took from us on top, by the answer that is being
	// written down. The ledger keeps it, and this row does not.
	Charge money.Kobo
	// Returned is true while an answer is written down that says that the money
	// came back.
	Returned bool
}

// InFlight tells whether the first call to the provider may still be running.
func (o Operation) InFlight(now time.Time) bool {
	return o.State == Pending && now.Before(o.CalledUntil)
}

// Refunded tells whether the money is back in the settlement account.
func (o Operation) Refunded() bool { return o.State == Failed || o.State == Reversed }

// Route says which ledger accounts the money of an operation passes through.
type Route struct {
	Settlement string // pays
	Clearing   string // holds the money while the outcome is open
	Provider   string // is paid when the outcome is confirmed
	Fee        string // gets the fee then; may be empty for a kind without fees
	Charge     string // bears what the provider charges us; empty if that is not booked
}

// ResolveJob is the kind of job that follows an operation to its outcome.
const ResolveJob = "operation.resolve"

// ages is the public clock of the resolver: how long after the first call ended
// without an outcome each poll is made. After the last it is every hour, until
// tooOld; then a human decides.
var ages = []time.Duration{
	5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute, 30 * time.Minute, 2 * time.Hour,
}

const (
	tooOld = 72 * time.Hour
	// "No such reference" counts as a no only after both of these.
	graceAge   = 15 * time.Minute
	gracePolls = 3
)

// nextPoll is when the poll after one at now is due. Polls that were missed, while
// the program was down or the clock jumped, are due at once: each of them counts.
//
// What the provider does not know is asked about at the end of the grace period
// too: the next turn of the clock is at thirty minutes, and nobody's money should
// wait for that.
func (o Operation) nextPoll(now time.Time) time.Time {
	next := o.pollAt(o.Polls)
	if !next.After(now) {
		return next
	}
	for n := o.Polls - 1; n >= 0 && o.pollAt(n).After(now); n-- {
		next = o.pollAt(n) // a poll out of turn takes the place of none
	}
	if end := o.CreatedAt.Add(graceAge); o.Missing >= gracePolls-1 && end.After(now) && end.Before(next) {
		return end
	}
	return next
}

// pollAt is when the poll after n others is due.
func (o Operation) pollAt(n int64) time.Time {
	if n < int64(len(ages)) {
		return o.CalledUntil.Add(ages[n])
	}
	return o.CalledUntil.Add(ages[len(ages)-1] + time.Duration(n+1-int64(len(ages)))*time.Hour)
}

// gone tells whether a provider that does not know the reference is to be
// believed.
func (o Operation) gone(now time.Time) bool {
	return o.Missing >= gracePolls && !now.Before(o.CreatedAt.Add(graceAge))
}

// noted is the operation after an answer that leaves it PENDING.
func (o Operation) noted(a provider.Answer, now time.Time) Operation {
	o.Outcome, o.Code = a.Outcome.String(), a.Code
	if a.Message != "" {
		o.Message = a.Message
	}
	if a.Reference != "" {
		o.ProviderReference = a.Reference
	}
	if a.Token != "" {
		o.Token = a.Token
	}
	o.UpdatedAt, o.Charge, o.Returned = now, a.Charge, a.Reversed
	return o
}

// concluded is the operation after a definite answer. Words that were said while
// nobody knew ("did not answer in time") are not about how it ended.
func (o Operation) concluded(a provider.Answer, now time.Time) Operation {
	o = o.noted(a, now)
	o.Message = a.Message
	o.State, o.NextAt = Success, time.Time{}
	if a.Outcome == provider.Rejected {
		o.State = Failed
	}
	return o
}

// The steps of an operation's money. The ledger takes none of them twice.
const (
	hold       = ""
	settle     = "settle"
	settleFee  = "settle-fee"
	refund     = "refund"
	charge     = "charge"
	reverse    = "reverse"
	reverseFee = "reverse-fee"
)

// ReturnsFee tells whether a step of an operation's money brings its fee back to
// the settlement account.
func ReturnsFee(step string) bool { return step == refund || step == reverseFee }

// transfer is one step of the operation's money.
func (o Operation) transfer(step, from, to string, amount money.Kobo, narration string) ledger.Transfer {
	return ledger.Transfer{
		Reference: o.ID, Step: step, Debit: from, Credit: to, Amount: amount, Kind: o.Kind, Narration: narration,
	}
}
