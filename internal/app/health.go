package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/fault"
)

// healthy responds that the process is running, and whether it may move real money.
func (a *App) healthy(w http.ResponseWriter, _ *http.Request) {
	sayHealth(w, http.StatusOK, map[string]string{"status": "ok", "environment": string(a.cfg.Mode.Environment())})
}

// writeAge is the time without a successful write to the database after which a program counts as
// not ready.
const writeAge = 15 * time.Second

// ready reports whether the program can serve requests. It checks the database and its schema, as they were at
// most a second ago (probe), the last write to the database, the keys, the background worker, and whether the program is stopping. Closed API access counts
// as not ready only in a check with ?for=companies, which a load balancer for companies uses.
// Operators and providers are still served while API access is closed.
func (a *App) ready(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), probeLimit)
	defer cancel()
	checks := map[string]string{"database": "ok", "migrations": "ok", "workers": "ok", "writes": "ok", "environment": string(a.cfg.Mode.Environment())}
	status := http.StatusOK
	fail := func(what, why string) {
		checks[what] = why
		status = http.StatusServiceUnavailable
	}
	if found := a.probe.outcome(ctx); found.away != nil {
		fail("database", "away")
		fail("migrations", "unknown")
	} else if found.unfit != nil {
		fail("migrations", misfit(found.unfit))
	}
	if !a.Worker.Healthy() {
		fail("workers", "not at work")
	}
	if raised := a.Deployment.Raised(); raised.IsZero() {
		fail("writes", "none yet")
	} else if age := a.cfg.machine().Now().Sub(raised); age >= writeAge {
		fail("writes", fmt.Sprintf("none for %d s", age/time.Second))
	}
	switch err := a.Keyring.Wrong(); {
	case fault.Is(err, fault.Refused):
		fail("keys", "a keyring lacks a key of this database")
	case err != nil: // the program serves on with the keys that it has
		checks["keys"] = "a keyring cannot be read again: see the log"
	}
	if a.closed.Load() {
		checks["door"] = "closed"
		if r.URL.Query().Get("for") == "companies" {
			status = http.StatusServiceUnavailable
		}
	}
	if !a.FourEyes() {
		checks["four_eyes"] = "off"
	}
	if a.leaving.Load() {
		fail("program", "leaving")
	}
	checks["status"] = "ready"
	if status != http.StatusOK {
		checks["status"] = "not ready"
	}
	sayHealth(w, status, checks)
}

// misfit says what an error of the check of the schema means. A database that did not answer says nothing
// about its schema.
func misfit(err error) string {
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) || db.Classify(err) != db.Other {
		return "unknown"
	}
	return "not those of this program"
}

// within calls ask, which queries the database, but waits no longer than the context allows. While
// another connection locks the file, SQLite ignores the context, and the call of ask continues
// until SQLite's own timeout. At most one such call runs, since there is only one connection for
// writes.
func within(ctx context.Context, ask func(context.Context) error) error {
	said := make(chan error, 1)
	go func() { said <- ask(ctx) }()
	select {
	case err := <-said:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// machine returns the machine's clock, which the sandbox does not move.
func (c Config) machine() clock.Clock {
	if c.Machine != nil {
		return c.Machine
	}
	return clock.System{}
}

func sayHealth(w http.ResponseWriter, status int, body map[string]string) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	if status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", fault.New(fault.Unavailable, "").RetryAfter())
	}
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // an error means that the client has disconnected
}

func (a *App) metrics() http.Handler {
	a.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return promhttp.HandlerFor(a.registry, promhttp.HandlerOpts{})
}
