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
	// poll is the time between two reads of all queues. A read finds what the clock has
	// made due and events that another process has committed.
	poll = 300 * time.Millisecond
	// gather is how long the sender gathers commits before it reads the queues of their
	// companies.
	gather = 2 * time.Millisecond
	// recoverEvery is the time between two runs of recoverRetries.
	recoverEvery = time.Minute
	// The slots are how many queues a program works in at once. Fast endpoints, slow
	// endpoints with all retries, and failing endpoints have slots of their own. So slow
	// or dead endpoints never take the slot of a fast one.
	healthySlots = 256
	slowSlots    = 256
	failingSlots = 64
	// slow is the latency of a slow answer, in milliseconds.
	slow = 500
)

// sender is the state of sending in this process.
type sender struct {
	mu       sync.Mutex
	busy     map[string]chan struct{} // the slots that the visited queues take
	slow     map[string]bool          // endpoints whose last answer was slow
	woken    map[string]bool          // companies whose queues must be read
	all      bool                     // all queues must be read
	signal   chan struct{}
	healthy  chan struct{}
	sluggish chan struct{}
	failing  chan struct{}
	visits   sync.WaitGroup
}

func newSender() *sender {
	return &sender{
		busy: map[string]chan struct{}{}, slow: map[string]bool{}, woken: map[string]bool{}, signal: make(chan struct{}, 1),
		healthy: make(chan struct{}, healthySlots), sluggish: make(chan struct{}, slowSlots), failing: make(chan struct{}, failingSlots),
	}
}

// Run sends until ctx ends, and then waits for running attempts.
func (s *Service) Run(ctx context.Context) {
	s.Book.Committed(s.wake)
	defer s.sender.visits.Wait()
	tick, recovery := time.NewTicker(poll), time.NewTicker(recoverEvery)
	defer tick.Stop()
	defer recovery.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			s.nudge()
		case <-recovery.C:
			if err := s.recoverRetries(ctx, s.Clock.Now()); err != nil && ctx.Err() == nil {
				s.Log.Warn("lost retries were not looked for", "error", err)
			}
		case <-s.sender.signal:
			select {
			case <-ctx.Done():
				return
			case <-time.After(gather):
			}
			if err := s.round(ctx); err != nil && ctx.Err() == nil {
				s.Log.Warn("the webhooks' delivery queues cannot be read", "error", err)
			}
		}
	}
}

// wake has the sender read the queues of companies. Every commit calls it.
func (s *Service) wake(companies []string) {
	s.sender.mu.Lock()
	for _, c := range companies {
		s.sender.woken[c] = true
	}
	s.sender.mu.Unlock()
	s.sender.ring()
}

// nudge has the sender read all queues.
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

// Settled returns when nothing is left to send now, or when ctx ends. It is for
// callers that have moved the clock and wait for the consequences.
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

// open returns the queues without a lease that have something to send now: of some
// companies, or of all for nil.
func (s *Service) open(ctx context.Context, companies []string) ([]queue, error) {
	idle, err := s.idleQueues(ctx, companies, s.Clock.Now())
	if err != nil || len(idle) == 0 {
		return nil, err
	}
	asked, seen := []string{}, map[string]bool{}
	for _, q := range idle {
		if !seen[q.company] {
			seen[q.company] = true
			asked = append(asked, q.company)
		}
	}
	heads, err := s.Book.LastEvents(ctx, asked)
	if err != nil {
		return nil, err
	}
	var open []queue
	for _, q := range idle {
		if q.kind != queueEvents || heads[q.company] > q.sequence {
			open = append(open, q)
		}
	}
	return open, nil
}

// round leases open queues as far as there are free slots, and works in them.
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
	byCompany := map[string][]queue{}
	for _, q := range open {
		if s.sender.enter(q) {
			byCompany[q.company] = append(byCompany[q.company], q)
		}
	}
	for company, queues := range byCompany {
		taken, err := s.take(ctx, company, queues, s.Clock.Now())
		for i, q := range queues {
			if err != nil || taken[i].fence == 0 {
				s.sender.leave(q) // another program was faster
				continue
			}
			s.sender.visits.Go(func() {
				s.work(ctx, taken[i])
				s.sender.leave(q)
				s.wake([]string{q.company}) // for events that came during the release
			})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// enter reserves a slot for a queue. It is false if no slot is free, or if this
// process works in the queue already.
func (s *sender) enter(q queue) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.busy[q.key()] != nil {
		return false
	}
	slots := s.slots(q)
	select {
	case slots <- struct{}{}:
		s.busy[q.key()] = slots
		return true
	default:
		return false
	}
}

// leave frees the slot that enter reserved for the queue.
func (s *sender) leave(q queue) {
	s.mu.Lock()
	defer s.mu.Unlock()
	<-s.busy[q.key()]
	delete(s.busy, q.key())
}

// slots returns the slots for this sort of queue. The caller holds the lock.
func (s *sender) slots(q queue) chan struct{} {
	switch {
	case q.isFailing():
		return s.failing
	case q.kind == queueRetries || s.slow[q.endpoint]:
		return s.sluggish
	}
	return s.healthy
}

// noteLatency remembers whether an endpoint is slow.
func (s *sender) noteLatency(q queue, r result) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.latency < slow {
		delete(s.slow, q.endpoint)
		return
	}
	s.slow[q.endpoint] = true
}

// moveToSlow moves the queue of an endpoint that has not answered yet to a slow slot,
// if one is free. Its slot is then free for another queue.
func (s *sender) moveToSlow(q queue) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.busy[q.key()] != s.healthy {
		return
	}
	select {
	case s.sluggish <- struct{}{}:
		<-s.healthy
		s.busy[q.key()] = s.sluggish
		s.all = true
		s.ring()
	default:
	}
}

// isOver reports whether a visit must end: its endpoint is too slow for the slot, or its
// turn is over and no slot is free.
func (s *sender) isOver(q queue, since time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	slots := s.busy[q.key()]
	return slots != nil && (slots == s.healthy && s.slow[q.endpoint] || len(slots) == cap(slots) && time.Since(since) > turn)
}
