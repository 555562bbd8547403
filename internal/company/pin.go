package company

import (
	"context"
	"errors"
	"regexp"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/idempotency"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/secret"
)

// tries is the number of wrong tries in a row that locks the PIN. An unlock does not set the number of
// wrong tries to zero, so the next lock comes at twice the number. That lock opens only by a new PIN.
// There are ten thousand PINs, so an attacker guesses the PIN with a chance of one in a thousand.
const tries = 5

const (
	pinSet    = "SET"
	pinLocked = "LOCKED"
	noPIN     = "NOT_SET"
)

// These are the errors for a refused PIN. The fifth wrong try gets the same error as the first.
// Every later try gets errLockedPIN, even with the right PIN.
var (
	errWrongPIN  = fault.New(fault.Refused, "Invalid PIN").With(fault.PINInvalid)
	errNoPIN     = fault.New(fault.Refused, "PIN not set up").With(fault.PINNotSet)
	errLockedPIN = fault.New(fault.Refused, "PIN locked after 5 wrong attempts. Contact support to reset it.").With(fault.PINLocked)
)

// errBusyPIN is the cause of a refusal for want of time, while other tries of the PIN run.
var errBusyPIN = errors.New("company: other tries of the PIN took the caller's time")

// These are the errors for an operator's unlock.
var (
	errNotLocked = fault.New(fault.Refused, "PIN is not locked")
	errTokenOnly = fault.New(fault.Refused, "PIN was locked again without a right try since the last unlock: issue a PIN token (pin-reset)")
)

var fourDigits = regexp.MustCompile(`^[0-9]{4}$`)

// pinData is the data of the events that report a change of the PIN. It does not contain the PIN.
type pinData struct {
	CompanyID string `json:"companyId"`
	By        author `json:"by"`
}

// pinLockedData is the data of the event that reports a locked PIN.
type pinLockedData struct {
	CompanyID string `json:"companyId"`
	Tries     int64  `json:"tries"` // the number of wrong tries in a row
}

// SetPIN sets or resets a company's transaction PIN, and unlocks it. After a reset, all accounts
// that were verified for payouts must be verified again (see Credentials).
func (s *Service) SetPIN(ctx context.Context, by Actor, reference string, text secret.Text) error {
	return s.replacePIN(ctx, reference, text, func(u *ledger.Unit, now time.Time) {
		pinChanged(u, byOperator)
		by.Audit(u, "company.pin", reference, nil, now)
	})
}

// ResetPIN sets a company's PIN with a PIN token, and unlocks the PIN. One commit uses up the token
// and sets the PIN. The response for an Idempotency-Key is in the same commit.
func (s *Service) ResetPIN(ctx context.Context, reference, token string, text secret.Text, key *idempotency.Key) error {
	if err := checkPIN(text); err != nil {
		return err
	}
	row, err := s.presented(ctx, reference, forPIN, token)
	if err != nil {
		return err
	}
	err = s.replacePIN(ctx, reference, text, func(u *ledger.Unit, now time.Time) {
		row.use(u, now)
		pinChanged(u, byCompany)
		s.self(ctx, reference).Audit(u, "company.pin.reset", reference, map[string]string{"tokenId": row.id}, now)
		key.Answer(u, struct{}{}, nil)
	})
	return idempotency.Taken(forPIN.explain(err))
}

// replacePIN sets a PIN, whether or not the company has one. The function more completes the unit.
func (s *Service) replacePIN(ctx context.Context, reference string, text secret.Text, more func(u *ledger.Unit, now time.Time)) error {
	if err := checkPIN(text); err != nil {
		return err
	}
	p := pin{company: reference, hash: s.keys.MAC("pin", reference, text.Reveal()), state: pinSet, updatedAt: s.clock.Now()}
	first := ledger.For(reference)
	first.Insert(pins.Record(p))
	more(&first, p.updatedAt)
	err := s.book.Commit(ctx, first)
	if ledger.Is(err, ledger.Exists, pins.Table) {
		reset := ledger.For(reference)
		reset.Transition(pins.Record(p), pinSet, pinLocked)
		voidCredentials(&reset)
		more(&reset, p.updatedAt)
		err = s.book.Commit(ctx, reset)
	}
	return explain(err)
}

func checkPIN(text secret.Text) error {
	if !fourDigits.MatchString(text.Reveal()) {
		return fault.New(fault.Invalid, `"pin" must be exactly 4 digits`)
	}
	return nil
}

// pinChanged makes a unit report a new PIN to the company. Unused PIN tokens stop working.
func pinChanged(u *ledger.Unit, by author) {
	u.Count(string(purposes[forPIN].sequence), 1, 0)
	event.Emit(u, event.PINChanged, pinData{u.Company, by})
}

// ChangePIN replaces a company's PIN, if current is the present PIN. A wrong PIN counts as a wrong
// try, as in CheckPIN. All accounts that were verified for payouts must be verified again.
func (s *Service) ChangePIN(ctx context.Context, reference string, current, text secret.Text, key *idempotency.Key) error {
	if err := checkPIN(text); err != nil {
		return err
	}
	return s.try(ctx, reference, current.Reveal(), func(p pin) ledger.Unit {
		u := s.written(p, text.Reveal())
		voidCredentials(&u)
		pinChanged(&u, byCompany)
		s.self(ctx, reference).Audit(&u, "company.pin.change", reference, nil, s.clock.Now())
		key.Answer(&u, struct{}{}, nil)
		return u
	})
}

