package evm

import (
	"sync"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
)

// growsAfter is how long a size stays halved. Then the plug tries the double size once. A node with
// a fixed limit refuses one request an hour for it, and a node that was only busy recovers.
const growsAfter = time.Hour

// size is a number of calls or of blocks. It halves itself when the node refuses so many, and
// grows again slowly.
type size struct {
	clock clock.Clock
	most  int // the configured size

	mu     sync.Mutex
	limit  int
	halved time.Time // when the limit last changed
}

func newSize(most int, c clock.Clock) *size { return &size{clock: c, most: most, limit: most} }

// now returns the size to use.
func (s *size) now() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := s.clock.Now(); s.limit < s.most && now.Sub(s.halved) >= growsAfter {
		s.limit, s.halved = min(s.most, 2*s.limit), now
	}
	return s.limit
}

// halve reduces the size to half of the number that the node has refused, but not below 1.
func (s *size) halve(refused int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.limit, s.halved = max(1, min(s.limit, refused/2)), s.clock.Now()
}
