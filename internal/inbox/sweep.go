package inbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/provider"
)

const (
	sweepEvery = 5 * time.Minute
	// overlap is how far a round reaches back behind the one before it: a bank's
	// list may show a credit later than it happened.
	overlap = time.Hour
	// tooLong is how long a bank may not be done with a credit before a human is
	// asked and the sweep goes on without it.
	tooLong = 72 * time.Hour
	// pages is how many pages one job reads; the next job goes on from there.
	pages = 10
)

// sweep is how far one provider's list has been compared with our books.
type sweep struct {
	provider  string
	doneUntil time.Time // everything before it is in the books
	roundAt   time.Time // when the round began; zero between two rounds
	page      int64     // the next to read
	nextUntil time.Time // what doneUntil becomes when the round ends
}

// Sweep is the work of a SweepJob: it hands every finished credit of the bank's
// own list to the books, which take each once. The list is the bank's answer to
// us, so nothing on it needs to be asked again.
func (s *Service) Sweep(ctx context.Context, j job.Job) (next time.Time, err error) {
	bank := s.Banks[j.Subject]
	if bank == nil {
		return time.Time{}, nil // not configured any more
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	at, err := s.findSweep(ctx, j.Subject)
	if errors.Is(err, db.ErrNone) {
		return time.Time{}, fmt.Errorf("inbox: there is no sweep of %s", j.Subject)
	}
	for range pages {
		if err != nil {
			return time.Time{}, err
		}
		var done bool
		if at, done, err = s.sweepPage(ctx, bank, at); done {
			return s.Clock.Now().Add(sweepEvery), err
		}
	}
	return s.Clock.Now(), err
}

// CatchUp hands the books all that is on a bank's list by now, as a whole round of
// the sweep does: a program that was down for a night has not been told of what
// came in. It may run beside the sweep.
func (s *Service) CatchUp(ctx context.Context, bank string) error {
	began := s.Clock.Now()
	for {
		at, err := s.findSweep(ctx, bank)
		if errors.Is(err, db.ErrNone) {
			return nil // nothing is swept before the program has served
		}
		if err != nil {
			return err
		}
		// A round that was left half done has not seen what came after it began.
		ours := at.roundAt.IsZero() || !at.roundAt.Before(began)
		next, err := s.Sweep(ctx, job.Job{Subject: bank})
		if err != nil || next.IsZero() || ours && next.After(s.Clock.Now()) {
			return err
		}
	}
}

// sweepPage reads one page and writes down that it did.
func (s *Service) sweepPage(ctx context.Context, bank provider.Receiver, at sweep) (after sweep, done bool, err error) {
	after = at
	if at.roundAt.IsZero() {
		after.roundAt = s.Clock.Now()
		after.nextUntil = after.roundAt
	}
	credits, more, err := bank.InboundSince(ctx, at.doneUntil.Add(-overlap), int(at.page))
	if err != nil {
		return at, false, err
	}
	for _, in := range credits {
		trouble, err := s.take(ctx, at.provider, in)
		if err != nil {
			return at, false, err
		}
		if trouble == "" {
			continue
		}
		if after.roundAt.Sub(in.At) > tooLong {
			if err := s.Ask(ctx, Subject(at.provider, cmp.Or(in.SessionID, in.ProviderID, "unnamed")), Unfinished, "a credit on the list of "+at.provider+" is not in the books after 72 hours: "+trouble); err != nil {
				return at, false, err
			}
			continue
		}
		// The next round must see this credit again.
		if in.At.Before(after.nextUntil) {
			after.nextUntil = in.At
		}
	}
	after.page++
	if !more {
		after = sweep{provider: at.provider, doneUntil: after.nextUntil}
	}
	return after, !more, s.advance(ctx, at, after)
}

// take hands one credit to the books. Trouble says why it is not in them; it
// does not keep the others out. The error is for when none can be taken.
func (s *Service) take(ctx context.Context, providerName string, in provider.Inbound) (trouble string, err error) {
	if in.Outcome == provider.Unknown {
		return "the bank is not done with it: " + in.Status, nil
	}
	err = s.Receive(ctx, providerName, in)
	if err == nil || fault.Is(err, fault.Unavailable) || ctx.Err() != nil {
		return "", err
	}
	s.Log.Warn("a credit on a bank's list was not taken", "provider", providerName, "session", in.SessionID, "error", err)
	return "it was refused", nil
}
