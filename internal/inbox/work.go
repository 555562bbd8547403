package inbox

import (
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
	// A notification that cannot be processed becomes a case. That happens after hopelessTries
	// attempts, but not before hopelessAge has passed. No money is lost, since the credit poll
	// reads the bank's own list.
	hopelessTries = 10
	hopelessAge   = 24 * time.Hour
	// limit is the timeout of a job. It is shorter than the job's lease.
	limit = time.Minute
	// keep is how long finished notifications are kept.
	keep = 90 * 24 * time.Hour
	// clearEvery is the time between two runs of the ClearJob.
	clearEvery = time.Hour
	// clearMost is the maximum number of notifications that one run deletes.
	clearMost = 1000
)

// pauses are the pauses between two requests to the bank about an unfinished credit. The last
// pause repeats.
var pauses = []time.Duration{
	5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute, 30 * time.Minute, time.Hour,
}

// result is the result of processing a notification. An empty state means that the bank has not
// finished the credit, so the job asks again.
type result struct {
	state  State
	detail string
}

// Work runs a WorkJob: it processes one notification. It may run twice, since the services that
// it calls ignore repetitions.
func (s *Service) Work(ctx context.Context, j job.Job) (next time.Time, err error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	n, err := s.find(ctx, j.Subject)
	if errors.Is(err, db.ErrNone) || err == nil && n.State != New {
		return time.Time{}, nil
	}
	var r result
	now := s.Clock.Now()
	switch {
	case j.Attempts > hopelessTries && now.Sub(n.ReceivedAt) >= hopelessAge && !fault.Is(err, fault.Unavailable):
		r, err = s.ask(ctx, n, "it could not be worked for 24 hours")
	case err == nil:
		r, err = s.read(ctx, n)
	}
	if err != nil {
		return time.Time{}, err
	}
	if r.state == "" {
		return now.Add(pauses[min(max(j.Attempts, 1)-1, int64(len(pauses))-1)]), nil
	}
	return time.Time{}, s.end(ctx, n.ID, r.state, r.detail)
}

// read parses a notification and processes it according to its kind.
func (s *Service) read(ctx context.Context, n Notification) (result, error) {
	bank := s.Banks[n.Provider]
	if bank == nil {
		return result{}, fmt.Errorf("inbox: %s is not configured", n.Provider)
	}
	notice, err := bank.ParseNotification([]byte(n.Body.Reveal()))
	if err != nil {
		// The error may quote the body, so the case does not show the error.
		return s.ask(ctx, n, "it is not in the format of "+n.Provider)
	}
	switch notice.Kind {
	case provider.AccountCredit, provider.VirtualCredit:
		if notice.SessionID == "" {
			return s.ask(ctx, n, "it tells of a credit without its session")
		}
		return s.credit(ctx, n, bank, notice)
	case provider.PayoutNotice:
		return s.payout(ctx, notice)
	}
	return result{Ignored, "of a kind that is of no use to us"}, nil
}

func (s *Service) ask(ctx context.Context, n Notification, detail string) (result, error) {
	err := s.Ask(ctx, n.ID, Unreadable, "a notification from "+n.Provider+": "+detail)
	return result{Asked, detail}, err
}

// credit asks the bank about a credit, and books what the bank's reply states. If the notification
// differs from that reply, credit also opens a case.
func (s *Service) credit(ctx context.Context, n Notification, bank provider.Receiver, notice provider.Notification) (result, error) {
	answer := bank.Inbound(ctx, notice.SessionID, notice.Kind == provider.VirtualCredit)
	in := answer.Credit
	in.Outcome = answer.Outcome
	switch answer.Outcome {
	case provider.Unknown:
		return result{}, nil
	case provider.Rejected:
		if in.SessionID == "" { // a bank may omit the session ID of a rejected credit
			in.SessionID = notice.SessionID
		}
		return result{Ignored, "the bank says that session " + in.SessionID + " did not stay"}, s.Receive(ctx, n.Provider, in)
	}
	if err := s.Receive(ctx, n.Provider, in); err != nil {
		return result{}, err
	}
	polled, err := s.hasten(ctx, n.Provider, in.CreditAccount)
	if err != nil {
		return result{}, err
	}
	if !polled { // the bank may also have opened the account since the last listing
		s.Log.Warn("a credit came into an account that the bank has not listed, so without its notification nobody would have seen it",
			"provider", n.Provider, "session", in.SessionID)
	}
	if notice.Amount != 0 && notice.Amount != in.Amount || notice.Account != "" && notice.Account != in.CreditAccount {
		err := s.Ask(ctx, Subject(n.Provider, in.SessionID), Mismatch, fmt.Sprintf(
			"a notification from %s said %s into account %s; asked, it said %s into account %s, and that is in the ledger",
			n.Provider, notice.Amount, notice.Account, in.Amount, in.CreditAccount))
		if err != nil {
			return result{}, err
		}
	}
	return result{Worked, "credit of session " + in.SessionID}, nil
}

// payout passes the reference of a notification about a payout to Config.Payout.
func (s *Service) payout(ctx context.Context, notice provider.Notification) (result, error) {
	if notice.Reference == "" {
		return result{Ignored, "a payment that is not ours"}, nil
	}
	err := s.Payout(ctx, notice.Reference)
	if fault.Is(err, fault.Missing) {
		return result{Ignored, "a payment that is not ours: " + notice.Reference}, nil
	}
	return result{Worked, "payment " + notice.Reference}, err
}

// Clear runs a ClearJob: it deletes finished notifications after 90 days. The credits stay in the
// ledger.
func (s *Service) Clear(ctx context.Context, _ job.Job) (next time.Time, err error) {
	now := s.Clock.Now()
	n, err := s.clear(ctx, now.Add(-keep), clearMost)
	if n == clearMost {
		return now, err
	}
	return now.Add(clearEvery), err
}
