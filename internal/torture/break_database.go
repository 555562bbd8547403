package torture

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"
)

// These are the things that a run does to the database. Those of the wire are in wire.go.
const (
	databaseKill   = "database kill"
	databaseFreeze = "database freeze"
	fullDisk       = "full disk"
	failoverKill   = "failover after kill"
	failoverFreeze = "failover after freeze"
	failoverCut    = "failover after cut"
)

// lengths are the longest durations of these breaks. Kobo gives up a silent database after ten seconds.
var lengths = map[string]time.Duration{
	databaseKill: 3 * time.Second, databaseFreeze: 13 * time.Second, silence: 13 * time.Second,
	lostBefore: 2 * time.Second, lostAfter: 2 * time.Second, fullDisk: 4 * time.Second,
	failoverKill: 3 * time.Second, failoverFreeze: 3 * time.Second, failoverCut: 3 * time.Second,
}

// leastNotice is the least time that a tool for failovers waits for a frozen primary. Kobo relies on it for reads (docs/high-availability.md).
const leastNotice = 500 * time.Millisecond

// chosen draws entries of the schedule until one is of a kind that the run is limited to.
func (b *breaker) chosen(r *rand.Rand) (p plan, err error) {
	const enough = 10_000
	for range enough {
		if p = b.next(r); len(b.only) == 0 || slices.Contains(b.only, p.kind) {
			return p, nil
		}
	}
	return p, fmt.Errorf("%w: this run has none of the breaks %q", ErrOptions, b.only)
}

// onDatabase returns what the run may do to the database, and how often: one of so many breaks.
func (b *breaker) onDatabase() (kinds []string, often int) {
	switch {
	case b.base == nil && b.server != nil:
		return nil, 0 // the server belongs to others
	case b.base == nil && canFill:
		return []string{fullDisk}, 8
	case b.base == nil:
		return nil, 0
	}
	kinds = []string{databaseKill, databaseFreeze, silence, lostBefore, lostAfter}
	if canFillServer() {
		kinds = append(kinds, fullDisk)
	}
	if b.base.trio != nil {
		kinds = append(kinds, failoverKill, failoverFreeze, failoverCut)
	}
	return kinds, 2
}

// ofDatabase makes the plan one of these breaks.
func (p *plan) ofDatabase(r *rand.Rand, kinds []string) {
	p.kind = kinds[r.IntN(len(kinds))]
	p.length = 100*time.Millisecond + time.Duration(r.Int64N(int64(lengths[p.kind])))
	if p.kind == failoverFreeze {
		p.length += leastNotice
	}
}

// breakDatabase does one thing to the database. It returns what it did this to.
func (b *breaker) breakDatabase(ctx context.Context, p plan) (target string, err error) {
	if b.base == nil { // full disk is the only break of SQLite
		return "", diskOfOwn(b.pids).fill(ctx, p.length)
	}
	s := b.base
	target = "server " + strconv.Itoa(s.primary()+1)
	switch p.kind {
	case databaseKill:
		err = s.killFor(ctx, p.length)
	case databaseFreeze:
		err = s.freezeFor(ctx, p.length)
	case fullDisk:
		if err = diskOf(s.all()[s.primary()]).fill(ctx, p.length); err == nil {
			err = s.answers(ctx)
		}
	case failoverKill, failoverFreeze, failoverCut:
		err = s.failover(ctx, p.kind, p.length)
	default:
		s.disturb(ctx, p.kind, p.length)
	}
	return target, err
}

// pids returns the processes of the programs.
func (b *breaker) pids() (all []int, err error) {
	for _, p := range b.programs {
		if running := p.running(); running != nil {
			all = append(all, running.Process.Pid)
		}
	}
	return all, nil
}
