package api

import (
	"context"

	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/money"
)

// A person sends what a page has shown. The contract has no field for it, because a program computes what it sends. So what was shown is
// in the context of the request, as the seat is. The payout or purchase is refused if it would cost something else. A payout is refused too
// if the page has said that it waits for a second person, and it would be sent at once.

// Seen is what a page has shown of a payout, of a bulk payout with some good lines, or of a purchase, before a person sends it.
type Seen struct {
	Lines       int64
	Amount, Fee money.Kobo
	Waits       bool // the page has said that a second person has to approve it
}

// errWaitsForNobody refuses a payout that would be sent at once, although the page has said that it waits for a second person.
var errWaitsForNobody = fault.New(fault.Conflict, "No second person has to approve this any more. Look again").With(fault.ApprovalState)

type seenKey struct{}

// WithSeen returns a context whose request sends a payout, a bulk payout or a purchase only as a person has seen it.
func WithSeen(ctx context.Context, s Seen) context.Context {
	return context.WithValue(ctx, seenKey{}, s)
}

func seenOf(ctx context.Context) (Seen, bool) {
	s, has := ctx.Value(seenKey{}).(Seen)
	return s, has
}
