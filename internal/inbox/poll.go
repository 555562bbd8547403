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
	pollEvery = 5 * time.Minute
	// overlap is the time by which two rounds of the poll overlap. Each round begins with credits
	// from this long before the end of the last round. A bank's list may show a credit some time
	// after the credit happened.
	overlap = time.Hour
	// tooLong is how long a credit may stay unfinished. After that time a case is opened, and the
	// poll no longer waits for the credit.
	tooLong = 72 * time.Hour
	// pages is how many pages of the bank's list one run of the job reads. The next run continues
	// with the next page.
	pages = 10
)

// poll is the progress of the credit poll of one provider.
type poll struct {
	company   string    `db:"company_id,key"` // always House
	provider  string    `db:"provider,key"`
	doneUntil time.Time `db:"done_until"`  // the ledger has all credits before this time
	roundAt   time.Time `db:"round_at"`    // when the round began; zero between two rounds
	page      int64     `db:"page"`        // the next page to read
	nextUntil time.Time `db:"next_until"`  // the value of doneUntil after the round
	finished  time.Time `db:"finished_at"` // when the last round ended; zero before the first round
}

// Poll runs a PollJob, the credit poll. It passes every finished credit of the bank's list to
// Config.Receive, which books each credit only once. The list comes from the bank itself, so the
// poll does not ask the bank about each credit.
func (s *Service) Poll(ctx context.Context, j job.Job) (next time.Time, err error) {
	bank := s.Banks[j.Subject]
	if bank == nil {
		// Another program may know the bank, so the job stays.
		return s.Clock.Now().Add(pollEvery), nil
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	at, err := s.findPoll(ctx, j.Subject)
	if errors.Is(err, db.ErrNone) {
		return time.Time{}, fmt.Errorf("inbox: there is no credit poll of %s", j.Subject)
	}
	for range pages {
		if err != nil {
			return time.Time{}, err
		}
		var done bool
		if at, done, err = s.pollPage(ctx, bank, at); done {
			return s.Clock.Now().Add(pollEvery), err
		}
	}
	return s.Clock.Now(), err
}

// CatchUp books all credits that are on a bank's list now, like a whole round of the credit poll.
// It is for a program that was down and missed notifications. CatchUp and the credit poll may run
// in parallel.
func (s *Service) CatchUp(ctx context.Context, bank string) error {
	began := s.Clock.Now()
	for {
		at, err := s.findPoll(ctx, bank)
		if errors.Is(err, db.ErrNone) {
			return nil // a program that has never called Begin has no poll
		}
		if err != nil {
			return err
		}
		// A round that began before CatchUp lacks the newest credits, so another round must
		// follow it.
		ours := at.roundAt.IsZero() || !at.roundAt.Before(began)
		next, err := s.Poll(ctx, job.Job{Subject: bank})
		if err != nil || next.IsZero() || ours && next.After(s.Clock.Now()) {
			return err
		}
	}
}

// pollPage reads one page of a bank's list, books its credits and stores the progress.
func (s *Service) pollPage(ctx context.Context, bank provider.Receiver, at poll) (after poll, done bool, err error) {
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
			subject := Subject(at.provider, cmp.Or(in.SessionID, in.ProviderID, "unnamed"))
			err := s.Ask(ctx, subject, Unfinished, "a credit on the list of "+at.provider+" is not in the books after 72 hours: "+trouble)
			if err != nil {
				return at, false, err
			}
			continue
		}
		// The credit is not booked yet, so the next round must begin before the time of this
		// credit.
		if in.At.Before(after.nextUntil) {
			after.nextUntil = in.At
		}
	}
	after.page++
	if !more {
		after = poll{company: House, provider: at.provider, doneUntil: after.nextUntil, finished: s.Clock.Now()}
	}
	return after, !more, s.advance(ctx, at, after)
}

// take books one credit. A non-empty trouble is the reason why this credit was not booked. The poll
// then continues with the other credits. An error means that no credit can be booked now.
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
