package torture

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"time"
)

// These are the breaks with a backup. A backup itself breaks nothing. After it the run goes on, until a
// restore or an old copy loses all that happened since. A restore uses Kobo's commands. An old copy is put
// in place of the database without them, and the start must notice it.
const (
	backup  = "backup"
	restore = "restore"
	oldCopy = "old copy"
)

// ofBackup makes the plan one of these breaks.
func (p *plan) ofBackup(r *rand.Rand) {
	const shortest, longest = 3 * time.Second, 8 * time.Second
	p.kind, p.length = []string{backup, restore, oldCopy}[r.IntN(3)], shortest+time.Duration(r.Int64N(int64(longest-shortest)))
}

// copied is a backup, and the time that it takes with it.
type copied struct {
	file  string
	epoch int64
	lost  Lost
}

// backUp makes a backup. Meanwhile nobody replaces a key, opens an account or makes an adjustment, so each of these is in
// the backup or not.
func (b *breaker) backUp(ctx context.Context) (err error) {
	b.copying.Lock()
	defer b.copying.Unlock()
	c := &copied{lost: Lost{From: b.now()}}
	if c.file, err = b.copier.backUp(context.WithoutCancel(ctx)); err == nil {
		c.epoch, err = b.copier.epoch()
	}
	c.lost.Copied = b.now()
	b.copy = c
	return err
}

// restore puts the last backup back, or one that it makes first. It returns the time that is lost.
func (b *breaker) restore(ctx context.Context, p plan) (*Lost, error) {
	if b.copy == nil {
		if err := b.backUp(ctx); err != nil {
			return nil, err
		}
		wait(ctx, p.length)
	}
	c := b.copy
	b.copy = nil
	ctx = context.WithoutCancel(ctx)
	if err := b.outlive(ctx, c); err != nil {
		return nil, err
	}
	b.copying.Lock()
	defer b.copying.Unlock()
	if err := b.endAll(p); err != nil {
		return nil, err
	}
	c.lost.Down = b.now()
	put := b.copier.restore
	if p.kind == oldCopy {
		put = b.copier.putBack
	}
	if err := put(ctx, c.file); err != nil {
		return nil, err
	}
	b.forget(c.lost)
	for _, one := range b.programs {
		if err := one.restart(ctx, b.now); err != nil {
			return nil, err
		}
	}
	c.lost.Up = b.now()
	return &c.lost, b.reopen(ctx, &c.lost)
}

// outlive waits until the epoch is above that of the backup. A copy that is younger may go unnoticed.
func (b *breaker) outlive(ctx context.Context, c *copied) error {
	const enough = time.Minute
	for began := time.Now(); ; wait(ctx, retry) {
		now, err := b.copier.epoch()
		switch {
		case err != nil:
			return err
		case now > c.epoch+1: // the epoch of the backup may be one above the file's at that time
			return nil
		case time.Since(began) > enough:
			return fmt.Errorf("the epoch has stayed at %d for %s", now, enough)
		}
	}
}

// endAll ends all programs: one as kill -9 does or as a signal does, and the others as a signal does.
func (b *breaker) endAll(p plan) error {
	if p.length.Milliseconds()%2 == 0 {
		b.programs[p.target].kill()
	}
	for _, one := range b.programs {
		if err := one.stop(); err != nil {
			return fmt.Errorf("%s: %w", one.name, err)
		}
	}
	return nil
}

// forget takes what the run had in the lost time from it: accounts, API keys and secrets.
func (b *breaker) forget(lost Lost) {
	b.mu.Lock()
	b.gone = append(b.gone, lost)
	b.mu.Unlock()
	for _, c := range b.companies {
		c.forget(lost)
	}
	b.hook.forget(lost)
}

// isGone reports whether a restore has lost what was made at this time.
func (w *world) isGone(at int64) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.ContainsFunc(w.gone, func(l Lost) bool { return l.From < at && at < l.Down })
}

// lives returns how many lives of the database have ended.
func (w *world) lives() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.gone)
}

// forget makes the company use the API key again that it had at the time of the backup. A later one must be refused.
func (c *company) forget(lost Lost) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.made < lost.From {
		return
	}
	i := slices.IndexFunc(c.retired, func(r retired) bool { return r.made < lost.From && r.at > lost.From })
	was := c.retired[i]
	c.retired = append(slices.Delete(c.retired, i, i+1), retired{c.key, c.token, c.made, lost.Down})
	c.key, c.token, c.made = was.key, "", was.made
}

// reopen lets Kobo catch up while API access is closed, and then opens it.
func (b *breaker) reopen(ctx context.Context, lost *Lost) (err error) {
	if lost.Closed, lost.Held, err = b.copier.state(ctx); err != nil {
		return err
	}
	for _, one := range b.programs {
		for _, c := range b.companies {
			a, err := b.fleet.of(one).send(ctx, http.MethodPost, "/api/v1/auth/generate-token/"+c.reference, nil, "X-Api-Key", c.key)
			if lost.Closed = lost.Closed && err == nil && a.status == http.StatusServiceUnavailable; err != nil {
				return err
			}
		}
	}
	for _, by := range []time.Duration{5 * time.Minute, 5 * time.Minute} { // the credit poll and the resolver
		if err := b.advance(ctx, by); err != nil {
			return err
		}
	}
	lost.Open = b.now()
	if err := b.by.data(ctx, 0, http.MethodPost, "door", map[string]bool{"closed": false}, nil); err != nil {
		return err
	}
	const tries = 20 // each program follows within a second
	for range tries {
		ready := true
		for _, one := range b.programs {
			a, err := b.fleet.of(one).send(ctx, http.MethodGet, "/readyz?for=companies", nil)
			ready = ready && err == nil && a.status == http.StatusOK
		}
		if ready {
			b.hold = &hold{down: lost.Down, opened: lost.Open}
			return nil
		}
		wait(ctx, retry)
	}
	return errors.New("API access did not open")
}
