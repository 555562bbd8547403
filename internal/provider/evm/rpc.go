package evm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/time/rate"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/provider"
)

// These constants limit one request: the size of its response, the number of tries, and the first
// pause between two tries.
const (
	answerLimit = 64 << 20
	tries       = 4
	firstPause  = 200 * time.Millisecond
)

// node is a client of a JSON-RPC node. All calls only read, so each may be repeated.
type node struct {
	url    string   // may contain a key, so it is never shown
	hidden []string // the parts of the URL that may be a key
	http   *http.Client
	turn   *rate.Limiter
	batch  *size // the number of calls in one HTTP request
	window time.Duration
	pause  time.Duration // the pause after the first try
	meter  *provider.Meter
	clock  clock.Clock
}

// call is one JSON-RPC call. Its result is decoded into the field into.
type call struct {
	method string
	params []any
	into   any
}

type request struct {
	Version string `json:"jsonrpc"`
	ID      int    `json:"id"`
	Method  string `json:"method"`
	Params  []any  `json:"params"`
}

type reply struct {
	ID     int             `json:"id"`
	Result json.RawMessage `json:"result"`
	Error  *rpcError       `json:"error"`
}

type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// responseTooLarge is the code of go-ethereum for a call whose result no longer fits into the
// response to the batch.
const responseTooLarge = -32003

// isRate reports whether the node refused a request because of the number of requests in a time.
func (e *rpcError) isRate() bool {
	words := strings.ToLower(e.Message)
	return e.Code == http.StatusTooManyRequests || strings.Contains(words, "rate limit") || strings.Contains(words, "too many requests")
}

func newNode(cfg Config) (*node, error) {
	u, err := url.Parse(cfg.URL.Reveal())
	switch {
	case err != nil || u.Host == "":
		return nil, errors.New("the node's URL cannot be read")
	case !provider.Secure(u):
		return nil, errors.New("the node's URL must begin with https://")
	}
	var transport http.RoundTripper = http.DefaultTransport.(*http.Transport).Clone()
	if cfg.Around != nil {
		transport = cfg.Around(transport)
	}
	return &node{
		url: u.String(), hidden: keysIn(u), batch: newSize(cfg.BatchSize, cfg.Clock), window: cfg.Deadline, pause: firstPause, meter: cfg.Meter, clock: cfg.Clock,
		turn: rate.NewLimiter(rate.Limit(cfg.PerSecond), cfg.PerSecond),
		http: &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
	}, nil
}

// next is what may follow a failed request.
type next int8

const (
	stop    next = iota // the failure is final
	again               // the failure may be temporary, so the same request may succeed
	smaller             // the node refused the request for its size, so fewer calls may succeed
)

// ask makes the calls. One HTTP request contains as many calls as the batch size allows. If the node
// refuses so many, the batch size halves. A null result leaves into unchanged.
func (n *node) ask(ctx context.Context, calls ...call) error {
	for len(calls) > 0 {
		some := calls[:min(n.batch.now(), len(calls))]
		switch after, err := n.some(ctx, some); {
		case after == smaller && len(some) > 1:
			n.batch.halve(len(some))
		case err != nil:
			return err
		default:
			calls = calls[len(some):]
		}
	}
	return nil
}

// some sends one batch of calls. It tries again until a response arrives, the caller's context
// ends, or no try is left. An error that the node returns is a response, so it is not tried again.
func (n *node) some(ctx context.Context, calls []call) (next, error) {
	body, err := encode(calls)
	if err != nil {
		return stop, err
	}
	pause := n.pause
	for try := 1; ; try++ {
		// Nodes limit the number of calls, not the number of HTTP requests.
		if err := n.turn.WaitN(ctx, min(len(calls), n.turn.Burst())); err != nil {
			return stop, trouble(provider.CodeNotSent, "the rate limit allowed no request before the deadline", err)
		}
		start := time.Now()
		after, err := n.once(ctx, body, calls)
		n.count(start, err)
		if err == nil || after != again || try == tries {
			return after, err
		}
		select {
		case <-ctx.Done():
			return stop, err
		case <-time.After(pause):
		}
		pause *= 2
	}
}

// encode returns the body of a request. One call is sent as an object, because some nodes take no
// batch at all.
func encode(calls []call) ([]byte, error) {
	requests := make([]request, len(calls))
	for i, c := range calls {
		requests[i] = request{"2.0", i, c.method, c.params}
	}
	if len(requests) == 1 {
		return json.Marshal(requests[0])
	}
	return json.Marshal(requests)
}

// count adds an HTTP request to the metrics. A node's error about a call has a number as its code.
func (n *node) count(start time.Time, err error) {
	result := "ok"
	if err != nil {
		result = provider.AsError(name, err).Code
		if _, err := strconv.Atoi(result); err == nil {
			result = "refused"
		}
	}
	n.meter.Count("POST rpc", start, result)
}

// once sends one HTTP request.
func (n *node) once(ctx context.Context, body []byte, calls []call) (next, error) {
	ctx, cancel := context.WithTimeout(ctx, n.window)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, n.url, bytes.NewReader(body))
	if err != nil {
		return stop, trouble(provider.CodeNotSent, "the request could not be made", nil)
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := n.http.Do(req)
	if err != nil {
		return again, trouble(provider.CodeConnection, "the node did not answer", provider.WithoutURL(err))
	}
	defer func() { _ = res.Body.Close() }() // the body was read, or err already reports why not
	text, err := io.ReadAll(io.LimitReader(res.Body, answerLimit+1))
	switch {
	case err != nil:
		return again, trouble(provider.CodeConnection, "the answer broke off", err)
	case len(text) > answerLimit:
		return smaller, trouble(provider.CodeUnreadable, "the answer is longer than 64 MiB", nil)
	}
	text = provider.Storable(text)
	if after, err := n.refusal(res.StatusCode, text, calls); err != nil {
		return after, err
	}
	return n.read(text, calls)
}

