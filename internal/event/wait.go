package event

import (
	"context"
	"slices"
	"time"
)

// interval is the time between two looks for events of other processes. One look serves all
// waiters. An event of this process wakes them at once.
const interval = 50 * time.Millisecond

// timeout is the longest look.
const timeout = 5 * time.Second

// waiter is a reader that waits for a company's event after a number.
type waiter struct {
	company string
	after   int64
	woken   chan struct{}
}

// await returns a page of events. While the page is empty, await reads it again at each wake,
// until wait is over in real time. The end of ctx is no error.
func (s *Service) await(ctx context.Context, company string, after int64, limit int, wait time.Duration) ([]Event, error) {
	over := time.NewTimer(wait)
	defer over.Stop()
	w := s.enter(company, after)
	defer s.leave(w)
	for {
		// An event that is committed after this read wakes the waiter.
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

// enter adds a waiter. The first waiter starts the looks.
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

// look reads the last event numbers of all companies with a waiter, in one statement, again
// and again. It ends when there is no waiter.
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
			s.wake(companies) // each waiter reads for itself and gets the error
			continue
		}
		s.reached(heads)
	}
}

// awaited returns the companies with a waiter. Without one, the looks end.
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

// reached wakes the waiters whose event exists.
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

// wake wakes all waiters of these companies.
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
	default: // the waiter is awake already
	}
}
