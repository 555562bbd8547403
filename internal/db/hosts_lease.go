package db

import (
	"errors"
	"net"
	"time"
)

const (
	// hostsLease is how long the answer to a look proves that no other server was promoted. A tool for failovers waits longer than this for a
	// sign of life from the primary before it promotes another server.
	hostsLease = 500 * time.Millisecond
	// hostsAlert is how long all servers get quick looks after a doubt. A tool that has decided to promote does so although the primary wakes.
	hostsAlert = 30 * time.Second
	// hostsDoubt is how long a reply waits at most: for a look that is going on, and the next one.
	hostsDoubt = 2*hostsPatience + hostsLease
)

// errDoubted means that a server has replied, and that nobody knows whether it is still the primary.
var errDoubted = errors.New("db: another server may have been promoted")

// lease tells whether what arrives from the primary may be believed. No write is possible at a former primary, but it answers reads
// with what it knows. So after a silence longer than hostsLease, each server must have had a look that began after the silence. A
// server that does not respond to this look does not count: then its promotion cannot be seen.
type lease struct {
	alive   time.Time     // the begin of the last look that the primary has answered, also by a refusal
	doubted time.Time     // the end of a silence after which not all servers have had a look; zero if there is none
	last    time.Time     // the last doubt
	looked  []time.Time   // for each server: the begin of the last look that has ended
	news    chan struct{} // closed when a look ends
}

func newLease(servers int) lease {
	return lease{looked: make([]time.Time, servers), news: make(chan struct{})}
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

// vouch returns nil as soon as this server is certainly the primary. It returns an error when another one is, and when nobody knows for
// longer than hostsDoubt.
func (h *hosts) vouch(server int) error {
	var patience <-chan time.Time
	for {
		h.mu.Lock()
		former, doubted, news := server != h.primary, h.isDoubted(), h.lease.news
		h.mu.Unlock()
		switch {
		case former:
			return errFormer
		case !doubted:
			return nil
		case patience == nil:
			patience = time.After(hostsDoubt)
		}
		select {
		case <-news:
		case <-patience:
			return errDoubted
		case <-h.ended:
			return net.ErrClosed
		}
	}
}

// isDoubted reports whether another server may have been promoted. It begins the doubt after a silence.
func (h *hosts) isDoubted() bool {
	if h.primary == nowhere {
		return false
	}
	if h.lease.doubted.IsZero() && h.isSilent() {
		h.doubt()
	}
	return !h.lease.doubted.IsZero()
}

// isSilent reports whether the primary has given no sign of life for longer than hostsLease.
func (h *hosts) isSilent() bool { return time.Since(h.lease.alive) > hostsLease }

// doubt begins a doubt, or begins it again, and causes a look at each server now. Only looks from now on end the doubt.
func (h *hosts) doubt() {
	h.lease.doubted = time.Now()
	h.lease.last = h.lease.doubted
	h.hurry()
}
