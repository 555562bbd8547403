package event

import (
	"context"
	"time"
)

// Interval is the time between two looks. A look is a query for the last event numbers, which finds
// events of other processes.
const Interval = interval

// LookEvery sets the time between two looks. A test calls it before the first reader waits, because
// the running looks keep their interval.
func (s *Service) LookEvery(d time.Duration) { s.every = d }

// Looking makes each look call a function first.
func (s *Service) Looking(through func(companies []string) error) {
	s.heads = func(ctx context.Context, companies []string) (map[string]int64, error) {
		if err := through(companies); err != nil {
			return nil, err
		}
		return s.book.LastEvents(ctx, companies)
	}
}

// Waiting returns the number of waiting readers.
func (s *Service) Waiting() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, list := range s.waiting {
		n += len(list)
	}
	return n
}
