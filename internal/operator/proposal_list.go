package operator

import (
	"context"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
)

// Cursor returns the place of a proposal in the list of proposals.
func (p Proposal) Cursor() string { return db.Place{At: clock.Micros(p.CreatedAt), ID: p.ID}.Cursor() }

// ProposalsAfter returns at most limit proposals in a state, the newest first. They follow the proposal with the cursor
// after, which is "" for the newest ones. A wrong cursor is a fault of the kind Invalid. The states are those of Proposals.
func (s *Service) ProposalsAfter(ctx context.Context, state ProposalState, after string, limit int) (out []Proposal, err error) {
	at, err := db.PlaceOf(after)
	if err != nil {
		return nil, err
	}
	now := s.clock.Now()
	since := time.Time{}
	if state == Proposed || state == Unfinished {
		since = now.Add(-proposalLife) // an older one has expired
	}
	for len(out) < limit {
		some, err := s.storedAfter(ctx, at, since, state.stored(), limit)
		if err != nil {
			return nil, err
		}
		known, err := s.withUnfinished(ctx, some)
		if err != nil {
			return nil, err
		}
		for _, p := range known {
			at = db.Place{At: clock.Micros(p.CreatedAt), ID: p.ID}
			if p = s.aged(p); len(out) < limit && state.has(p.State) {
				out = append(out, p)
			}
		}
		if len(some) < limit {
			break
		}
	}
	return out, nil
}

// stored returns the states in which the database has the proposals of a state. "" stands for all.
func (s ProposalState) stored() [2]ProposalState {
	switch s {
	case Proposed, Expired:
		return [2]ProposalState{Proposed, Approved}
	case Unfinished:
		return [2]ProposalState{Approved, Approved}
	}
	return [2]ProposalState{s, s}
}

// has reports whether the list of a state has the proposals that are now in another one.
func (s ProposalState) has(now ProposalState) bool {
	return s == "" || s == now || s == Proposed && now == Unfinished
}

// withUnfinished returns the proposals with the state Unfinished where acts of an approved one are left.
func (s *Service) withUnfinished(ctx context.Context, some []Proposal) ([]Proposal, error) {
	var approved []string
	for _, p := range some {
		if p.State == Approved {
			approved = append(approved, p.ID)
		}
	}
	if approved == nil {
		return some, nil
	}
	done, err := s.doneCounts(ctx, approved)
	for i, p := range some {
		if p.State == Approved && p.Size > done[p.ID] {
			some[i].State = Unfinished
		}
	}
	return some, err
}
