package provider

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/failsafe-go/failsafe-go"
)

// bodyLimit is the length in bytes of the longest response that is read, unless the Call has a
// different limit. The providers' responses are much shorter.
const bodyLimit = 1 << 20

// ClientConfig holds a provider's address and the deadlines of its calls.
type ClientConfig struct {
	BaseURL string
	// PayDeadline limits a call that moves money; zero means 30 seconds. ReadDeadline limits any
	// other call, including its repetitions; zero means 10 seconds.
	PayDeadline  time.Duration
	ReadDeadline time.Duration
	// Around, if set, wraps each HTTP transport, for example to record traces.
	Around func(http.RoundTripper) http.RoundTripper
	// Meter, if set, counts the calls.
	Meter *Meter
}

// String returns the URL only. A plug's configuration embeds a ClientConfig, so this method also
// hides the plug's keys.
func (c ClientConfig) String() string { return "the provider at " + c.BaseURL }

// GoString hides the keys as String does.
func (c ClientConfig) GoString() string { return c.String() }

// LogValue hides the keys as String does.
func (c ClientConfig) LogValue() slog.Value { return slog.StringValue(c.String()) }

// Client is the HTTP client of a plug, which is the adapter for one provider. It determines whether
// a request was not sent, got a complete response, or has an unknown outcome. Pay sends a request
// at most once; Read may repeat a request.
type Client struct {
	base         string
	payDeadline  time.Duration
	readDeadline time.Duration
	paying       *http.Client // for payments
	apart        *http.Client // for payments that net/http might send again, each on a new connection
	plain        *http.Client // for reads
	reading      failsafe.Executor[Reply]
	meter        *Meter
}

// Call is one request to a provider.
type Call struct {
	Method string
	Path   string // the escaped path below the base URL, with the query string
	Header http.Header
	Body   any // sent as JSON; nil sends no body
	Limit  int // the length in bytes of the longest response that is read; 0 means 1 MiB
}

// Reply is the result of a Call.
type Reply struct {
	Status int    // the HTTP status; 0 if no status was read
	Body   []byte // as Storable returns it
	Object any    // the decoded Body, for a plug that needs it several times; nil until the plug sets it
	// Trouble is empty if the whole response was read. In that case the plug derives the outcome
	// from Status and Body. Trouble is CodeNotSent if the request was not sent. With any other code
	// it is unknown whether the provider carried the request out.
	Trouble string
	// Cause is for operators, and never contains text from the provider.
	Cause error
}

// Answer converts Trouble into the result of a request that moves money. The outcome is Rejected if
// no byte of the request was sent, and Unknown otherwise.
func (r Reply) Answer() Answer {
	a := r.Unknown()
	if r.Trouble == CodeNotSent {
		a.Outcome, a.Unstarted = Rejected, true
	}
	return a
}

// Unknown converts Trouble into the result of a requery, which asks for the outcome of an earlier
// request. The result is Unknown even if the requery was not sent.
func (r Reply) Unknown() Answer { return Answer{Code: r.Trouble, Message: troubles[r.Trouble]} }

// Unreadable is the Reply for a response that is not in the provider's format.
var Unreadable = Reply{Trouble: CodeUnreadable}

// Other returns the Answer for a reply to a payment that names a different payment, or ours in another spelling. The reply
// decides nothing. But the provider may have carried ours out, so a later "no such reference" refunds nothing. Parameter
// theirs is the provider's own id in the reply, or "".
func Other(theirs string) Answer {
	return Answer{Code: CodeOther, Message: troubles[CodeUnreadable], Reference: theirs}
}

// Error converts Trouble into the error of a call that moves no money.
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

// IsTrouble reports whether a code means that no complete reply was read.
func IsTrouble(code string) bool { return troubles[code] != "" }

// Refused returns the result of a call whose credentials the provider refused. The outcome is
// Rejected, because the provider carried nothing out.
func (r Reply) Refused() Answer {
	return Answer{Outcome: Rejected, Code: strconv.Itoa(r.Status), Message: "the provider refused our credentials"}
}

// Read decodes the body, which must be one JSON object, into v. Use it for the reply to a requery
// only: if decoding fails, Read returns false and an Answer whose outcome is Unknown.
func (r Reply) Read(v any) (Answer, bool) {
	if r.Trouble == "" && !ReadObject(r.Body, v) {
		r = Unreadable
	}
	return r.Unknown(), r.Trouble == ""
}

