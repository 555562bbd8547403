// Package sudo is the plug for Sudo Africa, which issues cards.
//
// Each card has an account there that is filled beforehand, by a transfer from
// our own settlement account with them. The wire format and what is known about
// it are in docs/providers/sudo.md. What an answer means for the money is decided
// in judge.go.
package sudo

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/provider"
)

// Unit is how amounts are written. Their pages do not settle it, so one naira
// has to be moved before going live.
type Unit string

// The two units.
const (
	Major Unit = "major" // naira
	Minor Unit = "minor" // kobo
)

// Config is what our account with Sudo needs.
type Config struct {
	BaseURL string
	// VaultURL is their host for calls that carry a card number; "" leaves
	// physical cards out.
	VaultURL string
	APIKey   string
	// DebitAccount is our settlement account with them, by its id.
	DebitAccount string
	// FundingSource and Program are ids of theirs; "" leaves the choice to them.
	FundingSource, Program string
	Unit                   Unit // "" is Major
	// CompleteList says that Sudo has confirmed, for our account, that every
	// transfer is on the debit account's list and carries our reference there.
	// Only then is a reference that is not on the list an answer at all.
	CompleteList bool
	// WebhookAuthorization is the whole Authorization header that their
	// notifications bring.
	WebhookAuthorization string
	// Approve answers authorization requests with a yes. Cards that are funded
	// beforehand send none, so the usual answer is a no.
	Approve      bool
	Deadline     time.Duration
	ReadDeadline time.Duration
	// Around, if set, wraps the HTTP transports: for traces.
	Around func(http.RoundTripper) http.RoundTripper
}

// String hides the keys.
func (c Config) String() string { return "sudo.Config{" + c.BaseURL + "}" }

// GoString hides as String does.
func (c Config) GoString() string { return c.String() }

// LogValue hides as String does.
func (c Config) LogValue() slog.Value { return slog.StringValue(c.String()) }

// Plug is Sudo as an issuer.
type Plug struct {
	cfg    Config
	client *provider.Client
	vault  *provider.Client // nil when there are no physical cards
	header http.Header
	clock  clock.Clock
}

var _ provider.Issuer = (*Plug)(nil)

// accountIDLength is how long their ids are; a shorter debit account is refused
// by them only when the first card is made.
const accountIDLength = 24

// New is a plug for one account. It makes no call yet.
func New(cfg Config, c clock.Clock) (*Plug, error) {
	if cfg.Unit == "" {
		cfg.Unit = Major
	}
	all := []error{cfg.check()}
	p := &Plug{cfg: cfg, clock: c, header: http.Header{"Authorization": {"Bearer " + cfg.APIKey}}}
	var err error
	p.client, err = newClient(cfg, cfg.BaseURL)
	all = append(all, err)
	if cfg.VaultURL != "" {
		p.vault, err = newClient(cfg, cfg.VaultURL)
		all = append(all, err)
	}
	if err := errors.Join(all...); err != nil {
		return nil, err
	}
	return p, nil
}

func (c Config) check() error {
	var all []error
	if c.APIKey == "" {
		all = append(all, errors.New("the API key is missing"))
	}
	if len(c.DebitAccount) < accountIDLength {
		all = append(all, errors.New("the debit account is the id of a settlement account, of 24 characters"))
	}
	if c.Unit != Major && c.Unit != Minor {
		all = append(all, fmt.Errorf("the amount unit must be %s or %s", Major, Minor))
	}
	if c.WebhookAuthorization == "" {
		all = append(all, errors.New("the Authorization header of notifications is missing"))
	}
	return provider.Wrong("sudo", all...)
}

func newClient(cfg Config, base string) (*provider.Client, error) {
	c, err := provider.NewClient(provider.ClientConfig{
		BaseURL: base, PayDeadline: cfg.Deadline, ReadDeadline: cfg.ReadDeadline, Around: cfg.Around,
	})
	return c, provider.Wrong("sudo", err)
}

// Name is the issuer's name for people.
func (p *Plug) Name() string { return "Sudo" }

// once makes a call that must not be made twice.
func (p *Plug) once(ctx context.Context, via *provider.Client, method, path string, body any) provider.Reply {
	return via.Once(ctx, provider.Call{Method: method, Path: path, Header: p.header, Body: body})
}

// look reads a page by GET.
func (p *Plug) look(ctx context.Context, path string) provider.Reply {
	return p.client.Read(ctx, provider.Call{Method: http.MethodGet, Path: path, Header: p.header})
}

// data reads the data of an answer that moves no money into v, or says why there
// is none.
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

// unreadable is an answer that is not in their format.
func (p *Plug) unreadable() error {
	return provider.Reply{Trouble: provider.CodeUnreadable}.Error(p.Name())
}
