// Package vtpass is the plug for VTpass, which sells airtime, data, TV and power
// out of a wallet that is filled beforehand.
//
// The wire format and what is known about it are in docs/providers/vtpass.md.
// What an answer means for the money is decided in judge.go.
package vtpass

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/kobo-waas/kobo/internal/provider"
)

// Config is what our account with VTpass needs.
type Config struct {
	BaseURL   string // with the path /api
	APIKey    string // goes with every call
	PublicKey string // goes with what only reads by GET
	SecretKey string // goes with every POST
	// Phone is whom they may call about a purchase of TV or power: they ask for a
	// number there, and the purchase has none.
	Phone        string
	Deadline     time.Duration
	ReadDeadline time.Duration
	// Around, if set, wraps the HTTP transports: for traces.
	Around func(http.RoundTripper) http.RoundTripper
}

// String hides the keys and the phone.
func (c Config) String() string { return "vtpass.Config{" + c.BaseURL + "}" }

// GoString hides as String does.
func (c Config) GoString() string { return c.String() }

// LogValue hides as String does.
func (c Config) LogValue() slog.Value { return slog.StringValue(c.String()) }

// Plug is VTpass as a biller.
type Plug struct {
	client        *provider.Client
	reads, writes http.Header // the keys, as their pages spell them
	phone         string
}

var (
	_ provider.Biller         = (*Plug)(nil)
	_ provider.EntityVerifier = (*Plug)(nil)
)

// New is a plug for one account. It makes no call yet.
func New(cfg Config) (*Plug, error) {
	var all []error
	if cfg.APIKey == "" || cfg.PublicKey == "" || cfg.SecretKey == "" {
		all = append(all, errors.New("the API key, the public key and the secret key are needed"))
	}
	if cfg.Phone == "" {
		all = append(all, errors.New("the phone number for purchases of TV and power is missing"))
	}
	client, err := provider.NewClient(provider.ClientConfig{
		BaseURL: cfg.BaseURL, PayDeadline: cfg.Deadline, ReadDeadline: cfg.ReadDeadline, Around: cfg.Around,
	})
	if err := provider.Wrong("vtpass", append(all, err)...); err != nil {
		return nil, err
	}
	return &Plug{
		client: client,
		reads:  http.Header{"api-key": {cfg.APIKey}, "public-key": {cfg.PublicKey}},
		writes: http.Header{"api-key": {cfg.APIKey}, "secret-key": {cfg.SecretKey}},
		phone:  cfg.Phone,
	}, nil
}

// Name is the provider's name for people.
func (p *Plug) Name() string { return "VTpass" }

// once makes the call that buys.
func (p *Plug) once(ctx context.Context, path string, body any) provider.Reply {
	return p.client.Once(ctx, provider.Call{Method: http.MethodPost, Path: path, Header: p.writes, Body: body})
}

// ask makes a call that may be made as often as it takes.
func (p *Plug) ask(ctx context.Context, path string, body any) provider.Reply {
	return p.client.Read(ctx, provider.Call{Method: http.MethodPost, Path: path, Header: p.writes, Body: body})
}

// look reads a page by GET.
func (p *Plug) look(ctx context.Context, path string) provider.Reply {
	return p.client.Read(ctx, provider.Call{Method: http.MethodGet, Path: path, Header: p.reads})
}
