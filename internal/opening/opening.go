// Package opening has a provider make things without moving money: bank accounts, virtual
// accounts and cards.
//
// The steps are those of an operation:
//
//  1. A unit writes the attempt, with the job that completes it.
//  2. The provider is asked, outside any transaction, under our permanent reference.
//  3. A unit writes the outcome. The attempt's row must not have changed since it was
//     read, so the ledger accepts only one of two concurrent units.
//
// While the outcome is unknown, the attempt stays open. The job looks for the thing at the
// provider. The next request also looks for the thing before it asks the provider again. A refusal
// of that request does not end the attempt. If the thing stays missing often and long enough, it counts as not made.
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

// ErrTaken means that another request or job has continued or ended the attempt.
var ErrTaken = errors.New("opening: somebody else has changed the attempt")

// Intent contains the columns of an attempt's row that Machine uses. A row type embeds Intent.
type Intent struct {
	CalledUntil time.Time `db:"called_until,changes"` // when the last call that may have made the thing ends at the latest
	Missing     int64     `db:"missing,changes"`      // the number of looks since CalledUntil that did not find the thing
}

func (i *Intent) intent() *Intent { return i }

var _ interface{ intent() *Intent } = &Intent{} // an attempt gets the method intent by embedding Intent

// search returns the schedule by which the job looks for the thing.
func (i *Intent) search() operation.Search {
	return operation.Search{Since: i.CalledUntil, Missing: i.Missing}
}

// Name identifies an attempt.
type Name struct {
	Company   string
	ID        string // the subject of an Idempotency-Key and of a case
	Subject   string // the subject of the job
	Reference string // our reference at the provider
	Provider  string // the provider whose worker limit applies to the job; "" for none
}

// Attempt is one thing that is being opened. Each kind of thing implements it, and embeds an
// Intent.
type Attempt interface {
	Name() Name
	// Record returns the attempt's row in its current state.
	Record() db.Record
	// Touch sets the time at which the row was last changed.
	Touch(now time.Time)
	// Ask asks the provider to make the thing, and stores the provider's data about the thing in
	// the attempt. An error means that the provider was not asked.
	Ask(ctx context.Context) (provider.Answer, error)
	// Look looks for the thing that an earlier Ask may have made, and stores it in the attempt.
	// The reply is Missing if the provider does not have the thing.
	Look(ctx context.Context) (provider.Answer, error)
	// Enter writes the owner of the thing into a directory, before the thing is shown to anyone.
	// A Refused fault means that another company owns the thing.
	Enter(ctx context.Context) error
	// Adopt gives the thing to the company: it sets the attempt's final state, and adds the other
	// rows to the unit. The result is the response to store for the Idempotency-Key, or nil if that
	// response comes later. Machine calls Adopt again if the ledger refused the unit because a row
	// other than the attempt's row has changed.
	Adopt(ctx context.Context, u *ledger.Unit) (result any, err error)
	// Refuse ends the attempt because the thing was definitely not made. It returns the error for
	// the company.
	Refuse(u *ledger.Unit, no provider.Answer) error
	// Unanswered returns the error for the company while the outcome is unknown. The reply is Rejected if the provider has refused a
	// repeated call, and an earlier one may still make the thing.
	Unanswered(said provider.Answer) error

	intent() *Intent
}

// FindAccount looks for an account at a bank, and stores the account in parameter into. Parameter
// at is nil if the bank is no longer configured.
func FindAccount(ctx context.Context, at provider.AccountOpener, reference string, into *provider.Account) provider.Answer {
	if at == nil {
		return provider.NotConfigured
	}
	return KeepAccount(into, at.FindAccount(ctx, reference))
}

// KeepAccount stores the account of a bank's confirmed reply in parameter into, and returns the
// reply. If a confirmed reply lacks an account number, the outcome becomes unknown.
func KeepAccount(into *provider.Account, a provider.AccountAnswer) provider.Answer {
	if a.Outcome == provider.Confirmed && a.Number == "" {
		a.Outcome = provider.Unknown
	}
	if a.Outcome == provider.Confirmed {
		*into = a.Account
	}
	return a.Answer
}
