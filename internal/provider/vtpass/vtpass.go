// Package vtpass is the plug for VTpass. VTpass sells airtime, data, TV and power out
// of a wallet that is funded in advance.
//
// The wire format is described in docs/providers/vtpass.md. The rule in judge.go
// decides the meaning of an answer for the money.
package vtpass

import (
	"context"
	"net/http"

	"github.com/kobo-waas/kobo/internal/provider"
)

// Config is what our account with VTpass needs.
type Config struct {
	provider.ClientConfig        // BaseURL has the path /api
	APIKey                string // for every call
	PublicKey             string // for every GET
	SecretKey             string // for every POST
	// Phone is the number to call about a purchase of TV or power. VTpass wants a
	// number, and such a purchase has none.
	Phone string
}

// Plug is VTpass as a biller.
type Plug struct {
	client        *provider.Client
	reads, writes http.Header // the keys, spelled as in VTpass's pages
	phone         string
}

var (
	_ provider.Biller         = (*Plug)(nil)
	_ provider.EntityVerifier = (*Plug)(nil)
)

// New returns a plug for one account. It makes no call yet.
func New(cfg Config) (*Plug, error) {
	client, err := provider.NewClient(cfg.ClientConfig)
	err = provider.Wrong("vtpass",
		provider.If(cfg.APIKey == "" || cfg.PublicKey == "" || cfg.SecretKey == "", "the API key, the public key and the secret key are needed"),
		provider.If(cfg.Phone == "", "the phone number for purchases of TV and power is missing"),
		err)
	if err != nil {
		return nil, err
	}
	return &Plug{
		client: client,
		reads:  http.Header{"api-key": {cfg.APIKey}, "public-key": {cfg.PublicKey}},
		writes: http.Header{"api-key": {cfg.APIKey}, "secret-key": {cfg.SecretKey}},
		phone:  cfg.Phone,
	}, nil
}

// Name returns the provider's name for people.
func (p *Plug) Name() string { return "VTpass" }

// once makes the call that buys, once.
func (p *Plug) once(ctx context.Context, path string, body any) provider.Reply {
	return p.client.Once(ctx, provider.Call{Method: http.MethodPost, Path: path, Header: p.writes, Body: body})
}

// ask makes a call that may be repeated.
func (p *Plug) ask(ctx context.Context, path string, body any) provider.Reply {
	return p.client.Read(ctx, provider.Call{Method: http.MethodPost, Path: path, Header: p.writes, Body: body})
}

// look sends a GET that may be repeated.
func (p *Plug) look(ctx context.Context, path string) provider.Reply {
	return p.client.Read(ctx, provider.Call{Method: http.MethodGet, Path: path, Header: p.reads})
}
