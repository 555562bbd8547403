// Package opening is the machine for things that a provider makes without moving
// money: bank accounts, virtual accounts and cards.
//
// Its order is that of an operation:
//
//  1. A unit writes the attempt down, with a job that follows it.
//  2. The provider is asked, outside any transaction, under our permanent reference.
//  3. A unit writes the outcome. The row must be as it was read, so of two units one
//     is accepted.
//
// While nobody knows the outcome, the attempt stays open. The next request looks for
// the thing before it asks again, and the job looks too. A thing that the provider
// does not have, often and long enough, was not made.
package opening

import (
	"context"
	"errors"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/provider"
)

// ErrTaken says that somebody else has taken an attempt up, or ended it.
var ErrTaken = errors.New("opening: somebody else has changed the attempt")

// Intent is the machine's part of an attempt's row. A row type embeds it.
type Intent struct {
	CalledUntil time.Time `db:"called_until,changes"` // by then the last call that may have made the thing is over
	Missing     int64     `db:"missing,changes"`      // looks since then that did not find the thing
}

func (i *Intent) intent() *Intent { return i }

var _ interface{ intent() *Intent } = &Intent{} // an attempt gets the method by embedding

// search decides when to look for the thing again.
func (i *Intent) search() operation.Search {
	return operation.Search{Since: i.CalledUntil, Missing: i.Missing}
}

// Name tells an attempt from others.
type Name struct {
	Company   string
	ID        string // the subject of an Idempotency-Key and of a case
	Subject   string // of the job
	Reference string // ours, at the provider
	Provider  string // of the job; "" if the job counts for no provider
}

// Attempt is one thing that is being opened, as its kind knows it. An attempt embeds
// an Intent.
type Attempt interface {
	Name() Name
	// Record is the attempt's row as the attempt is now.
	Record() db.Record
	// Touch sets the time of a change of the row.
	Touch(now time.Time)
	// Ask has the provider make the thing, and keeps what the provider shows of it.
	// An error says that the provider was not asked.
	Ask(ctx context.Context) (provider.Answer, error)
	// Look looks for the thing that an earlier Ask may have made, and keeps it. The
	// answer is Missing when the provider does not have the thing.
	Look(ctx context.Context) (provider.Answer, error)
	// Enter writes the owner of the thing into a directory, before anybody hears of
	// the thing. A Refused fault says that another company owns the thing.
	Enter(ctx context.Context) error
	// Adopt makes the thing the company's: the attempt gets its final state and the
	// unit what goes with that. The result is for the Idempotency-Key; nil if the
	// answer comes later. The machine calls Adopt again when another row of the unit
	// has changed meanwhile.
	Adopt(ctx context.Context, u *ledger.Unit) (result any, err error)
	// Refuse ends the attempt because of a definite no, and returns the answer for
	// the company.
	Refuse(u *ledger.Unit, no provider.Answer) error
	// Unanswered is the answer for the company while nobody knows the outcome.
	Unanswered(said provider.Answer) error

	intent() *Intent
}

// FindAccount looks for an account at a bank, and keeps the account. The bank is nil if
// it is not configured any more.
func FindAccount(ctx context.Context, at provider.AccountOpener, reference string, into *provider.Account) provider.Answer {
	if at == nil {
		return provider.NotConfigured
	}
	return KeepAccount(into, at.FindAccount(ctx, reference))
}

// KeepAccount keeps the account that a bank shows. A yes without an account number
// leaves the outcome unknown.
func KeepAccount(into *provider.Account, a provider.AccountAnswer) provider.Answer {
	if a.Outcome == provider.Confirmed && a.Number == "" {
		a.Outcome = provider.Unknown
	}
	if a.Outcome == provider.Confirmed {
		*into = a.Account
	}
	return a.Answer
}
