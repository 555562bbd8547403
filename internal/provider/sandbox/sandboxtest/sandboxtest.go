// Package sandboxtest opens sandboxes for tests. It sends requests to them directly, without a
// plug.
package sandboxtest

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/provider/sandbox"
	"github.com/kobo-waas/kobo/internal/provider/sandbox/books"
)

// Open opens a sandbox until the test ends. If cfg has no path, the books are in a temporary folder
// of the test. Lost responses are held for 300 ms, unless cfg states another time.
func Open(t *testing.T, cfg sandbox.Config, providers ...books.Provider) *sandbox.Sandbox {
	t.Helper()
	if cfg.Path == "" {
		cfg.Path = filepath.Join(t.TempDir(), "sandbox.db")
	}
	if cfg.Hold == 0 {
		cfg.Hold = 300 * time.Millisecond
	}
	s, err := sandbox.Open(t.Context(), cfg, providers...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// Executions returns how often a provider carried out the requests with a reference. The function
// requests returns the provider's list of these requests.
func Executions(t *testing.T, requests func(context.Context, string) ([]books.Row, error), reference string) (n int) {
	t.Helper()
	rows, err := requests(t.Context(), reference)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		n += int(r.Executions)
	}
	return n
}

// Caller sends requests that all have the same headers.
type Caller struct {
	T      *testing.T
	Header http.Header
	base   string
}

// NewCaller serves a handler until the test ends and returns a Caller of it.
func NewCaller(t *testing.T, handler http.Handler) *Caller {
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return &Caller{T: t, Header: http.Header{"Content-Type": {"application/json"}}, base: server.URL}
}

// Do sends a request and decodes the response. A body that is a string is sent unchanged; any other
// body is sent as JSON.
func (c *Caller) Do(method, path string, body any) (int, map[string]any) {
	c.T.Helper()
	var in io.Reader
	switch b := body.(type) {
	case nil:
	case string:
		in = strings.NewReader(b)
	default:
		text, err := json.Marshal(b)
		if err != nil {
			c.T.Fatal(err)
		}
		in = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(c.T.Context(), method, c.base+path, in)
	if err != nil {
		c.T.Fatal(err)
	}
	req.Header = c.Header.Clone()
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		c.T.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	var out map[string]any
	d := json.NewDecoder(res.Body)
	d.UseNumber()
	if err := d.Decode(&out); err != nil {
		c.T.Fatalf("%s %s: HTTP %d: %v", method, path, res.StatusCode, err)
	}
	return res.StatusCode, out
}