// If returns an error with the given words if wrong is true, and nil otherwise. Plugs use it to
// check one rule of their configuration.
func If(wrong bool, words string) error {
	if wrong {
		return errors.New(words)
	}
	return nil
}

// Wrong joins the errors of a plug's configuration and prefixes each with the plug's name. It
// returns nil if there are no errors.
func Wrong(plug string, all ...error) error {
	var out []error
	for _, err := range all {
		if err != nil {
			out = append(out, fmt.Errorf("%s: %w", plug, err))
		}
	}
	return errors.Join(out...)
}

// NewClient returns a client of the provider at cfg.BaseURL. The URL must be https, unless its host
// is this machine.
func NewClient(cfg ClientConfig) (*Client, error) {
	base, err := url.Parse(cfg.BaseURL)
	switch {
	case err != nil || base.Host == "" || base.User != nil || base.RawQuery != "":
		return nil, errors.New("the provider's base URL cannot be read")
	case !Secure(base):
		return nil, errors.New("the provider's base URL must begin with https://")
	}
	if cfg.Around == nil {
		cfg.Around = func(t http.RoundTripper) http.RoundTripper { return t }
	}
	return &Client{
		base:         strings.TrimRight(cfg.BaseURL, "/"),
		payDeadline:  cmp.Or(max(cfg.PayDeadline, 0), 30*time.Second),
		readDeadline: cmp.Or(max(cfg.ReadDeadline, 0), 10*time.Second),
		paying:       &http.Client{Transport: cfg.Around(payments()), CheckRedirect: stay},
		apart:        &http.Client{Transport: cfg.Around(transport(false)), CheckRedirect: stay},
		plain:        &http.Client{Transport: cfg.Around(transport(true)), CheckRedirect: stay},
		reading:      readPolicy(),
		meter:        cfg.Meter,
	}, nil
}

// Secure reports whether no third party can listen on the way to a URL. That is so if the URL is
// https, or if its host is this machine.
func Secure(u *url.URL) bool {
	return u.Scheme == "https" || u.Scheme == "http" && IsLocal(u)
}

// IsLocal reports whether a URL's host is this machine.
func IsLocal(u *url.URL) bool {
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}

// stay prevents net/http from following a redirect. A redirect would send the request and its token
// a second time, to a different address.
func stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// payIdle is how long an idle connection may wait for the next payment. If the server closes the
// connection while a payment is on its way, the outcome is unknown. So payIdle is shorter than the
// idle time after which servers close connections (docs/decisions/0017-payments-share-connections.md).
const payIdle = time.Second

// payingAtOnce is how many connections for payments may be idle.
const payingAtOnce = 256

// payments returns a transport for payments, which reuses connections for a short time. It sends no
// request twice: net/http sends a request again only if the request has no body or a GetBody, or
// over HTTP/2 (see repeatable).
func payments() *http.Transport {
	t := transport(false)
	t.DisableKeepAlives, t.IdleConnTimeout = false, payIdle
	t.MaxIdleConns, t.MaxIdleConnsPerHost = payingAtOnce, payingAtOnce
	return t
}

// repeatable reports whether net/http might send a request again on a new connection, after the
// server has closed a reused connection. A request with a body is safe, because it has no GetBody.
// The header is a second protection, because net/http takes it for a permission.
func repeatable(call Call) bool {
	return call.Body == nil || call.Header.Get("Idempotency-Key") != "" || call.Header.Get("X-Idempotency-Key") != ""
}

// transport returns a new transport. Without keepAlive each request has a separate connection.
// HTTP/2 may silently send a request again, so only reads, which have keepAlive, use HTTP/2.
func transport(keepAlive bool) *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.DialContext = (&net.Dialer{Timeout: 5 * time.Second}).DialContext
	t.TLSHandshakeTimeout = 5 * time.Second
	t.DisableKeepAlives = !keepAlive
	t.MaxIdleConnsPerHost = 16
	t.Protocols = new(http.Protocols)
	t.Protocols.SetHTTP1(true)
	t.Protocols.SetHTTP2(keepAlive)
	// Pings detect a connection that a middlebox has dropped. Without pings the kernel needs a
	// quarter of an hour to detect this.
	t.HTTP2 = &http.HTTP2Config{SendPingTimeout: 4 * time.Second, PingTimeout: 2 * time.Second}
	t.ForceAttemptHTTP2 = keepAlive
	return t
}

