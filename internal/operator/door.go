package operator

import (
	"context"
	"errors"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/fault"
)

// Door is the companies' door. While it is closed nobody is let in, and the
// work that nobody waits for goes on: credits are swept, outcomes are asked for.
type Door struct {
	Closed bool
	Reason string
	Since  time.Time
}

// Door tells how the companies' door is.
func (s *Service) Door(ctx context.Context) (Door, error) {
	return doorIn(ctx, s.db)
}

func doorIn(ctx context.Context, q db.Querier) (Door, error) {
	d, err := findDoor(ctx, q)
	if errors.Is(err, db.ErrNone) {
		return Door{}, nil
	}
	return d, err
}

// CloseDoor closes the companies' door, or gives a closed one another reason.
func (s *Service) CloseDoor(ctx context.Context, by Operator, reason string) error {
	if reason == "" {
		return fault.New(fault.Invalid, "a closed door needs a reason")
	}
	return s.db.Tx(ctx, func(q db.Querier) error { return s.shut(ctx, q, by, reason) })
}

// Shut closes the companies' door in a transaction of the program itself. If it is
// closed already, the reason of that is kept behind the new one.
func (s *Service) Shut(ctx context.Context, q db.Querier, reason string) error {
	d, err := doorIn(ctx, q)
	if err != nil {
		return err
	}
	if d.Closed {
		reason += "; before that: " + d.Reason
	}
	return s.shut(ctx, q, program, reason)
}

func (s *Service) shut(ctx context.Context, q db.Querier, by Operator, reason string) error {
	now := s.clock.Now()
	if err := closeDoor(ctx, q, reason, now); err != nil {
		return err
	}
	return insertLine(ctx, q, by.Note("", "door.close", "", map[string]string{"reason": reason}, now))
}

// OpenDoor lets companies in again.
func (s *Service) OpenDoor(ctx context.Context, by Operator) error {
	return s.db.Tx(ctx, func(q db.Querier) error {
		n, err := openDoor(ctx, q)
		if err != nil {
			return err
		}
		if n == 0 {
			return fault.New(fault.Refused, "the door is open")
		}
		return insertLine(ctx, q, by.Note("", "door.open", "", nil, s.clock.Now()))
	})
}
