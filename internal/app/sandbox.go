package app

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/provider/sandbox"
	"github.com/kobo-waas/kobo/internal/provider/sandbox/books"
	"github.com/kobo-waas/kobo/internal/webhook"
)

// Simulated is the sandbox server with the simulated providers that it runs.
type Simulated struct {
	*sandbox.Sandbox
	Providers map[string]books.Provider // by their names in the configuration
	further   []string                  // names of the banks that have separate books
}

// OpenSimulated opens the sandbox with the configured providers. The default bank uses the books
// that the providers share. Each further bank has separate books.
func OpenSimulated(ctx context.Context, c Config, cfg sandbox.Config) (s *Simulated, err error) {
	s = &Simulated{Providers: map[string]books.Provider{}}
	var list []books.Provider
	accounts, banks, first := c.accounts(), c.banks(), c.defaultBank()
	for _, name := range slices.Sorted(maps.Keys(accounts)) {
		p := accounts[name].simulated()
		s.Providers[name] = p
		if banks[name] != nil && first == "" {
			first = name
		}
		if b, ok := p.(sandbox.Bank); ok && name != first {
			s.further = append(s.further, name)
			p = sandbox.Further(name, b)
		}
		list = append(list, p)
	}
	s.Sandbox, err = sandbox.Open(ctx, cfg, list...)
	return s, err
}

// sandboxMode replaces the real providers in sandbox mode. It has a clock that can be moved. It
// also has a server on loopback that uses the data formats of the real providers. The plugs call
// that server over HTTP, as they would call real providers.
type sandboxMode struct {
	*Simulated
	clock  *clock.Movable
	server *http.Server
	base   string
	log    *slog.Logger
}

func openSandbox(ctx context.Context, cfg Config, log *slog.Logger) (*sandboxMode, error) {
	err := os.MkdirAll(cfg.Data, 0o700)
	if err != nil {
		return nil, err
	}
	s := &sandboxMode{clock: &clock.Movable{}, log: log}
	s.Simulated, err = OpenSimulated(ctx, cfg, sandbox.Config{
		Path: filepath.Join(cfg.Data, "sandbox.db"), Clock: s.clock, Hold: cfg.Window, Dial: cfg.dial(),
	})
	if err != nil {
		return nil, err
	}
	listener, err := cfg.listen("127.0.0.1:0")
	if err != nil {
		s.Close()
		return nil, err
	}
	s.base = "http://" + listener.Addr().String()
	handler := s.Handler()
	if cfg.AroundProviders != nil {
		handler = cfg.AroundProviders(handler)
	}
	s.server = &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	go func() {
		if err := s.server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			log.Error("the sandbox server ended", "error", err)
		}
	}()
	return s, nil
}

// provider returns a simulated provider by its name. It returns nil in live mode.
func (s *sandboxMode) provider(name string) books.Provider {
	if s == nil {
		return nil
	}
	return s.Providers[name]
}

// address returns the base URL of a simulated provider.
func (s *sandboxMode) address(name string) string {
	if slices.Contains(s.further, name) {
		return s.base + sandbox.BankPath(name)
	}
	return s.base
}

// setCallbacks sets the URL to which each simulated provider sends its notifications. The program's
// port may change at the next start, so the simulated accounts do not store a URL.
func (s *sandboxMode) setCallbacks(listening net.Addr, pathOf func(name string) string) error {
	_, port, err := net.SplitHostPort(listening.String())
	for name, p := range s.Providers {
		if n, ok := p.(interface{ SetCallback(url string) error }); ok && err == nil {
			err = n.SetCallback("http://127.0.0.1:" + port + pathOf(name))
		}
	}
	return err
}

// settleTime is how long a request that moves the clock waits for the work that has become due.
const settleTime = 3 * time.Second

// follow makes each request that moves the clock wait until the worker and the webhook sender have
// done the work that became due, for at most settleTime.
func (s *sandboxMode) follow(worker *job.Worker, sender *webhook.Service) {
	s.OnAdvance(func(ctx context.Context, _ time.Duration) (settled bool, err error) {
		ctx, cancel := context.WithTimeout(ctx, settleTime)
		defer cancel()
		// Both run concurrently, because the work of one may only finish after the work of the other.
		sent := make(chan error, 1)
		go func() { sent <- sender.Settled(ctx) }()
		settled = true
		for _, err := range []error{worker.Settled(ctx), <-sent} {
			late := errors.Is(err, context.DeadlineExceeded)
			if err != nil && !late {
				return false, err
			}
			settled = settled && !late
		}
		return settled, nil
	})
}

// watch updates this program's clock after another program that uses the same books has moved the
// clock.
func (s *sandboxMode) watch(ctx context.Context) time.Duration {
	if err := s.Follow(ctx); err != nil && ctx.Err() == nil {
		s.log.Warn("the sandbox's clock cannot be read", "error", err)
	}
	return 200 * time.Millisecond
}

func (s *sandboxMode) close() {
	s.Release()
	_ = s.server.Close() // this also closes the connections of the simulated providers
	s.Close()
}
