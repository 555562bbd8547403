package db

import (
	"context"
	"errors"
	"net"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// hosts knows which server of a URL with several hosts is the primary. The driver alone would use a former primary that
// hangs, or that has woken and does not know yet that another server was promoted: it accepts connections, and its COMMITs
// wait for ever for a standby. Each promotion raises the timeline. So the primary is the server with the highest timeline
// that accepts writes.
//
// When another server becomes the primary, all connections to the former one are cut. What they waited for is then
// decided: either the new primary has received it, or it never happens. A lower timeline than one that this program has
// seen is never used again.
//
// While the primary responds, each standby gets one look a second. A connection that breaks causes a look at each server at
// once, and while the primary does not respond, the looks follow one another quickly.
//
// The primary gets a look every tenth of a second, because it may have frozen and woken (see lease).
type hosts struct {
	each  []*pgx.ConnConfig // one for each server
	wakes []chan struct{}   // one for each server: look at it now
	moved func()            // runs when another server has become the primary
	looks sync.WaitGroup
	ended <-chan struct{} // closed when there are no more looks

	mu       sync.Mutex
	primary  int       // an index of each, or nowhere
	timeline string    // of the primary, in 8 hexadecimal digits
	away     bool      // the primary did not respond to the last look
	hurried  time.Time // of the last call of hurry by suspect
	lease    lease
	wires    map[*wire]bool
	dials    map[*line]context.CancelFunc // the connections that are being made
}

const (
	nowhere       = -1
	hostsLook     = time.Second            // between two looks at a standby
	hostsHurry    = 100 * time.Millisecond // the same at the primary, and at each server in trouble (pause)
	hostsPatience = time.Second            // how long a look may take
)

// timelineAt returns the timeline of a primary, and "" at a standby.
const timelineAt = `SELECT CASE WHEN pg_is_in_recovery() THEN '' ELSE substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) END`

var errFormer = errors.New("db: another server is the primary")

// hostsOf returns the servers of a URL, or nil if the URL has one server or does not ask for the primary.
func hostsOf(address string, c *pgx.ConnConfig, moved func()) *hosts {
	u, err := url.Parse(address)
	if err != nil || !slices.Contains([]string{"read-write", "primary"}, u.Query().Get("target_session_attrs")) {
		return nil
	}
	h := &hosts{moved: moved, primary: nowhere, wires: map[*wire]bool{}, dials: map[*line]context.CancelFunc{}}
	// One server may be in the list twice, with TLS and without.
	for _, f := range append([]*pgconn.FallbackConfig{{Host: c.Host, Port: c.Port, TLSConfig: c.TLSConfig}}, c.Fallbacks...) {
		if last := len(h.each) - 1; last >= 0 && h.each[last].Host == f.Host && h.each[last].Port == f.Port {
			h.each[last].Fallbacks = append(h.each[last].Fallbacks, f)
			continue
		}
		own := c.Copy()
		own.Host, own.Port, own.TLSConfig, own.Fallbacks = f.Host, f.Port, f.TLSConfig, nil
		own.ValidateConnect, own.Tracer = nil, nil // a look also asks the standbys
		h.each, h.wakes = append(h.each, own), append(h.wakes, make(chan struct{}, 1))
	}
	if len(h.each) == 1 {
		return nil
	}
	h.lease = newLease(len(h.each))
	return h
}

// watch looks at all servers until ctx ends. It returns after the first look at each.
func (h *hosts) watch(ctx context.Context) {
	h.ended = ctx.Done()
	var first sync.WaitGroup
	for i := range h.each {
		first.Add(1)
		h.looks.Go(func() { h.look(ctx, i, first.Done) })
	}
	first.Wait()
}

// look asks a server for its timeline again and again.
func (h *hosts) look(ctx context.Context, server int, first func()) {
	begun := time.Now()
	conn, timeline, answered := h.ask(ctx, server, nil)
	h.saw(server, timeline, answered, begun)
	first()
	again := time.NewTimer(hostsLook)
	defer again.Stop()
	for {
		again.Reset(h.pause(server))
		select {
		case <-again.C:
		case <-h.wakes[server]:
		case <-ctx.Done():
			if conn != nil {
				_ = conn.Close(ctx) // nothing is lost with this connection
			}
			return
		}
		begun = time.Now()
		conn, timeline, answered = h.ask(ctx, server, conn)
		h.saw(server, timeline, answered, begun)
	}
}

// pause returns the time until the next look at a server.
func (h *hosts) pause(server int) time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.away || server == h.primary || h.primary == nowhere || time.Since(h.lease.last) < hostsAlert {
		return hostsHurry
	}
	return hostsLook
}

