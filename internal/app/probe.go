package app

import (
	"context"
	"sync"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
)

const (
	// probeLimit is how long a request for /readyz waits for the database.
	probeLimit = 3 * time.Second
	// probeKeep is how long the outcome of a check is kept.
	probeKeep = time.Second
)

// probe checks the database for /readyz. Everybody may request /readyz, so any number of requests must cost
// the database no more than a few. One check runs at a time, and its outcome is kept for a second.
type probe struct {
	clock clock.Clock
	check func(context.Context) checked

	mu      sync.Mutex
	running chan struct{} // closed when the running check ends; nil if none runs
	last    *checked      // nil before the end of the first check
	ended   time.Duration // when the last check ended
}

// checked is the outcome of a check. A nil error means that all is well.
type checked struct {
	away  error // why the database cannot be written
	unfit error // why its schema is not that of this program; unknown if the database is away
}

// outcome returns the outcome of the last check, or of a new one if that is too old. It waits no longer than
// the context allows, and then the database counts as away.
func (p *probe) outcome(ctx context.Context) checked {
	p.mu.Lock()
	if p.running == nil && p.last != nil && p.clock.Elapsed()-p.ended < probeKeep {
		defer p.mu.Unlock()
		return *p.last
	}
	if p.running == nil {
		p.running = make(chan struct{})
		go p.run(p.running)
	}
	running := p.running
	p.mu.Unlock()
	select {
	case <-running:
	case <-ctx.Done():
		return checked{away: ctx.Err()}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return *p.last
}

// run makes one check. The end of the request that began the check does not end it, because others wait too.
func (p *probe) run(running chan struct{}) {
	ctx, cancel := context.WithTimeout(context.Background(), probeLimit)
	defer cancel()
	c := p.check(ctx)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last, p.ended, p.running = &c, p.clock.Elapsed(), nil
	close(running)
}

// checkDatabase asks whether the database can be written, and whether it has this program's schema.
func (a *App) checkDatabase(ctx context.Context) (c checked) {
	if c.away = within(ctx, a.DB.Ping); c.away == nil {
		c.unfit = within(ctx, a.DB.Fits)
	}
	return c
}
