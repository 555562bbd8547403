// Package apptest runs the whole program for a test, as a company meets it:
// over HTTP, with the sandbox behind it, on either database.
//
// A Home is the folder and the database in which a program lives. A Program is
// one that runs in the test's own process and can be looked into; a Child is a
// process of its own, which can be killed. Several of them may share a Home, one
// after the other or side by side. Both are a Client: the development company
// with its tokens, asking and being answered.
package apptest

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/app"
	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/provider/sandbox"
)

// Home is where a program lives: its folder and its database. It outlives the
// program.
type Home struct {
	Data, Database string
}

// NewHome is an empty home that is removed when the test ends.
func NewHome(t testing.TB, dialect db.Dialect) Home {
	t.Helper()
	h := Home{Data: t.TempDir(), Database: dbtest.URL(t, dialect)}
	books, err := freshBooks()
	if err == nil {
		err = os.WriteFile(filepath.Join(h.Data, "sandbox.db"), books, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// freshBooks are the books of a sandbox that nobody has used yet, made once a
// process: the key in them takes longer than all the rest of a start.
var freshBooks = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "kobo-sandbox-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "sandbox.db")
	s, err := app.OpenSimulated(context.Background(), app.Defaults(), sandbox.Config{Path: path, Clock: &clock.Movable{}})
	if err != nil {
		return nil, err
	}
	s.Close()
	return os.ReadFile(path)
})

// Option changes how a program is started.
type Option func(*app.Config)

// Window sets how long a call to a provider may take before its outcome counts
// as unknown. A story that loses an answer takes as long.
func Window(d time.Duration) Option { return func(c *app.Config) { c.Window = d } }

// EpochFile sets where the epoch is written.
func EpochFile(path string) Option { return func(c *app.Config) { c.EpochFile = path } }

// Drain sets how long the program still serves once it is told to stop.
func Drain(d time.Duration) Option { return func(c *app.Config) { c.Serve.Drain = d } }

// AroundBanks wraps the plugs that hold accounts and pay out.
func AroundBanks(wrap func(provider.Bank) provider.Bank) Option {
	return func(c *app.Config) { c.AroundBanks = wrap }
}

// Banks configures banks of the sandbox, with the routes among them.
func Banks(routes string, names ...string) Option {
	return func(c *app.Config) {
		for _, name := range names {
			c.Banks[name] = app.SafeHavenConfig{}
		}
		c.BankRoutes = routes
	}
}

// Around wraps the plugs that sell.
func Around(wrap func(provider.Biller) provider.Biller) Option {
	return func(c *app.Config) { c.Around = wrap }
}

// window is generous, since a loaded machine must not turn a delivery into an
// unknown outcome.
const window = 4 * time.Second

func (h Home) config(options []Option) app.Config {
	cfg := app.DevConfig(h.Data, h.Database)
	cfg.Window = window
	for _, o := range options {
		o(&cfg)
	}
	return cfg
}

// Program is a whole program in the test's own process.
type Program struct {
	*Client
	App  *app.App
	Home Home
	// Altered says that the test has changed rows behind the program's back: Stop
	// does not hold them against one another.
	Altered bool

	stop           context.CancelFunc
	stopped        chan struct{}
	once, compared sync.Once
	err            error
}

// Start runs a program in a home of its own until the test ends.
func Start(t testing.TB, dialect db.Dialect, options ...Option) *Program {
	t.Helper()
	return NewHome(t, dialect).Start(t, options...)
}

// Start runs a program in this home, at the latest until the test ends. A second
// one finds the company of the first.
func (h Home) Start(t testing.TB, options ...Option) *Program {
	t.Helper()
	log := slog.New(slog.NewTextHandler(testLog{t}, &slog.HandlerOptions{Level: slog.LevelWarn}))
	a, credentials, err := app.OpenDev(t.Context(), h.config(options), false, log)
	if err != nil {
		t.Fatalf("apptest: %v", err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		a.Close()
		t.Fatalf("apptest: %v", err)
	}
	credentials.BaseURL = "http://" + listener.Addr().String()
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	p := &Program{Client: newClient(t, credentials), App: a, Home: h, stop: stop, stopped: make(chan struct{})}
	ready := make(chan struct{})
	go func() {
		p.err = a.Run(ctx, listener, func() { close(ready) })
		close(p.stopped)
	}()
	t.Cleanup(p.Stop)
	select {
	case <-ready:
	case <-p.stopped:
		t.Fatalf("apptest: %v", p.err)
	}
	return p
}

// Stop ends the program as a signal would, and waits until it is gone. Whatever
// the test did, the book is sound then.
func (p *Program) Stop() {
	p.once.Do(func() {
		p.Stopping()
		<-p.stopped
		p.http.CloseIdleConnections()
		if p.err != nil {
			p.t.Errorf("apptest: the program ended with %v", p.err)
		}
	})
}

// Sound fails the test unless all copies of all facts agree, at one instant of a
// program that may be at work. A database that is away says nothing.
func (p *Program) Sound(t testing.TB) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	companies, err := p.App.Reports.Companies(ctx)
	for _, company := range companies {
		v, e := p.App.Reports.Verify(ctx, company)
		err = errors.Join(err, e)
		for _, line := range v.Lines() {
			t.Errorf("verify: %s", line)
		}
	}
	switch {
	case fault.Is(err, fault.Unavailable):
		t.Logf("verify: %v", err)
	case err != nil:
		t.Errorf("verify: %v", err)
	}
}

// Stopping tells the program to end and does not wait: Stop does. The copies of all
// facts are compared before, since the database is closed at the end.
func (p *Program) Stopping() {
	p.compared.Do(func() {
		if !p.Altered {
			p.Sound(p.t)
		}
	})
	p.stop()
}

// testLog shows a program's warnings with the test they belong to.
type testLog struct{ t testing.TB }

// Write never fails; a test that has ended gets nothing more.
func (l testLog) Write(b []byte) (int, error) {
	if l.t.Context().Err() == nil {
		l.t.Log(strings.TrimSpace(string(b)))
	}
	return len(b), nil
}

var _ io.Writer = testLog{}
