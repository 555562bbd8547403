package event

import (
	"context"
	"strings"
	"time"
)

// Viewers of pages watch the feeds of companies. A viewer hears that something has changed, and not what. All viewers of a
// program share one reader. Once a second it compares the last event numbers of all watched companies in one query. Then
// it reads the new events of each company once. So a further viewer costs no query.

const (
	// watchPeriod is the time between two passes of the reader.
	watchPeriod = time.Second
	// watchPage is the number of events that are read at once.
	watchPage = 200
	// mostUnread is the number of a company's new events from which the reader skips to the newest page. It then tells
	// each viewer that something has changed.
	mostUnread = 5 * watchPage
	// mostKept is the number of a company's events in memory, from which a viewer who comes later hears what happened
	// since the page was read.
	mostKept = mostUnread
	// idlePasses is the number of passes for which a company without a viewer stays watched. A browser opens a new stream
	// when the old one ends.
	idlePasses = 60
)

// Change is what a viewer hears.
type Change struct {
	Head int64 // the number of the company's last event that was read
	Err  error // why the feed could not be read, or nil
}

// viewer is somebody who looks at a page.
type viewer struct {
	reference string // of the thing on the page; "" for all things of the company
	from      time.Time
	told      chan Change
}

// watched is a company with viewers.
type watched struct {
	from    time.Time // kept has all events from this instant on, as far as they were read
	last    int64     // the number of the last event that was read, or unread
	kept    []Event
	viewers map[*viewer]struct{}
	idle    int // the passes since the last viewer has left
}

// unread says that the reader has not looked at a company yet.
const unread = -1

// Watch tells on a channel whenever an event of the company names the reference, beginning with the events from an
// instant on. An empty reference stands for each event. The channel holds the last change until it is read. It is closed
// when the program stops. The caller calls leave when nobody looks any more.
func (s *Service) Watch(company, reference string, from time.Time) (changes <-chan Change, leave func()) {
	v := &viewer{reference, from, make(chan Change, 1)}
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.closed:
		close(v.told)
		return v.told, func() {}
	default:
	}
	w := s.watched[company]
	switch {
	case w == nil:
		w = &watched{from: from, last: unread, viewers: map[*viewer]struct{}{}}
		s.watched[company] = w
	case w.last == unread:
		w.from = earlier(w.from, from)
	case from.Before(w.from):
		v.tell(Change{Head: w.last}) // nothing in memory shows that nothing has happened
	default:
		v.hear(w.kept, w.last)
	}
	w.viewers[v] = struct{}{}
	if !s.following {
		s.following = true
		go s.follow()
	}
	return v.told, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(w.viewers, v)
	}
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// tell leaves a change for the viewer, in place of an earlier one that the viewer has not read.
func (v *viewer) tell(c Change) {
	select {
	case <-v.told:
	default:
	}
	v.told <- c
}

// hear tells the viewer if an event concerns the page.
func (v *viewer) hear(events []Event, head int64) {
	for _, e := range events {
		if !e.CreatedAt.Before(v.from) && (v.reference == "" || e.ID == v.reference || strings.Contains(string(e.Data), `"`+v.reference+`"`)) {
			v.tell(Change{Head: head})
			return
		}
	}
}

// follow is the reader. It ends when no company is watched, or when the program stops.
func (s *Service) follow() {
	again := time.NewTicker(s.watchEvery)
	defer again.Stop()
	for {
		select {
		case <-again.C:
			ctx, cancel := context.WithTimeout(context.Background(), timeout)
			goesOn := s.pass(ctx)
			cancel()
			if !goesOn {
				return
			}
		case <-s.closed:
			s.mu.Lock()
			defer s.mu.Unlock()
			for _, w := range s.watched {
				for v := range w.viewers {
					close(v.told)
				}
			}
			clear(s.watched)
			return
		}
	}
}

// pass reads what is new of all watched companies. It reports whether there are any.
func (s *Service) pass(ctx context.Context) bool {
	companies := s.companiesWatched()
	if len(companies) == 0 {
		return false
	}
	heads, err := s.heads(ctx, companies)
	for _, company := range companies {
		if err == nil && !s.isNew(company, heads[company]) {
			continue
		}
		s.catchUp(ctx, company, heads[company], err)
	}
	return true
}

// companiesWatched returns the companies with viewers, and forgets those that nobody has watched for a while. If there are
// none, it records that the reader ends.
func (s *Service) companiesWatched() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var companies []string
	for company, w := range s.watched {
		if w.idle++; len(w.viewers) > 0 {
			w.idle = 0
		}
		if w.idle > idlePasses {
			delete(s.watched, company)
			continue
		}
		companies = append(companies, company)
	}
	s.following = len(companies) > 0
	return companies
}

// isNew reports whether a company has events that were not read.
func (s *Service) isNew(company string, head int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.watched[company].last != head
}

// catchUp reads a company's new events, and tells the viewers. Only the reader changes what it reads here without the
// lock.
func (s *Service) catchUp(ctx context.Context, company string, head int64, err error) {
	s.mu.Lock()
	w := s.watched[company]
	last, from := w.last, w.from
	s.mu.Unlock()
	skipped := false
	if last == unread && err == nil {
		last, err = s.Since(ctx, company, from)
		last--
	}
	if err == nil && head-last > mostUnread {
		last, skipped = head-watchPage, true
	}
	var events []Event
	for page := (err == nil); page && last < head; {
		var some []Event
		if some, err = s.pageOf(ctx, company, last, watchPage); err == nil && len(some) > 0 {
			last = some[len(some)-1].Sequence
		}
		events, page = append(events, some...), err == nil && len(some) > 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil {
		w.add(events, max(last, head), skipped)
	}
	late := w.from.Before(from) // somebody came meanwhile whose page is older than what was read
	if late {
		w.from = from
	}
	for v := range w.viewers {
		if skipped || err != nil || late && v.from.Before(from) {
			v.tell(Change{w.last, err})
			continue
		}
		v.hear(events, w.last)
	}
}

// add keeps events in memory, and drops the oldest ones.
func (w *watched) add(events []Event, last int64, skipped bool) {
	if skipped {
		w.kept = nil
	}
	w.last, w.kept = last, append(w.kept, events...)
	dropped := max(0, len(w.kept)-mostKept)
	if w.kept = w.kept[dropped:]; len(w.kept) > 0 && (skipped || dropped > 0) {
		w.from = w.kept[0].CreatedAt.Add(time.Microsecond) // an event before it may have the same instant
	}
}
