// Package kobo is the client of a Kobo server.
//
// A [Client] exchanges and refreshes tokens, sends an Idempotency-Key with every POST that creates or
// moves, and repeats a request only where a repetition is safe. Payments return an [Outcome]:
// [Succeeded], [Declined] or [Unknown]. [Client.API] has every call of the contract.
package kobo

import (
	"crypto/rand"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/clients/go/api"
)

type (
	// Kobo is an amount of money in kobo. One naira has 100 kobo.
	Kobo = api.Kobo
	// Reason is the word of the header Kobo-Reason. The package api has a constant for each word.
	Reason = api.Reason
)

// Options are the settings of a client. The zero value of each field stands for its default.
type Options struct {
	// Transport sends the requests. The default is http.DefaultTransport.
	Transport http.RoundTripper
	// Timeout is the most time for one try of a request. The default is a minute. It must be longer than
	// the 30 seconds for which the event feed waits.
	Timeout time.Duration
	// Tries is the most tries of a request. The default is 5.
	Tries int
	// LongestWait is the longest wait before another try. If the server requests a longer wait, the client
	// returns the refusal. The default is 30 seconds.
	LongestWait time.Duration
}

// Client calls a Kobo server as one company. Goroutines may share a Client.
type Client struct {
	base      string
	reference string
	apiKey    string
	http      http.Client
	tries     int
	longest   time.Duration
	api       *api.ClientWithResponses
	tokens    tokens
	feed      tail
}

// New returns a client of the server at a base URL, such as "https://kobo.example.com". The company's
// reference and API key are those of its onboarding. New sends nothing.
func New(baseURL, reference, apiKey string, options Options) (*Client, error) {
	base, err := url.Parse(baseURL)
	switch {
	case err != nil:
		return nil, err
	case base.Host == "" || base.User != nil || base.RawQuery != "" || base.Fragment != "":
		return nil, errors.New("kobo: the base URL has only a scheme, a host and a path")
	case base.Scheme != "https" && !loopback(base.Hostname()):
		return nil, errors.New("kobo: the base URL must begin with https, because requests contain credentials")
	case reference == "" || apiKey == "":
		return nil, errors.New("kobo: the reference or the API key is empty")
	}
	c := &Client{base: strings.TrimSuffix(base.String(), "/"), reference: reference, apiKey: apiKey, tries: options.Tries, longest: options.LongestWait}
	c.tokens.turn = make(chan struct{}, 1)
	c.http = http.Client{Transport: options.Transport, Timeout: options.Timeout, CheckRedirect: noRedirect}
	if c.http.Timeout == 0 {
		c.http.Timeout = time.Minute
	}
	if c.tries == 0 {
		c.tries = 5
	}
	if c.longest == 0 {
		c.longest = 30 * time.Second
	}
	c.api, err = api.NewClientWithResponses(c.base, api.WithHTTPClient(c))
	return c, err
}

// API returns all calls of the contract, with the tokens, keys and retries of the client. A refusal is
// an error of the type *Refusal. A 202 is no error: JSON202 of the response has the approval that waits,
// and nothing has happened yet. For payments, use the methods of Client that return an Outcome.
func (c *Client) API() *api.ClientWithResponses { return c.api }

// ParseNaira reads an amount in naira, such as "1500" or "1500.50". It never uses a float.
func ParseNaira(text string) (Kobo, error) { return api.ParseNaira(text) }

// NewKey returns a new Idempotency-Key. Store the key with the order before you send the order.
func NewKey() string { return rand.Text() }

// loopback reports whether a host is this machine.
func loopback(host string) bool { return host == "localhost" || host == "127.0.0.1" || host == "::1" }

// noRedirect makes a redirect the response, so that no other address receives the credentials.
func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
