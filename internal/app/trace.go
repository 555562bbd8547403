package app

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/kobo-waas/kobo/internal/clock"
)

// tracePath is the URL path at which an OTLP collector accepts traces.
const tracePath = "/v1/traces"

// tracer returns a tracer provider that sends spans to a collector. It also returns a function that
// sends the last spans and then ends the tracer provider. If no collector is configured, the tracer
// provider is nil.
func tracer(ctx context.Context, address string, log *slog.Logger) (trace.TracerProvider, func(context.Context) error, error) {
	if !tracing(address, log) {
		return nil, func(context.Context) error { return nil }, nil
	}
	// The OpenTelemetry library has one error handler and one logger for the whole process.
	wrong := &traceErrors{log: log, clock: clock.System{}, reading: true}
	otel.SetErrorHandler(wrong)
	otel.SetLogger(logr.FromSlogHandler(log.Handler()))
	var options []otlptracehttp.Option
	if address != "" {
		options = append(options, otlptracehttp.WithEndpointURL(traceURL(address)))
	}
	exporter, err := otlptracehttp.New(ctx, options...)
	if err != nil {
		return nil, nil, fmt.Errorf("configuration: traces: %w", err)
	}
	about, err := resource.New(ctx, resource.WithAttributes(attribute.String("service.name", "kobo")), resource.WithFromEnv())
	if err != nil {
		log.Warn("OTEL_RESOURCE_ATTRIBUTES cannot be read in full", "error", err)
	}
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(hostsOnly{exporter}), sdktrace.WithResource(about))
	wrong.haveRead()
	otel.SetTracerProvider(provider) // for the database's tracer
	return provider, provider.Shutdown, nil
}

// tracing reports whether traces are sent, because Kobo's setting or a standard OpenTelemetry
// variable names a collector.
func tracing(address string, log *slog.Logger) bool {
	if strings.EqualFold(os.Getenv("OTEL_SDK_DISABLED"), "true") {
		return false
	}
	exporter := os.Getenv("OTEL_TRACES_EXPORTER")
	named := os.Getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") != "" || os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT") != ""
	switch {
	case address != "":
	case exporter == "none", exporter == "" && !named:
		return false
	case exporter != "" && exporter != "otlp":
		log.Warn("traces are not sent: OTEL_TRACES_EXPORTER must be otlp or none", "value", exporter)
		return false
	}
	protocol := cmp.Or(os.Getenv("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"), os.Getenv("OTEL_EXPORTER_OTLP_PROTOCOL"), "http/protobuf")
	if protocol != "http/protobuf" {
		log.Warn("traces are sent over http/protobuf alone: OTEL_EXPORTER_OTLP_PROTOCOL has no effect", "value", protocol)
	}
	return true
}

// traceURL returns the URL for spans. It adds tracePath to an address without a path.
func traceURL(address string) string {
	u, err := url.Parse(address)
	if err != nil || strings.Trim(u.Path, "/") != "" {
		return address
	}
	u.Path = tracePath
	return u.String()
}

func checkTraces(address string) error {
	u, err := url.Parse(address)
	return errorIf(address != "" && (err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.User != nil),
		"traces must be an http or https URL without a user or a query, such as http://collector:4318")
}

// traceErrorEvery is the shortest time between two log lines about lost traces.
const traceErrorEvery = time.Minute

// traceErrors logs errors of traces, at most one line a minute.
type traceErrors struct {
	log     *slog.Logger
	clock   clock.Clock
	mu      sync.Mutex
	reading bool      // OpenTelemetry reads its environment variables; no trace is lost yet
	next    time.Time // when the next log line is allowed
	skipped int       // errors without a log line
}

// Handle logs an error that the OpenTelemetry library reports.
func (t *traceErrors) Handle(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.reading {
		t.log.Warn("a setting of traces is not heeded", "error", err)
		return
	}
	now := t.clock.Now()
	if now.Before(t.next) {
		t.skipped++
		return
	}
	t.log.Warn("traces were lost", "error", err, "more_before", t.skipped)
	t.next, t.skipped = now.Add(traceErrorEvery), 0
}

// haveRead records that the OpenTelemetry library has read its environment variables.
func (t *traceErrors) haveRead() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.reading = false
}
