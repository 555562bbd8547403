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

// next is the count with one more OTP, if the limit allows one now.
func (c count) next(now time.Time) (count, error) {
	switch wait := c.askedAt.Add(cooldown).Sub(now); {
	case c.attempts >= most:
		return c, errTooMany.After(c.over().Sub(now))
	case c.attempts > 0 && wait > 0:
		return c, errTooSoon.After(wait)
	}
	return count{c.attempts + 1, now}, nil
}

// over is when the count begins anew.
func (c count) over() time.Time { return c.askedAt.Add(period) }

// Current is the session, if it is not spent or its last OTP is less than a day old.
// Current closes any other session, and the fault is Missing.
func (s *Service) Current(ctx context.Context, x Session) (Session, error) {
	if now := s.clock.Now(); x.attempts < most || now.Before(x.over()) {
		return x, nil
	}
	u := ledger.For(x.Company)
	s.end(&u, x, x.State)
	if err := s.book.Commit(ctx, u); err != nil && !Overtaken(err) {
		return x, err
	}
	return x, errNoSession
}

// counted is the session with one more OTP, if the limits allow one. The unit gets
// the counts.
func (s *Service) counted(ctx context.Context, u *ledger.Unit, x Session, bvn secret.Text) (Session, error) {
	now := s.clock.Now()
	var err error
	if x.Purpose == Customer {
		x.count, err = s.countPerson(ctx, u, x, bvn, now)
	} else {
		x.count, err = x.next(now)
	}
	if err != nil {
		return x, err
	}
	one, err := quota.Next(ctx, s.db, x.Company, quota.OTP, now)
	if err != nil {
		return x, err
	}
	u.Count(one.Name, one.Add, one.Most)
	x.UpdatedAt = now
	x.turn++
	return x, nil
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
