package erasure

import (
	"context"
	"strconv"
	"strings"

	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/operator"
)

const (
	// look is the number of events that a step looks at.
	look = 10000
	// most is the maximum number of events that a step changes.
	most = 100
)

// Cleared is the action of the audit line of a unit that removes a customer from events. Its detail
// Leaves contains the numbers of the changed rows of evidence, separated by commas.
const (
	Cleared = "customer.events_cleared"
	Leaves  = "leaves"
)

// step does the next step of an erasure. A step that was interrupted is done again.
func (s *Service) step(ctx context.Context, e Erasure) error {
	switch {
	case e.State == Done:
		return s.forget(ctx, e)
	case e.lastSequence == 0:
		return s.clearResponses(ctx, e)
	}
	return s.clearEvents(ctx, e)
}

// save commits a unit with the next state of an erasure. If another program has done the step, the
// ledger refuses the unit, and save returns nil.
func (s *Service) save(ctx context.Context, u ledger.Unit, was, e Erasure) error {
	e.updatedAt = s.Clock.Now()
	u.Transition(rows.Record(e), string(was.State)).
		Expect("sequence", was.sequence).Expect("response", was.response).Expect("last_sequence", was.lastSequence)
	return ledger.Except(s.Book.Commit(ctx, u), ledger.Moved)
}

// clearResponses looks at the next stored responses. After the last one it determines which events may
// name the customer. A later event does not, because its unit expects that the customer is not erased.
func (s *Service) clearResponses(ctx context.Context, e Erasure) error {
	was, u := e, ledger.For(e.Company)
	last, err := s.Keys.Erase(ctx, &u, e.CustomerID, e.response)
	if err != nil {
		return err
	}
	if e.response = last; last == "" {
		if e.lastSequence, err = s.Book.LastEvent(ctx, e.Company); err != nil {
			return err
		}
	}
	return s.save(ctx, u, was, e)
}

// clearEvents looks at the next events.
func (s *Service) clearEvents(ctx context.Context, e Erasure) error {
	was := e
	e.sequence = min(e.sequence+look, e.lastSequence)
	list, err := s.Events.Naming(ctx, e.Company, e.CustomerID, was.sequence, e.sequence, most)
	if err != nil {
		return err
	}
	if len(list) == most {
		e.sequence = list[most-1].Sequence
	}
	if e.sequence == e.lastSequence {
		e.State = Done
	}
	u, leaves := ledger.For(e.Company), []string{}
	for _, one := range list {
		changed, err := s.Events.Clear(&u, one)
		if err != nil {
			return err
		}
		if !changed || one.Leaf == 0 {
			continue
		}
		kept, err := s.Erasing(ctx, e.Company, one.Leaf)
		if err != nil {
			return err
		}
		u.Append(kept)
		leaves = append(leaves, strconv.FormatInt(one.Leaf, 10))
	}
	if len(leaves) > 0 {
		operator.Itself().Audit(&u, Cleared, e.CustomerID, map[string]string{Leaves: strings.Join(leaves, ",")}, s.Clock.Now())
	}
	return s.save(ctx, u, was, e)
}

// forget deletes the record of identification.
func (s *Service) forget(ctx context.Context, e Erasure) error {
	was, u := e, ledger.For(e.Company)
	if err := s.Identities.Forget(ctx, &u, e.CustomerID); err != nil {
		return err
	}
	e.State, e.identity = Forgotten, ""
	operator.Itself().Audit(&u, "customer.identity_deleted", e.CustomerID, nil, s.Clock.Now())
	return s.save(ctx, u, was, e)
}
