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

// SetPIN sets or resets a company's transaction PIN, and unlocks it.
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
			Notes: []db.Record{note},
		})
	}
	return explain(err)
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
