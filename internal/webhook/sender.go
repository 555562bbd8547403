package webhook

import (
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

const (
	// poll is the time between two reads of all queues. Such a read finds retries that have
	// become due, and events that another process has committed.
	poll = 300 * time.Millisecond
	// gather is how long the sender waits after a commit, so that it reads the queues once for
	// several commits.
	gather = 2 * time.Millisecond
	// recoverEvery is the time between two runs of recoverRetries.
	recoverEvery = time.Minute
	// The slots limit how many queues a program processes concurrently. There are separate slots
	// for fast endpoints, for slow endpoints and all retries, and for failing endpoints. So slow
	// or dead endpoints never take the slot of a fast endpoint.
	healthySlots = 256
	slowSlots    = 256
	failingSlots = 64
	// mostWithout limits how many companies without a queue the sender remembers.
	mostWithout = 100_000
	// slow is the latency from which a response counts as slow, in milliseconds.
	slow = 500
)

// sender contains this process's state of sending: the slots, and which queues must be read.
type sender struct {
	mu       sync.Mutex
	busy     map[string]chan struct{} // for each queue that is being processed, the slots it uses
	entered  int                      // how many slots were ever reserved
	slow     map[string]bool          // endpoints whose last response was slow
	woken    map[string]bool          // companies whose queues must be read
	without  map[string]bool          // companies of a routed database that had no queue when they were read
	waiting  map[string]bool          // those of them that have had a commit since the last poll
	all      bool                     // all queues must be read
	signal   chan struct{}
	healthy  chan struct{}
	sluggish chan struct{}
	failing  chan struct{}
	visits   sync.WaitGroup
}

func newSender() *sender {
	return &sender{
		busy: map[string]chan struct{}{}, slow: map[string]bool{}, woken: map[string]bool{}, without: map[string]bool{}, waiting: map[string]bool{}, signal: make(chan struct{}, 1),
		healthy: make(chan struct{}, healthySlots), sluggish: make(chan struct{}, slowSlots), failing: make(chan struct{}, failingSlots),
	}
}

// Run sends events and retries until ctx ends, and then waits for running attempts.
func (s *Service) Run(ctx context.Context) {
	s.Book.Committed(s.wake)
	defer s.writeLastHours(ctx)
	defer s.sender.visits.Wait()
	tick, recovery, fold := time.NewTicker(poll), time.NewTicker(recoverEvery), time.NewTicker(hoursEvery)
	defer tick.Stop()
	defer recovery.Stop()
	defer fold.Stop()
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
		case <-fold.C:
			if err := s.writeHours(ctx); err != nil && ctx.Err() == nil {
				s.Log.Warn("the counts of webhook deliveries were not written", "error", err)
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

// wake makes the sender read the queues of these companies. It is called after every commit. A company that is known to have no
// queue waits for the next poll.
func (s *Service) wake(companies []string) {
	s.sender.mu.Lock()
	ring := false
	for _, c := range companies {
		if s.sender.without[c] {
			s.sender.waiting[c] = true
			continue
		}
		s.sender.woken[c], ring = true, true
	}
	s.sender.mu.Unlock()
	if ring {
		s.sender.ring()
	}
}

// learn records which of these companies have a queue. A company without one may get one later. Then the next poll finds it.
func (s *sender) learn(companies []string, found map[string]bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.without) > mostWithout {
		clear(s.without)
	}
	for _, c := range companies {
		if found[c] {
			delete(s.without, c)
		} else {
			s.without[c] = true
		}
	}
}

// nudge makes the sender read the queues of all companies.
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

// Settled waits until nothing is left to send now, or until ctx ends, and writes the counts of the hours. It is for callers that have
// moved the clock and wait for the consequences.
func (s *Service) Settled(ctx context.Context) error {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		before, quiet := s.sender.isQuiet()
		open, err := s.open(ctx, nil)
		if err != nil {
			return err
		}
		// A leased queue is not open. So the read above counts only if no queue was leased meanwhile.
		after, still := s.sender.isQuiet()
		if quiet && still && before == after && len(open) == 0 {
			return s.writeHours(ctx)
		}
		s.nudge()
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// open returns the queues of these companies that have no lease and have something to send now. If
// companies is nil, it returns such queues of all companies.
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
	s.sender.learn(asked, seen)
	heads, err := s.lastEvents(ctx, companies, asked)
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

// lastEvents returns the numbers of the last events of the companies in asked. If a commit has woken
// these companies and the database is routed, it reads company by company.
func (s *Service) lastEvents(ctx context.Context, woken, asked []string) (map[string]int64, error) {
	if woken == nil || !s.DB.Routed() {
		return s.Book.LastEvents(ctx, asked)
	}
	heads := map[string]int64{}
	for _, company := range asked {
		head, err := s.Book.LastEvent(ctx, company)
		if err != nil {
			return nil, err
		}
		heads[company] = head
	}
	return heads, nil
}

// openOf does the same as open for some companies. If the database is routed, it reads them node by node. So a node
// that is away keeps only its own companies waiting.
func (s *Service) openOf(ctx context.Context, companies []string) (all []queue, failed error) {
	if !s.DB.Routed() {
		return s.open(ctx, companies)
	}
	at := map[string][]string{}
	for _, company := range companies {
		place := s.DB.Place(company)
		at[place] = append(at[place], company)
	}
	for _, there := range at {
		list, err := s.open(s.DB.At(ctx, there[0]), there)
		all, failed = append(all, list...), errors.Join(failed, err)
	}
	return all, failed
}

// round leases as many open queues as there are free slots, and starts to process them.
func (s *Service) round(ctx context.Context) error {
	s.sender.mu.Lock()
	companies, all := slices.Collect(maps.Keys(s.sender.woken)), s.sender.all
	clear(s.sender.woken)
	if all {
		companies = slices.AppendSeq(companies, maps.Keys(s.sender.waiting))
		clear(s.sender.waiting)
	}
	s.sender.all = false
	s.sender.mu.Unlock()
	var open []queue
	var failed error
	switch {
	case all:
		if open, failed = s.open(ctx, nil); failed != nil && s.DB.Routed() {
			// A node may be away. The companies of the other nodes do not wait for it.
			var err error
			open, err = s.openOf(ctx, companies)
			failed = errors.Join(failed, err)
		}
	case len(companies) == 0:
		return nil
	default:
		open, failed = s.openOf(ctx, companies)
	}
	rand.Shuffle(len(open), func(i, j int) { open[i], open[j] = open[j], open[i] })
	byCompany := map[string][]queue{}
	for _, q := range open {
		if s.sender.enter(q) {
			byCompany[q.company] = append(byCompany[q.company], q)
		}
	}
	for company, queues := range byCompany {
		ctx := s.DB.At(ctx, company)
		taken, err := s.take(ctx, company, queues, s.Clock.Now())
		for i, q := range queues {
			if err != nil || taken[i].fence == 0 {
				s.sender.leave(q) // the queue was not leased
				continue
			}
			s.sender.visits.Go(func() {
				s.work(ctx, taken[i])
				s.sender.leave(q)
				s.wake([]string{q.company}) // some events may have come during the release
			})
		}
		failed = errors.Join(failed, err) // the queues of the other companies have their slots already
	}
	return failed
}

// isQuiet reports whether no queue is being processed, and how many slots were ever reserved.
func (s *sender) isQuiet() (entered int, quiet bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.entered, len(s.busy) == 0
}

// enter reserves a slot for a queue. It returns false if no slot is free, or if this process is
// processing the queue already.
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
		s.entered++
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

// slots returns the slots that a queue may use, according to its endpoint and kind. The caller must
// hold the sender's lock.
func (s *sender) slots(q queue) chan struct{} {
	switch {
	case q.isFailing():
		return s.failing
	case q.kind == queueRetries || s.slow[q.endpoint]:
		return s.sluggish
	}
	return s.healthy
}

// recordLatency records whether the endpoint's last response was slow.
func (s *sender) recordLatency(q queue, r result) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.latency < slow {
		delete(s.slow, q.endpoint)
		return
	}
	s.slow[q.endpoint] = true
}

// moveToSlow moves a queue from a slot for fast endpoints to a slot for slow endpoints, if a slot
// for slow endpoints is free. It is called while the endpoint's response is late. The former slot
// is then free for a different queue.
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

// isOver reports whether a visit must end. A visit must end if its endpoint has become too slow for
// the slot of a fast endpoint. It must also end if its turn is over and no slot is free.
func (s *sender) isOver(q queue, since time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	slots := s.busy[q.key()]
	return slots != nil && (slots == s.healthy && s.slow[q.endpoint] || len(slots) == cap(slots) && time.Since(since) > turn)
}
