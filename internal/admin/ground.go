package admin

import (
	"context"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/operator"
)

// A proposal rests on two things: its proposer still has the access that the acts need, and each value that it changes is
// the one that the proposer saw.

// outdated returns why an act of a proposal must not happen any more, or "". If the done act at the
// position changedBy has changed the same thing, the value at the proposal does not count. Then
// interrupted decides.
func (e *edge) outdated(ctx context.Context, q *request, p operator.Proposal, a operator.Act, changedBy int) (string, error) {
	err := e.Operators.Proposer(ctx, p.ProposedBy, operator.Role(q.op.Role), p.CreatedAt)
	if fault.Is(err, fault.Missing) || fault.Is(err, fault.Forbidden) {
		return fault.Of(err).Message, nil
	}
	switch {
	case err != nil || a.On == "":
		return "", err
	case changedBy != unchanged:
		return e.interrupted(ctx, p, changedBy)
	}
	s, err := e.stakeOf(ctx, q)
	if err == nil && s.was != a.Was {
		return groundWas(a) + s.was, nil
	}
	return "", err
}

// groundWas is the beginning of the sentence about a value that has changed. The present value follows.
func groundWas(a operator.Act) string { return a.On + " was " + a.Was + ", and is " }

// outdatedNow is outdated for the act at a position that is not done.
func (e *edge) outdatedNow(ctx context.Context, q *request, p operator.Proposal, position int, done map[int64]time.Time) (string, error) {
	a := p.Acts[position]
	at := changer(p.Acts[:position], a.On)
	if done[int64(at)].IsZero() {
		at = unchanged // the act of this proposal still waits, so the value at the proposal counts
	}
	return e.outdated(ctx, q, p, a, at)
}

// addGround adds to a proposal what it rests on now. A person who approves sees so before the approval that it would be
// refused.
func (e *edge) addGround(ctx context.Context, p operator.Proposal, done map[int64]time.Time, out *ProposedActs) error {
	for i, a := range p.Acts {
		why := p.Note
		switch {
		case p.State == operator.Dead:
		case p.State != operator.Proposed && p.State != operator.Unfinished || !done[int64(i)].IsZero():
			continue
		default:
			var err error
			if why, err = e.groundOf(ctx, p, i, done); err != nil {
				return err
			}
			if why != "" && out.Outdated == nil {
				out.Outdated = &why
			}
		}
		if now, changed := strings.CutPrefix(why, groundWas(a)); changed && a.On != "" {
			out.Acts[i].Now = &now
		}
	}
	return nil
}

// groundOf returns why nobody can approve the act of a proposal at a position any more, or "". What the act changes may be
// gone, which is a reason too.
func (e *edge) groundOf(ctx context.Context, p operator.Proposal, position int, done map[int64]time.Time) (string, error) {
	why := ""
	err := e.twoScopes(p)
	if err == nil {
		op, unfit := e.proposableOf(p.Company, p.Acts[position])
		var q *request
		if err = unfit; err == nil {
			q, err = e.requestOf(ctx, operator.Operator{}, op, p.Company, p.Acts[position])
		}
		if err == nil {
			why, err = e.outdatedNow(ctx, q, p, position, done)
		}
	}
	if fault.Is(err, fault.Missing) || fault.Is(err, fault.Refused) || fault.Is(err, fault.Invalid) {
		return fault.Of(err).Message, nil
	}
	return why, err
}
