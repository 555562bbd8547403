package app

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/provider/safehaven"
	"github.com/kobo-waas/kobo/internal/provider/sandbox"
	"github.com/kobo-waas/kobo/internal/provider/vtpass"
	"github.com/kobo-waas/kobo/internal/webhook"
)

// world is what sandbox mode has instead of real providers: a server on
// loopback that speaks their wire formats, and a clock that can be moved. The
// plugs reach it over HTTP like any other address.
type world struct {
	sandbox *Simulated
	clock   *clock.Movable
	server  *http.Server
	base    string
	log     *slog.Logger
}

func openWorld(ctx context.Context, cfg Config, log *slog.Logger) (*world, error) {
	err := os.MkdirAll(cfg.Data, 0o700)
	if err != nil {
		return nil, err
	}
	w := &world{clock: &clock.Movable{}, log: log}
	w.sandbox, err = OpenSimulated(ctx, sandbox.Config{
		Path: filepath.Join(cfg.Data, "sandbox.db"), Clock: w.clock, Hold: cfg.Window,
	})
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		w.sandbox.Close()
		return nil, err
	}
	w.base = "http://" + listener.Addr().String()
	w.server = &http.Server{Handler: w.sandbox.Handler(), ReadHeaderTimeout: 10 * time.Second}
	go func() {
		if err := w.server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			log.Error("the sandbox server ended", "error", err)
		}
	}()
	return w, nil
}

func (w *world) vtpass() vtpass.Config { return w.sandbox.VTpass.PlugConfig(w.base) }

func (w *world) safehaven() safehaven.Config { return w.sandbox.SafeHaven.PlugConfig(w.base) }

// callBack has the pretend bank tell of payments at this program's own door.
// Accounts carry no address of their own here, since the port may be another
// one after the next start.
func (w *world) callBack(listening net.Addr, path string) error {
	_, port, err := net.SplitHostPort(listening.String())
	if err != nil {
		return err
	}
	base := "http://127.0.0.1:" + port
	return errors.Join(w.sandbox.SafeHaven.SetCallback(base+path), w.sandbox.Tatum.SetCallback(base+tatumPath))
}

// settle is how long a move of the clock waits for what it made due.
const settle = 3 * time.Second

// follow has the worker and the sender do what becomes due when the clock is
// moved, before the one who moved it gets an answer.
func (w *world) follow(worker *job.Worker, sender *webhook.Service) {
	w.sandbox.OnAdvance(func(ctx context.Context, _ time.Duration) error {
		ctx, cancel := context.WithTimeout(ctx, settle)
		defer cancel()
		// Side by side: neither shall wait for what the other cannot finish.
		sent := make(chan error, 1)
		go func() { sent <- sender.Settled(ctx) }()
		for _, err := range []error{worker.Settled(ctx), <-sent} {
			if err != nil && !errors.Is(err, context.DeadlineExceeded) {
				return err
			}
		}
		return nil
	})
}

// watch keeps this program's clock where another program on the same books has
// moved it.
func (w *world) watch(ctx context.Context) {
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if err := w.sandbox.Follow(ctx); err != nil && ctx.Err() == nil {
			w.log.Warn("the sandbox's clock cannot be read", "error", err)
		}
	}
}

func (w *world) close() {
	w.sandbox.Release()
	_ = w.server.Close() // the connections of a pretend provider
	w.sandbox.Close()
}
