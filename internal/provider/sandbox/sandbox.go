// Package sandbox is a server of simulated providers: banks, billers, issuers and custodians that
// can be told to fail.
//
// Each simulated provider has a folder below this one and speaks the wire format of the real
// provider. The providers store their data in a separate file, the books. Kobo does not know that
// it talks to a sandbox: it sends HTTP requests, as to a real provider.
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

// Config states where the books are and how the simulated providers behave.
type Config = books.Config

// Sandbox is the server of simulated providers, together with their open database file (the books).
type Sandbox struct {
	*books.Books
	parts    []books.Part
	controls map[string]map[string]books.Control // by path, then by method
	mux      *http.ServeMux

	stop    context.CancelFunc
	stopped chan struct{} // closed when the sender of notices has stopped

	moving    sync.Mutex // allows one move of the clock at a time
	onAdvance func(ctx context.Context, offset time.Duration) (settled bool, err error)
}

// Open opens the books and starts the given providers.
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
			s.closeBooks()
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

// further is an additional bank with separate books.
type further struct {
	name string
	bank Bank
}

// Bank is a simulated bank that may run several times in one sandbox.
type Bank interface {
	books.Provider
	// Number sets the number of a bank, which decides its range of account numbers. The first bank
	// has the number 0.
	Number(n int)
}

// Further returns an additional bank with separate books. Its paths begin with BankPath, and its
// controls begin with /sandbox/banks/NAME/.
func Further(name string, b Bank) books.Provider { return further{name, b} }

// BankPath returns the prefix of all paths of an additional bank.
func BankPath(name string) string { return "/banks/" + name }

// Open opens the bank's books, and then the bank.
func (f further) Open(ctx context.Context, shared *books.Books) (books.Part, error) {
	own, number, err := shared.Beside(ctx, f.name)
	if err != nil {
		return books.Part{}, err
	}
	f.bank.Number(number)
	part, err := f.bank.Open(ctx, own)
	if err != nil {
		own.Close()
		return part, err
	}
	part.Controls["GET /sandbox/provider-ledger"] = ledgerOf(own, part)
	part.Controls["POST /sandbox/next-payment"] = own.DelayNext(farthest)
	controls := map[string]books.Control{}
	for pattern, do := range part.Controls {
		controls[strings.Replace(pattern, "/sandbox", "/sandbox"+BankPath(f.name), 1)] = do
	}
	return books.Part{
		Controls: controls, Outbox: part.Outbox, Own: own,
		Mount: func(mux *http.ServeMux) {
			mine := http.NewServeMux()
			part.Mount(mine)
			mux.Handle(BankPath(f.name)+"/", http.StripPrefix(BankPath(f.name), mine))
		},
	}, nil
}

// steer registers controls by their HTTP method and path.
func (s *Sandbox) steer(controls map[string]books.Control) {
	for pattern, do := range controls {
		method, path, _ := strings.Cut(pattern, " ")
		if s.controls[path] == nil {
			s.controls[path] = map[string]books.Control{}
		}
		s.controls[path][method] = do
	}
}

// Handler returns the handler for the paths of all providers and for the control endpoints. Serve
// it only on this machine's loopback address. The Date header has the time of the sandbox's clock.
func (s *Sandbox) Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Date", s.Clock.Now().UTC().Format(http.TimeFormat))
		s.mux.ServeHTTP(w, r)
	})
}

// OnAdvance sets the function that runs after the clock was moved and before the control endpoint
// responds. The function returns whether all work that became due is done, and the endpoint's response
// shows that. Set it before serving.
func (s *Sandbox) OnAdvance(fn func(ctx context.Context, offset time.Duration) (settled bool, err error)) {
	s.moving.Lock()
	defer s.moving.Unlock()
	s.onAdvance = fn
}

// Release ends the responses that are held open, and no response is held open afterwards.
func (s *Sandbox) Release() {
	s.Books.Release()
	for _, p := range s.parts {
		if p.Own != nil {
			p.Own.Release()
		}
	}
}

// Close releases the held responses, stops the sender and closes the books. Stop serving before you
// call Close.
func (s *Sandbox) Close() {
	s.Release()
	s.stop()
	<-s.stopped
	s.closeBooks()
}

func (s *Sandbox) closeBooks() {
	for _, p := range s.parts {
		if p.Own != nil {
			p.Own.Close()
		}
	}
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

// sendDue carries out every late request that is due, and sends every notice that is due.
func (s *Sandbox) sendDue(ctx context.Context) error {
	err := s.CarryOut(ctx)
	for _, p := range s.parts {
		if p.Own != nil {
			err = errors.Join(err, p.Own.CarryOut(ctx))
		}
		if p.Outbox != nil {
			err = errors.Join(err, p.Outbox.Deliver(ctx))
		}
	}
	return err
}
