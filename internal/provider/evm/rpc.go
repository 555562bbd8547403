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
	"strconv"
	"strings"
	"time"

	"golang.org/x/time/rate"

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
	url    string // may contain a key, so it is never shown
	http   *http.Client
	turn   *rate.Limiter
	batch  int
	window time.Duration
	pause  time.Duration // the pause after the first try
	meter  *provider.Meter
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
	Error  *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
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
		url: u.String(), batch: cfg.BatchSize, window: cfg.Deadline, pause: firstPause, meter: cfg.Meter,
		turn: rate.NewLimiter(rate.Limit(cfg.PerSecond), cfg.PerSecond),
		http: &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
	}, nil
}

// ask makes the calls. One HTTP request contains as many calls as the batch size allows. A null
// result leaves into unchanged.
func (n *node) ask(ctx context.Context, calls ...call) error {
	for len(calls) > 0 {
		some := calls[:min(n.batch, len(calls))]
		if err := n.some(ctx, some); err != nil {
			return err
		}
		calls = calls[len(some):]
	}
	return nil
}

// some sends one batch of calls. It tries again until a response arrives, the caller's context
// ends, or no try is left. An error that the node returns is a response, so it is not tried again.
func (n *node) some(ctx context.Context, calls []call) error {
	requests := make([]request, len(calls))
	for i, c := range calls {
		requests[i] = request{"2.0", i, c.method, c.params}
	}
	body, err := json.Marshal(requests)
	if err != nil {
		return err
	}
	pause := n.pause
	for try := 1; ; try++ {
		// Nodes limit the number of calls, not the number of HTTP requests.
		if err := n.turn.WaitN(ctx, min(len(calls), n.turn.Burst())); err != nil {
			return trouble(provider.CodeNotSent, "the rate limit allowed no request before the deadline", err)
		}
		start := time.Now()
		again, err := n.once(ctx, body, calls)
		n.count(start, err)
		if err == nil || !again || try == tries {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(pause):
		}
		pause *= 2
	}
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

// once sends one HTTP request. The result again is true if the failure may be temporary, so that a
// second try may succeed.
func (n *node) once(ctx context.Context, body []byte, calls []call) (again bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, n.window)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, n.url, bytes.NewReader(body))
	if err != nil {
		return false, trouble(provider.CodeNotSent, "the request could not be made", nil)
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := n.http.Do(req)
	if err != nil {
		return true, trouble(provider.CodeConnection, "the node did not answer", provider.WithoutURL(err))
	}
	defer func() { _ = res.Body.Close() }() // the body was read, or err already reports why not
	if res.StatusCode != http.StatusOK {
		again = res.StatusCode >= 500 || res.StatusCode == http.StatusTooManyRequests
		return again, trouble(provider.CodeServerError, "HTTP "+strconv.Itoa(res.StatusCode), nil)
	}
	text, err := io.ReadAll(io.LimitReader(res.Body, answerLimit+1))
	switch {
	case err != nil:
		return true, trouble(provider.CodeConnection, "the answer broke off", err)
	case len(text) > answerLimit:
		return false, trouble(provider.CodeUnreadable, "the answer is too long", nil)
	}
	return read(text, calls)
}

// read decodes the result of each call. The results may arrive in any order. A missing result is an
// error that may be temporary.
func read(text []byte, calls []call) (again bool, err error) {
	var replies []reply
	if err := json.Unmarshal(text, &replies); err != nil {
		return true, trouble(provider.CodeUnreadable, "the answer is not in the expected format", nil)
	}
	if len(replies) != len(calls) {
		return true, trouble(provider.CodeUnreadable, "an answer is missing", nil)
	}
	for _, r := range replies {
		switch {
		case r.ID < 0 || r.ID >= len(calls):
			return true, trouble(provider.CodeUnreadable, "an answer has an unknown id", nil)
		case r.Error != nil:
			return false, trouble(strconv.Itoa(r.Error.Code), provider.Message(calls[r.ID].method+": "+r.Error.Message), nil)
		}
		if err := json.Unmarshal(r.Result, calls[r.ID].into); err != nil {
			return false, trouble(provider.CodeUnreadable, calls[r.ID].method+" is not in the expected format", nil)
		}
	}
	return false, nil
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
	if _, ok := a.units.SetString(digits, 16); !ok {
		return errors.New("no number")
	}
	return nil
}
