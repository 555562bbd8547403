package idempotency

import (
	"context"

	"github.com/kobo-waas/kobo/internal/db"
)

// look is the maximum number of Idempotency-Keys that one call of Erase looks at.
const look = 5000

// Erase removes the stored responses of the requests that created a subject. It looks at a limited
// number of Idempotency-Keys after a value. It returns the last one that it looked at, or "" if there
// are no more. A repeated request then learns that its Idempotency-Key was used.
func (s *Service) Erase(ctx context.Context, company, subject, after string) (last string, err error) {
	if last, err = db.OrZero(s.lastOf(ctx, company, after, look)); err != nil {
		return "", err
	}
	return last, s.removeAbout(ctx, company, subject, after, last)
}
