package app

import (
	"context"
	"net/http"
	"sync/atomic"
	"time"
)

// ServeConfig is about `kobo serve`.
type ServeConfig struct {
	// How long the program goes on serving after SIGTERM, at most `10m`. `kobo dev` uses `0s`.
	Drain time.Duration `koanf:"drain"`
}

// leave ends a server. While it drains, every request is served as before, and
// each answer is the last on its connection. Then the listener closes, and
// requests in hand have their time to finish.
func (a *App) leave(ctx context.Context, server *http.Server, failed <-chan error) error {
	a.leaving.Store(true)
	a.log.Info("stopping", "drain", a.cfg.Serve.Drain)
	drained := time.NewTimer(a.cfg.Serve.Drain)
	defer drained.Stop()
	select {
	case err := <-failed:
		return err
	case <-drained.C:
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), a.cfg.Window+goodbye)
	defer cancel()
	return server.Shutdown(last)
}

// parting makes each answer that begins after leaving was set the last on its
// connection. A server that closes idle connections instead would cut a request
// that is on its way.
func parting(leaving *atomic.Bool, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		last := &lastAnswer{ResponseWriter: w, leaving: leaving}
		next.ServeHTTP(last, r)
		last.mark() // an answer without a body begins here
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

// WriteHeader begins the answer.
func (l *lastAnswer) WriteHeader(status int) {
	l.mark()
	l.begun = l.begun || status >= 200
	l.ResponseWriter.WriteHeader(status)
}

// Write begins the answer too.
func (l *lastAnswer) Write(b []byte) (int, error) {
	l.mark()
	l.begun = true
	return l.ResponseWriter.Write(b)
}

// Unwrap lets http.ResponseController reach the connection.
func (l *lastAnswer) Unwrap() http.ResponseWriter { return l.ResponseWriter }
