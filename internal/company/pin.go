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

// tries is the number of wrong tries in a row that locks the PIN. There are ten thousand PINs,
// so with five tries an attacker guesses the PIN with a chance of one in two thousand.
const tries = 5

const (
	pinSet    = "SET"
	pinLocked = "LOCKED"
	noPIN     = "NOT_SET"
)

// These are the errors for a refused PIN. The fifth wrong try gets the same error as the first.
// Every later try gets errLockedPIN, even with the right PIN.
var (
	errWrongPIN  = fault.New(fault.Refused, "Invalid PIN")
	errNoPIN     = fault.New(fault.Refused, "PIN not set up")
	errLockedPIN = fault.New(fault.Refused, "PIN locked after 5 wrong attempts. Contact support to reset it.")
)

var fourDigits = regexp.MustCompile(`^[0-9]{4}$`)

// SetPIN sets or resets a company's transaction PIN, and unlocks it. After a reset, all accounts
// that were verified for payouts must be verified again (see Credentials).
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

// UnlockPIN unlocks a company's locked PIN. The PIN and all accounts verified for payouts stay
// valid. The fault is Missing for an unknown company, and Refused if the PIN is not locked.
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

// credentials is the name of the limit counter that counts PIN resets, and revocations of a
// company's last working API key.
const credentials = "company/credentials"

// Credentials returns how often the PIN was reset or the last working API key was revoked. When a
// company verifies an account for payouts with its PIN, this permission is valid only until the
// number changes (ExpectCredentials).
func (s *Service) Credentials(ctx context.Context, reference string) (int64, error) {
	return s.book.Last(ctx, reference, credentials)
}

// voidCredentials adds a count to a ledger unit. Once the unit is committed, all permissions that
// the company gave with its PIN are invalid.
func voidCredentials(u *ledger.Unit) { u.Count(credentials, 1, 0) }

// ExpectCredentials makes the ledger refuse a unit if Credentials is above n at the commit.
func ExpectCredentials(u *ledger.Unit, n int64) { u.Count(credentials, 0, n) }

// IsVoid reports whether err is the ledger's refusal of a unit because of ExpectCredentials.
func IsVoid(err error) bool {
	r := ledger.Refused(err)
	return r != nil && r.Reason == ledger.Over && r.Count.Name == credentials
}

// MayUsePIN returns an error if the company's PIN is locked. Permissions that were given with the
// PIN before the lock work again after an unlock.
func (s *Service) MayUsePIN(ctx context.Context, reference string) error {
	state, err := s.PINState(ctx, reference)
	if err == nil && state == pinLocked {
		err = errLockedPIN
	}
	return err
}

// CheckPIN compares text with the company's transaction PIN. It compares before it asks the ledger,
// and the ledger accepts the result only if no other try has changed the PIN's row meanwhile. So
// concurrent tries of one company count as if they ran one after the other. If twenty wrong tries
// are concurrent, CheckPIN compares five and refuses fifteen as locked. A right PIN writes nothing,
// except after a wrong try, and any number of right tries share one transaction.
func (s *Service) CheckPIN(ctx context.Context, reference, text string) error {
	for {
		p, err := s.findPIN(ctx, reference)
		switch {
		case errors.Is(err, db.ErrNone):
			return errNoPIN
		case err != nil:
			return err
		case p.state == pinLocked:
			return errLockedPIN
		}
		u, verdict := s.compare(p, text)
		err = s.book.Commit(ctx, u)
		if err == nil {
			return verdict
		}
		if !ledger.Is(err, ledger.Moved) {
			return err
		}
	}
}

// compare returns the error nil if text is the PIN, or errWrongPIN. The unit counts a wrong try. After a right
// try it sets the count to zero and replaces a stale hash. The ledger refuses the unit if the PIN's
// row has changed.
func (s *Service) compare(p pin, text string) (u ledger.Unit, verdict error) {
	seen, right := p, s.keys.Verify(p.hash, "pin", p.company, text)
	u, p.updatedAt = ledger.For(p.company), s.clock.Now()
	var row *ledger.Transition
	switch {
	case !right:
		verdict = errWrongPIN
		if p.failures++; p.failures >= tries {
			p.state = pinLocked
		}
		row = u.Transition(pins.Record(p), pinSet)
	case p.failures > 0 || s.keys.Stale(p.hash):
		p.failures, p.hash = 0, s.keys.MAC("pin", p.company, text)
		row = u.Transition(pins.Record(p), pinSet)
	default:
		row = u.Expect(pins.Record(p), pinSet)
	}
	row.Expect("failures", seen.failures).Expect("hash", seen.hash)
	return u, verdict
}
