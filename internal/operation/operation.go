// Package operation moves money through a provider: it writes an intent, calls the
// provider, and asks for the outcome until the outcome is known.
//
// The order never changes (completion.md §3):
//
//  1. One unit inserts the operation, transfers the money from the settlement account to
//     the clearing account, and adds the resolver's job.
//  2. The provider is called outside any transaction. The operation's id is our permanent
//     reference.
//  3. One guarded unit writes the outcome. Confirmed transfers the money to the provider's
//     account, and a fee to the fee account. Rejected transfers the money back. Unknown
//     transfers nothing.
//
// A crash at any point leaves a PENDING operation, its money in clearing, and a job that
// asks again.
package operation

import (
	"time"

	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/provider"
)

// State is the state of an operation.
type State string

// The states. The unit that sets Failed also returns the money.
const (
	Pending  State = "PENDING"
	Success  State = "SUCCESS"
	Failed   State = "FAILED"
	Reversed State = "REVERSED"
)

// Operation is one intent to move money, and its outcome.
type Operation struct {
	Company        string     `db:"company_id,key"`
	ID             string     `db:"id,key"`          // our permanent reference at the provider
	Kind           string     `db:"kind"`            // the business, such as vtu
	IdempotencyKey string     `db:"idempotency_key"` // from the request's body; "" for none
	State          State      `db:"state,state"`
	Provider       string     `db:"provider"` // the provider of all calls of this operation
	SettlementID   int64      `db:"settlement_id"`
	Amount         money.Kobo `db:"amount_kobo"`
	Fee            money.Kobo `db:"fee_kobo"`

	CalledUntil time.Time `db:"called_until,changes"` // the latest end of the first call
	Polls       int64     `db:"polls,changes"`        // the number of requeries, with rechecks
	Missing     int64     `db:"missing,changes"`      // the number of latest requeries that said "no such reference"
	AskedAt     time.Time `db:"asked_at,changes"`     // the last requery; zero before the first
	NextAt      time.Time `db:"next_at,changes"`      // the next requery, or the recheck of a FAILED operation; zero for none

	Outcome           string    `db:"outcome,changes"` // of the last answer: confirmed, rejected, unknown; "" before any
	Code              string    `db:"code,changes"`    // of the last answer
	Message           string    `db:"message,changes"` // of the last answer, or an earlier one
	ProviderReference string    `db:"provider_reference,changes"`
	Token             string    `db:"token,changes"` // from the provider for the customer, such as a prepaid meter's
	CreatedAt         time.Time `db:"created_at"`
	UpdatedAt         time.Time `db:"updated_at,changes"`

	// Charge is the provider's charge to us in the present answer. The ledger stores it, and
	// the row does not.
	Charge money.Kobo
	// Returned is true if the present answer says that the money came back.
	Returned bool
}

// InFlight reports whether the first call to the provider may still be running.
func (o Operation) InFlight(now time.Time) bool {
	return o.State == Pending && now.Before(o.CalledUntil)
}

// Refunded reports whether the money is back in the settlement account.
func (o Operation) Refunded() bool { return o.State == Failed || o.State == Reversed }

// Route names the ledger accounts of an operation's money.
type Route struct {
	Settlement string // pays
	Clearing   string // has the money until the outcome
	Provider   string // gets the money of a success
	Fee        string // gets the fee of a success; may be "" for a kind without fees
	Charge     string // pays the provider's charges to us; "" if they are not booked
}

// ResolveJob is the kind of job that asks for the outcome of an operation.
const ResolveJob = "operation.resolve"

// ages is the schedule of the resolver: the time of each requery after the end of the
// first call. The last age is followed by one requery an hour until tooOld. Then an
// operator decides.
var ages = []time.Duration{
	5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute, 30 * time.Minute, 2 * time.Hour,
}

const (
	tooOld = 72 * time.Hour
	// "No such reference" counts as rejected only after this time and this many requeries.
	graceAge   = 15 * time.Minute
	gracePolls = 3
)

// nextPoll returns the time of the requery after one at now. Requeries that were missed, while
// the program was down or the clock jumped, are due at once, and each one counts.
//
// A reference that the provider does not know is also asked for at the end of the grace
// period. The next scheduled requery is at thirty minutes, and the money must not wait for
// that.
func (o Operation) nextPoll(now time.Time) time.Time {
	next := o.pollAt(o.Polls)
	if !next.After(now) {
		return next
	}
	for n := o.Polls - 1; n >= 0 && o.pollAt(n).After(now); n-- {
		next = o.pollAt(n) // a requery before its time replaces none
	}
	if end := o.CreatedAt.Add(graceAge); o.Missing >= gracePolls-1 && end.After(now) && end.Before(next) {
		return end
	}
	return next
}

// pollAt returns the time of the requery after n others.
func (o Operation) pollAt(n int64) time.Time {
	if n < int64(len(ages)) {
		return o.CalledUntil.Add(ages[n])
	}
	return o.CalledUntil.Add(ages[len(ages)-1] + time.Duration(n+1-int64(len(ages)))*time.Hour)
}

// gone reports whether "no such reference" counts as rejected.
func (o Operation) gone(now time.Time) bool {
	return o.Missing >= gracePolls && !now.Before(o.CreatedAt.Add(graceAge))
}

// answered returns the operation with an answer, in its present state.
func (o Operation) answered(a provider.Answer, now time.Time) Operation {
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

// concluded returns the operation after a definite answer. Earlier messages, such as "did not
// answer in time", are not about the outcome.
func (o Operation) concluded(a provider.Answer, now time.Time) Operation {
	o = o.answered(a, now)
	o.Message = a.Message
	o.State, o.NextAt = Success, time.Time{}
	if a.Outcome == provider.Rejected {
		o.State = Failed
	}
	return o
}