// suspect causes a look at each server now, because a connection to the primary broke or could not be made. However
// many break, the looks are not more frequent than in a hurry.
func (h *hosts) suspect() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if now := time.Now(); !h.away && now.Sub(h.hurried) >= hostsHurry {
		h.hurried = now
		h.hurry()
	}
}

func (h *hosts) hurry() {
	for _, wake := range h.wakes {
		select {
		case wake <- struct{}{}:
		default:
		}
	}
}

// ask returns the timeline of a server, whether the server has answered, and the connection for the next look. The timeline is "" if the
// server is a standby, did not respond or refused the look.
func (h *hosts) ask(ctx context.Context, server int, conn *pgx.Conn) (next *pgx.Conn, timeline string, answered bool) {
	ctx, cancel := context.WithTimeout(ctx, hostsPatience)
	defer cancel()
	for {
		isNew := conn == nil
		var err error
		if isNew {
			conn, err = pgx.ConnectConfig(ctx, h.each[server])
		}
		if err == nil {
			err = conn.QueryRow(ctx, timelineAt).Scan(&timeline)
		}
		if err == nil {
			return conn, timeline, true
		}
		if conn != nil {
			_ = conn.Close(ctx) // the next look connects again
			conn = nil
		}
		var refused *pgconn.PgError
		if isNew || ctx.Err() != nil {
			return nil, "", errors.As(err, &refused)
		}
		// An old connection may have broken alone.
	}
}

// saw notes what a look that began at this time has shown. A server with the timeline of the primary takes its place only if
// the primary does not respond: somebody has then started a copy without a promotion.
func (h *hosts) saw(server int, timeline string, answered bool, begun time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	defer h.lease.ended(server, begun)
	if server == h.primary {
		before := h.away
		if h.away = timeline < h.timeline; h.away && !before {
			h.hurry()
		}
		if answered {
			if h.isSilent() {
				h.doubt() // the silence has ended just now, and looks from before prove nothing
			}
			h.lease.alive = begun
		}
	}
	if timeline < h.timeline || timeline == "" || timeline == h.timeline && (server == h.primary || !h.away) {
		return
	}
	another := server != h.primary
	if h.primary == nowhere {
		h.doubt() // the others may be just being promoted
	}
	h.primary, h.timeline, h.away = server, timeline, false
	h.lease.alive = begun
	if !another {
		return
	}
	h.moved()
	for w := range h.wires {
		if w.line.server != server {
			w.line.cut.Store(true)
			_ = w.Conn.Close() // who waits for the reply gets the error
		}
	}
	for l, cancel := range h.dials {
		if l.server != server {
			cancel()
		}
	}
}

// direct lets a connection be made to the primary alone, if it is known.
func (h *hosts) direct(c *pgx.ConnConfig) (server int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.primary != nowhere {
		to := h.each[h.primary]
		c.Host, c.Port, c.TLSConfig, c.Fallbacks = to.Host, to.Port, to.TLSConfig, to.Fallbacks
	}
	return h.primary
}

// dial makes a connection to the primary. If another server becomes the primary meanwhile, the attempt ends at once: a
// server that has left the network would keep it waiting for seconds.
func (h *hosts) dial(ctx context.Context, l *line, dial func(context.Context) (net.Conn, error)) (net.Conn, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	h.mu.Lock()
	h.dials[l] = cancel
	if l.server != h.primary {
		cancel()
	}
	h.mu.Unlock()
	conn, err := dial(ctx)
	h.mu.Lock()
	delete(h.dials, l)
	h.mu.Unlock()
	if err != nil {
		h.suspect()
		return nil, err
	}
	w := &wire{Conn: conn, line: l}
	if err := h.opened(w); err != nil {
		return nil, err
	}
	return w, nil
}

// opened notes a connection, which is cut when another server becomes the primary.
func (h *hosts) opened(w *wire) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if w.line.server != h.primary {
		return errors.Join(errFormer, w.Conn.Close())
	}
	w.hosts, h.wires[w] = h, true
	return nil
}

func (h *hosts) closed(w *wire) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.wires, w)
}

// Close ends the connection.
func (w *wire) Close() error {
	if w.hosts != nil {
		w.hosts.closed(w)
	}
	return w.Conn.Close()
}

var _ net.Conn = (*wire)(nil)
