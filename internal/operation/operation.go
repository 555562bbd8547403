// Package operation moves money through a provider: it writes an intent, calls the
// provider, and asks for the outcome until the outcome is known.
//
// Each operation goes through these steps in this order (completion.md §3):
//
//  1. One unit inserts the operation, transfers the money from the settlement account to
//     the clearing account, and adds the resolver's job.
//  2. The provider is called outside any transaction. The operation's id is our permanent
//     reference.
//  3. One guarded unit writes the outcome. If the outcome is confirmed, it transfers the
//     amount to the provider's account, and a fee to the fee account. If the outcome is
//     rejected, it transfers the money back. If the outcome is unknown, no money moves.
//
// If the program crashes after step 1, the operation stays PENDING and its money stays in the
// clearing account. The job then asks for the outcome.
package operation

import (
	"slices"
	"time"

	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/provider"
)

// State is the state of an operation.
type State string

// The states of an operation. The unit that sets Failed also returns the money to the settlement
// account.
const (
	Pending  State = "PENDING"
	Success  State = "SUCCESS"
	Failed   State = "FAILED"
	Reversed State = "REVERSED"
)

// Reason returns the word of the header Kobo-Reason for a response that shows an operation in this
// state. It is "" for a success.
func (s State) Reason() fault.Reason {
	switch s {
	case Pending:
		return fault.BeingConfirmed
	case Failed, Reversed:
		return fault.Declined
	}
	return ""
}

// Operation is one intended payment through a provider, and its outcome.
type Operation struct {
	Company        string     `db:"company_id,key"`
	ID             string     `db:"id,key"`          // our permanent reference at the provider
	Kind           string     `db:"kind"`            // the kind of operation, such as vtu
	IdempotencyKey string     `db:"idempotency_key"` // from the request's body; "" for none
	State          State      `db:"state,state"`
	Provider       string     `db:"provider,changes"` // the provider of the last attempt
	SettlementID   int64      `db:"settlement_id"`
	Amount         money.Kobo `db:"amount_kobo"`
	Fee            money.Kobo `db:"fee_kobo"`

	CalledUntil time.Time `db:"called_until,changes"` // the first call to the provider ends at this time at the latest
	Polls       int64     `db:"polls,changes"`        // the number of requeries, which ask the provider for the outcome; includes rechecks
	Missing     int64     `db:"missing,changes"`      // how many of the latest requeries in a row got "no such reference"
	AskedAt     time.Time `db:"asked_at,changes"`     // the time of the last requery; zero before the first requery
	NextAt      time.Time `db:"next_at,changes"`      // the time of the next requery, or of the recheck of a FAILED operation; zero for none

	Outcome           string    `db:"outcome,changes"`            // the outcome in the last reply: confirmed, rejected or unknown; "" before the first reply
	Code              string    `db:"code,changes"`               // the code of the last reply
	Message           string    `db:"message,changes"`            // the message of the last reply that had one
	ProviderReference string    `db:"provider_reference,changes"` // the provider's own id; of a payout the session ID, once the bank has named it
	Token             string    `db:"token,changes"`              // from the provider for the customer, such as the token of a prepaid meter
	Codes             string    `db:"meter_codes,changes"`        // provider.MeterCodes as text
	CreatedAt         time.Time `db:"created_at"`
	UpdatedAt         time.Time `db:"updated_at,changes"`
	Attempt           int64     `db:"attempt,changes"` // the number of the last attempt; 0 for an operation that has not moved

	// Labels are the company's own reference and metadata, which have a row of their own.
	Labels Labels
	// Last is the row of the last attempt. It is empty for an operation that has not moved.
	Last Attempt
	// Charge is the provider's charge to us according to the latest reply. The charge is stored in
	// the ledger and not in the operation's row.
	Charge money.Kobo
	// Said is the message of the latest reply, or "" if that reply had none. It is only for the history:
	// Message keeps the words of an earlier reply.
	Said string
	// Returned is true if the latest reply states that the provider returned the money after a
	// success.
	Returned bool
	// Known, if set, adds the effects of the outcome in place of Kind.Effects. The request that began
	// the operation sets it, because the request knows the rows that Kind.Effects would read.
	Known Known
}

// Known adds the same changes as Kind.Effects, from rows that are known already.
type Known interface {
	Effects(after Operation, u *ledger.Unit)
}

// InFlight reports whether the first call to the provider may still be running.
func (o Operation) InFlight(now time.Time) bool {
	return o.State == Pending && now.Before(o.CalledUntil)
}

