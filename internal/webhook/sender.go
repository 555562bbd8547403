package webhook

import (
	"context"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

const (
	// poll is how often all lanes are looked at: for what is due by the clock,
	// and for events that another process has committed.
	poll = 300 * time.Millisecond
	// gather is how long commits are gathered before the lanes of their
	// companies are looked at.
	gather = 2 * time.Millisecond
	// sweepEvery is how often the to-do list of retries is compared with the
	// deliveries themselves.
	sweepEvery = time.Minute
	// How many lanes are worked in at once: those of endpoints that answer at
	// once, those of slow ones and what is tried again, and those of endpoints
	// that answered nothing lately. Apart, so that however many are slow or dead
	// they never take the place of one that is not.
	healthySlots = 256
	slowSlots    = 256
	sickSlots    = 64
	// slow is how many milliseconds an answer takes that is a slow one.
	slow = 500
)

// sender is what the service is busy with.
type sender struct {
	mu       sync.Mutex
	busy     map[string]chan struct{} // lanes that this process is in, and whose slots they take
	slow     map[string]bool          // endpoints whose last answer was slow
	woken    map[string]bool          // companies whose lanes should be looked at
	all      bool                     // or all of them
	signal   chan struct{}
	healthy  chan struct{}
	sluggish chan struct{}
	sick     chan struct{}
	visits   sync.WaitGroup
}

func newSender() *sender {
	return &sender{
		busy: map[string]chan struct{}{}, slow: map[string]bool{}, woken: map[string]bool{}, signal: make(chan struct{}, 1),
		healthy: make(chan struct{}, healthySlots), sluggish: make(chan struct{}, slowSlots), sick: make(chan struct{}, sickSlots),
	}
}

// Run sends until ctx ends, and then waits for the attempts under way.
func (s *Service) Run(ctx context.Context) {
	s.Book.Committed(s.wake)
	defer s.sender.visits.Wait()
	tick, sweep := time.NewTicker(poll), time.NewTicker(sweepEvery)
	defer tick.Stop()
	defer sweep.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			s.nudge()
		case <-sweep.C:
			if err := s.sweep(ctx, s.Clock.Now()); err != nil && ctx.Err() == nil {
				s.Log.Warn("the retries were not swept", "error", err)
			}
		case <-s.sender.signal:
			select {
			case <-ctx.Done():
				return
			case <-time.After(gather):
			}
			if err := s.round(ctx); err != nil && ctx.Err() == nil {
				s.Log.Warn("the webhooks' lanes cannot be read", "error", err)
			}
		}
	}
}

// wake has the lanes of companies looked at. It is called in the path of every
// commit.
func (s *Service) wake(companies []string) {
	s.sender.mu.Lock()
	for _, c := range companies {
		s.sender.woken[c] = true
	}
	s.sender.mu.Unlock()
	s.sender.ring()
}

// nudge has all lanes looked at.
func (s *Service) nudge() {
	s.sender.mu.Lock()
	s.sender.all = true
	s.sender.mu.Unlock()
	s.sender.ring()
}

func (s *sender) ring() {
	select {
	case s.signal <- struct{}{}:
	default:
	}
}

// Settled returns when there is nothing that could be sent now, or when ctx
// ends: for who has moved the clock and wants to see what follows.
func (s *Service) Settled(ctx context.Context) error {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		open, err := s.open(ctx, nil)
		if err != nil {
			return err
		}
		s.sender.mu.Lock()
		quiet := len(s.sender.busy) == 0
		s.sender.mu.Unlock()
		if quiet && len(open) == 0 {
			return nil
		}
		s.nudge()
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// open are the lanes that nobody holds and that have something to send now: of
// some companies, or of all for nil.
func (s *Service) open(ctx context.Context, companies []string) ([]lane, error) {
	idle, err := s.idleLanes(ctx, companies, s.Clock.Now())
	if err != nil || len(idle) == 0 {
		return nil, err
	}
	asked, seen := []string{}, map[string]bool{}
	for _, l := range idle {
		if !seen[l.company] {
			seen[l.company] = true
			asked = append(asked, l.company)
		}
	}
	heads, err := s.Book.Heads(ctx, asked)
	if err != nil {
		return nil, err
	}
	var open []lane
	for _, l := range idle {
		if l.kind != laneEvents || heads[l.company] > l.sequence {
			open = append(open, l)
		}
	}
	return open, nil
}

// round takes up open lanes as far as there are free slots.
func (s *Service) round(ctx context.Context) error {
	s.sender.mu.Lock()
	companies := slices.Collect(maps.Keys(s.sender.woken))
	all := s.sender.all
	clear(s.sender.woken)
	s.sender.all = false
	s.sender.mu.Unlock()
	switch {
	case all:
		companies = nil
	case len(companies) == 0:
		return nil
	}
	open, err := s.open(ctx, companies)
	if err != nil {
		return err
	}
	rand.Shuffle(len(open), func(i, j int) { open[i], open[j] = open[j], open[i] })
	byCompany := map[string][]lane{}
	for _, l := range open {
		if s.sender.enter(l) {
			byCompany[l.company] = append(byCompany[l.company], l)
		}
	}
	for company, lanes := range byCompany {
		taken, err := s.take(ctx, company, lanes, s.Clock.Now())
		for i, l := range lanes {
			if err != nil || taken[i].fence == 0 {
				s.sender.leave(l) // somebody else was faster
				continue
			}
			s.sender.visits.Go(func() {
				s.work(ctx, taken[i])
				s.sender.leave(l)
				s.wake([]string{l.company}) // what came while it was giving the lane back
			})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// enter reserves a slot for a lane, if there is one and this process is not in
// that lane already.
func (s *sender) enter(l lane) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.busy[l.key()] != nil {
		return false
	}
	slots := s.slots(l)
	select {
	case slots <- struct{}{}:
		s.busy[l.key()] = slots
		return true
	default:
		return false
	}
}

// leave frees the slot that enter reserved for the same lane.
func (s *sender) leave(l lane) {
	s.mu.Lock()
	defer s.mu.Unlock()
	<-s.busy[l.key()]
	delete(s.busy, l.key())
}

// slots are those that a lane takes one of. The lock must be held.
func (s *sender) slots(l lane) chan struct{} {
	switch {
	case l.sick():
		return s.sick
	case l.kind == laneRetries || s.slow[l.endpoint]:
		return s.sluggish
	}
	return s.healthy
}

// note remembers whether an endpoint is slow.
func (s *sender) note(l lane, r result) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.latency < slow {
		delete(s.slow, l.endpoint)
		return
	}
	s.slow[l.endpoint] = true
}

// shift has a lane whose endpoint keeps us waiting take a slot of the slow ones,
// if there is one, so that others can have the one it has.
func (s *sender) shift(l lane) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.busy[l.key()] != s.healthy {
		return
	}
	select {
	case s.sluggish <- struct{}{}:
		<-s.healthy
		s.busy[l.key()] = s.sluggish
		s.all = true
		s.ring()
	default:
	}
}

// over tells whether a visit in a lane is to end: it takes a slot that is not
// for such a slow endpoint, or it has lasted its turn and no slot is free.
func (s *sender) over(l lane, since time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	slots := s.busy[l.key()]
	return slots != nil && (slots == s.healthy && s.slow[l.endpoint] || len(slots) == cap(slots) && time.Since(since) > turn)
}
