package app

import (
	"context"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// ServeConfig is about `kobo serve`.
type ServeConfig struct {
	// How long the program goes on serving after SIGTERM, at most `10m`. `kobo dev` uses `0s`.
	Drain time.Duration `koanf:"drain"`
}

const (
	// finishTime is how long running requests may take after a drain. The timeout of a provider call
	// is added to it.
	finishTime = 10 * time.Second
	// firstRequestTime is how long a new connection may wait for its first request after a drain. A
	// request that was already on its way arrives within that time.
	firstRequestTime = 500 * time.Millisecond
)

// shutDown drains and stops the servers. During the drain they still serve all requests, and close
// each connection after its next response. After the drain, the listeners close, and running
// requests finish.
func (a *App) shutDown(ctx context.Context, all []front, failed <-chan error) error {
	a.leaving.Store(true)
	a.log.Info("stopping", "drain", a.cfg.Serve.Drain)
	drained := time.NewTimer(a.cfg.Serve.Drain)
	defer drained.Stop()
	select {
	case err := <-failed:
		return err
	case <-drained.C:
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), a.cfg.Window+finishTime)
	defer cancel()
	return shutDownAll(ctx, all)
}

// closing wraps a handler. When the program is leaving, it closes each connection after the
// connection's next response. It does not close idle connections, since a request may already be on
// its way on such a connection.
func closing(leaving *atomic.Bool, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		last := &lastAnswer{ResponseWriter: w, leaving: leaving}
		next.ServeHTTP(last, r)
		last.mark() // a response without a body begins here
	})
}

type lastAnswer struct {
	http.ResponseWriter
	leaving *atomic.Bool
	begun   bool
}

func (l *lastAnswer) mark() {
	if !l.begun && l.leaving.Load() {
		l.Header().Set("Connection", "close")
	}
}

// WriteHeader begins the response.
func (l *lastAnswer) WriteHeader(status int) {
	l.mark()
	l.begun = l.begun || status >= 200
	l.ResponseWriter.WriteHeader(status)
}

// Write begins the response if WriteHeader has not begun it.
func (l *lastAnswer) Write(b []byte) (int, error) {
	l.mark()
	l.begun = true
	return l.ResponseWriter.Write(b)
}

// Unwrap gives http.ResponseController access to the connection.
func (l *lastAnswer) Unwrap() http.ResponseWriter { return l.ResponseWriter }

// newConnections contains the connections on which no request has come yet. Browsers and load
// balancers open such connections in advance. Shutdown of an http.Server waits five seconds for
// each of them, since it cannot distinguish them from connections with a slow request.
type newConnections struct {
	mu    sync.Mutex
	conns map[net.Conn]bool
}

// track records new connections. It serves as the ConnState callback of a server.
func (n *newConnections) track(c net.Conn, s http.ConnState) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if s != http.StateNew {
		delete(n.conns, c)
		return
	}
	if n.conns == nil {
		n.conns = map[net.Conn]bool{}
	}
	n.conns[c] = true
}

// closeSoon makes the new connections close after firstRequestTime, and returns immediately.
func (n *newConnections) closeSoon() { time.AfterFunc(firstRequestTime, n.close) }

func (n *newConnections) close() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for c := range n.conns {
		_ = c.Close() // no request has arrived, so none is lost
	}
}
