package db

import (
	"context"
	"sync"
	"time"
)

// prompt is the longest answer that does not count as a wait. A long result whose
// rows keep coming is no sign of a hanging database.
const prompt = 250 * time.Millisecond

// budget is the time that a request may wait for the database in all, over all its
// statements. Parallel waits count once.
type budget struct {
	mu    sync.Mutex
	left  time.Duration
	waits int       // the running waits
	began time.Time // the beginning of the first running wait
}

type budgetKey struct{}

// Within limits the sum of all waits for the database under a context: for a
// connection, for statements and for commits. Other time, such as that of a call to a
// provider, does not count. Statements under Patient have no limit.
func Within(ctx context.Context, limit time.Duration) context.Context {
	return context.WithValue(ctx, budgetKey{}, &budget{left: limit})
}

// Unbounded removes the budget from a context, for work that goes on after the
// answer to the request.
func Unbounded(ctx context.Context) context.Context {
	return context.WithValue(ctx, budgetKey{}, (*budget)(nil))
}

// budgetOf returns the budget of a context, or nil.
func budgetOf(ctx context.Context) *budget {
	if ctx.Value(patientKey{}) != nil {
		return nil
	}
	b, _ := ctx.Value(budgetKey{}).(*budget)
	return b
}

// begin starts a wait and returns its time limit.
func (b *budget) begin() time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.waits++; b.waits == 1 {
		b.began = time.Now()
	}
	return b.left - time.Since(b.began)
}

// end ends a wait.
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

// Wait is a wait outside this package, such as for a commit by another goroutine. Over
// fires when the context's budget is spent.
type Wait struct {
	b     *budget
	timer *time.Timer
	Over  <-chan time.Time // nil without a budget, and so never ready
}

// Await begins a wait. The caller must end it.
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
