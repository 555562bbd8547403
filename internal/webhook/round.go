package webhook

import (
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
)

// round reads the queues of the woken companies, and begins to process those that are open. It reads place by place, each in a
// goroutine of its own. So a node that is away or does not respond keeps only its own companies waiting. These wait for the next poll.
func (s *Service) round(ctx context.Context) {
	for place, companies := range s.sender.unread(s.DB.Place) {
		s.sender.visits.Go(func() {
			ctx := s.DB.At(ctx, companies[0])
			open, err := s.open(ctx, companies)
			err = errors.Join(err, s.visitAll(ctx, open))
			s.warn(ctx, notRead, err)
			s.sender.mu.Lock()
			defer s.sender.mu.Unlock()
			if err != nil {
				s.sender.wait(companies...)
			}
			delete(s.sender.reading, place)
			if len(s.sender.woken) > 0 {
				ring(s.sender.signal)
			}
		})
	}
}

// unread returns the woken companies of the places that are not being read. The caller must read them.
func (s *sender) unread(place func(company string) string) map[string][]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := map[string][]string{}
	for company := range s.woken {
		if p := place(company); !s.reading[p] {
			at[p] = append(at[p], company)
			delete(s.woken, company)
		}
	}
	for p := range at {
		s.reading[p] = true
	}
	return at
}

// poll reads the queues of all companies, and begins to process those that are open. If it fails, a node may be away. Then the
// companies that waited for the poll are read node by node.
func (s *Service) poll(ctx context.Context) error {
	s.sender.mu.Lock()
	waiting := maps.Clone(s.sender.waiting)
	clear(s.sender.waiting)
	s.sender.mu.Unlock()
	open, err := s.open(ctx, nil)
	if err != nil {
		if s.DB.Routed() {
			s.sender.mu.Lock()
			defer s.sender.mu.Unlock()
			maps.Copy(s.sender.woken, waiting)
			ring(s.sender.signal)
		}
		return err
	}
	at := map[string][]queue{}
	for _, q := range open {
		place := s.DB.Place(q.company)
		at[place] = append(at[place], q)
	}
	for _, there := range at {
		s.sender.visits.Go(func() { s.warn(ctx, notRead, s.visitAll(ctx, there)) })
	}
	return nil
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

// visitAll leases as many open queues as there are free slots, and starts to process them.
func (s *Service) visitAll(ctx context.Context, open []queue) (failed error) {
	rand.Shuffle(len(open), func(i, j int) { open[i], open[j] = open[j], open[i] })
	byCompany := map[string][]queue{}
	for _, q := range open {
		byCompany[q.company] = append(byCompany[q.company], q)
	}
	for company, queues := range byCompany {
		// A slot is reserved only now, because the lease of another company may take long.
		entered := slices.DeleteFunc(queues, func(q queue) bool { return !s.sender.enter(q) })
		if len(entered) > 0 {
			failed = errors.Join(failed, s.visitOf(s.DB.At(ctx, company), company, entered))
		}
	}
	return failed
}

// visitOf leases queues of a company that have their slots, and starts to process them.
func (s *Service) visitOf(ctx context.Context, company string, queues []queue) error {
	taken, err := s.take(ctx, company, queues, s.Clock.Now())
	for i, q := range queues {
		switch {
		case err != nil:
			s.sender.leave(q)
		case taken[i].fence == 0:
			s.sender.leave(q)
			s.wake([]string{company}) // the queue may be idle again
		default:
			s.sender.visits.Go(func() {
				s.work(ctx, taken[i])
				s.sender.leave(q)
				s.wake([]string{company}) // some events may have come during the release
			})
		}
	}
	return err
}
