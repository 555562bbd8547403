package operation

import (
	"context"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/ledger"
)

// Queue returns a new operation like Start, whose first call may begin at any time before until.
// Before the call, Claim must take the operation out of the queue. The resolver asks about an
// operation that was never claimed after until, and the operation is then refunded.
func (s *Service) Queue(o Operation, until time.Time) Operation {
	o = s.Start(o)
	o.CalledUntil = until
	o.NextAt = o.pollAt(0)
	return o
}

// IsQueued reports whether nobody has claimed an operation that was queued with this until.
func (o Operation) IsQueued(until time.Time) bool {
	return o.State == Pending && o.Polls == 0 && o.Outcome == "" && clock.Micros(o.CalledUntil) == clock.Micros(until)
}

// ErrClaimed means that another worker has claimed the operation, or that its outcome is known.
var ErrClaimed = fault.New(fault.Conflict, "the operation is not in the queue any more")

// Claim takes an operation out of the queue, for its only first call. The caller must then call Run
// with the returned operation. The ledger accepts one claim of an operation. If the caller stops
// before the outcome is known, nobody calls the provider a second time, and the resolver asks for
// the outcome. Claim returns ErrClaimed if the operation is not in the queue.
//
// After until, the operation is not called any more. Run then refunds the operation, because the
// provider was never called.
func (s *Service) Claim(ctx context.Context, o Operation, until time.Time) (Operation, error) {
	if !o.IsQueued(until) {
		return o, ErrClaimed
	}
	after := o
	after.UpdatedAt = s.clock.Now()
	if end := after.UpdatedAt.Add(s.window); end.Before(until) {
		after.CalledUntil = end
	} else {
		after.CalledUntil = after.UpdatedAt // too little time is left for the call
	}
	after.NextAt = after.pollAt(0)
	u := ledger.For(o.Company)
	u.Transition(operations.Record(after), string(Pending)).
		Expect("called_until", clock.Micros(until)).Expect("polls", int64(0)).Only("called_until", "next_at", "updated_at")
	u.Remove(job.Row(o.Company, ResolveJob, o.ID))
	u.Append(after.resolveJob().For(o.Company))
	err := s.book.Commit(ctx, u)
	if ledger.Is(err, ledger.Moved) {
		return o, ErrClaimed
	}
	return after, err
}
