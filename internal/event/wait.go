package event

import (
	"context"
	"slices"
	"time"
)

// interval is the time between two looks. A look is a query for the last event numbers, which finds
// events of other processes for all waiters. An event of this process wakes its waiters
// immediately, without a look.
const interval = 50 * time.Millisecond

// timeout is the longest time that a look may take.
const timeout = 5 * time.Second

// waiter is a reader that waits for an event of a company with a number above after.
type waiter struct {
	company string
	after   int64
	woken   chan struct{}
}

// await returns a page of events. While the page is empty, await reads it again whenever it is
// woken. It stops when the duration wait has passed in real time. It treats the end of ctx as an
// empty page and not as an error.
func (s *Service) await(ctx context.Context, company string, after int64, limit int, wait time.Duration) ([]Event, error) {
	over := time.NewTimer(wait)
	defer over.Stop()
	w := s.enter(company, after)
	defer s.leave(w)
	for {
		// The waiter was added before this read, so an event that is committed after this read
		// wakes it.
		events, err := s.page(ctx, company, after, limit)
		switch {
		case ctx.Err() != nil:
			return nil, nil
		case err != nil || len(events) > 0:
			return events, err
		}
		select {
		case <-w.woken:
		case <-over.C:
			return nil, nil
		case <-s.closed:
			return nil, nil
		case <-ctx.Done():
			return nil, nil
		}
	}
}

// enter adds a waiter. The first waiter starts the goroutine that looks.
func (s *Service) enter(company string, after int64) *waiter {
	w := &waiter{company, after, make(chan struct{}, 1)}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting[company] = append(s.waiting[company], w)
	if !s.looking {
		s.looking = true
		go s.look()
	}
	return w
}

func (s *Service) leave(w *waiter) {
	s.mu.Lock()
	defer s.mu.Unlock()
	rest := slices.DeleteFunc(s.waiting[w.company], func(other *waiter) bool { return other == w })
	if s.waiting[w.company] = rest; len(rest) == 0 {
		delete(s.waiting, w.company)
	}
}

// look repeatedly reads the last event numbers of all companies with a waiter, in one SQL
// statement. It ends when there is no waiter.
func (s *Service) look() {
	again := time.NewTicker(s.every)
	defer again.Stop()
	for {
		select {
		case <-again.C:
		case <-s.closed:
			return
		}
		companies := s.awaited()
		if len(companies) == 0 {
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), timeout)
		heads, err := s.heads(ctx, companies)
		cancel()
		if err != nil {
			s.wake(companies) // each waiter reads its page again and gets the error
			continue
		}
		s.reached(heads)
	}
}

// awaited returns the companies with a waiter. If there are none, it records that the goroutine of
// look ends.
func (s *Service) awaited() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	companies := make([]string, 0, len(s.waiting))
	for company := range s.waiting {
		companies = append(companies, company)
	}
	s.looking = len(companies) > 0
	return companies
}

// reached wakes the waiters whose events exist now.
func (s *Service) reached(heads map[string]int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for company, head := range heads {
		for _, w := range s.waiting[company] {
			if head > w.after {
				w.wake()
			}
		}
	}
}

// wake wakes all waiters of the given companies.
func (s *Service) wake(companies []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.waiting) == 0 {
		return
	}
	for _, company := range companies {
		for _, w := range s.waiting[company] {
			w.wake()
		}
	}
}

func (w *waiter) wake() {
	select {
	case w.woken <- struct{}{}:
	default: // a wake-up is already pending
	}
}
