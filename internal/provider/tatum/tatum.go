// Package tatum fits Tatum into the Custodian socket: it watches addresses on
// many chains and notifies us of what moves on them.
//
// Addresses are derived here, from public keys; Tatum is only told which to
// watch. Each has one subscription. A notification is signed over its raw bytes
// (HMAC-SHA512) and looked at only after the signature is right. What did not
// reach us while we were away is on Tatum's list of failed notifications.
package tatum

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/kobo-waas/kobo/internal/chain"
	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/secret"
)

// Config is our account at Tatum.
type Config struct {
	BaseURL string // https://api.tatum.io
	APIKey  secret.Text
	// HMACSecret signs what they send; at most 100 characters.
	HMACSecret secret.Text
	// CallbackURL is where they send it.
	CallbackURL string
	Networks    []chain.Network
	// RemoteAddresses asks Tatum for each address as well, and refuses one that
	// differs from ours.
	RemoteAddresses bool
	ReadDeadline    time.Duration
	Around          func(http.RoundTripper) http.RoundTripper
}

// String shows where, and no key.
func (c Config) String() string { return "tatum at " + c.BaseURL }

// Plug is Tatum as a custodian.
type Plug struct {
	client   *provider.Client
	clock    clock.Clock
	cfg      Config
	networks map[string]chain.Network

	mu      sync.Mutex
	signing bool // their signatures are turned on
}

var _ provider.Custodian = (*Plug)(nil)

const name = "Tatum"

// secretLimit is how long Tatum lets the secret be.
const secretLimit = 100

// New is a plug for one account. It makes no call yet.
func New(cfg Config, clk clock.Clock) (*Plug, error) {
	var all []error
	if cfg.APIKey.Reveal() == "" {
		all = append(all, errors.New("the API key is missing"))
	}
	if n := len(cfg.HMACSecret.Reveal()); n < 16 || n > secretLimit {
		all = append(all, errors.New("the HMAC secret must have 16 to 100 characters"))
	}
	if callback, err := url.Parse(cfg.CallbackURL); err != nil || callback.Host == "" || len(cfg.CallbackURL) > 500 {
		all = append(all, errors.New("the callback URL cannot be read"))
	}
	client, err := provider.NewClient(provider.ClientConfig{BaseURL: cfg.BaseURL, ReadDeadline: cfg.ReadDeadline, Around: cfg.Around})
	if err := provider.Wrong("tatum", append(all, err)...); err != nil {
		return nil, err
	}
	p := &Plug{client: client, clock: clk, cfg: cfg, networks: map[string]chain.Network{}}
	for _, n := range cfg.Networks {
		p.networks[n.ID] = n
	}
	return p, nil
}

// Name is the provider's name for people.
func (p *Plug) Name() string { return name }

// Pace is how often the list of failed notifications is read.
func (p *Plug) Pace() time.Duration { return 5 * time.Minute }

// Address derives the address here. With RemoteAddresses Tatum must agree: an
// address that two of us see differently is given to nobody.
func (p *Plug) Address(ctx context.Context, n chain.Network, key chain.Key, index int64) (string, error) {
	address, err := key.Address(n, index)
	if err != nil || !p.cfg.RemoteAddresses {
		return address, err
	}
	var theirs struct {
		Address string `json:"address"`
	}
	path := "/v3/" + n.Chain + "/address/" + key.String() + "/" + strconv.FormatInt(index, 10)
	if err := p.read(ctx, http.MethodGet, path, nil, &theirs); err != nil {
		return "", err
	}
	if n.Fold(theirs.Address) != n.Fold(address) {
		return "", &provider.Error{Provider: name, Code: "address", Message: "the address differs from the one that was derived here"}
	}
	return address, nil
}

// read makes a call and reads its answer into v, unless v is nil. Every call
// here may be repeated: a subscription that exists is not made twice.
func (p *Plug) read(ctx context.Context, method, path string, body, v any) error {
	r := p.client.Read(ctx, provider.Call{
		Method: method, Path: path, Body: body, Header: http.Header{"X-Api-Key": {p.cfg.APIKey.Reveal()}},
	})
	switch {
	case r.Trouble != "":
		return r.Error(name)
	case r.Status >= 300:
		return refusal(r)
	case v == nil && (len(r.Body) == 0 || json.Valid(r.Body)):
		return nil
	case v == nil, string(bytes.TrimSpace(r.Body)) == "null", json.Unmarshal(r.Body, v) != nil:
		return &provider.Error{Provider: name, Code: provider.CodeUnreadable, Message: "the answer is not in the expected format"}
	}
	return nil
}

// refusal is an answer that is no success, in Tatum's words.
func refusal(r provider.Reply) error {
	var said struct {
		StatusCode int    `json:"statusCode"`
		ErrorCode  string `json:"errorCode"`
		Message    string `json:"message"`
	}
	e := &provider.Error{Provider: name, Code: "http_" + strconv.Itoa(r.Status)}
	if json.Unmarshal(r.Body, &said) == nil {
		e.Message = provider.Message(said.Message)
		switch {
		case said.ErrorCode != "":
			e.Code = said.ErrorCode
		case said.StatusCode == http.StatusNotFound && !strings.HasPrefix(said.Message, "Cannot "):
			e.Code = "not.found"
		}
	}
	return e
}

// codeOf is the code of an error of the provider, or "".
func codeOf(err error) string {
	var e *provider.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// notFound tells whether Tatum says that there is no such thing. It says so with
// several codes and statuses, which end alike. A 404 that is not in its words is
// of something on the way, and says nothing of what was asked.
func notFound(err error) bool { return strings.HasSuffix(codeOf(err), "not.found") }
