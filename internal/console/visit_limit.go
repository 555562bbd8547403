package console

import (
	"sync"

	"github.com/kobo-waas/kobo/internal/fault"
)

// The requests that a page sends to the companies' API take nothing of the company's limit, because a company's programs must not wait
// for its people, nor its people for its programs. So each person has a limit of their own: of visits, and of files at the same
// time, since one visit may read a whole list (decision 41).

// mostFiles is how many files may be on their way from one program to one person of a company.
const mostFiles = 3

var errFiles = fault.Newf(fault.Limited, "%d files are on their way to you already. Wait until one of them has arrived.", mostFiles)

// countVisit counts a request of a person of a company towards the person's limit. Over the limit, it returns a fault.
func (v *visit) countVisit() error {
	if v.Visits == nil || v.who.Company == "" {
		return nil
	}
	s, allowed := v.visits.Take(v.visitor(), *v.Visits)
	if allowed {
		return nil
	}
	return fault.New(fault.Limited, "You have asked for very many pages in a short time.").After(s.Wait)
}

// visitor names the person of a company in memory.
func (v *visit) visitor() string { return v.who.Company + "/" + v.who.ID }

// sendFile sends the file of the address, unless as many as possible are on their way to the person of a company.
func (v *visit) sendFile() error {
	if v.who.Company != "" {
		if !v.sending.begin(v.visitor()) {
			return errFiles
		}
		defer v.sending.end(v.visitor())
	}
	return v.route.download(v)
}

// sending counts the files that are on their way to each person.
type sending struct {
	mu    sync.Mutex
	files map[string]int
}

// begin counts a file, and returns false if the person may have no further one now.
func (s *sending) begin(visitor string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.files[visitor] == mostFiles {
		return false
	}
	s.files[visitor]++
	return true
}

// end takes back what begin has counted.
func (s *sending) end(visitor string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.files[visitor]--; s.files[visitor] == 0 {
		delete(s.files, visitor)
	}
}
