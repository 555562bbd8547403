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

// Pass makes the shared reader of all viewers look once.
func (s *Service) Pass(ctx context.Context) { s.pass(ctx) }

// ReadEvery sets the time between two passes of that reader. A test calls it before the first viewer comes.
func (s *Service) ReadEvery(d time.Duration) { s.watchEvery = d }

// Paging makes each read of a page of events call a function first.
func (s *Service) Paging(through func()) {
	s.pageOf = func(ctx context.Context, company string, after int64, limit int) ([]Event, error) {
		through()
		return s.page(ctx, company, after, limit)
	}
}

// These are the bounds of the shared reader.
const (
	MostUnread = mostUnread
	IdlePasses = idlePasses
)

// Watched returns the number of companies that the reader looks at.
func (s *Service) Watched() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.watched)
}
