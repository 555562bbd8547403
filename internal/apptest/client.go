package apptest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/app"
)

// Client calls the API of a program as a company. It gets an access token before its first request.
type Client struct {
	app.Credentials
	t    testing.TB
	http *http.Client

	mu    sync.Mutex
	token string
}

func newClient(t testing.TB, c app.Credentials) *Client {
	return NewClient(t, c, &http.Transport{MaxIdleConnsPerHost: 32})
}

// NewClient returns a client of a company that reaches its program through the transport.
func NewClient(t testing.TB, c app.Credentials, through http.RoundTripper) *Client {
	return &Client{Credentials: c, t: t, http: &http.Client{
		Timeout:   40 * time.Second, // a long poll may take 30 seconds
		Transport: through,
	}}
}

// As returns a client of the same program for a different company or API key.
func (c *Client) As(reference, apiKey string, settlementID int64) *Client {
	other := c.Credentials
	other.Reference, other.APIKey, other.SettlementID = reference, apiKey, settlementID
	return &Client{Credentials: other, t: c.t, http: c.http}
}

// WithTimeout returns a client of the same company with a different timeout.
func (c *Client) WithTimeout(limit time.Duration) *Client {
	return &Client{Credentials: c.Credentials, t: c.t, http: &http.Client{Timeout: limit, Transport: c.http.Transport}}
}

// Answer is an HTTP response.
type Answer struct {
	Status int
	Header http.Header
	Body   string
}

// String returns the response as text for the message of a failed test.
func (a Answer) String() string { return fmt.Sprintf("%d %s", a.Status, strings.TrimSpace(a.Body)) }

// Into decodes the response's body into v.
func (a Answer) Into(t testing.TB, v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(a.Body), v); err != nil {
		t.Fatalf("not the expected JSON: %s: %v", a, err)
	}
}

// Message returns the message in the response's body, in whichever form the API uses on this path.
func (a Answer) Message() string {
	var b struct{ Message string }
	if json.Unmarshal([]byte(a.Body), &b) != nil {
		return ""
	}
	return b.Message
}

// Want fails the test unless the response has this status. It returns the response.
func (a Answer) Want(t testing.TB, status int) Answer {
	t.Helper()
	if a.Status != status {
		t.Fatalf("want status %d, got %s", status, a)
	}
	return a
}

// Raw sends a request without an access token and reads the response. It sends body as JSON,
// unless body is nil or a string. In headers, each name is followed by its value.
func (c *Client) Raw(ctx context.Context, method, path string, body any, headers ...string) (Answer, error) {
	var reader io.Reader
	switch b := body.(type) {
	case nil:
	case string:
		reader = strings.NewReader(b)
	default:
		text, err := json.Marshal(b)
		if err != nil {
			return Answer{}, err
		}
		reader = bytes.NewReader(text)
	}
	r, err := http.NewRequestWithContext(ctx, method, c.BaseURL+path, reader)
	if err != nil {
		return Answer{}, err
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	res, err := c.http.Do(r)
	if err != nil {
		return Answer{}, err
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	return Answer{Status: res.StatusCode, Header: res.Header, Body: string(text)}, err
}

// Try sends a request as the company. If the access token has expired, Try gets a new token and
// repeats the request.
func (c *Client) Try(ctx context.Context, method, path string, body any, headers ...string) (Answer, error) {
	for again := true; ; again = false {
		token, err := c.bearer(ctx)
		if err != nil {
			return Answer{}, err
		}
		a, err := c.Raw(ctx, method, path, body, append([]string{"Authorization", "Bearer " + token}, headers...)...)
		if err != nil || !again || a.Status != http.StatusForbidden || a.Message() != "Invalid or expired access token" {
			return a, err
		}
		c.forget(token)
	}
}

// Do sends a request as Try does, and fails the test if no response comes.
func (c *Client) Do(method, path string, body any, headers ...string) Answer {
	c.t.Helper()
	a, err := c.Try(c.t.Context(), method, path, body, headers...)
	if err != nil {
		c.t.Fatalf("%s %s: %v", method, path, err)
	}
	return a
}

// Data sends a GET request. It expects status 200, and decodes the data of the response into v.
func (c *Client) Data(path string, v any) {
	c.t.Helper()
	var envelope struct{ Data json.RawMessage }
	c.Do(http.MethodGet, path, nil).Want(c.t, http.StatusOK).Into(c.t, &envelope)
	if err := json.Unmarshal(envelope.Data, v); err != nil {
		c.t.Fatalf("GET %s: %v: %s", path, err, envelope.Data)
	}
}

func (c *Client) forget(token string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.token == token {
		c.token = ""
	}
}

// bearer returns an access token. The first time, it exchanges the API key for the token.
func (c *Client) bearer(ctx context.Context) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.token != "" {
		return c.token, nil
	}
	tokens, a, err := c.Tokens(ctx)
	if err != nil {
		return "", err
	}
	if tokens.AccessToken == "" {
		return "", fmt.Errorf("no tokens: %s", a)
	}
	c.token = tokens.AccessToken
	return c.token, nil
}

// Tokens are the access token and the refresh token that the API gives for an API key.
type Tokens struct{ AccessToken, RefreshToken string }

// Tokens exchanges the company's API key for tokens.
func (c *Client) Tokens(ctx context.Context) (Tokens, Answer, error) {
	var tokens Tokens
	a, err := c.Raw(ctx, http.MethodPost, "/api/v1/auth/generate-token/"+c.Reference, nil, "X-Api-Key", c.APIKey)
	if err == nil && a.Status == http.StatusOK {
		err = json.Unmarshal([]byte(a.Body), &tokens)
	}
	return tokens, a, err
}

// Eventually repeats check until check returns "". If this takes too long, it fails the test with
// the last text. Use it only for background work. The effect of a request must be visible as soon
// as its response has arrived.
func Eventually(t testing.TB, check func() string) {
	t.Helper()
	limit := time.NewTimer(time.Minute)
	defer limit.Stop()
	look := time.NewTicker(15 * time.Millisecond)
	defer look.Stop()
	for {
		wrong := check()
		if wrong == "" {
			return
		}
		select {
		case <-look.C:
		case <-limit.C:
			t.Fatalf("not within a minute: %s", wrong)
		}
	}
}
