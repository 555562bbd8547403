package company

import (
	"context"
	"errors"

	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/ledger"
)

// A rule of a company has a row from its first change on, and each change is counted in the same commit. So somebody who
// deletes the row alone does not switch the rule off: Kobo then refuses what the rule is about until the row is back. Who
// deletes the counter too is not noticed here. The lines of the audit log about the rule stay, and their Merkle tree.

const (
	// payoutRuleChanges counts the changes of the rule for payouts. A change that has not seen the last one begins again.
	payoutRuleChanges = "payout-rule"
	// twoPeopleChanges counts the changes of the rule about two people. An earlier program did not count them.
	twoPeopleChanges = "two-people"
	// anyNumber is a limit that no counter of changes reaches.
	anyNumber = 1 << 40
)

var errRuleGone = errors.New("company: the row of a rule about two people is gone: restore it from a backup")

// twoPeople returns the rule about two people. Its state is "" if it was never changed.
func (s *Service) twoPeople(ctx context.Context, reference string) (rule, error) {
	r, err := kept(ctx, s, reference, twoPeopleChanges, s.readTwoPeople, func(r rule) bool { return r.State != "" })
	if err == nil && r.State != "" {
		err = s.countTwoPeople(ctx, r)
	}
	return r, err
}

// countTwoPeople counts the rule of an earlier program when it is read first. From then on its row is missed.
func (s *Service) countTwoPeople(ctx context.Context, r rule) error {
	n, err := s.book.Last(ctx, r.Company, twoPeopleChanges)
	if err != nil || n > 0 {
		return err
	}
	u := ledger.For(r.Company)
	u.Expect(rules.Record(r), r.State)
	u.Count(twoPeopleChanges, 1, 1)
	err = s.book.Commit(ctx, u)
	if again(err) || fault.Is(err, fault.Unavailable) {
		return nil // it was counted or changed meanwhile, or the database cannot write: the next read looks again
	}
	return err
}

// payoutRule returns the rule for payouts. Its state is "" if it was never changed.
func (s *Service) payoutRule(ctx context.Context, reference string) (payoutRuleRow, error) {
	return kept(ctx, s, reference, payoutRuleChanges, s.readPayoutRule, func(r payoutRuleRow) bool { return r.State != "" })
}

// kept returns the row of a rule. If changes were counted and there is no row, it returns an Unavailable fault. It reads
// twice, because the first change may be committed between the read of the row and that of the counter.
func kept[R any](ctx context.Context, s *Service, reference string, changes ledger.Next, read func(context.Context, string) (R, error), is func(R) bool) (R, error) {
	for range 2 {
		r, err := read(ctx, reference)
		if err != nil || is(r) {
			return r, err
		}
		n, err := s.book.Last(ctx, reference, changes)
		if err != nil || n == 0 {
			return r, err
		}
	}
	var none R
	return none, fault.New(fault.Unavailable, "Service temporarily unavailable").Because(errRuleGone)
}
