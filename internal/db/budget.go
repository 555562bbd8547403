package db

import (
	"context"
	"sync"
	"time"
)

// prompt is how long an answer may take without counting as a wait: a long result
// that keeps coming is no hanging database.
const prompt = 250 * time.Millisecond

// budget is how long somebody waits for the database in all, however many
// questions are asked for him. Waits that run side by side count once.
type budget struct {
	mu    sync.Mutex
	left  time.Duration
	waits int       // that are running
	began time.Time // the first of them
}

type budgetKey struct{}

// Within bounds all waits for the database under a context together: those for a
// connection, for statements and for commits. Other time is not counted, such as
// that of a call to a provider. Patient statements have no bound.
func Within(ctx context.Context, limit time.Duration) context.Context {
	return context.WithValue(ctx, budgetKey{}, &budget{left: limit})
}

// Unbounded frees a context from its budget: for what is carried on after the
// request has its answer.
func Unbounded(ctx context.Context) context.Context {
	return context.WithValue(ctx, budgetKey{}, (*budget)(nil))
}

// budgetOf is the budget of a context, or nil.
func budgetOf(ctx context.Context) *budget {
	if ctx.Value(patientKey{}) != nil {
		return nil
	}
	b, _ := ctx.Value(budgetKey{}).(*budget)
	return b
}

// begin starts a wait, and tells how long it may take.
func (b *budget) begin() time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.waits++; b.waits == 1 {
		b.began = time.Now()
	}
	return b.left - time.Since(b.began)
}

// end is the end of a wait.
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

// Wait is one wait that is not the database's own, such as that for a commit which
// somebody else carries out. It ends with Over when the context's budget is spent.
type Wait struct {
	b     *budget
	timer *time.Timer
	Over  <-chan time.Time // nil, which never comes, without a budget
}

// Await begins a wait. End it.
func Await(ctx context.Context) Wait {
	b := budgetOf(ctx)
	if b == nil {
		return Wait{}
	}
	timer := time.NewTimer(max(b.begin(), 0))
	return Wait{b, timer, timer.C}
}

// End is the end of the wait.
func (w Wait) End() {
	if w.b != nil {
		w.timer.Stop()
		w.b.end()
	}
}