// IsAccepted reports whether a last reply says that the provider has accepted a payout or a purchase and has not finished it. It
// describes the reply, and decides nothing.
func IsAccepted(kind, outcome, code string) bool {
	return kind != fundings && outcome == provider.Unknown.String() && slices.Contains(provider.InProgressCodes, code)
}

// fundings is the kind of card fundings.
const fundings = "card"

// GraceEnds returns the time until which the reply "no such reference" does not count as a rejection.
func (o Operation) GraceEnds() time.Time { return o.since().Add(graceAge) }

// since returns the time from which a case is about the operation: CreatedAt, or the end of the call if CreatedAt is later. Then the
// clock was ahead when the operation was queued.
func (o Operation) since() time.Time {
	if o.CalledUntil.Before(o.CreatedAt) {
		return o.CalledUntil
	}
	return o.CreatedAt
}

// CaseDue returns the time from which operators decide about the operation, if the provider does not.
func (o Operation) CaseDue() time.Time { return o.CalledUntil.Add(tooOld) }

// Refunded reports whether the money is back in the settlement account.
func (o Operation) Refunded() bool { return o.State == Failed || o.State == Reversed }

// Route names the ledger accounts through which an operation's money moves.
type Route struct {
	Settlement string // the account that pays
	Clearing   string // the account that holds the money until the outcome
	Provider   string // the account that receives the amount if the operation succeeds
	Fee        string // the account that receives the fee if the operation succeeds; "" for a kind without fees
	Charge     string // the account for the provider's charges to us; "" if charges are not booked
}

// ResolveJob is the kind of job that asks for the outcome of an operation.
const ResolveJob = "operation.resolve"

// ages is the schedule of the resolver: the time from the end of the first call to each requery.
// After the last of these times, there is one requery an hour until tooOld. Then operators decide.
var ages = []time.Duration{
	5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute, 30 * time.Minute, 2 * time.Hour,
}

const (
	tooOld = 72 * time.Hour
	// The reply "no such reference" counts as a rejection only if two conditions hold. The
	// operation is at least graceAge old, and at least gracePolls requeries in a row got this
	// reply. These requeries lie graceGap apart. Both are true time, also if the clock jumps. The age of
	// a queued operation begins with its call.
	graceAge   = 15 * time.Minute
	gracePolls = 3
	graceGap   = 25 * time.Second
	// unsentGap is how long at least the next requery waits after one that could not be sent. While a provider cannot be reached,
	// missed requeries that are made up for immediately would all be spent within a second, and nobody would ask again.
	unsentGap = 25 * time.Second
	// usualWindow is about the longest time between an operation's creation and CalledUntil, unless
	// the operation was queued. A longer window only makes graceAge longer.
	usualWindow = 30 * time.Second
	// longestPause is longer than the pause between any two requeries on the schedule.
	longestPause = 2 * time.Hour
)

// nextPoll returns the time of the next requery after a requery at now. Requeries are missed while
// the program is down, or when the clock jumps. Each missed requery is made up for, one after the other:
// immediately, or after gap if the provider does not know the reference, or after unsentGap (heard).
//
// If the provider does not know the reference, there is an extra requery at the end of the grace
// period. Otherwise the refund would wait for the scheduled requery at thirty minutes.
//
// It returns the zero time if the schedule ends before the next requery. An operation that is older than steady has its
// schedule on a clock that may have jumped, or was missed while no program was up. So the schedule does not end before
// it has been followed for two hours of true time. If all of it was missed, its requeries lie unsentGap apart.
func (o Operation) nextPoll(now, steady time.Time, gap time.Duration) time.Time {
	next := o.pollAt(o.Polls)
	for n := o.Polls - 1; n >= 0 && next.After(now) && o.pollAt(n).After(now); n-- {
		next = o.pollAt(n) // an extra requery does not replace a scheduled requery
	}
	if next.Sub(now) > longestPause {
		next = now.Add(time.Hour) // the clock was ahead when the operation began
	}
	last, resumed := o.CalledUntil.Add(tooOld), gap > 0 && o.resumed(now, steady)
	switch {
	case next.After(last) && resumed:
		next = now.Add(time.Hour)
	case next.After(last):
		return time.Time{}
	case resumed && now.After(last):
		next = now.Add(unsentGap)
	}
	if o.Missing == 0 {
		return next
	}
	if end := o.graceEnd(now, steady); o.Missing >= gracePolls-1 && end.After(now) && end.Before(next) {
		next = end
	}
	if apart := now.Add(gap); next.Before(apart) {
		return apart
	}
	return next
}

