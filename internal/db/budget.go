package db

import (
	"context"
	"sync"
	"time"
)

// prompt is the duration below which a response of the database does not count as a wait. So a long
// result uses no budget while its rows keep arriving fast.
const prompt = 250 * time.Millisecond

// budget is the total time that a request may wait for the database in all its SQL statements.
// While several waits run in parallel, their common time counts only once.
type budget struct {
	mu    sync.Mutex
	left  time.Duration
	waits int       // the number of running waits
	began time.Time // the time when the first running wait began
}

type budgetKey struct{}

// Within limits the total time that a context waits for the database. It counts waits for a
// connection, for SQL statements and for commits. Other time, such as that of a call to a provider,
// does not count. SQL statements under WithLongTimeout have no limit.
func Within(ctx context.Context, limit time.Duration) context.Context {
	return context.WithValue(ctx, budgetKey{}, &budget{left: limit})
}

// Unbounded removes the budget from a context, for work that continues after the response to the
// request.
func Unbounded(ctx context.Context) context.Context {
	return context.WithValue(ctx, budgetKey{}, (*budget)(nil))
}

// budgetOf returns the budget of a context, or nil if it has none.
func budgetOf(ctx context.Context) *budget {
	if ctx.Value(longTimeout{}) != nil {
		return nil
	}
	b, _ := ctx.Value(budgetKey{}).(*budget)
	return b
}

// begin starts a wait and returns the time that the wait may take.
func (b *budget) begin() time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.waits++; b.waits == 1 {
		b.began = time.Now()
	}
	return b.left - time.Since(b.began)
}

// end ends a wait and reduces the budget by the time that the wait took, unless that time was
// shorter than prompt.
func (b *budget) end() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.waits--; b.waits > 0 {
		return
	}
	if took := time.Since(b.began); took >= prompt {
		b.left -= took
	}
}

// Wait is a wait for the database outside this package, such as for a commit by another goroutine.
// The channel Over fires when the context's budget is used up.
type Wait struct {
	b     *budget
	timer *time.Timer
	Over  <-chan time.Time // nil if the context has no budget, and then never ready
}

// Await begins a wait. The caller must call End.
func Await(ctx context.Context) Wait {
	b := budgetOf(ctx)
	if b == nil {
		return Wait{}
	}
	timer := time.NewTimer(max(b.begin(), 0))
	return Wait{b, timer, timer.C}
}

// End ends the wait.
func (w Wait) End() {
	if w.b != nil {
		w.timer.Stop()
		w.b.end()
	}
}
