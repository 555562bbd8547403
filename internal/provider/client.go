package provider

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/failsafe-go/failsafe-go"
)

// bodyLimit is the longest answer we read. No provider's answer comes near it.
const bodyLimit = 1 << 20

// ClientConfig says where a provider is and how long it may take.
type ClientConfig struct {
	BaseURL string
	// PayDeadline ends a call that moves money, ReadDeadline any other one with
	// all its repetitions. Zero means 30 and 10 seconds.
	PayDeadline  time.Duration
	ReadDeadline time.Duration
	// Around, if set, wraps the transports: for traces.
	Around func(http.RoundTripper) http.RoundTripper
}

// Client talks HTTP to one provider for a plug, and says once for all plugs
// what happened to a call. It keeps two ways apart: Pay sends a request at most
// once, whatever happens; Read may repeat it.
type Client struct {
	base          string
	payDeadline   time.Duration
	readDeadline  time.Duration
	paying, plain *http.Client
	reading       failsafe.Executor[Reply]
}

// Call is one request to a provider.
type Call struct {
	Method string
	Path   string // below the base URL, escaped, with its query
	Header http.Header
	Body   any // sent as JSON; nil sends no body
}

// Reply is what became of a Call.
type Reply struct {
	Status int // the HTTP status; 0 when none was read
	Body   []byte
	// Trouble is empty when an answer was read whole, and then the plug decides
	// by Status and Body. Otherwise it is CodeNotSent, or one of the codes after
	// which nobody knows whether the call was carried out.
	Trouble string
	// Cause is for operators. It never holds what the provider sent.
	Cause error
}

// Answer is what a Reply in trouble means for a call that moves money: rejected
// if not one byte of the request was written, unknown otherwise.
func (r Reply) Answer() Answer {
	a := Answer{Code: r.Trouble, Message: troubles[r.Trouble]}
	if r.Trouble == CodeNotSent {
		a.Outcome = Rejected
	}
	return a
}

// Error is what a Reply in trouble means for a call that moves no money.
func (r Reply) Error(provider string) *Error {
	return &Error{Provider: provider, Code: r.Trouble, Message: troubles[r.Trouble], Cause: r.Cause}
}

var troubles = map[string]string{
	CodeNotSent:     "the provider could not be reached",
	CodeTimeout:     "the provider did not answer in time",
	CodeConnection:  "the connection to the provider broke",
	CodeUnreadable:  "the provider's answer could not be read",
	CodeServerError: "the provider had a fault of its own",
}

// Wrong gathers all that is wrong with a plug's configuration, each error under
// the plug's name. Without any it is nil.
func Wrong(plug string, all ...error) error {
	var out []error
	for _, err := range all {
		if err != nil {
			out = append(out, fmt.Errorf("%s: %w", plug, err))
		}
	}
	return errors.Join(out...)
}

// NewClient is a client of the provider at cfg.BaseURL, which must be https
// unless it is on this machine.
func NewClient(cfg ClientConfig) (*Client, error) {
	base, err := url.Parse(cfg.BaseURL)
	switch {
	case err != nil || base.Host == "" || base.User != nil || base.RawQuery != "":
		return nil, errors.New("the provider's base URL cannot be read")
	case !Secure(base):
		return nil, errors.New("the provider's base URL must begin with https://")
	}
	if cfg.PayDeadline <= 0 {
		cfg.PayDeadline = 30 * time.Second
	}
	if cfg.ReadDeadline <= 0 {
		cfg.ReadDeadline = 10 * time.Second
	}
	if cfg.Around == nil {
		cfg.Around = func(t http.RoundTripper) http.RoundTripper { return t }
	}
	return &Client{
		base:         strings.TrimRight(cfg.BaseURL, "/"),
		payDeadline:  cfg.PayDeadline,
		readDeadline: cfg.ReadDeadline,
		paying:       &http.Client{Transport: cfg.Around(transport(false)), CheckRedirect: stay},
		plain:        &http.Client{Transport: cfg.Around(transport(true)), CheckRedirect: stay},
		reading:      patience(),
	}, nil
}

// Secure tells whether nobody can listen on the way to an address: it is https,
// or on this machine.
func Secure(u *url.URL) bool {
	ip := net.ParseIP(u.Hostname())
	here := u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
	return u.Scheme == "https" || u.Scheme == "http" && here
}

