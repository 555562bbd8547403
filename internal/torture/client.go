package torture

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// patience is the time that a client waits for an answer. A frozen program gives none.
const patience = 8 * time.Second

var errDown = errors.New("no program runs")

// fleet sends requests to the programs of a run.
type fleet struct {
	programs []*program
	http     *http.Client
	faults   *faults
}

// faults are the answers that no contract has: a status from 500, but 503.
type faults struct {
	mu   sync.Mutex
	said []string
}

// note keeps an answer that is such a fault. The simulated providers are asked for faults, and their answers do not count.
func (f *faults) note(method, path string, a answer) {
	if a.status < http.StatusInternalServerError || a.status == http.StatusServiceUnavailable || strings.HasPrefix(path, "/sandbox/") {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.said) < mostFaults {
		f.said = append(f.said, fmt.Sprintf("%s %s was answered %d %.200s", method, path, a.status, a.body))
	}
}

// all returns the faults so far.
func (f *faults) all() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.said)
}

// mostFaults is the number of faults that are kept.
const mostFaults = 100

func newFleet(programs []*program) *fleet {
	return &fleet{programs: programs, faults: &faults{}, http: &http.Client{Timeout: patience, Transport: &http.Transport{MaxIdleConnsPerHost: 16}}}
}

// of returns a fleet of one of the programs.
func (f *fleet) of(p *program) *fleet { return &fleet{[]*program{p}, f.http, f.faults} }

// answer is an HTTP response.
type answer struct {
	status int
	body   []byte
}

func (a answer) into(v any) error {
	if err := json.Unmarshal(a.body, v); err != nil {
		return fmt.Errorf("%d %s: %w", a.status, a.body, err)
	}
	return nil
}

// send sends a request to one of the running programs.
func (f *fleet) send(ctx context.Context, method, path string, body any, headers ...string) (a answer, err error) {
	var up []string
	for _, p := range f.programs {
		if address := p.address(); address != "" {
			up = append(up, address)
		}
	}
	if len(up) == 0 {
		return a, errDown
	}
	var text []byte
	if body != nil {
		if text, err = json.Marshal(body); err != nil {
			return a, err
		}
	}
	r, err := http.NewRequestWithContext(ctx, method, up[rand.IntN(len(up))]+path, bytes.NewReader(text))
	if err != nil {
		return a, err
	}
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	response, err := f.http.Do(r)
	if err != nil {
		return a, err
	}
	defer response.Body.Close()
	a.status = response.StatusCode
	a.body, err = io.ReadAll(response.Body)
	f.faults.note(method, path, a)
	return a, err
}

// ok sends a request that must succeed, and decodes the data of its answer. It tries again while no
// program answers, so the request must be one that may be repeated.
func (f *fleet) ok(ctx context.Context, send func() (answer, error), data any) error {
	const tries = 60
	var last error
	for range tries {
		a, err := send()
		if err == nil && a.status == http.StatusOK {
			var envelope struct{ Data json.RawMessage }
			if err = a.into(&envelope); err == nil && data != nil {
				err = json.Unmarshal(envelope.Data, data)
			}
			return err
		}
		if last = err; err == nil {
			last = fmt.Errorf("the answer was %d %s", a.status, a.body)
			if a.status < http.StatusInternalServerError && a.status != http.StatusForbidden && a.status != http.StatusConflict {
				return last
			}
		}
		if !wait(ctx, time.Second) {
			return ctx.Err()
		}
	}
	return last
}

// company is a company of a run, and its means to call the API.
type company struct {
	fleet     *fleet
	reference string
	pin       string
	main      int64  // the account that card fundings debit
	number    string // of the main account's bank account; "" without one
	customer  string // the number of the bank account of a customer
	card      string

	mu     sync.Mutex
	key    string
	made   int64 // when the company got the key
	token  string
	nextID int // counts the accounts

	tokenAt time.Time // before the company asked for the token
	turned  []turned

	firstEvent int64 // the number of the first event that the webhook must tell

	rotating sync.Mutex // held while the API key or the webhook's secret is replaced
	webhook  string     // the id of the webhook
	issued   int        // counts the API keys
	retired  []retired
}

// turned is an answer that an access token is not valid.
type turned struct {
	made, begun time.Time // before the token was asked for, and before this request
	says        string
}

// call sends a request as the company.
func (c *company) call(ctx context.Context, method, path string, body any, headers ...string) (answer, error) {
	const tries = 3 // a token may have expired at a jump of the clock, or its API key may have been revoked
	for n := 1; ; n++ {
		token, err := c.bearer(ctx)
		if err != nil {
			return answer{}, err
		}
		begun := time.Now()
		a, err := c.fleet.send(ctx, method, path, body, append(headers, "Authorization", "Bearer "+token)...)
		if err != nil || a.status != http.StatusForbidden && a.status != http.StatusUnauthorized {
			return a, err
		}
		c.mu.Lock()
		if c.token == token {
			c.turned = append(c.turned, turned{c.tokenAt, begun, fmt.Sprintf("%s %s was answered %d %.200s", method, path, a.status, a.body)})
			c.token = ""
		}
		c.mu.Unlock()
		if n == tries {
			return a, err
		}
	}
}

// data sends a request as the company until it succeeds.
func (c *company) data(ctx context.Context, method, path string, body, data any, headers ...string) error {
	err := c.fleet.ok(ctx, func() (answer, error) { return c.call(ctx, method, path, body, headers...) }, data)
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	return nil
}

func (c *company) bearer(ctx context.Context) (string, error) {
	c.mu.Lock()
	token, key := c.token, c.key
	c.mu.Unlock()
	if token != "" {
		return token, nil
	}
	asked := time.Now()
	a, err := c.fleet.send(ctx, http.MethodPost, "/api/v1/auth/generate-token/"+c.reference, nil, "X-Api-Key", key)
	if err != nil {
		return "", err
	}
	var is struct{ AccessToken string }
	if err := a.into(&is); err != nil || is.AccessToken == "" {
		return "", fmt.Errorf("no token: %d %s", a.status, a.body)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.key == key { // otherwise the key was replaced meanwhile
		c.token, c.tokenAt = is.AccessToken, asked
	}
	return is.AccessToken, nil
}

// operators are the two operators of a run.
type operators struct {
	fleet *fleet
	keys  [2]string
}

// call sends a request as one of the operators.
func (o operators) call(ctx context.Context, who int, method, path string, body any) (answer, error) {
	return o.fleet.send(ctx, method, "/admin/v1/"+path, body, "Authorization", "Bearer "+o.keys[who])
}

// data sends a request as one of the operators until it succeeds.
func (o operators) data(ctx context.Context, who int, method, path string, body, data any) error {
	err := o.fleet.ok(ctx, func() (answer, error) { return o.call(ctx, who, method, path, body) }, data)
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	return nil
}
