package db

import (
	"net"
	"time"
)

// hostsLease is how long the answer to a look proves that no other server was promoted. A tool for failovers waits longer than this for a
// sign of life from the primary before it promotes another server.
const hostsLease = 500 * time.Millisecond

// lease tells whether what arrives from the primary may be believed. No write is possible at a former primary, but it answers reads
// with what it knows. So after a silence longer than hostsLease, each server must have had a look that began after the silence. A
// server that does not respond to this look does not count: then its promotion cannot be seen.
type lease struct {
	alive   time.Time     // the begin of the last look that the primary has answered
	doubted time.Time     // the end of a silence after which not all servers have had a look; zero if there is none
	looked  []time.Time   // for each server: the begin of the last look that has ended
	news    chan struct{} // closed when a look ends
}

func newLease(servers int) lease {
	return lease{looked: make([]time.Time, servers), news: make(chan struct{})}
}

// silent reports whether the primary has been silent for too long, and whether this is new.
func (l *lease) silent(now time.Time) (doubted, begins bool) {
	if l.doubted.IsZero() && now.Sub(l.alive) > hostsLease {
		l.doubted, begins = now, true
	}
	return !l.doubted.IsZero(), begins
}

// ended notes the end of a look at a server. The doubt ends after the last look that it needs.
func (l *lease) ended(server int, begun time.Time) {
	l.looked[server] = begun
	open := time.Since(l.alive) > hostsLease
	for _, at := range l.looked {
		open = open || at.Before(l.doubted)
	}
	if !open {
		l.doubted = time.Time{}
	}
	close(l.news)
	l.news = make(chan struct{})
}

// Read returns what the server has sent, if no other server was promoted before.
func (w *wire) Read(b []byte) (int, error) {
	n, err := w.Conn.Read(b)
	if err == nil && w.hosts != nil {
		if err = w.hosts.vouch(w.line.server); err != nil {
			n = 0
		}
	}
	return n, err
}

// vouch returns nil as soon as this server is certainly the primary, and an error when another one is.
func (h *hosts) vouch(server int) error {
	for {
		h.mu.Lock()
		former, doubted, news := server != h.primary, h.doubt(), h.lease.news
		h.mu.Unlock()
		switch {
		case former:
			return errFormer
		case !doubted:
			return nil
		}
		select {
		case <-news:
		case <-h.ended:
			return net.ErrClosed
		}
	}
}

// doubt reports whether another server may have been promoted. A new doubt causes a look at each server now.
func (h *hosts) doubt() bool {
	if h.primary == nowhere {
		return false
	}
	doubted, begins := h.lease.silent(time.Now())
	if begins {
		h.hurry()
	}
	return doubted
}
