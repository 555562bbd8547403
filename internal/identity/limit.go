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

// The limit of OTPs (wallet-api.md, Limits).
const (
	most     = 3
	cooldown = time.Minute
	period   = 24 * time.Hour
)

// The rate of guesses of one session.
const (
	guesses    = 10
	guessEvery = 30 * time.Second
)

var (
	errTooSoon = fault.New(fault.Limited, "Please wait 60 seconds before requesting another OTP")
	errTooMany = fault.New(fault.Limited, "Maximum OTP attempts reached")
)

// count is how many of the allowed OTPs were asked for, and when the last was.
type count struct {
	attempts int64     `db:"attempts,changes"`
	askedAt  time.Time `db:"asked_at,changes"`
}

// next returns the count with one more OTP, if the limit allows one now.
func (c count) next(now time.Time) (count, error) {
	switch wait := c.askedAt.Add(cooldown).Sub(now); {
	case c.attempts >= most:
		return c, errTooMany.After(c.over().Sub(now))
	case c.attempts > 0 && wait > 0:
		return c, errTooSoon.After(wait)
	}
	return count{c.attempts + 1, now}, nil
}

// over returns when the count begins anew.
func (c count) over() time.Time { return c.askedAt.Add(period) }

// successor marks the subject of a session that replaces one without the mark. One
// unit closes the one session and makes the other, and a subject has one open session.
const successor = "/successor"

// Current returns the session, or its successor if the session is spent and its last OTP
// is a day old. Send writes the successor, and closes the spent session in the same
// unit.
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

// counted returns the session with one more OTP, if the limits allow one. The unit gets
// the counts.
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

// countPerson counts one more OTP of the company to the holder of a BVN.
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
		// A program before schema 39 sent the OTP: it counts in the session alone.
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

// Guess takes one of the session's guesses of an OTP. The fault is Limited when
// none is left.
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
		int64((wait+time.Second-1)/time.Second)).After(wait)
}
