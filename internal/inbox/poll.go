package inbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/provider"
)

const (
	pollEvery = 5 * time.Minute
	// overlap is the time by which two rounds of an account overlap. Each round begins with credits
	// from this long before the end of the last round. A bank's list may show a credit some time
	// after the credit happened.
	overlap = time.Hour
	// tooLong is how long a credit may stay unfinished. After that time a case is opened, and the
	// poll no longer waits for the credit.
	tooLong = 72 * time.Hour
	// pages is how many pages of credits one run of the job reads, and listings is how many pages of
	// the bank's list of accounts. The next run continues with the next page.
	pages    = 100
	listings = 10
	// answer is how long the poll waits for one page. A run reads the list of accounts for listPhase, and
	// then credits for readPhase; the last request of each may end one answer later. All together ends before
	// the limit of the job, with room for the database.
	answer    = 10 * time.Second
	listPhase = 8 * time.Second
	readPhase = 22 * time.Second
	// thorough is how many pages of each of the two lists CatchUp reads.
	thorough = 1000
	// patience is how many accounts in a row a run fails to read before it ends. While our own account is
	// read, CatchUp goes on for more of them, since the bank is not away.
	patience     = 3
	longPatience = 20
	// recent is how long after a credit an account is read every five minutes.
	recent = time.Hour
	// quiet is how many accounts without a recent credit are read in five minutes.
	quiet = 50
	// share is how many failing accounts one run reads, after all others.
	share = 3
	// gone is how many whole listings in a row must lack an account before it is retired.
	gone = 12
	// tolerance is how far the clocks of two programs may differ.
	tolerance = time.Minute
	// batchOfNumbers is how many of our account numbers are compared at once with the bank's list.
	batchOfNumbers = 500
)

// poll is the credit poll of one bank. Programs of earlier schemas read the credits of all accounts
// as one list, and store their progress in round_at, page and next_until.
type poll struct {
	company   string    `db:"company_id,key"` // always House
	provider  string    `db:"provider,key"`
	doneUntil time.Time `db:"done_until"` // the ledger has all credits before this time
	//lint:ignore U1000 a column that only SQL reads
	roundAt time.Time `db:"round_at"`
	//lint:ignore U1000 a column that only SQL reads
	page int64 `db:"page"`
	//lint:ignore U1000 a column that only SQL reads
	nextUntil time.Time `db:"next_until"`
	//lint:ignore U1000 a column that only SQL reads
	finished time.Time `db:"finished_at"` // when a run last left no account due; zero before the first such run
	since    time.Time `db:"since_at"`    // the credits of each account are read from this time
	listed   int64     `db:"listed"`      // the next page of the bank's list of accounts
	listing  int64     `db:"listing"`     // the number of this listing
	unlisted int64     `db:"unlisted"`    // how many of our own accounts the last whole listing lacked
}

// source is the progress of the credit poll of one account at a bank.
type source struct {
	company   string    `db:"company_id,key"` // always House
	provider  string    `db:"provider,key"`
	account   string    `db:"account,key"` // the bank's identifier of the account
	number    string    `db:"account_number"`
	main      bool      `db:"main"`
	doneUntil time.Time `db:"done_until"` // the ledger has all credits of the account before this time
	roundAt   time.Time `db:"round_at"`   // when the round began; zero between two rounds
	page      int64     `db:"page"`       // the next page to read
	nextUntil time.Time `db:"next_until"` // the value of doneUntil after the round
	due       time.Time `db:"due_at"`     // when the next round may begin
	polled    time.Time `db:"polled_at"`  // when the last finished round began
	newest    time.Time `db:"newest_at"`  // the time of the newest credit, by the bank's clock; zero if not known
	from      time.Time `db:"from_at"`    // the time from which the round reads; zero between two rounds
	failures  int64     `db:"failures"`   // how many reads in a row have failed
	listing   int64     `db:"listing"`    // the last listing that had the account
	//lint:ignore U1000 a column that only SQL reads
	retired time.Time `db:"retired_at"` // when the account left the poll; zero while it is polled
}

// reading is one pass over the lists of a bank.
type reading struct {
	bank  provider.Receiver
	left  int           // how many pages of credits it still reads
	ends  time.Duration // when it stops, by Clock.Elapsed; zero means that it has no such time
	rest  time.Duration // the time between two rounds of an account without a recent credit
	since time.Time     // a round that began before this time is followed by another round
	whole bool          // the pass reads all accounts, and our own account first
	step  func(context.Context) error
	// An account is silent if the bank did not reply for it. If the bank replies for no account at all, it is
	// away, and no account is to blame.
	silent  []source
	replied bool
}

