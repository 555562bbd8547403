package company

import (
	"context"
	"errors"
	"regexp"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/secret"
)

// tries is how many wrong PINs in a row lock it: with ten thousand PINs in all,
// five tries leave a guesser one chance in two thousand.
const tries = 5

const (
	pinSet    = "SET"
	pinLocked = "LOCKED"
	noPIN     = "NOT_SET"
)

// PINState tells operators whether a company has a PIN: NOT_SET, SET or LOCKED.
func (s *Service) PINState(ctx context.Context, reference string) (string, error) {
	state, err := s.pinState(ctx, reference)
	if errors.Is(err, db.ErrNone) {
		return noPIN, nil
	}
	return state, err
}

// What a company hears of its PIN. The fifth wrong try is told the same as the
// first; every try after it, the right PIN too, is told that the PIN is locked.
var (
	errWrongPIN  = fault.New(fault.Refused, "Invalid PIN")
	errNoPIN     = fault.New(fault.Refused, "PIN not set up")
	errLockedPIN = fault.New(fault.Refused, "PIN locked after 5 wrong attempts. Contact support to reset it.")
)

// pin is the stored half of a transaction PIN.
type pin struct {
	hash, state string
	failures    int64
}

var fourDigits = regexp.MustCompile(`^[0-9]{4}$`)

// SetPIN sets or resets a company's transaction PIN, and unlocks it. A reset voids
// what the earlier PIN stood for (Credentials).
func (s *Service) SetPIN(ctx context.Context, by Actor, reference string, text secret.Text) error {
	if !fourDigits.MatchString(text.Reveal()) {
		return fault.New(fault.Invalid, `"pin" must be exactly 4 digits`)
	}
	now := s.clock.Now()
	hash := s.keys.MAC("pin", reference, text.Reveal())
	note := by.Note(reference, "company.pin", reference, nil, now)
	err := s.book.Commit(ctx, ledger.Unit{
		Company: reference,
		Claims: []db.Record{{Table: pinTable, Values: []any{
			reference, hash, pinSet, int64(0), clock.Micros(now),
		}}},
		Notes: []db.Record{note},
	})
	if ledger.Is(err, ledger.Exists) {
		err = s.book.Commit(ctx, ledger.Unit{
			Company: reference,
			Moves: []ledger.Move{{
				Table: pinTable, Key: []any{reference}, From: []string{pinSet, pinLocked}, To: pinSet,
				Set: []ledger.Change{
					{Column: "hash", Value: hash},
					{Column: "failures", Value: int64(0)},
					{Column: "updated_at", Value: clock.Micros(now)},
				},
			}},
			Tallies: []ledger.Tally{voided},
			Notes:   []db.Record{note},
		})
	}
	return explain(err)
}

// UnlockPIN lets a company use its locked PIN again. The PIN stays, and so does
// what it stood for. Faults are Missing and Refused (it is not locked).
func (s *Service) UnlockPIN(ctx context.Context, by Actor, reference string) error {
	now := s.clock.Now()
	err := s.book.Commit(ctx, ledger.Unit{
		Company: reference,
		Moves: []ledger.Move{{
			Table: pinTable, Key: []any{reference}, From: []string{pinLocked}, To: pinSet,
			Set: []ledger.Change{{Column: "failures", Value: int64(0)}, {Column: "updated_at", Value: clock.Micros(now)}},
		}},
		Notes: []db.Record{by.Note(reference, "company.pin.unlock", reference, nil, now)},
	})
	if ledger.Is(err, ledger.Moved) {
		return fault.New(fault.Refused, "PIN is not locked")
	}
	return explain(err)
}

// credentials is the tally of PIN resets and of revocations of all API keys.
const credentials = "company/credentials"

// voided counts one more of them.
var voided = ledger.Tally{Name: credentials, Add: 1}

// Credentials is how often the company's PIN was reset, or all its API keys were
// revoked. What was permitted with the PIN is void once the number has changed:
// Since makes a unit say so.
func (s *Service) Credentials(ctx context.Context, reference string) (int64, error) {
	return s.book.Last(ctx, reference, credentials)
}

// Since is for a unit that stands on a permission of the time when Credentials
// was n: the book refuses the unit (ledger.Over) if the number is higher.
func Since(n int64) ledger.Tally { return ledger.Tally{Name: credentials, Most: n} }

// IsVoid tells whether a unit was refused because of Since.
func IsVoid(err error) bool {
	r := ledger.Refused(err)
	return r != nil && r.Reason == ledger.Over && r.Tally.Name == credentials
}

// MayUsePIN refuses a company whose PIN is locked: what the PIN has permitted
// waits until it is unlocked.
func (s *Service) MayUsePIN(ctx context.Context, reference string) error {
	state, err := s.PINState(ctx, reference)
	if err == nil && state == pinLocked {
		err = errLockedPIN
	}
	return err
}

// CheckPIN tells whether text is the company's transaction PIN. Tries of one
// company wait for one another at the row, so twenty at once are five tries and
// fifteen refusals, and not twenty guesses.
func (s *Service) CheckPIN(ctx context.Context, reference, text string) error {
	now := s.clock.Now()
	var verdict error
	err := s.db.Tx(ctx, func(q db.Querier) error {
		p, err := lockPIN(ctx, q, reference)
		if errors.Is(err, db.ErrNone) {
			verdict = errNoPIN
			return nil
		}
		if err != nil {
			return err
		}
		if p.state == pinLocked {
			verdict = errLockedPIN
			return nil
		}
		if s.keys.Verify(p.hash, "pin", reference, text) {
			verdict = nil
			if p.failures == 0 && !s.keys.Stale(p.hash) {
				return nil
			}
			p.failures, p.hash = 0, s.keys.MAC("pin", reference, text)
			return savePIN(ctx, q, reference, p, now)
		}
		verdict = errWrongPIN
		if p.failures++; p.failures >= tries {
			p.state = pinLocked
		}
		return savePIN(ctx, q, reference, p, now)
	})
	if err != nil {
		return err
	}
	return verdict
}
