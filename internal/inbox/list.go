package inbox

import (
	"context"
	"slices"

	"github.com/kobo-waas/kobo/internal/provider"
)

// mendTimes makes the accounts due whose times are in the future, because the clock of a program was
// ahead. They are read from the time of the poll's begin.
func (s *Service) mendTimes(ctx context.Context, at *poll) error {
	now := s.Clock.Now()
	if at.since.After(now.Add(tolerance)) {
		s.Log.Warn("the credit poll has begun while a clock was ahead, so it reads credits from now on: compare the bank's statement with the ledger",
			"provider", at.provider, "begun", at.since)
		at.since = now
		if err := s.setSince(ctx, *at); err != nil {
			return err
		}
	}
	late := now.Add(max(s.Period, pollEvery) + pollEvery + tolerance)
	n, err := s.forgetFuture(ctx, *at, now, now.Add(tolerance), late)
	if n > 0 {
		s.Log.Warn("the times of accounts in the credit poll are in the future, so a clock was ahead: their credits are read again",
			"provider", at.provider, "accounts", n, "since", at.since)
	}
	return err
}

// listAccounts adds the accounts on the bank's list to the poll. It reads up to most pages. The next
// call continues with the next page, and begins again after the last page. A whole pass reads the list
// from its begin, and leaves the place where the credit poll goes on.
func (s *Service) listAccounts(ctx context.Context, r *reading, at poll, most int) error {
	if r.whole {
		at.listed = 0
	}
	for range most {
		if err := r.step(ctx); err != nil {
			return err
		}
		more, err := s.listPage(ctx, r, at)
		if err != nil {
			return err
		}
		to := at
		if to.listed++; !more {
			to.listed, to.listing = 0, at.listing+1
		}
		if !r.whole {
			turned, err := s.turnPage(ctx, at, to)
			if err != nil || !turned {
				return err
			}
		}
		if !more && !r.whole {
			return s.endListing(ctx, at)
		}
		if at = to; !more || s.over(r) {
			return nil
		}
	}
	return nil
}

// listPage adds the accounts on one page of the bank's list to the poll.
func (s *Service) listPage(ctx context.Context, r *reading, at poll) (more bool, err error) {
	limited, cancel := context.WithTimeout(ctx, answer)
	defer cancel()
	accounts, more, err := r.bank.Receiving(limited, int(at.listed))
	if err != nil {
		return false, err
	}
	var list []source
	for _, a := range accounts {
		list = append(list, source{
			company: House, provider: at.provider, account: a.ID, number: a.Number, main: a.Main,
			doneUntil: at.since, newest: at.since, due: at.since, polled: s.Clock.Now(), listing: at.listing,
		})
	}
	if i := slices.IndexFunc(accounts, func(a provider.Receiving) bool { return a.Main }); i >= 0 {
		if err := s.setMain(ctx, at.provider, accounts[i].ID); err != nil {
			return false, err
		}
	}
	returned, err := s.addAccounts(ctx, at, list)
	for _, id := range returned {
		s.Log.Info("the bank lists a retired account again, so the credit poll reads it from where it was read", "provider", at.provider, "account", id)
	}
	return more, err
}

// endListing compares a whole listing of a bank's accounts with what Kobo knows. It retires accounts that
// are gone, and counts our own accounts that the bank does not list.
func (s *Service) endListing(ctx context.Context, at poll) error {
	retired, err := s.retire(ctx, at)
	if err != nil {
		return err
	}
	for _, id := range retired {
		s.Log.Warn("the credit poll no longer reads an account, because the bank neither lists it nor answers for it", "provider", at.provider, "account", id)
	}
	n, err := s.countUnlisted(ctx, at)
	if err != nil || n == at.unlisted {
		return err
	}
	if n > at.unlisted {
		s.Log.Warn("the bank does not list accounts of ours, so the credit poll may not read them", "provider", at.provider, "accounts", n)
	}
	return s.setUnlisted(ctx, at.provider, n)
}

// countUnlisted returns how many of our own accounts a whole listing lacked. Retired accounts do not
// count.
func (s *Service) countUnlisted(ctx context.Context, at poll) (n int64, err error) {
	if s.Numbers == nil {
		return 0, nil
	}
	for after := ""; ; {
		ours, err := s.Numbers(ctx, at.provider, after, batchOfNumbers)
		if err != nil || len(ours) == 0 {
			return n, err
		}
		listed, err := s.listedOf(ctx, at, ours)
		if err != nil {
			return n, err
		}
		n += int64(len(ours) - len(listed))
		after = ours[len(ours)-1]
	}
}
