package bench

import (
	"context"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

// step is one operation of a client, which may take several requests. A step returns an error if
// the operation did not have the expected outcome.
type step func(c *conn) error

// load is a number of clients that repeat a step, each on a separate connection.
type load struct {
	target
	name    string
	clients int
	rate    int64  // operations per second of all clients; 0 for a closed loop
	batch   int64  // operations in one step; 0 counts as 1
	steps   []step // one for each client
}

// window is the measured part of a run. The load begins before it, so that caches and plans exist.
type window struct{ begin, end time.Time }

func (w window) holds(t time.Time) bool { return !t.Before(w.begin) && t.Before(w.end) }

// counted is what a load did within its window.
type counted struct {
	histogram
	failed  int64
	unbegun int64         // operations of an open loop that no client was free for; the histogram has them too
	elapsed time.Duration // from the window's begin to its end, or to the last late operation
	all     int64         // operations that ended, also before the window
	first   error         // the first failure
}

// patience is the time after the window's end for which an open loop still works off its late
// operations.
const patience = 15 * time.Second

// runner is a load while it runs.
type runner struct {
	load
	window
	start time.Time
	taken atomic.Int64 // operations that an open loop has begun
	done  atomic.Int64 // operations that ended, also before the window
}

// run runs the load until the window's end. It calls sample at the window's begin and end.
func (l load) run(ctx context.Context, warm, length time.Duration, progress io.Writer, sample func() error) (counted, error) {
	now := time.Now()
	r := &runner{load: l, window: window{now.Add(warm), now.Add(warm + length)}, start: now}
	parts := make([]counted, l.clients)
	var clients sync.WaitGroup
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for i := range parts {
		clients.Go(func() { r.client(ctx, &parts[i], l.steps[i]) })
	}
	var err error
	for _, at := range []time.Time{r.begin, r.end} {
		if err == nil {
			err = r.watch(ctx, at, progress)
		}
		if err == nil {
			err = sample()
		}
	}
	if err != nil {
		cancel()
	}
	clients.Wait()
	out := counted{elapsed: length}
	for i := range parts {
		out.merge(&parts[i].histogram)
		out.failed += parts[i].failed
		out.elapsed = max(out.elapsed, parts[i].elapsed)
		if out.first == nil {
			out.first = parts[i].first
		}
	}
	out.all = r.done.Load()
	r.rest(&out)
	return out, err
}

// rest adds the operations that an overloaded open loop could not begin, with the time that they
// have waited so far. Without them the percentiles would be too good.
func (r *runner) rest(out *counted) {
	if r.rate == 0 {
		return
	}
	now := time.Now()
	for i := r.taken.Load(); r.slot(i).Before(r.end); i++ {
		out.add(now.Sub(r.slot(i)))
		out.unbegun++
	}
}

// slot returns the intended begin of an operation of an open loop.
func (r *runner) slot(i int64) time.Time {
	return r.start.Add(time.Duration(i) * time.Second / time.Duration(r.rate))
}

// client repeats the step until the window ends.
func (r *runner) client(ctx context.Context, out *counted, do step) {
	c := &conn{ctx: ctx, target: r.target}
	defer c.close()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for ctx.Err() == nil {
		begun := time.Now()
		if r.rate > 0 {
			begun = r.slot(r.taken.Add(1) - 1)
			if !begun.Before(r.end) || !wait(ctx, timer, begun) {
				return
			}
		} else if !begun.Before(r.end) {
			return
		}
		err := do(c)
		now := time.Now()
		r.done.Add(1)
		r.count(out, begun, now, err)
		if r.rate > 0 && now.After(r.end.Add(patience)) {
			return
		}
	}
}

// count counts an operation. In a closed loop an operation belongs to the window if it ends there.
// In an open loop its intended begin decides, since a slow program must not push operations out of
// the window. For the same reason its latency counts from the intended begin.
func (r *runner) count(out *counted, begun, now time.Time, err error) {
	belongs := now
	if r.rate > 0 {
		belongs = begun
		out.elapsed = max(out.elapsed, now.Sub(r.begin))
	}
	if !r.holds(belongs) {
		return
	}
	if err != nil {
		if out.failed++; out.first == nil {
			out.first = err
		}
		return
	}
	out.add(now.Sub(begun))
}

// wait waits until an instant. It returns false if the context ended.
func wait(ctx context.Context, timer *time.Timer, until time.Time) bool {
	left := time.Until(until)
	if left <= 0 {
		return true
	}
	timer.Reset(left)
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// watch waits until an instant, and shows each second how many operations ended in it.
func (r *runner) watch(ctx context.Context, until time.Time, progress io.Writer) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for last := r.done.Load(); time.Now().Before(until); {
		next := time.Now().Add(time.Second)
		if next.After(until) {
			next = until
		}
		if !wait(ctx, timer, next) {
			return ctx.Err()
		}
		done := r.done.Load()
		fmt.Fprintf(progress, "\r%-12s %4d s left %8d operations/s ", r.name, time.Until(r.end)/time.Second, (done-last)*max(r.batch, 1))
		last = done
	}
	return ctx.Err()
}