// Poll runs a PollJob, the credit poll. It passes every finished credit on the bank's lists to
// Config.Receive, which books each credit only once. The lists come from the bank itself, so the
// poll does not ask the bank about each credit.
//
// The bank has a list of credits for each account. Our own account, and each account with a credit in
// the last hour, is read every five minutes. The other accounts take turns: 50 of them in five
// minutes, or more if that is needed to read each account once in Config.Period.
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
	if err == nil && at.since.IsZero() { // an earlier program has begun the poll since this one has started
		if err = s.startPolls(ctx); err == nil {
			at, err = s.findPoll(ctx, j.Subject)
		}
	}
	if err != nil {
		return time.Time{}, err
	}
	if err := s.mendTimes(ctx, &at); err != nil {
		return time.Time{}, err
	}
	r := &reading{bank: bank, left: pages, ends: s.Clock.Elapsed() + listPhase, step: func(context.Context) error { return nil }}
	unlisted := s.listAccounts(ctx, r, at, listings) // the accounts that are known already are still read
	r.ends = s.Clock.Elapsed() + readPhase
	due, err := s.dueAccounts(ctx, at.provider, s.Clock.Now(), pages)
	if err != nil {
		return time.Time{}, err
	}
	all, err := s.readAll(ctx, r, at.provider, due)
	switch {
	case err != nil || unlisted != nil:
		return time.Time{}, errors.Join(unlisted, err)
	case !all || len(due) == pages:
		return s.Clock.Now(), nil // further accounts are due
	}
	if err := s.readFailing(ctx, r, at.provider); err != nil {
		return time.Time{}, err
	}
	return s.Clock.Now().Add(pollEvery), s.finish(ctx, at.provider)
}

// readFailing reads a few of the accounts that could not be read before. So they cost each run no more
// than its last seconds.
func (s *Service) readFailing(ctx context.Context, r *reading, bank string) error {
	failing, err := s.failingAccounts(ctx, bank, s.Clock.Now(), share)
	if err != nil {
		return err
	}
	r.whole = true // the bank is not away, since the others were read
	_, err = s.readAll(ctx, r, bank, failing)
	return err
}

// CatchUp books the credits that are on a bank's lists now. It is for a program that was down and
// missed notifications. It calls step before each page. CatchUp and the credit poll may run in
// parallel.
//
// CatchUp reads 1,000 pages: our own account first, and then the accounts that were not read for the
// longest time. The credit poll reads the rest. CatchUp fails if our own account cannot be read. It ends
// without an error if the bank does not reply for 20 other accounts in a row.
func (s *Service) CatchUp(ctx context.Context, bank string, step func(context.Context) error) error {
	at, err := s.findPoll(ctx, bank)
	if errors.Is(err, db.ErrNone) || err == nil && s.Banks[bank] == nil {
		return nil // a program that has never called Begin has no poll
	}
	if err != nil {
		return err
	}
	if err := s.mendTimes(ctx, &at); err != nil {
		return err
	}
	r := &reading{bank: s.Banks[bank], left: thorough, whole: true, step: step}
	if err := s.listAccounts(ctx, r, at, thorough); err != nil {
		return err
	}
	// A round that began before CatchUp lacks the newest credits.
	r.since = s.Clock.Now()
	stale, err := s.staleAccounts(ctx, bank, r.since, thorough)
	if err != nil {
		return err
	}
	all, err := s.readAll(ctx, r, bank, stale)
	if err != nil || !all || len(stale) == thorough {
		return err
	}
	return s.finish(ctx, bank)
}

// over reports whether a pass must stop.
func (s *Service) over(r *reading) bool { return r.ends != 0 && s.Clock.Elapsed() > r.ends }

