package company

import (
	"context"
	"errors"
	"regexp"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/secret"
)

// tries is the number of wrong PINs in a row that locks the PIN. There are ten thousand
// PINs, so five tries give a guesser one chance in two thousand.
const tries = 5

const (
	pinSet    = "SET"
	pinLocked = "LOCKED"
	noPIN     = "NOT_SET"
)

// The refusals of a PIN. The fifth wrong try gets the same answer as the first. Every
// later try, even with the right PIN, gets errLockedPIN.
var (
	errWrongPIN  = fault.New(fault.Refused, "Invalid PIN")
	errNoPIN     = fault.New(fault.Refused, "PIN not set up")
	errLockedPIN = fault.New(fault.Refused, "PIN locked after 5 wrong attempts. Contact support to reset it.")
)

var fourDigits = regexp.MustCompile(`^[0-9]{4}$`)

// SetPIN sets or resets a company's transaction PIN, and unlocks it. A reset voids all
// verifications of payouts (Credentials).
func (s *Service) SetPIN(ctx context.Context, by Actor, reference string, text secret.Text) error {
	if !fourDigits.MatchString(text.Reveal()) {
		return fault.New(fault.Invalid, `"pin" must be exactly 4 digits`)
	}
	p := pin{company: reference, hash: s.keys.MAC("pin", reference, text.Reveal()), state: pinSet, updatedAt: s.clock.Now()}
	first := ledger.For(reference)
	first.Insert(pins.Record(p))
	by.Audit(&first, "company.pin", reference, nil, p.updatedAt)
	err := s.book.Commit(ctx, first)
	if ledger.Is(err, ledger.Exists) {
		reset := ledger.For(reference)
		reset.Transition(pins.Record(p), pinSet, pinLocked)
		voidCredentials(&reset)
		by.Audit(&reset, "company.pin", reference, nil, p.updatedAt)
		err = s.book.Commit(ctx, reset)
	}
	return explain(err)
}

// UnlockPIN lets a company use its locked PIN again. The PIN and all verifications of
// payouts stay valid. Faults are Missing and Refused (the PIN is not locked).
func (s *Service) UnlockPIN(ctx context.Context, by Actor, reference string) error {
	now, u := s.clock.Now(), ledger.For(reference)
	u.Transition(pins.Record(pin{company: reference, state: pinSet, updatedAt: now}), pinLocked).Only("failures", "updated_at")
	by.Audit(&u, "company.pin.unlock", reference, nil, now)
	err := s.book.Commit(ctx, u)
	if ledger.Is(err, ledger.Moved) {
		return fault.New(fault.Refused, "PIN is not locked")
	}
	return explain(err)
}

// credentials is the limit counter of PIN resets and of revocations of all API keys.
const credentials = "company/credentials"

// Credentials returns the number of PIN resets and of revocations of all API keys. A
// permission by PIN is void after this number has changed (ExpectCredentials).
func (s *Service) Credentials(ctx context.Context, reference string) (int64, error) {
	return s.book.Last(ctx, reference, credentials)
}

// voidCredentials makes a unit void all permissions by PIN.
func voidCredentials(u *ledger.Unit) { u.Count(credentials, 1, 0) }

// ExpectCredentials makes the ledger refuse a unit if Credentials is above n at the commit.
func ExpectCredentials(u *ledger.Unit, n int64) { u.Count(credentials, 0, n) }

// IsVoid reports whether ExpectCredentials was the reason for a refusal.
func IsVoid(err error) bool {
	r := ledger.Refused(err)
	return r != nil && r.Reason == ledger.Over && r.Count.Name == credentials
}

// MayUsePIN refuses a company with a locked PIN. Permissions by that PIN work again
// after an unlock.
func (s *Service) MayUsePIN(ctx context.Context, reference string) error {
	state, err := s.PINState(ctx, reference)
	if err == nil && state == pinLocked {
		err = errLockedPIN
	}
	return err
}

// CheckPIN compares text with the company's transaction PIN. Concurrent tries of one
// company wait for one another at the row. So twenty tries at once are five guesses and
// fifteen refusals, not twenty guesses.
func (s *Service) CheckPIN(ctx context.Context, reference, text string) error {
	now := s.clock.Now()
	var verdict error
	err := s.db.Tx(ctx, func(q db.Querier) error {
		p, err := lockPIN(ctx, q, reference)
		switch {
		case errors.Is(err, db.ErrNone):
			verdict = errNoPIN
			return nil
		case err != nil:
			return err
		case p.state == pinLocked:
			verdict = errLockedPIN
			return nil
		case !s.keys.Verify(p.hash, "pin", reference, text):
			verdict = errWrongPIN
			if p.failures++; p.failures >= tries {
				p.state = pinLocked
			}
		default:
			verdict = nil
			if p.failures == 0 && !s.keys.Stale(p.hash) {
				return nil
			}
			p.failures, p.hash = 0, s.keys.MAC("pin", reference, text)
		}
		p.updatedAt = now
		return savePIN(ctx, q, p)
	})
	if err != nil {
		return err
	}
	return verdict
}