// refusal returns the error of a response with which the node has refused the whole request. The
// body is then one error object, or an array that is shorter than the request and contains an error.
// Without such a body, the HTTP status decides.
func (n *node) refusal(status int, text []byte, calls []call) (next, error) {
	e := refusedWhole(text, len(calls))
	switch {
	case e == nil && status == http.StatusOK:
		return stop, nil
	case e == nil:
		return afterStatus(status), trouble(provider.CodeServerError, "HTTP "+strconv.Itoa(status), nil)
	}
	what := calls[0].method
	if len(calls) > 1 {
		what = fmt.Sprintf("a batch of %d calls", len(calls))
	}
	after := afterStatus(status)
	if len(calls) > 1 && status != http.StatusUnauthorized && status != http.StatusForbidden && status != http.StatusTooManyRequests {
		after = smaller
	}
	if e.isRate() {
		after = again
	}
	return after, n.said(what, e)
}

// refusedWhole returns the error with which a node has refused all calls of a request, or nil.
func refusedWhole(text []byte, calls int) *rpcError {
	var one reply
	if provider.ReadObject(text, &one) {
		return one.Error
	}
	var some []reply
	if json.Unmarshal(text, &some) != nil || len(some) >= calls {
		return nil
	}
	for _, r := range some {
		if r.Error != nil {
			return r.Error
		}
	}
	return nil
}

// afterStatus returns what may follow a response with an HTTP status that is not a success.
func afterStatus(status int) next {
	switch {
	case status == http.StatusRequestEntityTooLarge:
		return smaller
	case status >= 500, status == http.StatusTooManyRequests:
		return again
	}
	return stop
}

// read decodes the result of each call. The results may arrive in any order. A missing result is an
// error that may be temporary, also where another result came twice in its place.
func (n *node) read(text []byte, calls []call) (next, error) {
	replies := make([]reply, 1)
	if !provider.ReadObject(text, &replies[0]) || len(calls) > 1 {
		if err := json.Unmarshal(text, &replies); err != nil {
			return again, trouble(provider.CodeUnreadable, "the answer is not in the expected format", nil)
		}
	}
	if len(replies) != len(calls) {
		return again, trouble(provider.CodeUnreadable, "an answer is missing", nil)
	}
	came := make([]bool, len(calls))
	for _, r := range replies {
		switch {
		case r.ID < 0 || r.ID >= len(calls):
			return again, trouble(provider.CodeUnreadable, "an answer has an unknown id", nil)
		case came[r.ID]:
			return again, trouble(provider.CodeUnreadable, "two answers have the same id", nil)
		case r.Error != nil && r.Error.Code == responseTooLarge:
			return smaller, n.said(calls[r.ID].method, r.Error)
		case r.Error != nil:
			return stop, n.said(calls[r.ID].method, r.Error)
		}
		came[r.ID] = true
		if err := json.Unmarshal(r.Result, calls[r.ID].into); err != nil {
			return stop, trouble(provider.CodeUnreadable, calls[r.ID].method+" is not in the expected format", nil)
		}
	}
	return stop, nil
}

// said returns a node's error in the node's own words. The words may repeat the URL of the request,
// so its keys are removed.
func (n *node) said(what string, e *rpcError) error {
	words := urls.ReplaceAllString(e.Message, "…")
	for _, key := range n.hidden {
		words = strings.ReplaceAll(words, key, "…")
	}
	return trouble(strconv.Itoa(e.Code), provider.Message(what+": "+words), nil)
}

// urls matches a URL in a text.
var urls = regexp.MustCompile(`(?i)\b(?:https?|wss?)://\S+`)

// shortestKey is the length of the shortest part of a URL that is treated as a key.
const shortestKey = 8

// keysIn returns the parts of a URL that may be a key: the host, the user's name and password, and
// the longer parts of the path and of the query.
func keysIn(u *url.URL) []string {
	parts := append(strings.Split(u.Path, "/"), u.Host, u.User.Username())
	password, _ := u.User.Password()
	parts = append(parts, password)
	for _, values := range u.Query() {
		parts = append(parts, values...)
	}
	return slices.DeleteFunc(parts, func(part string) bool { return len(part) < shortestKey })
}

func trouble(code, message string, cause error) error {
	return &provider.Error{Provider: name, Code: code, Message: message, Cause: cause}
}

// quantity is a number in Ethereum's hexadecimal form, such as 0x1a.
type quantity int64

// UnmarshalText decodes a quantity. A block number fits into a quantity. An amount of an asset may
// be larger, so it has the type amount.
func (q *quantity) UnmarshalText(b []byte) error {
	v, err := strconv.ParseInt(strings.TrimPrefix(string(b), "0x"), 16, 64)
	*q = quantity(v)
	return err
}

// MarshalText encodes a quantity.
func (q quantity) MarshalText() ([]byte, error) {
	return fmt.Appendf(nil, "0x%x", int64(q)), nil
}

// amount is a whole number of up to 256 bits.
type amount struct{ units big.Int }

// UnmarshalText decodes an amount. The text "0x" means zero.
func (a *amount) UnmarshalText(b []byte) error {
	digits := strings.TrimPrefix(string(b), "0x")
	if len(digits) > 64 {
		return errors.New("a number of more than 256 bits")
	}
	if digits == "" {
		return nil
	}
	if _, ok := a.units.SetString(digits, 16); !ok || strings.ContainsAny(digits, "+-") {
		return errors.New("no number")
	}
	return nil
}
