package webhook

import (
	"context"
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
	reading  map[string]bool          // the places whose woken companies are being read
	without  map[string]bool          // companies of a routed database that had no queue when they were read
	waiting  map[string]bool          // companies that wait for the next poll, and are read also if it fails
	signal   chan struct{}            // has a value if companies are woken
	polls    chan struct{}            // has a value if all queues must be read
	healthy  chan struct{}
	sluggish chan struct{}
	failing  chan struct{}
	visits   sync.WaitGroup // the reads and the queues that are being processed
}

func newSender() *sender {
	return &sender{
		busy: map[string]chan struct{}{}, slow: map[string]bool{}, woken: map[string]bool{}, reading: map[string]bool{}, without: map[string]bool{}, waiting: map[string]bool{},
		signal: make(chan struct{}, 1), polls: make(chan struct{}, 1),
		healthy: make(chan struct{}, healthySlots), sluggish: make(chan struct{}, slowSlots), failing: make(chan struct{}, failingSlots),
	}
}

// Run sends events and retries until ctx ends, and then waits for running attempts.
func (s *Service) Run(ctx context.Context) {
	s.Book.Committed(s.wake)
	defer s.writeLastHours(ctx)
	defer s.sender.visits.Wait()
	var all sync.WaitGroup
	defer all.Wait()
	all.Go(func() { s.askAll(ctx) })
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.sender.signal:
			select {
			case <-ctx.Done():
				return
			case <-time.After(gather):
			}
			s.round(ctx)
		}
	}
}

// askAll does the work that asks all nodes of a routed database, until ctx ends. A node that does not respond delays this work, and
// not the events of which a commit at another node tells.
func (s *Service) askAll(ctx context.Context) {
	tick, recovery, fold := time.NewTicker(poll), time.NewTicker(recoverEvery), time.NewTicker(hoursEvery)
	defer tick.Stop()
	defer recovery.Stop()
	defer fold.Stop()
	for {
		var err error
		failed := ""
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			s.nudge()
		case <-recovery.C:
			failed, err = "lost retries were not looked for", s.recoverRetries(ctx, s.Clock.Now())
		case <-fold.C:
			failed, err = "the counts of webhook deliveries were not written", s.writeHours(ctx)
		case <-s.sender.polls:
			failed, err = notRead, s.poll(ctx)
		}
		s.warn(ctx, failed, err)
	}
}

const notRead = "the webhooks' delivery queues cannot be read"

// warn logs an error, unless it comes from the end of ctx.
func (s *Service) warn(ctx context.Context, failed string, err error) {
	if err != nil && ctx.Err() == nil {
		s.Log.Warn(failed, "error", err)
	}
}

// wake makes the sender read the queues of these companies. It is called after every commit. A company that is known to have no
// queue waits for the next poll.
func (s *Service) wake(companies []string) {
	s.sender.mu.Lock()
	defer s.sender.mu.Unlock()
	for _, c := range companies {
		if s.sender.without[c] {
			s.sender.wait(c)
			continue
		}
		s.sender.woken[c] = true
		ring(s.sender.signal)
	}
}

// wait lets companies wait for the next poll. The caller must hold the sender's lock.
func (s *sender) wait(companies ...string) {
	for _, c := range companies {
		s.waiting[c] = true
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
func (s *Service) nudge() { ring(s.sender.polls) }

func ring(bell chan struct{}) {
	select {
	case bell <- struct{}{}:
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

// isQuiet reports whether no queue is being processed, and how many slots were ever reserved.
func (s *sender) isQuiet() (entered int, quiet bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.entered, len(s.busy) == 0
}

// enter reserves a slot for a queue. It returns false if this process is processing the queue already. It also returns false if no
// slot is free, and then the company waits for the next poll.
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
		s.wait(q.company)
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
		ring(s.polls)
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
