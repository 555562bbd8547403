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

// The ration of OTPs (wallet-api.md, Limits).
const (
	most     = 3
	cooldown = time.Minute
	ration   = 24 * time.Hour
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
	attempts int64
	askedAt  time.Time
}

// next is the count with one more OTP, if that is allowed now.
func (c count) next(now time.Time) (count, error) {
	switch wait := c.askedAt.Add(cooldown).Sub(now); {
	case c.attempts >= most:
		return c, errTooMany.After(c.over().Sub(now))
	case c.attempts > 0 && wait > 0:
		return c, errTooSoon.After(wait)
	}
	return count{c.attempts + 1, now}, nil
}

// over is when the count no longer matters.
func (c count) over() time.Time { return c.askedAt.Add(ration) }

// successor marks the subject of a session that takes the place of one without the
// mark. Both have a row in the unit that closes the one and makes the other, and a
// subject has one open session.
const successor = "/successor"

// Current is the session, or the one that takes its place when the session is spent
// and its last OTP a day old. Send writes that one, and closes the spent session in
// the same unit.
func (s *Service) Current(x Session, bvn secret.Text) (Session, error) {
	if c := (count{x.attempts, x.askedAt}); c.attempts < most || s.clock.Now().Before(c.over()) {
		return x, nil
	}
	next, err := s.New(x.Company, x.Purpose, s.Subjects(x.Company, bvn)[0], bvn)
	if next.subject == x.subject {
		next.subject += successor
	}
	next.spent = &x
	return next, err
}

// counted is the session with its next turn taken, and the paperwork of the
// count, if the limits allow it.
func (s *Service) counted(ctx context.Context, x Session, bvn secret.Text) (Session, ledger.Unit, error) {
	u := ledger.Unit{Company: x.Company}
	now := s.clock.Now()
	c, err := count{x.attempts, x.askedAt}, error(nil)
	if x.Purpose == Customer {
		c, u, err = s.countPerson(ctx, x, bvn, now)
	} else {
		c, err = c.next(now)
	}
	if err != nil {
		return x, u, err
	}
	one, err := quota.Next(ctx, s.db, x.Company, quota.OTP, now)
	if err != nil {
		return x, u, err
	}
	u.Tallies = []ledger.Tally{one}
	x.attempts, x.askedAt, x.UpdatedAt = c.attempts, c.askedAt, now
	x.turn++
	return x, u, nil
}

// countPerson counts one more OTP of the company to the holder of a BVN.
func (s *Service) countPerson(ctx context.Context, x Session, bvn secret.Text, now time.Time) (count, ledger.Unit, error) {
	u := ledger.Unit{Company: x.Company}
	subjects := s.Subjects(x.Company, bvn)
	p, err := s.findPerson(ctx, x.Company, x.Purpose, subjects)
	fresh := errors.Is(err, db.ErrNone)
	if fresh {
		p, err = person{company: x.Company, purpose: x.Purpose, subject: subjects[0]}, nil
	}
	if err != nil {
		return count{}, u, err
	}
	read := p.turn
	if x.askedAt.After(p.askedAt) {
		// A program before schema 39 sent it: such a program counts in the session alone.
		p.count = count{max(x.attempts, p.attempts), x.askedAt}
	}
	if !now.Before(p.over()) {
		p.count = count{}
	}
	if p.count, err = p.next(now); err != nil {
		return count{}, u, err
	}
	p.turn++
	if fresh {
		u.Claims = []db.Record{p.record()}
	} else {
		u.Moves = []ledger.Move{ledger.Overwrite(p.record(), turnText(read))}
	}
	return p.count, u, nil
}

// Guess takes one of the session's guesses of an OTP. The fault is Limited when
// none is left.
func (s *Service) Guess(ctx context.Context, x Session) error {
	now := s.clock.Now()
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
