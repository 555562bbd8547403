package person

import (
	"context"
	"time"
)

// A page that changes by itself holds a stream open. The stream must end when its session does. All streams of a program
// share one reader. Once a second it reads the watched sessions in one query, and the operators in another one if an
// operator watches. So a further stream costs no query, and the end of a session in another program is seen as soon.

const (
	// watchPeriod is the time between two reads of the watched sessions.
	watchPeriod = time.Second
	// watchPatience is how long one read may take.
	watchPatience = 5 * time.Second
)

// watched is a session with an open stream.
type watched struct {
	Session
	ended chan error
}

// Watch returns a channel that gets one value when the session ends: nil, or why nobody knows whether the session is still
// open. A session ends at the sign-out, with another role, without access, and when its time is over. The caller calls leave
// when the stream ends.
func (s *Service) Watch(x Session) (ended <-chan error, leave func()) {
	w := &watched{x, make(chan error, 1)}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watched[w] = struct{}{}
	if !s.following {
		s.following = true
		go s.follow()
	}
	return w.ended, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.watched, w)
	}
}

// follow is the reader. It ends when nobody watches.
func (s *Service) follow() {
	again := time.NewTicker(watchPeriod)
	defer again.Stop()
	for range again.C {
		all := s.allWatched()
		if len(all) == 0 {
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), watchPatience)
		isOpen, err := s.stillOpen(ctx, all)
		cancel()
		s.mu.Lock()
		for _, w := range all {
			if err != nil || !isOpen(w.Session) {
				w.ended <- err
				delete(s.watched, w)
			}
		}
		s.mu.Unlock()
	}
}

// allWatched returns the watched sessions. If there are none, it records that the reader ends.
func (s *Service) allWatched() []*watched {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]*watched, 0, len(s.watched))
	for w := range s.watched {
		all = append(all, w)
	}
	s.following = len(all) > 0
	return all
}

// stillOpen returns a function that reports whether a session is open, by the rules of Open. The row of a session of a
// company's person leaves with the role and the access, so only operators are read too.
func (s *Service) stillOpen(ctx context.Context, all []*watched) (isOpen func(Session) bool, err error) {
	var companies, ids []string
	operators := map[string]string{} // the role of each, by the id
	for _, w := range all {
		companies, ids = append(companies, w.Company), append(ids, w.ID)
	}
	rows, err := sessionsIn(ctx, s.DB, companies, ids)
	if err != nil {
		return nil, err
	}
	for _, x := range rows {
		if x.Company != "" || len(operators) > 0 {
			continue
		}
		people, err := s.People(ctx, "")
		if err != nil {
			return nil, err
		}
		for _, p := range people {
			operators[p.ID] = p.Role
		}
	}
	now, open := s.Machine.Now(), map[string]bool{}
	for _, x := range rows {
		open[x.Company+" "+x.ID] = !x.isOver(now) && (x.Company != "" || operators[x.PersonID] == x.role)
	}
	return func(x Session) bool { return open[x.Company+" "+x.ID] }, nil
}
