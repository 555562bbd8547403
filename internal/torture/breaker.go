package torture

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"
)

// These are the things that a run does to Kobo.
const (
	killing     = "kill -9"
	freezing    = "freeze"
	clockJump   = "clock jump"
	latePayment = "late payment"
	cutting     = "connections cut"
)

// breaker breaks the programs of a run on a schedule that follows from the seed alone.
type breaker struct {
	*world
	programs []*program
	server   *server  // nil with SQLite
	base     *servers // nil without servers of the run's own
	only     []string // the kinds of breaks; all if empty
	copier   *copier  // nil if the run cannot back the database up
	copy     *copied  // the last backup of the present life of the database
	drawn    int      // entries of the schedule
	hold     *hold    // nil while moves are allowed
}

// plan is one entry of the schedule.
type plan struct {
	kind   string
	after  time.Duration // since the entry before
	length time.Duration
	target int
}

// next draws an entry of the schedule. Each twentieth lets a day of Kobo's clock pass: about every minute with SQLite, and every two or three with
// standbys. So payments without an outcome become cases during a load of some minutes, and the bank's statement is compared then.
func (b *breaker) next(r *rand.Rand) plan {
	p := plan{
		after: time.Duration(300+r.IntN(2700)) * time.Millisecond, length: time.Duration(100+r.IntN(1900)) * time.Millisecond,
		target: r.IntN(len(b.programs)),
	}
	const rarely, daily, day = 8, 20, 24 * time.Hour
	if b.drawn++; b.drawn%daily == 0 {
		p.kind, p.length = clockJump, day
		return p
	}
	if b.copier != nil && r.IntN(rarely) == 0 {
		p.ofBackup(r)
		return p
	}
	if kinds, often := b.onDatabase(); len(kinds) > 0 && r.IntN(often) == 0 {
		p.ofDatabase(r, kinds)
		return p
	}
	switch n := r.IntN(11); {
	case n < 3 && b.server != nil:
		p.kind, p.length = cutting, 0
	case n < 5:
		p.kind = killing
	case n < 8:
		p.kind = freezing
	case n < 9:
		p.kind = refusing
	case n < 10:
		p.kind, p.length = clockJump, time.Duration(1+r.IntN(20))*time.Minute
	default:
		p.kind, p.length = latePayment, time.Duration(1+r.IntN(180))*time.Minute
	}
	return p
}

// scheduleOf returns the source of a seed's schedule. No client has the same one.
func scheduleOf(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1<<63)) }

// run breaks the programs until the context ends, and mends the last break.
func (b *breaker) run(ctx context.Context, seed uint64) error {
	r := scheduleOf(seed)
	for {
		p, err := b.chosen(r)
		if err != nil {
			return err
		}
		if !wait(ctx, p.after) {
			return nil
		}
		if err := b.afterRestore(ctx); err != nil {
			return err
		}
		if err := b.act(ctx, p); err != nil {
			return err
		}
	}
}

// act does one thing to Kobo, and records it.
func (b *breaker) act(ctx context.Context, p plan) (err error) {
	is := Break{Kind: p.kind, At: time.Since(b.began), For: p.length}
	switch p.kind {
	case backup:
		err = b.backUp(ctx)
	case restore, oldCopy:
		is.Target = b.programs[p.target].name
		is.Lost, err = b.restore(ctx, p)
	default:
		is.Target, err = b.do(ctx, p)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", p.kind, err)
	}
	if p.kind == refusing {
		is.Ended = time.Since(b.began)
	}
	if lost := b.base.losses(p.kind); p.kind == silence {
		is.Silent = lost
	} else {
		is.Commits = lost
	}
	b.broke(is)
	return nil
}

// do does one thing to Kobo. It returns what it did this to.
func (b *breaker) do(ctx context.Context, p plan) (target string, err error) {
	one := b.programs[p.target]
	switch p.kind {
	case killing:
		one.kill()
		wait(ctx, p.length)
		return one.name, one.restart(context.WithoutCancel(ctx), b.now)
	case freezing:
		running := one.running()
		if err = freeze(running.Process); err == nil {
			wait(ctx, p.length)
			err = thaw(running.Process)
		}
		return one.name, err
	case cutting:
		return b.server.name, b.server.cut(context.WithoutCancel(ctx))
	case clockJump:
		err = b.tell(ctx, "/sandbox/clock", map[string]string{"advance": p.length.String()})
	case refusing:
		err = b.refuse(ctx, p.length)
	case allowing:
		err = b.allow(ctx)
	case latePayment:
		err = b.tell(ctx, "/sandbox/next-payment", map[string]string{"late": p.length.String()})
	default:
		return b.breakDatabase(ctx, p)
	}
	return "", err
}

// tell sends a control to the sandbox until it is answered. A control without an answer may have been done, so it may be done twice.
func (b *breaker) tell(ctx context.Context, path string, body any) error {
	ctx = context.WithoutCancel(ctx)
	return b.fleet.ok(ctx, func() (answer, error) { return b.fleet.send(ctx, http.MethodPost, path, body) }, nil)
}
