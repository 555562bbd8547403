package crypto

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/provider"
)

// lease is how long a program may hold a custodian's cursor, which marks how far the custodian was
// read. If two programs read a custodian at the same time, they repeat work but do no harm.
const lease = time.Minute

// Follow regularly reads every custodian until ctx ends. It finds movements in new blocks, and
// movements whose notifications were lost. Each custodian sets the pause between two reads. Follow
// also checks the balances of all addresses once a day.
func (s *Service) Follow(ctx context.Context) {
	var all sync.WaitGroup
	for name, c := range s.custodies {
		all.Go(func() {
			s.repeat(ctx, max(c.Plug.Pace(), time.Second), "a custodian was not read", name, s.Read)
		})
		all.Go(func() {
			s.repeat(ctx, checkPace, "balances were not checked", name, s.CheckBalances)
		})
	}
	all.Wait()
}

// repeat calls do for a custodian until ctx ends, and logs each error.
func (s *Service) repeat(ctx context.Context, pace time.Duration, wrong, custody string, do func(context.Context, string) error) {
	tick := time.NewTicker(pace)
	defer tick.Stop()
	for {
		if err := do(ctx, custody); err != nil && ctx.Err() == nil {
			s.Log.Warn(wrong, "custodian", custody, "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// Read records everything that a custodian now reports, unless a different program is reading this
// custodian. Each batch is recorded before the cursor advances, so an interrupted batch is read
// again.
func (s *Service) Read(ctx context.Context, custody string) error {
	c, known := s.custodies[custody]
	if !known {
		return fault.New(fault.Missing, "Custodian not found")
	}
	if _, done := s.reread.Load(custody); !done {
		if err := s.readKept(ctx, c); err != nil {
			return err
		}
		s.reread.Store(custody, true)
	}
	for {
		now := s.Clock.Now()
		cursor, mine, err := s.takeCursor(ctx, custody, now, now.Add(lease))
		if err != nil || !mine {
			return err
		}
		batch, err := c.Plug.Since(ctx, cursor, s.ours)
		if s.counted(custody, err) != nil {
			return errors.Join(err, s.releaseCursor(ctx, custody, cursor, false))
		}
		if err := s.write(ctx, c, batch); err != nil {
			return errors.Join(err, s.releaseCursor(ctx, custody, cursor, false))
		}
		if err := s.releaseCursor(ctx, custody, batch.Cursor, true); err != nil {
			return err
		}
		if !batch.More || batch.Cursor == cursor {
			return nil
		}
	}
}

// write records the movements of a batch, and then handles the removed blocks. In this order, a
// movement that is now in a different block does not count as lost.
func (s *Service) write(ctx context.Context, c Custody, b provider.Batch) error {
	for _, m := range b.Movements {
		if err := s.take(ctx, c.Name, m); err != nil {
			return err
		}
	}
	for _, body := range b.Unread {
		if err := s.keep(ctx, c.Name, body); err != nil {
			return err
		}
	}
	return s.roll(ctx, c.Networks, b)
}