// UnlockPIN unlocks a company's locked PIN. The PIN and all accounts verified for payouts stay
// valid. The fault is Missing for an unknown company, and Refused if the PIN is not locked. After an
// unlock, UnlockPIN refuses the next lock unless somebody has presented the right PIN in between.
// Otherwise one operator could guess the PIN with any number of unlocks.
func (s *Service) UnlockPIN(ctx context.Context, by Actor, reference string) error {
	p, err := s.unlockable(ctx, reference)
	if err != nil {
		return err
	}
	seen, now, u := p.failures, s.clock.Now(), ledger.For(reference)
	p.state, p.failures, p.updatedAt = pinSet, tries, now
	u.Transition(pins.Record(p), pinLocked).Only("failures", "updated_at").Expect("failures", seen)
	event.Emit(&u, event.PINUnlocked, pinData{reference, byOperator})
	by.Audit(&u, "company.pin.unlock", reference, nil, now)
	if err = s.book.Commit(ctx, u); ledger.Is(err, ledger.Moved, pins.Table) {
		return errNotLocked
	}
	return explain(err)
}

// CheckUnlock returns the error of UnlockPIN, and changes nothing.
func (s *Service) CheckUnlock(ctx context.Context, reference string) error {
	_, err := s.unlockable(ctx, reference)
	return err
}

// unlockable returns a company's PIN, if it is locked and an operator may unlock it.
func (s *Service) unlockable(ctx context.Context, reference string) (pin, error) {
	if _, err := s.Find(ctx, reference); err != nil {
		return pin{}, err
	}
	p, err := s.findPIN(ctx, reference)
	switch {
	case errors.Is(err, db.ErrNone) || err == nil && p.state != pinLocked:
		return p, errNotLocked
	case err != nil:
		return p, err
	case p.failures >= 2*tries:
		return p, errTokenOnly
	}
	return p, nil
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
	return ledger.IsOver(err, credentials)
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
	return s.try(ctx, reference, text, func(p pin) ledger.Unit {
		return s.tried(p, text)
	})
}

// tried returns the unit of a right try. It writes the PIN's row only after a wrong try, or with a newer
// master key.
func (s *Service) tried(p pin, text string) ledger.Unit {
	if p.failures > 0 || s.keys.Stale(p.hash) {
		return s.written(p, text)
	}
	u := ledger.For(p.company)
	p.unchanged(u.Expect(pins.Record(p), pinSet))
	return u
}

// try compares text with the company's PIN. It commits the unit of the function right, or a unit
// that counts a wrong try. The ledger must refuse both units if the PIN's row has changed.
//
// Tries that are refused for this begin again one after the other, in the order of their refusals. Otherwise
// each could be refused after each other one, until its caller's time is over.
func (s *Service) try(ctx context.Context, reference, text string, right func(p pin) ledger.Unit) error {
	err := s.tryOnce(ctx, reference, text, right)
	if !ledger.Is(err, ledger.Moved, pins.Table) {
		return err
	}
	end, err := s.turn(ctx, reference)
	if err != nil {
		return err
	}
	defer end()
	for {
		if err = s.tryOnce(ctx, reference, text, right); !ledger.Is(err, ledger.Moved, pins.Table) {
			return err
		}
	}
}

// turn waits until no other try of the company in this program begins again. The caller must call end.
func (s *Service) turn(ctx context.Context, reference string) (end func(), err error) {
	turn, _ := s.turns.LoadOrStore(reference, make(chan struct{}, 1))
	wait := db.Await(ctx)
	defer wait.End()
	select {
	case turn.(chan struct{}) <- struct{}{}:
		return func() { <-turn.(chan struct{}) }, nil
	case <-wait.Over:
		return nil, fault.New(fault.Unavailable, "Service temporarily unavailable").Because(errBusyPIN)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// tryOnce is one round of try.
func (s *Service) tryOnce(ctx context.Context, reference, text string, right func(p pin) ledger.Unit) error {
	p, err := s.findPIN(ctx, reference)
	switch {
	case errors.Is(err, db.ErrNone):
		return errNoPIN
	case err != nil:
		return err
	case p.state == pinLocked:
		return errLockedPIN
	}
	var u ledger.Unit
	var verdict error
	if s.keys.Verify(p.hash, "pin", reference, text) {
		u = right(p)
	} else {
		u, verdict = s.failed(ctx, p), errWrongPIN
	}
	if err := s.book.Commit(ctx, u); err != nil {
		return idempotency.Taken(err)
	}
	return verdict
}

// written returns a unit that writes a PIN over the PIN of a row, and sets the count of wrong tries
// to zero.
func (s *Service) written(p pin, text string) ledger.Unit {
	u, seen := ledger.For(p.company), p
	p.failures, p.hash, p.updatedAt = 0, s.keys.MAC("pin", p.company, text), s.clock.Now()
	seen.unchanged(u.Transition(pins.Record(p), pinSet))
	return u
}

// failed returns a unit that counts a wrong try. Every fifth wrong try in a row locks the PIN.
func (s *Service) failed(ctx context.Context, p pin) ledger.Unit {
	u, seen := ledger.For(p.company), p
	p.failures++
	p.updatedAt = s.clock.Now()
	if p.failures%tries == 0 {
		p.state = pinLocked
		event.Emit(&u, event.PINLocked, pinLockedData{p.company, p.failures})
		s.self(ctx, p.company).Audit(&u, "company.pin.lock", p.company, nil, p.updatedAt)
	}
	seen.unchanged(u.Transition(pins.Record(p), pinSet))
	return u
}

// unchanged makes the ledger refuse a transition if the row is no longer p.
func (p pin) unchanged(t *ledger.Transition) {
	t.Expect("failures", p.failures).Expect("hash", p.hash)
}