// ahead reports whether the next requery was planned while the clock was ahead. A queued operation waits for its call.
func (o Operation) ahead(now time.Time) bool {
	queued := o.Polls == 0 && o.Outcome == "" && o.CalledUntil.Sub(o.UpdatedAt) > usualWindow
	return !queued && o.NextAt.Sub(now) > longestPause
}

// resumed reports whether the operation is older than steady, and has been followed for less than two hours since.
func (o Operation) resumed(now, steady time.Time) bool {
	return steady.After(o.began(now)) && now.Before(steady.Add(longestPause))
}

// pollAt returns the scheduled time of the requery that follows n requeries.
func (o Operation) pollAt(n int64) time.Time {
	if n < int64(len(ages)) {
		return o.CalledUntil.Add(ages[n])
	}
	return o.CalledUntil.Add(ages[len(ages)-1] + time.Duration(n+1-int64(len(ages)))*time.Hour)
}

// missed returns the operation after a requery at now with the reply "no such reference". The reply does
// not count if the clock has jumped since the requery before, or the program has started since, and that
// is less than gap ago. Both requeries may then have happened at the same time.
func (o Operation) missed(now, steady time.Time, gap time.Duration) Operation {
	if o.Missing == 0 || !o.AskedAt.Before(steady) || now.Sub(steady) >= gap {
		o.Missing++
	}
	return o
}

// gone reports whether the reply "no such reference" counts as a rejection at the time now.
func (o Operation) gone(now, steady time.Time) bool {
	return o.Missing >= gracePolls && !now.Before(o.graceEnd(now, steady))
}

// graceEnd returns the end of the grace period. The clock has run without a jump since the time steady,
// so the grace period begins no earlier. It begins no earlier than the call of a queued operation either.
func (o Operation) graceEnd(now, steady time.Time) time.Time {
	began := o.began(now)
	for _, at := range []time.Time{o.CalledUntil.Add(-usualWindow), steady} {
		if at.After(began) {
			began = at
		}
	}
	return began.Add(graceAge)
}

// began returns when the operation began: at CreatedAt, or at the call of a queued operation if the clock was ahead when it was
// queued. CreatedAt is then in the future, and after the end of the call. If the clock was behind at the call, CreatedAt counts.
func (o Operation) began(now time.Time) time.Time {
	if o.CreatedAt.After(now) && o.CreatedAt.After(o.CalledUntil) {
		return o.CalledUntil.Add(-usualWindow)
	}
	return o.CreatedAt
}

// noRecord are the words for the reply "no such reference", which has none of its own.
const noRecord = "The provider has no record of this request"

// answered returns the operation with a provider's reply written into it. The state does not
// change.
func (o Operation) answered(a provider.Answer, now time.Time) Operation {
	o.Outcome, o.Code, o.Said = a.Outcome.String(), a.Code, a.Message
	if a.Missing && a.Message == "" {
		o.Said = noRecord
	}
	if a.Message != "" {
		o.Message = a.Message
	}
	o.ProviderReference = later(o.ProviderReference, a.Reference)
	if a.Token != "" {
		o.Token = a.Token
	}
	if codes := a.Meter.Text(); codes != "" {
		o.Codes = codes
	}
	o.UpdatedAt, o.Charge, o.Returned = now, a.Charge, a.Reversed
	return o
}

// ordered returns the provider's reply about a PENDING operation. If the provider has carried out
// the operation with a different amount, the outcome becomes Unknown, and operators decide.
func (o Operation) ordered(a provider.Answer) provider.Answer {
	if a.Outcome == provider.Confirmed && a.Sold != 0 && a.Sold != o.cost() {
		a.Outcome, a.Code, a.Message = provider.Unknown, provider.CodeAmount, "The provider reports another amount"
	}
	return a
}

// concluded returns the operation with a definite reply and the final state for that reply. The
// message of an earlier reply, such as "did not answer in time", is dropped, because it does not
// describe the outcome.
func (o Operation) concluded(a provider.Answer, now time.Time) Operation {
	o = o.answered(a, now)
	o.Message = a.Message
	o.State, o.NextAt = Success, time.Time{}
	if a.Outcome == provider.Rejected {
		o.State = Failed
	}
	return o
}
