package admin

import (
	"context"

	"github.com/kobo-waas/kobo/internal/operator"
)

// doorRow is the companies' door. This one here is never closed.
type doorRow struct {
	Closed bool    `json:"closed"`
	Reason *string `json:"reason"`
	Since  *string `json:"since"`
}

func doorOf(is operator.Door) doorRow {
	return doorRow{is.Closed, present(is.Reason), moment(is.Since)}
}

func (d *door) findDoor(ctx context.Context, _ *request) (any, error) {
	is, err := d.Operators.Door(ctx)
	return doorOf(is), err
}

// setDoor lets companies in, or none of them. That they are kept out needs a
// reason, for the operators: the companies are only told to come back.
func (d *door) setDoor(ctx context.Context, r *request) (any, error) {
	closed, reason := r.form.flag("closed"), ""
	if closed {
		reason = r.form.text("reason")
	}
	if err := r.form.done(); err != nil {
		return nil, err
	}
	set := d.Operators.OpenDoor
	if closed {
		set = func(ctx context.Context, by operator.Operator) error { return d.Operators.CloseDoor(ctx, by, reason) }
	}
	if err := set(ctx, r.by); err != nil {
		return nil, err
	}
	return d.findDoor(ctx, r)
}
