package idempotency

import (
	"context"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/ledger"
)

// look is the maximum number of Idempotency-Keys that one call of Erase looks at.
const look = 5000

// Erase adds changes to the unit u. The changes remove the stored responses of the requests that
// created a subject. Erase looks at a limited number of Idempotency-Keys after a value. It returns the
// last one that it looked at, or "" if there are no more. A repeated request then learns that its
// Idempotency-Key was used.
func (s *Service) Erase(ctx context.Context, u *ledger.Unit, subject, after string) (last string, err error) {
	if last, err = db.OrZero(s.lastOf(ctx, u.Company, after, look)); err != nil {
		return "", err
	}
	values, err := s.about(ctx, u.Company, subject, after, last, clearMost)
	if len(values) == clearMost {
		last = values[clearMost-1]
	}
	removeBodies(u, values)
	return last, err
}
