package app

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/kobo-waas/kobo/internal/fault"
)

// healthy says that the process is alive; it asks nothing.
func healthy(w http.ResponseWriter, _ *http.Request) {
	sayHealth(w, http.StatusOK, map[string]string{"status": "ok"})
}

// ready says whether requests can be answered: the database can be written to,
// its schema is ours or serves us, the worker is at work, the companies' door is
// open, and nobody has told the program to stop.
func (a *App) ready(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), 3*time.Second)
	defer cancel()
	checks := map[string]string{"database": "ok", "migrations": "ok", "workers": "ok"}
	status := http.StatusOK
	fail := func(what, why string) {
		checks[what] = why
		status = http.StatusServiceUnavailable
	}
	if err := a.DB.Ping(ctx); err != nil {
		fail("database", "away")
		fail("migrations", "unknown")
	} else if err := a.DB.Fits(ctx); err != nil {
		fail("migrations", "not those of this program")
	}
	if !a.Worker.Healthy() {
		fail("workers", "not at work")
	}
	if a.closed.Load() {
		fail("door", "closed by an operator, or since a restore")
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

func sayHealth(w http.ResponseWriter, status int, body map[string]string) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	if status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", fault.New(fault.Unavailable, "").RetryAfter())
	}
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // who asked has gone, if this fails
}

func (a *App) metrics() http.Handler {
	a.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return promhttp.HandlerFor(a.registry, promhttp.HandlerOpts{})
}