// stay keeps net/http from following a redirect, which would send the request,
// with its bearer, a second time and elsewhere.
func stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// transport for payments opens a connection for each request. net/http silently
// sends a request again when it dies on a connection that was kept alive; on a
// new connection it never does. HTTP/2 resends too, so it is left to reads.
func transport(keepAlive bool) *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.DialContext = (&net.Dialer{Timeout: 5 * time.Second}).DialContext
	t.TLSHandshakeTimeout = 5 * time.Second
	t.DisableKeepAlives = !keepAlive
	t.MaxIdleConnsPerHost = 16
	t.Protocols = new(http.Protocols)
	t.Protocols.SetHTTP1(true)
	t.Protocols.SetHTTP2(keepAlive)
	// A connection that something on the way has forgotten would be asked again
	// and again until the kernel gives it up, which takes a quarter of an hour.
	t.HTTP2 = &http.HTTP2Config{SendPingTimeout: 4 * time.Second, PingTimeout: 2 * time.Second}
	t.ForceAttemptHTTP2 = keepAlive
	return t
}

// Begin is the context of a payment and all that belongs to it (a token, the
// one repetition after a 401). It does not end when the caller goes away, since
// a payment cut in half is one more unknown; it ends at the deadline.
func (c *Client) Begin(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), c.payDeadline)
}

// Once is a payment of a single call, or any other call that must not be made
// twice. A caller who has already gone sends nothing; one who goes away meanwhile
// does not cut it short.
func (c *Client) Once(ctx context.Context, call Call) Reply {
	if err := ctx.Err(); err != nil {
		return Reply{Trouble: CodeNotSent, Cause: err}
	}
	ctx, cancel := c.Begin(ctx)
	defer cancel()
	return c.Pay(ctx, call)
}

// Pay sends a call that may move money. The request leaves at most once.
func (c *Client) Pay(ctx context.Context, call Call) Reply {
	ctx, cancel := context.WithTimeout(ctx, c.payDeadline)
	defer cancel()
	return c.send(ctx, c.paying, call)
}

// send makes one request and says what became of it.
func (c *Client) send(ctx context.Context, via *http.Client, call Call) Reply {
	// GotConn comes after dialling and TLS and before the first byte of the
	// request, so until then it is certain that nothing was written.
	var connected atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { connected.Store(true) },
	})
	req, err := c.request(ctx, call)
	if err != nil {
		return Reply{Trouble: CodeNotSent, Cause: err}
	}
	res, err := via.Do(req)
	if err != nil {
		if !connected.Load() {
			return Reply{Trouble: CodeNotSent, Cause: bare(err)}
		}
		return Reply{Trouble: broken(err), Cause: bare(err)}
	}
	defer func() { _ = res.Body.Close() }() // what matters was read or is in err
	if res.StatusCode < http.StatusOK {
		// 101: what follows is no answer, and no deadline would end it.
		return Reply{Status: res.StatusCode, Trouble: CodeUnreadable, Cause: fmt.Errorf("HTTP %d", res.StatusCode)}
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, bodyLimit+1))
	reply := Reply{Status: res.StatusCode, Body: body}
	switch s := res.StatusCode; {
	case s >= 500, s == http.StatusRequestTimeout, s == http.StatusTooManyRequests:
		reply.Trouble, reply.Cause = CodeServerError, fmt.Errorf("HTTP %d", s)
	case err != nil:
		reply.Trouble, reply.Cause = broken(err), bare(err)
	case len(body) > bodyLimit:
		reply.Trouble, reply.Cause = CodeUnreadable, errors.New("the answer is longer than 1 MiB")
	case s >= 300 && s < 400:
		reply.Trouble, reply.Cause = CodeUnreadable, fmt.Errorf("HTTP %d", s)
	}
	if reply.Trouble != "" {
		reply.Body = nil
	}
	return reply
}

func (c *Client) request(ctx context.Context, call Call) (*http.Request, error) {
	var body io.Reader
	if call.Body != nil {
		b, err := json.Marshal(call.Body)
		if err != nil {
			return nil, err
		}
		body = bytes.NewReader(b)
	}
	req, err := http.NewRequestWithContext(ctx, call.Method, c.base+call.Path, body)
	if err != nil {
		return nil, bare(err)
	}
	for name, values := range call.Header {
		req.Header[name] = values
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "kobo")
	if call.Body != nil {
		req.Header.Set("Content-Type", "application/json")
		req.GetBody = nil // so that net/http has nothing to send a second time
	}
	return req, nil
}

// broken is the code of a failure after the request began to leave.
func broken(err error) string {
	var netErr net.Error
	if errors.Is(err, context.DeadlineExceeded) || errors.As(err, &netErr) && netErr.Timeout() {
		return CodeTimeout
	}
	return CodeConnection
}

// bare takes the URL out of an error: it may carry a reference or a number.
func bare(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}
