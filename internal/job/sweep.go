package job

import (
	"sync"
	"time"
)

// Sweep is the way of a recurring job through a long list, such as all companies. A run that takes longer than the limit
// ends, and the next run goes on where this one has ended. Each run does at least one part of the list, so that the last
// part has its turn too. The place is in memory: the first run after a start of the program begins at the list's head.
type Sweep[Place any] struct {
	// Limit is the longest run. It is shorter than the lease of a job.
	Limit time.Duration

	mu   sync.Mutex
	done Place
}

// Done returns the last part of the list that is done, or the zero value if the list begins again.
func (s *Sweep[Place]) Done() Place {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.done
}

// Finish records that a part of the list is done. The zero value begins the list again.
func (s *Sweep[Place]) Finish(part Place) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done = part
}
