package event

import (
	"context"
	"time"
)

// Interval is how often it is looked for other processes' events.
const Interval = interval

// LookEvery has the next waits look this often.
func (s *Service) LookEvery(d time.Duration) { s.every = d }

// Looking puts something between the looks and the book.
func (s *Service) Looking(through func(companies []string) error) {
	s.heads = func(ctx context.Context, companies []string) (map[string]int64, error) {
		if err := through(companies); err != nil {
			return nil, err
		}
		return s.book.Heads(ctx, companies)
	}
}

// Waiting is how many wait.
func (s *Service) Waiting() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, list := range s.waiting {
		n += len(list)
	}
	return n
}
