package sudo

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/kobo-waas/kobo/internal/provider"
)

// settledFor is the age at which a line of the list counts as final: it changes no more, and no line is added behind it. The age is
// the time between the line and the newest one, because our clock may be ahead.
const settledFor = 24 * time.Hour

// past is what reads of the whole list have shown of its final lines. After a restore, each question about a card funding that is not
// found reads the whole list, so a read does not ask for these lines again.
type past struct {
	mu     sync.Mutex
	before time.Time  // the lines are older than this; zero if there are none
	lines  []transfer // newest first
}

func (k *past) get() (lines []transfer, before time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.lines, k.before
}

// keep stores lines, unless a read at the same time has stored newer ones.
func (k *past) keep(lines []transfer, before time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if before.After(k.before) && len(lines) <= mostOfAll*pageSize {
		k.lines, k.before = lines, before
	}
}

// wholeList calls see with each line of our account's list, newest first. If see returns a time, it need not see lines before it. wholeList
// returns whether the list was read without a gap.
func (p *Plug) wholeList(ctx context.Context, see func(transfer) (until time.Time)) (complete bool, why *provider.Error) {
	kept, before := p.past.get()
	settled, isWhole, first := p.clock.Now().Add(-settledFor), true, true
	var final []transfer
	complete, sorted, why := p.read(ctx, before, 0, mostOfAll, func(t transfer) (until time.Time) {
		at := provider.Instant(t.CreatedAt)
		if age := at.Add(-settledFor); first && age.Before(settled) {
			settled = age
		}
		first = false
		if !at.IsZero() && at.Before(before) {
			return until // it is kept
		}
		if at.Before(settled) {
			final = append(final, t)
		}
		until = see(t)
		isWhole = isWhole && until.IsZero()
		return until
	})
	if !complete {
		return false, why
	}
	for _, t := range kept {
		see(t)
	}
	open := func(t transfer) bool { return t.answer().Outcome == provider.Unknown }
	if isWhole && sorted && !slices.ContainsFunc(final, open) {
		p.past.keep(slices.Concat(final, kept), settled)
	}
	return true, nil
}
