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
	// overlap is how far a round reaches back before the end of the last one. A bank's
	// list may show a credit later than it happened.
	overlap = time.Hour
	// tooLong is how long a credit may be unfinished. Then a case is opened, and the poll
	// goes on without the credit.
	tooLong = 72 * time.Hour
	// pages is how many pages one job reads. The next job continues from there.
	pages = 10
)

// poll is the progress of the credit poll of one provider.
type poll struct {
	company   string    `db:"company_id,key"` // the house
	provider  string    `db:"provider,key"`
	doneUntil time.Time `db:"done_until"` // the ledger has all credits before it
	roundAt   time.Time `db:"round_at"`   // the begin of the round; zero between two rounds
	page      int64     `db:"page"`       // the next page
	nextUntil time.Time `db:"next_until"` // doneUntil after the round
}

// Poll does the work of a PollJob, the credit poll. It passes every finished credit of
// the bank's list to Config.Receive, which records each once. The list is the bank's
// own answer, so the poll does not ask again.
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

// CatchUp records all credits that are on a bank's list now, like a whole round of the
// credit poll. A program that was down has missed notifications. CatchUp may run
// beside the poll.
func (s *Service) CatchUp(ctx context.Context, bank string) error {
	began := s.Clock.Now()
	for {
		at, err := s.findPoll(ctx, bank)
		if errors.Is(err, db.ErrNone) {
			return nil // there is no poll before the program has served once
		}
		if err != nil {
			return err
		}
		// An old unfinished round lacks the credits since its begin.
		ours := at.roundAt.IsZero() || !at.roundAt.Before(began)
		next, err := s.Poll(ctx, job.Job{Subject: bank})
		if err != nil || next.IsZero() || ours && next.After(s.Clock.Now()) {
			return err
		}
	}
}

// pollPage reads one page and stores the progress.
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
		// The next round must see this credit again.
		if in.At.Before(after.nextUntil) {
			after.nextUntil = in.At
		}
	}
	after.page++
	if !more {
		after = poll{company: House, provider: at.provider, doneUntil: after.nextUntil}
	}
	return after, !more, s.advance(ctx, at, after)
}

// take records one credit. Trouble says why the ledger does not have it; the other
// credits go on. The error means that no credit can be recorded now.
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
