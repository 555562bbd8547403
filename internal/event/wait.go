package event

import (
	"context"
	"slices"
	"time"
)

// interval is how often it is looked for events that other processes committed:
// one look for everybody who waits here. Those of this process wake at once.
const interval = 50 * time.Millisecond

// patience is how long one look may take.
const patience = 5 * time.Second

// waiter is one who waits for a company's event after a number.
type waiter struct {
	company string
	after   int64
	woken   chan struct{}
}

// await is a page, read again whenever something may be there: until something is,
// or wait is over, of the caller's real time. A caller who goes away meanwhile has
// waited in vain, which is nobody's mistake.
func (s *Service) await(ctx context.Context, company string, after int64, limit int, wait time.Duration) ([]Event, error) {
	over := time.NewTimer(wait)
	defer over.Stop()
	w := s.enter(company, after)
	defer s.leave(w)
	for {
		// What is committed after this question wakes.
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

// enter has somebody wait. The first one sets the looking going.
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

// look asks for the heads of all companies for which somebody waits, in one
// question, and ends when nobody does.
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
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		heads, err := s.heads(ctx, companies)
		cancel()
		if err != nil {
			s.wake(companies) // each asks for himself, and hears what is wrong
			continue
		}
		s.reached(heads)
	}
}

// awaited are the companies for which somebody waits. When there are none the
// looking has ended.
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

// reached wakes those whose event is there.
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

// wake wakes all who wait for one of these companies.
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
	default: // he is awake already
	}
}
