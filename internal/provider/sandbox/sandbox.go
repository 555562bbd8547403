// Package sandbox is a server of simulated providers: banks, billers, issuers
// and custodians that can be told to go wrong.
//
// The simulated providers have a folder each below this one, and speak the wire
// formats of the real ones. Their books are a file of their own. Kobo does not
// know that it talks to a sandbox: it sends HTTP requests, as to the real one.
package sandbox

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/kobo-waas/kobo/internal/provider/sandbox/books"
)

// Config says where the books are and how the simulated providers behave.
type Config = books.Config

// Sandbox is the server with its books open.
type Sandbox struct {
	*books.Books
	parts    []books.Part
	controls map[string]map[string]books.Control // by path, then by method
	mux      *http.ServeMux

	stop    context.CancelFunc
	stopped chan struct{} // closed when the sender has stopped

	moving    sync.Mutex // one move of the clock at a time
	onAdvance func(ctx context.Context, offset time.Duration) error
}

// Open opens the books and starts the providers on them.
func Open(ctx context.Context, cfg Config, providers ...books.Provider) (*Sandbox, error) {
	b, err := books.Open(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("sandbox: %w", err)
	}
	s := &Sandbox{Books: b, controls: map[string]map[string]books.Control{}, mux: http.NewServeMux(), stopped: make(chan struct{})}
	s.steer(map[string]books.Control{
		"GET /sandbox/clock":           func(*http.Request) (any, error) { return s.clockFace(), nil },
		"POST /sandbox/clock":          books.Steer(s.moveClock),
		"GET /sandbox/provider-ledger": s.providerLedger,
		"POST /sandbox/next-payment":   b.DelayNext(farthest),
	})
	s.mux.Handle("/sandbox/", s.Control())
	for _, p := range providers {
		part, err := p.Open(ctx, b)
		if err != nil {
			b.Close()
			return nil, fmt.Errorf("sandbox: %w", err)
		}
		s.parts = append(s.parts, part)
		s.steer(part.Controls)
		part.Mount(s.mux)
	}
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	s.stop = stop
	go s.send(running)
	return s, nil
}

// steer adds controls by their method and path.
func (s *Sandbox) steer(controls map[string]books.Control) {
	for pattern, do := range controls {
		method, path, _ := strings.Cut(pattern, " ")
		if s.controls[path] == nil {
			s.controls[path] = map[string]books.Control{}
		}
		s.controls[path][method] = do
	}
}

// Handler serves the paths of all providers and the control endpoints. Serve it
// on this machine's loopback address only.
func (s *Sandbox) Handler() http.Handler { return s.mux }

// OnAdvance sets what runs after the clock was moved and before the control
// endpoint answers. Set it before serving.
func (s *Sandbox) OnAdvance(fn func(ctx context.Context, offset time.Duration) error) {
	s.moving.Lock()
	defer s.moving.Unlock()
	s.onAdvance = fn
}

// Close releases the held answers, stops the sender and closes the books. Stop
// serving first.
func (s *Sandbox) Close() {
	s.Release()
	s.stop()
	<-s.stopped
	s.Books.Close()
}

// send carries out late requests and sends notices until the sandbox is closed.
func (s *Sandbox) send(ctx context.Context) {
	defer close(s.stopped)
	for ctx.Err() == nil {
		err := s.sendDue(ctx)
		wait := books.LookAgain
		for _, p := range s.parts {
			if p.Outbox != nil && err == nil {
				var next time.Duration
				next, err = p.Outbox.Next(ctx)
				wait = min(wait, next)
			}
		}
		if err != nil && ctx.Err() == nil {
			s.Log.Error("the sandbox's notices cannot be sent", "error", err)
			wait = books.LookAgain
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
		case <-s.Nudges():
		case <-timer.C:
		}
		timer.Stop()
	}
}

// sendDue carries out and sends everything that is due once.
func (s *Sandbox) sendDue(ctx context.Context) error {
	err := s.CarryOut(ctx)
	for _, p := range s.parts {
		if p.Outbox != nil {
			err = errors.Join(err, p.Outbox.Deliver(ctx))
		}
	}
	return err
}