// Begin returns a context for the requests of one payment. These are the request for an access
// token, the payment request, and its single repetition after a 401. The context ends at the
// deadline, even if the caller's context ends earlier. A payment that is interrupted would have an
// unknown outcome.
func (c *Client) Begin(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), c.payDeadline)
}

// Once sends a request that must not be sent twice, such as a payment that consists of one request.
// If the caller's context has already ended, Once sends nothing. If the context ends later, the
// request continues.
func (c *Client) Once(ctx context.Context, call Call) Reply {
	if err := ctx.Err(); err != nil {
		return Reply{Trouble: CodeNotSent, Cause: err}
	}
	ctx, cancel := c.Begin(ctx)
	defer cancel()
	return c.Pay(ctx, call)
}

// Pay sends a request that may move money. It sends the request at most once.
func (c *Client) Pay(ctx context.Context, call Call) Reply {
	ctx, cancel := context.WithTimeout(ctx, c.payDeadline)
	defer cancel()
	via := c.paying
	if repeatable(call) {
		via = c.apart
	}
	return c.meter.reply(call, time.Now(), c.send(ctx, via, call))
}

// send sends one request and returns its result.
func (c *Client) send(ctx context.Context, via *http.Client, call Call) Reply {
	// GotConn is called after dialling and TLS, and before the first byte of the request. Before
	// GotConn certainly nothing was sent.
	var connected atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { connected.Store(true) },
	})
	req, err := c.request(ctx, call)
	if err != nil {
		return Reply{Trouble: CodeNotSent, Cause: err}
	}
	res, err := via.Do(req)
	switch {
	case err != nil && !connected.Load():
		return Reply{Trouble: CodeNotSent, Cause: WithoutURL(err)}
	case err != nil:
		return Reply{Trouble: broken(err), Cause: WithoutURL(err)}
	}
	defer func() { _ = res.Body.Close() }() // the body was read, or err already reports why not
	if res.StatusCode < http.StatusOK {
		// After HTTP 101 (Switching Protocols) the body is not an HTTP response, and no deadline
		// ends it.
		return Reply{Status: res.StatusCode, Trouble: CodeUnreadable, Cause: fmt.Errorf("HTTP %d", res.StatusCode)}
	}
	limit := cmp.Or(call.Limit, bodyLimit)
	body, err := readBody(res.Body, limit)
	reply := Reply{Status: res.StatusCode, Body: Storable(body)}
	switch s := res.StatusCode; {
	case s >= 500, s == http.StatusRequestTimeout, s == http.StatusTooManyRequests:
		reply.Trouble, reply.Cause = CodeServerError, fmt.Errorf("HTTP %d", s)
	case err != nil:
		reply.Trouble, reply.Cause = broken(err), WithoutURL(err)
	case len(body) > limit:
		reply.Trouble, reply.Cause = CodeUnreadable, fmt.Errorf("the answer is longer than %d MiB", limit>>20)
	case s >= 300 && s < 400:
		reply.Trouble, reply.Cause = CodeUnreadable, fmt.Errorf("HTTP %d", s)
	}
	if reply.Trouble != "" {
		reply.Body = nil
	}
	return reply
}

// buffers holds buffers for the bodies of responses.
var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// pooledBody is the length in bytes of the longest buffer that is kept.
const pooledBody = 64 << 10

// readBody reads a body up to one byte more than the limit.
func readBody(from io.Reader, limit int) ([]byte, error) {
	b := buffers.Get().(*bytes.Buffer)
	b.Reset()
	_, err := b.ReadFrom(io.LimitReader(from, int64(limit)+1))
	body := bytes.Clone(b.Bytes())
	if b.Cap() <= pooledBody {
		buffers.Put(b)
	}
	return body, err
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
		return nil, WithoutURL(err)
	}
	for name, values := range call.Header {
		req.Header[name] = values
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "kobo")
	if call.Body != nil {
		req.Header.Set("Content-Type", "application/json")
		req.GetBody = nil // without GetBody net/http cannot send the body again
	}
	return req, nil
}

// broken returns the code of a failure that happened after the first byte was sent.
func broken(err error) string {
	var netErr net.Error
	if errors.Is(err, context.DeadlineExceeded) || errors.As(err, &netErr) && netErr.Timeout() {
		return CodeTimeout
	}
	return CodeConnection
}

// WithoutURL returns an error of net/http without its URL. The URL may contain a reference, a phone
// number or a key.
func WithoutURL(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}