// readAll reads the credits of accounts. The result all reports whether it has come to the end of the
// list. An account that the bank refuses is read later, and the others are still read. If our own
// account fails, readAll returns the error. It also does so if the bank does not reply for several accounts in
// a row, and our own account was not read before.
func (s *Service) readAll(ctx context.Context, r *reading, bank string, list []source) (all bool, err error) {
	n, err := s.countAccounts(ctx, bank)
	if err != nil {
		return false, err
	}
	r.rest = max(pollEvery, min(s.Period, time.Duration(n)*pollEvery/quiet))
	silent := 0 // for how many accounts in a row the bank has not replied
	for _, at := range list {
		done, failed := s.readAccount(ctx, r, at)
		var wrong *provider.Error
		switch {
		case failed == nil && !done:
			return false, err
		case failed != nil && (!errors.As(failed, &wrong) || ctx.Err() != nil):
			return false, failed
		case failed != nil:
			s.Log.Warn("the credits of an account were not read", "provider", bank, "account", at.account, "error", failed)
		}
		if failed != nil && at.main {
			err = failed // it stays due
		}
		if failed == nil || refuses(wrong) {
			silent, r.replied = 0, true
		} else {
			silent++
		}
		if blamed := s.blame(ctx, r, at, failed); blamed != nil {
			return false, blamed
		}
		switch {
		case silent == patience && (!r.whole || err != nil):
			return false, failed
		case silent == longPatience:
			return false, nil
		}
	}
	return err == nil, err
}

// blame postpones an account that was not read. The more often that has happened, the later it is read
// again. A silent account is only to blame if the bank has replied for another one.
func (s *Service) blame(ctx context.Context, r *reading, at source, failed error) error {
	if failed != nil && !at.main {
		r.silent = append(r.silent, at)
		if !r.replied {
			return s.postpone(ctx, at, at.failures, pollEvery)
		}
	}
	if !r.replied {
		return nil
	}
	for _, a := range r.silent {
		pause := pollEvery
		for range min(a.failures, 12) {
			pause = min(2*pause, max(s.Period, pollEvery))
		}
		if err := s.postpone(ctx, a, a.failures+1, pause); err != nil {
			return err
		}
	}
	r.silent = nil
	return nil
}

// refuses reports whether the bank's reply is a refusal that may be about one account alone.
func refuses(e *provider.Error) bool {
	switch status, _ := strconv.Atoi(e.Code); status {
	case http.StatusUnauthorized, http.StatusRequestTimeout, http.StatusTooManyRequests:
		return false
	default:
		return status/100 == 4
	}
}

// readAccount reads the credits of an account until the end of a round. The result done is false if the
// pass must stop before that end.
func (s *Service) readAccount(ctx context.Context, r *reading, at source) (done bool, err error) {
	for !done || at.polled.Before(r.since) {
		if r.left == 0 || s.over(r) {
			return false, nil
		}
		r.left--
		if err := r.step(ctx); err != nil {
			return false, err
		}
		if at, done, err = s.pollPage(ctx, r, at); err != nil {
			return false, err
		}
	}
	return true, nil
}

// pollPage reads one page of an account's list, books its credits and stores the progress.
func (s *Service) pollPage(ctx context.Context, r *reading, at source) (after source, done bool, err error) {
	after = at
	if at.roundAt.IsZero() {
		after.roundAt = s.Clock.Now()
		after.nextUntil = after.roundAt
		after.from = at.begins()
	}
	limited, cancel := context.WithTimeout(ctx, answer)
	defer cancel()
	credits, more, err := r.bank.InboundSince(limited, at.account, cmp.Or(after.from, at.doneUntil.Add(-overlap)), int(at.page))
	if err != nil {
		return at, false, err
	}
	if at.newest.IsZero() {
		after.newest = at.doneUntil // an earlier program has read the account until then
	}
	// The newest credits are on the first page, so an account with further pages is busy.
	busy := at.main || at.page > 0
	for _, in := range credits {
		busy = busy || in.CreditAccount == at.number && after.roundAt.Sub(in.At) < recent
		if in.At.After(after.newest) {
			after.newest = in.At
		}
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
		rest := r.rest
		if busy {
			rest = pollEvery
		}
		after.doneUntil, after.polled, after.due = after.nextUntil, after.roundAt, after.roundAt.Add(rest)
		after.roundAt, after.nextUntil, after.page, after.from = time.Time{}, time.Time{}, 0, time.Time{}
	}
	return after, !more, s.advance(ctx, at, after)
}

// begins returns the time from which a round reads: an hour before the end of the last round. If no
// credit came since long before that end, it is an hour before the newest credit. The end is a time of our
// own clock, and a clock that was ahead would skip credits; the times of the credits are the bank's.
func (a source) begins() time.Time {
	if !a.newest.IsZero() && a.newest.Before(a.doneUntil) {
		return a.newest.Add(-overlap)
	}
	return a.doneUntil.Add(-overlap)
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
