package app

import (
	"context"
	"regexp"
	"slices"

	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// hostsOnly exports spans without the paths and queries of URLs. A node's API key stands in the path of its URL, and a
// customer's e-mail address in the path of a request. The host and the route stay.
type hostsOnly struct{ sdktrace.SpanExporter }

// ExportSpans exports the spans without paths and queries.
func (e hostsOnly) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	out := make([]sdktrace.ReadOnlySpan, len(spans))
	for i, s := range spans {
		out[i] = pathless{s}
	}
	return e.SpanExporter.ExportSpans(ctx, out)
}

// pathless is a span without the paths and queries of URLs.
type pathless struct{ sdktrace.ReadOnlySpan }

// pathAttributes are the attributes whose value has a path or a query. The last two are the names of older conventions.
var pathAttributes = []attribute.Key{"url.full", "url.path", "url.query", "http.url", "http.target"}

// Attributes returns the attributes without those that have a path or a query.
func (p pathless) Attributes() []attribute.KeyValue {
	return slices.DeleteFunc(slices.Clone(p.ReadOnlySpan.Attributes()), func(a attribute.KeyValue) bool {
		return slices.Contains(pathAttributes, a.Key)
	})
}

// Events returns the events. URLs in their texts end after the host.
func (p pathless) Events() []sdktrace.Event {
	events := slices.Clone(p.ReadOnlySpan.Events())
	for i, e := range events {
		events[i].Attributes = slices.Clone(e.Attributes)
		for j, a := range e.Attributes {
			if a.Value.Type() == attribute.STRING {
				events[i].Attributes[j].Value = attribute.StringValue(untilHost(a.Value.AsString()))
			}
		}
	}
	return events
}

// Status returns the status. URLs in its text end after the host.
func (p pathless) Status() sdktrace.Status {
	status := p.ReadOnlySpan.Status()
	status.Description = untilHost(status.Description)
	return status
}

// urlInText finds a URL. It captures the scheme, and the host without a user and a password.
var urlInText = regexp.MustCompile(`([A-Za-z][A-Za-z0-9+.-]*://)(?:[^\s"/?#]*@)?([^\s"/?#]*)[^\s"]*`)

// untilHost returns a text in which each URL ends after its host.
func untilHost(s string) string { return urlInText.ReplaceAllString(s, "$1$2") }
