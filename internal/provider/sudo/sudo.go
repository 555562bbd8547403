// Package sudo is the plug for Sudo Africa, which issues cards.
//
// Each card has an account at Sudo. A transfer from our settlement account at Sudo funds the card
// in advance. The wire format is described in docs/providers/sudo.md. The function judge in
// judge.go derives the outcome of a request from Sudo's reply.
package sudo

import (
	"cmp"
	"context"
	"net/http"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/provider"
)

// Unit is the unit of amounts in requests and replies. Sudo's documentation does not state the
// unit, so move one naira as a test before going live.
type Unit string

// The two units.
const (
	Major Unit = "major" // naira
	Minor Unit = "minor" // kobo
)

// Config is the configuration of our account with Sudo.
type Config struct {
	provider.ClientConfig
	// VaultURL is Sudo's host for calls that contain a card number. Without it the plug issues no
	// physical cards.
	VaultURL string
	APIKey   string
	// DebitAccount is the id of our settlement account at Sudo.
	DebitAccount string
	// FundingSource and Program are Sudo's ids. If an id is "", Sudo chooses.
	FundingSource, Program string
	Unit                   Unit // "" means Major
	// CompleteList states that Sudo guarantees the list of our debit account. The guarantee means
	// that every transfer is on the list with our reference. Without the guarantee, a reference
	// that is not on the list proves nothing.
	CompleteList bool
	// WebhookAuthorization is the complete Authorization header of Sudo's notifications.
	WebhookAuthorization string
	// Approve approves authorization requests. Cards that are funded in advance cause no such
	// requests, so the default is to decline.
	Approve bool
}

// Plug implements the interface of a card issuer for Sudo.
type Plug struct {
	cfg    Config
	client *provider.Client
	vault  *provider.Client // nil if physical cards are not configured
	header http.Header
	clock  clock.Clock
	past   past
}

var _ provider.Issuer = (*Plug)(nil)

// accountIDLength is the length of Sudo's ids. Sudo itself refuses a shorter debit account only
// when the first card is created, so New checks the length.
const accountIDLength = 24

// New returns a plug for one account. It sends no request.
func New(cfg Config, c clock.Clock) (*Plug, error) {
	cfg.Unit = cmp.Or(cfg.Unit, Major)
	p := &Plug{cfg: cfg, clock: c, header: http.Header{"Authorization": {"Bearer " + cfg.APIKey}}}
	var err, vaultErr error
	p.client, err = provider.NewClient(cfg.ClientConfig)
	if cfg.VaultURL != "" {
		cfg.BaseURL = cfg.VaultURL
		p.vault, vaultErr = provider.NewClient(cfg.ClientConfig)
	}
	err = provider.Wrong("sudo",
		provider.If(cfg.APIKey == "", "the API key is missing"),
		provider.If(len(cfg.DebitAccount) < accountIDLength, "the debit account is the id of a settlement account, of 24 characters"),
		provider.If(cfg.Unit != Major && cfg.Unit != Minor, "the amount unit must be major or minor"),
		provider.If(cfg.WebhookAuthorization == "", "the Authorization header of notifications is missing"),
		err, vaultErr)
	if err != nil {
		return nil, err
	}
	return p, nil
}

// Name returns the issuer's display name.
func (p *Plug) Name() string { return "Sudo" }

// once sends a request that must not be repeated.
func (p *Plug) once(ctx context.Context, via *provider.Client, method, path string, body any) provider.Reply {
	return via.Once(ctx, provider.Call{Method: method, Path: path, Header: p.header, Body: body})
}

// look sends a GET that may be repeated.
func (p *Plug) look(ctx context.Context, path string) provider.Reply {
	return p.client.Read(ctx, provider.Call{Method: http.MethodGet, Path: path, Header: p.header})
}

// data decodes the data of a reply into v, for calls that move no money. If the data is missing,
// the error states the reason.
func (p *Plug) data(r provider.Reply, v any) (envelope, error) {
	if r.Trouble != "" {
		return envelope{}, r.Error(p.Name())
	}
	e, ok := read(r.Body)
	switch status := e.status(r.Status); {
	case !ok && r.Status < 300, ok && status < 300 && v != nil && !e.into(v):
		return e, p.unreadable()
	case r.Status >= 300 || status >= 300:
		return e, &provider.Error{Provider: p.Name(), Code: code(status), Message: e.message()}
	}
	return e, nil
}

// unreadable returns the error for a reply that is not in Sudo's format.
func (p *Plug) unreadable() error {
	return provider.Unreadable.Error(p.Name())
}
