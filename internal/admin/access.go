package admin

import (
	"context"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/wire"
)

// findDoor reports whether the API for companies is open. The admin API is always open.
func (e *edge) findDoor(ctx context.Context, _ *request) (any, error) {
	d, err := e.Operators.Access(ctx)
	return e.doorOf(d), err
}

func (e *edge) doorOf(a operator.Access) Door {
	return Door{a.Closed, wire.Optional(a.Reason), clock.Optional(a.Since), a.Automatic, e.FourEyes}
}

// setDoor opens or closes the API for companies. To close it, an operator must give a reason,
// which only operators can read.
func (e *edge) setDoor(ctx context.Context, r *request, body DoorRequest) (any, error) {
	set, by := e.Operators.OpenAccess, r.by
	if r.access != nil {
		by = by.Seeing(*r.access)
	}
	if body.Closed {
		set = func(ctx context.Context, by operator.Operator) error {
			return e.Operators.CloseAccess(ctx, by, body.Reason)
		}
	}
	if err := set(ctx, by); err != nil {
		return nil, err
	}
	return e.findDoor(ctx, r)
}
