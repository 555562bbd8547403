package company

import (
	"context"
	"errors"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/ledger"
)

// PayoutApproved is the action of the audit line about an approved payout or bulk payout. The subject of the line is the
// payout or the bulk payout, so its story can say who asked for it and who approved it.
const PayoutApproved = "company.payout.approve"

// ApprovedFirst is the action of the audit line about the first of two people who approve. The subject of the line is the
// approval, and its detail "by" is the person.
const ApprovedFirst = "company.approval.first"

// FirstCounts reports whether the first of the two people who approve an approval (FirstBy) may still decide about it.
type FirstCounts func(ctx context.Context, a Approval) (bool, error)

// toApproveAfter returns an approval as toApprove does, without a first person who does not count any more. So whoever
// approves it next is the first.
func (s *Service) toApproveAfter(ctx context.Context, by Access, approvalID string, counts FirstCounts) (Approval, error) {
	a, err := s.toApprove(ctx, by, approvalID)
	if err != nil || a.FirstBy == "" {
		return a, err
	}
	still, err := counts(ctx, a)
	if !still {
		a.FirstBy = ""
	}
	return a, err
}

// Accept returns an approval of a payout as a second person approves it, and what ends it. The caller adds this to the
// unit that starts the payout. The unit also ends the other approvals of the same payout or bulk payout that wait. The
// ledger refuses the unit if one of them does not wait any more (IsDecided). The faults are those of Approve.
func (s *Service) Accept(ctx context.Context, by Access, approvalID string) (Approval, func(u *ledger.Unit), error) {
	a, err := s.toApprove(ctx, by, approvalID)
	if err != nil {
		return Approval{}, nil, err
	}
	act, err := a.Act()
	if err != nil {
		return Approval{}, nil, err
	}
	others, err := s.othersOf(ctx, a, act)
	if err != nil {
		return Approval{}, nil, err
	}
	now := s.clock.Now()
	a.State, a.DecidedBy, a.DecidedAt = ApprovalApproved, by.who(), now
	return a, func(u *ledger.Unit) {
		s.approved(ctx, u, by, a)
		details := by.details("approval", a.ID, "askedBy", a.AskedBy, "askedAt", clock.Text(a.CreatedAt), "from", act.Least.Decimal())
		s.self(ctx, by.Company).Audit(u, PayoutApproved, act.subject(), details, now)
		for _, o := range others {
			o.State, o.DecidedBy, o.DecidedAt = ApprovalWithdrawn, by.who(), now
			u.Transition(approvals.Record(o), ApprovalWaiting)
			s.self(ctx, by.Company).Audit(u, "company.approval.withdrawn", o.ID, by.details("kind", string(o.Kind), "approved", a.ID), now)
		}
	}, nil
}

// othersOf returns the other approvals of the same payout or bulk payout that wait.
func (s *Service) othersOf(ctx context.Context, a Approval, act Act) (others []Approval, err error) {
	all, err := s.waitingOfKind(ctx, a.Company, a.Kind)
	if err != nil {
		return nil, err
	}
	for _, o := range all {
		same, err := o.Act()
		if err != nil {
			return nil, err
		}
		if o.ID == a.ID || same.subject() != act.subject() {
			continue
		}
		o, err = s.waiting(ctx, a.Company, o.ID)
		if errors.Is(err, errDecided) {
			continue // meanwhile
		}
		if err != nil {
			return nil, err
		}
		others = append(others, o)
	}
	return others, nil
}
