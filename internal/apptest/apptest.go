// Package apptest runs the whole program for a test, on either database. The test calls the
// program over HTTP, as a company does. The sandbox replaces the providers.
//
// A Home is a folder and a database. A Program runs in the process of the test, so the test
// can read its parts. A Child runs in a separate process, so the test can kill it. Several
// programs may share a Home, one after the other or in parallel. Program and Child both
// embed a Client, which calls the API as the development company.
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

// Home is the folder and the database of a program. It still exists after the program has ended.
type Home struct {
	Data, Database string
}

// NewHome returns an empty home that is removed when the test ends.
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

// freshBooks returns the database file of an unused sandbox. The file is created only once in each
// process, since the creation of the sandbox's key takes longer than the rest of a start.
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

// Option changes the configuration with which a program starts.
type Option func(*app.Config)

// Window sets the timeout of a call to a provider. A test in which the provider's reply is lost
// waits as long as this timeout.
func Window(d time.Duration) Option { return func(c *app.Config) { c.Window = d } }

// EpochFile sets the path of the epoch file.
func EpochFile(path string) Option { return func(c *app.Config) { c.EpochFile = path } }

// Checkpoints sets the folder of the second place for checkpoints.
func Checkpoints(folder string) Option {
	return func(c *app.Config) { c.CheckpointFolder = folder }
}

// Drain sets how long the program still serves after the signal to stop.
func Drain(d time.Duration) Option { return func(c *app.Config) { c.Serve.Drain = d } }

// AroundBanks wraps the plugs of all banks.
func AroundBanks(wrap func(provider.Bank) provider.Bank) Option {
	return func(c *app.Config) { c.AroundBanks = wrap }
}

// Banks configures the names of the sandbox's banks, and the routes that decide which bank does
// which work.
func Banks(routes string, names ...string) Option {
	return func(c *app.Config) {
		for _, name := range names {
			c.Banks[name] = app.SafeHavenConfig{}
		}
		c.BankRoutes = routes
	}
}

// Around wraps the plugs of all billers.
func Around(wrap func(provider.Biller) provider.Biller) Option {
	return func(c *app.Config) { c.Around = wrap }
}

// window is longer than usual in tests, since a timeout on a slow machine would turn a delivery
// into an unknown outcome.
const window = 4 * time.Second

func (h Home) config(options []Option) app.Config {
	cfg := app.DevConfig(h.Data, h.Database)
	cfg.Window = window
	cfg.ExperimentalCitus = dbtest.HasCitus()
	for _, o := range options {
		o(&cfg)
	}
	return cfg
}

// Program is a whole program in the process of the test.
type Program struct {
	*Client
	App  *app.App
	Home Home
	// Altered means that the test has changed rows in the database by hand. Then Stop does not check
	// that the rows agree.
	Altered bool

	stop           context.CancelFunc
	stopped        chan struct{}
	once, compared sync.Once
	err            error
}

// Start runs a program in a new home until the test ends.
func Start(t testing.TB, dialect db.Dialect, options ...Option) *Program {
	t.Helper()
	return NewHome(t, dialect).Start(t, options...)
}

// Start runs a program in this home. The program ends at the latest when the test ends. A second
// program in the same home uses the company that the first program created.
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

// Stop stops the program in the same way as a signal, and waits until it has ended. It fails the
// test if the ledger or other copies of the same facts do not agree.
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

// Sound fails the test if two copies of the same fact in the database disagree. It reads the
// database at one moment, so the program may continue to work. It does nothing if the database is
// unavailable.
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

// Stopping makes the program stop but, unlike Stop, does not wait for its end. Before that, it
// checks that all copies of each fact agree, since the database will be closed.
func (p *Program) Stopping() {
	p.compared.Do(func() {
		if !p.Altered {
			p.Sound(p.t)
		}
	})
	p.stop()
}

// testLog writes a program's warnings to the log of its test.
type testLog struct{ t testing.TB }

// Write never fails. It drops text that comes after the end of the test.
func (l testLog) Write(b []byte) (int, error) {
	if l.t.Context().Err() == nil {
		l.t.Log(strings.TrimSpace(string(b)))
	}
	return len(b), nil
}

var _ io.Writer = testLog{}
