// Package vtpass is the plug for VTpass. VTpass sells airtime, data, TV and power, and takes the
// price from a wallet that is funded in advance.
//
// The wire format is described in docs/providers/vtpass.md. The function judge in judge.go derives
// the outcome of a request from VTpass's reply.
package vtpass

import (
	"context"
	"net/http"

	"github.com/kobo-waas/kobo/internal/provider"
)

// Config is the configuration of our account with VTpass.
type Config struct {
	provider.ClientConfig        // BaseURL includes the path /api
	APIKey                string // for every call
	PublicKey             string // for every GET
	SecretKey             string // for every POST
	// Phone is the contact number for purchases of TV or power. VTpass requires a number, and such
	// a purchase has none.
	Phone string
}

// Plug implements the interface of a biller for VTpass.
type Plug struct {
	client        *provider.Client
	reads, writes http.Header // the keys, with the header names spelled as in VTpass's documentation
	phone         string
}

var (
	_ provider.Biller         = (*Plug)(nil)
	_ provider.EntityVerifier = (*Plug)(nil)
	_ provider.Wallet         = (*Plug)(nil)
	_ provider.SaleReceiver   = (*Plug)(nil)
)

// New returns a plug for one account. It sends no request.
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

// Name returns the provider's display name.
func (p *Plug) Name() string { return "VTpass" }

// once sends the request of a purchase, which must not be repeated.
func (p *Plug) once(ctx context.Context, path string, body any) provider.Reply {
	return p.client.Once(ctx, provider.Call{Method: http.MethodPost, Path: path, Header: p.writes, Body: body})
}

// ask sends a request that may be repeated.
func (p *Plug) ask(ctx context.Context, path string, body any) provider.Reply {
	return p.client.Read(ctx, provider.Call{Method: http.MethodPost, Path: path, Header: p.writes, Body: body})
}

// look sends a GET that may be repeated.
func (p *Plug) look(ctx context.Context, path string) provider.Reply {
	return p.client.Read(ctx, provider.Call{Method: http.MethodGet, Path: path, Header: p.reads})
}
