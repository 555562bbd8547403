package app

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/kobo-waas/kobo/internal/api"
)

// Listeners contains the listeners of a program. If Admin or Metrics is nil, Public also serves that
// part of the program.
type Listeners struct{ Public, Admin, Metrics net.Listener }

// OpenListeners opens a listener for each address in the settings.
func (c Config) OpenListeners() (on Listeners, err error) {
	for _, one := range []struct {
		into    *net.Listener
		address string
	}{{&on.Public, c.Listen}, {&on.Admin, c.AdminListen}, {&on.Metrics, c.MetricsListen}} {
		if one.address == "" {
			continue
		}
		if *one.into, err = net.Listen("tcp", one.address); err != nil {
			on.Close()
			return on, err
		}
	}
	return on, nil
}

// Close closes all listeners. It closes a listener again without an error.
func (l Listeners) Close() {
	for _, one := range []net.Listener{l.Public, l.Admin, l.Metrics} {
		if one != nil {
			_ = one.Close() // an error means that the listener is closed already
		}
	}
}

// part is a group of paths that may have a separate address.
type part string

const (
	publicPart   part = "public" // all paths that belong to no other part
	adminPart    part = "admin"
	metricsPart  part = "metrics"
	callbackPart part = "callbacks" // has a separate address only in sandbox mode with TLS
)

// partOf returns the part to which a path belongs.
func partOf(path string) part {
	switch first, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/"); first {
	case "admin", "metrics", "callbacks":
		return part(first)
	case "console":
		return adminPart
	}
	return publicPart
}

// partKey is the context key for the part that a listener serves.
type partKey struct{}

// serves reports whether the listener that received a request serves the request's path. The public
// listener serves each part without a separate listener. Only the public listener and the one for
// metrics serve /healthz and /readyz.
func (a *App) serves(r *http.Request) bool {
	at, ok := r.Context().Value(partKey{}).(part)
	of := partOf(r.URL.Path)
	switch {
	case !ok || at == publicPart:
		return !a.apart[of]
	case at == metricsPart && (r.URL.Path == "/healthz" || r.URL.Path == "/readyz"):
		return true
	}
	return at == of
}

// front is the HTTP server of one listener.
type front struct {
	*http.Server
	listener net.Listener
}

// serve accepts connections until the server is shut down.
func (f front) serve() error {
	if f.TLSConfig != nil {
		return f.ServeTLS(f.listener, "", "") // the configuration has the certificate
	}
	return f.Serve(f.listener)
}

// fronts returns a server for each listener. All servers share the handler.
func (a *App) fronts(on Listeners, handler http.Handler, unused *newConnections) ([]front, error) {
	var all []front
	for _, one := range []struct {
		part     part
		listener net.Listener
		pair     *keyPair
	}{
		{publicPart, on.Public, newKeyPair(a.cfg.TLS.CertFile, a.cfg.TLS.KeyFile)},
		{adminPart, on.Admin, newKeyPair(a.cfg.TLS.AdminCertFile, a.cfg.TLS.AdminKeyFile)},
		{metricsPart, on.Metrics, newKeyPair(a.cfg.TLS.MetricsCertFile, a.cfg.TLS.MetricsKeyFile)},
	} {
		if one.listener == nil {
			continue
		}
		f := front{a.server(one.part, handler, unused), one.listener}
		if one.pair != nil {
			if err := a.secure(f.Server, one.pair); err != nil {
				return nil, err
			}
		}
		all = append(all, f)
	}
	return a.withPlainCallbacks(all, handler, unused)
}

// withPlainCallbacks adds a server on loopback, without TLS, if the sandbox's providers cannot send
// their notifications to the public one, because that one has TLS.
func (a *App) withPlainCallbacks(all []front, handler http.Handler, unused *newConnections) ([]front, error) {
	if a.sandbox == nil || all[0].TLSConfig == nil {
		return all, nil
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	return append(all, front{a.server(callbackPart, handler, unused), l}), nil
}

// server returns the HTTP server of one part.
func (a *App) server(of part, handler http.Handler, unused *newConnections) *http.Server {
	server := &http.Server{
		Handler: handler, ConnState: unused.track, ErrorLog: slog.NewLogLogger(a.log.Handler(), slog.LevelWarn),
		BaseContext:       func(net.Listener) context.Context { return context.WithValue(context.Background(), partKey{}, of) },
		ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 30 * time.Second, IdleTimeout: 2 * time.Minute,
		WriteTimeout: a.cfg.Window + time.Minute, MaxHeaderBytes: api.MaxHeader, // net/http adds 4096 bytes to this limit, and counts spaces that the check in package api never sees
	}
	server.RegisterOnShutdown(a.Events.Close)
	server.RegisterOnShutdown(unused.closeSoon)
	return server
}

// shutDownAll shuts all servers down in parallel.
func shutDownAll(ctx context.Context, all []front) error {
	var group errgroup.Group
	for _, f := range all {
		group.Go(func() error { return f.Shutdown(ctx) })
	}
	return group.Wait()
}

// closeAll closes all servers and their connections immediately.
func closeAll(all []front) {
	for _, f := range all {
		_ = errors.Join(f.Close(), f.listener.Close()) // an error means that the server is closed already
	}
}
