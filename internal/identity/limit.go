package identity

import (
	"context"
	"errors"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/quota"
	"github.com/kobo-waas/kobo/internal/secret"
)

// The limits for OTPs (wallet-api.md, Limits).
const (
	most     = 3
	cooldown = time.Minute
	period   = 24 * time.Hour
)

// The limits for guesses of an OTP in a session: ten at first, then one more every 30 seconds.
const (
	guesses    = 10
	guessEvery = 30 * time.Second
)

var (
	errTooSoon = fault.New(fault.Limited, "Please wait 60 seconds before requesting another OTP").With(fault.OTPCooldown)
	errTooMany = fault.New(fault.Limited, "Maximum OTP attempts reached").With(fault.OTPAttemptsUsed)
)

// count is the number of OTPs that were requested, and the time of the latest request.
type count struct {
	attempts int64     `db:"attempts,changes"`
	askedAt  time.Time `db:"asked_at,changes"`
}

// next returns the count with one more OTP. It returns a fault if the limits allow no OTP now.
func (c count) next(now time.Time) (count, error) {
	switch wait := c.askedAt.Add(cooldown).Sub(now); {
	case c.attempts >= most:
		return c, errTooMany.After(c.over().Sub(now))
	case c.attempts > 0 && wait > 0:
		return c, errTooSoon.After(wait)
	}
	return count{c.attempts + 1, now}, nil
}

// over returns the time from which the count starts again at zero.
func (c count) over() time.Time { return c.askedAt.Add(period) }

// successor is a suffix for the subject of a session that replaces an old session. The new session
// gets the suffix if the old session does not have it. One unit closes the old session and creates
// the new session. Their subjects must differ, because a subject may have only one open session.
const successor = "/successor"

// Current returns the session that may send the next OTP. If the session has used all its OTPs and
// the latest OTP is a day old, Current returns a new session. Send then writes the new session and
// closes the old session in the same unit.
func (s *Service) Current(x Session, bvn secret.Text) (Session, error) {
	if x.attempts < most || s.Clock.Now().Before(x.over()) {
		return x, nil
	}
	next, err := s.New(x.Company, x.Purpose, s.Subjects(x.Company, bvn)[0], bvn)
	if next.subject == x.subject {
		next.subject += successor
	}
	next.spent = &x
	return next, err
}

// counted returns the session with one more OTP, and adds the counts to the unit. It returns a
// fault if the limits allow no OTP now.
func (s *Service) counted(ctx context.Context, u *ledger.Unit, x Session, bvn secret.Text) (Session, error) {
	now := s.Clock.Now()
	var err error
	if x.Purpose == Customer {
		x.count, err = s.countPerson(ctx, u, x, bvn, now)
	} else {
		x.count, err = x.next(now)
	}
	if err != nil {
		return x, err
	}
	x.UpdatedAt = now
	x.turn++
	return x, quota.Count(ctx, s.DB, u, quota.OTP, now)
}

// countPerson returns the company's count of OTPs to the holder of a BVN, with one more OTP. It
// adds the count's row to the unit.
func (s *Service) countPerson(ctx context.Context, u *ledger.Unit, x Session, bvn secret.Text, now time.Time) (count, error) {
	subjects := s.Subjects(x.Company, bvn)
	p, err := s.findPerson(ctx, x.Company, x.Purpose, subjects)
	fresh := errors.Is(err, db.ErrNone)
	if fresh {
		p, err = person{Company: x.Company, Purpose: x.Purpose, subject: subjects[0]}, nil
	}
	if err != nil {
		return count{}, err
	}
	if x.askedAt.After(p.askedAt) {
		// A program from before database schema 39 sent the latest OTP, and counted it only in the
		// session.
		p.count = count{max(x.attempts, p.attempts), x.askedAt}
	}
	if !now.Before(p.over()) {
		p.count = count{}
	}
	if p.count, err = p.next(now); err != nil {
		return count{}, err
	}
	p.turn++
	if fresh {
		u.Insert(persons.Record(p))
	} else {
		u.Update(persons.Record(p))
	}
	return p.count, nil
}

// Guess uses one of the session's allowed guesses of an OTP. It returns a Limited fault if no guess
// is left.
func (s *Service) Guess(ctx context.Context, x Session) error {
	now := s.Clock.Now()
	limit := now.Add((guesses - 1) * guessEvery)
	if taken, err := s.takeGuess(ctx, x, now, limit); taken || err != nil {
		return err
	}
	until, err := s.guessedUntil(ctx, x)
	if err != nil {
		return err
	}
	wait := max(until.Sub(limit), time.Second)
	return fault.Newf(fault.Limited, "Too many attempts. Please wait %d seconds before trying again",
		int64((wait+time.Second-1)/time.Second)).With(fault.OTPCooldown).After(wait)
}
