// Package tatum is the plug for Tatum. Tatum watches addresses on many chains and sends
// notifications about their movements.
//
// Kobo derives the addresses from public keys, and subscribes to each address one time. Tatum signs
// the raw bytes of a notification (HMAC-SHA512), and the plug reads it only if the signature is
// right. Notifications that did not reach us are on Tatum's list of failed notifications, which the
// plug reads too. After a restore of the database, it also reads those that did reach us.
package tatum

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kobo-waas/kobo/internal/chain"
	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/secret"
)

// Config is the configuration of our account at Tatum.
type Config struct {
	provider.ClientConfig
	APIKey secret.Text
	// HMACSecret is the secret with which Tatum signs the notifications. It has at most 100
	// characters.
	HMACSecret secret.Text
	// CallbackURL is the URL to which Tatum sends the notifications.
	CallbackURL string
	Networks    []chain.Network
	// Elsewhere are the networks that Kobo watches without Tatum. An old subscription may still
	// report their movements. Kobo uses those of blocks that its own node has not read.
	Elsewhere []chain.Network
	// RemoteAddresses makes Address also ask Tatum for each address. If Tatum's address differs
	// from ours, Address returns an error.
	RemoteAddresses bool
}

// Plug implements the interface of a custodian for Tatum.
type Plug struct {
	client   *provider.Client
	clock    clock.Clock
	cfg      Config
	networks map[string]chain.Network
	testnet  bool // all networks are test networks

	reached atomic.Int64           // when the last reading began that this process has completed, or 0
	last    atomic.Pointer[string] // the last cursor that Since has returned in this process

	mu      sync.Mutex
	signing bool // Tatum's signatures are turned on
}

var _ provider.Custodian = (*Plug)(nil)

const name = "Tatum"

// secretLimit is the length of the longest secret that Tatum accepts.
const secretLimit = 100

// New returns a plug for one account. It sends no request.
func New(cfg Config, clk clock.Clock) (*Plug, error) {
	secrets := len(cfg.HMACSecret.Reveal())
	callback, unread := url.Parse(cfg.CallbackURL)
	client, err := provider.NewClient(cfg.ClientConfig)
	err = provider.Wrong("tatum",
		provider.If(cfg.APIKey.Reveal() == "", "the API key is missing"),
		provider.If(secrets < 16 || secrets > secretLimit, "the HMAC secret must have 16 to 100 characters"),
		provider.If(unread != nil || callback.Host == "" || len(cfg.CallbackURL) > 500, "the callback URL cannot be read"),
		err)
	if err != nil {
		return nil, err
	}
	p := &Plug{client: client, clock: clk, cfg: cfg, networks: map[string]chain.Network{}, testnet: len(cfg.Networks) > 0}
	for _, n := range cfg.Networks {
		p.networks[n.ID] = n
		p.testnet = p.testnet && n.Testnet
	}
	return p, nil
}

// Name returns the provider's display name.
func (p *Plug) Name() string { return name }

// Pace returns the pause between two reads of the list of failed notifications.
func (p *Plug) Pace() time.Duration { return 5 * time.Minute }

// Address derives an address from a company's public key and a derivation index. With
// RemoteAddresses, Tatum must derive the same address. If the two addresses differ, the company
// receives an error and no address.
func (p *Plug) Address(ctx context.Context, n chain.Network, key chain.Key, index int64) (string, error) {
	address, err := key.Address(n, index)
	if err != nil || !p.cfg.RemoteAddresses {
		return address, err
	}
	var theirs struct {
		Address string `json:"address"`
	}
	public := key.String()
	if n.Kind == chain.Tron { // Tatum's own Tron wallets have this form
		if public, err = key.Hex(); err != nil {
			return "", err
		}
	}
	path := "/v3/" + n.Chain + "/address/" + public + "/" + strconv.FormatInt(index, 10)
	if err := p.read(ctx, http.MethodGet, path, nil, &theirs); err != nil {
		return "", err
	}
	if n.Fold(theirs.Address) != n.Fold(address) {
		return "", &provider.Error{Provider: name, Code: "address", Message: "the address differs from the one that Kobo derived"}
	}
	return address, nil
}

// Holdings returns nothing, because Tatum also reports the transfers of contracts.
func (p *Plug) Holdings(context.Context, chain.Network, string, []string) (int64, []provider.Holding, error) {
	return 0, nil, nil
}

// query adds the parameter that selects Tatum's test networks. Without it Tatum assumes the main
// networks.
func (p *Plug) query(testnet bool, q url.Values) url.Values {
	if testnet {
		if q == nil {
			q = url.Values{}
		}
		q.Set("type", "testnet")
	}
	return q
}

// longest is the length in bytes of the longest reply that is read. A Bitcoin transaction with
// thousands of inputs is longer than the limit of other providers.
const longest = 16 << 20

// read sends a request and decodes the reply into v, unless v is nil. Every request of this plug
// may be repeated, since Tatum creates no second subscription for an address.
func (p *Plug) read(ctx context.Context, method, path string, body, v any) error {
	r := p.client.Read(ctx, provider.Call{
		Method: method, Path: path, Body: body, Header: http.Header{"X-Api-Key": {p.cfg.APIKey.Reveal()}}, Limit: longest,
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

// pageSize is the number of lines on one page of a list. mostLines is the number of lines after which
// a list counts as endless.
const (
	pageSize  = 50
	mostLines = 1_000_000
)

// list calls see with each line of one of Tatum's lists, until see returns false.
func list[T any](ctx context.Context, p *Plug, path string, query url.Values, see func(T) bool) error {
	for offset := 0; ; offset += pageSize {
		lines, err := page[T](ctx, p, path, query, offset)
		if err != nil {
			return err
		}
		for _, line := range lines {
			if !see(line) {
				return nil
			}
		}
		if len(lines) < pageSize {
			return nil
		}
	}
}

// page returns the lines of a list after the first offset lines. The list ends with a page that is not
// full.
func page[T any](ctx context.Context, p *Plug, path string, query url.Values, offset int) (lines []T, err error) {
	if offset >= mostLines {
		return nil, &provider.Error{Provider: name, Code: provider.CodeUnreadable, Message: "a list does not end after 1,000,000 lines"}
	}
	query.Set("pageSize", strconv.Itoa(pageSize))
	query.Set("offset", strconv.Itoa(offset))
	err = p.read(ctx, http.MethodGet, path+"?"+query.Encode(), nil, &lines)
	return lines, err
}

// refusal returns the error for a reply whose HTTP status is not a success.
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

// notFound reports whether Tatum states that the requested object does not exist. Tatum has several
// error codes for this, which all end with "not.found". A 404 without such a code may come from a
// proxy, so it proves nothing.
func notFound(err error) bool {
	return strings.HasSuffix(provider.AsError(name, err).Code, "not.found")
}
