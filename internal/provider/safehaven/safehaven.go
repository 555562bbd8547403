// Package safehaven is the plug for Safe Haven Microfinance Bank. It sells
// airtime, data, TV and power ("VAS"), proves identities by BVN and OTP, opens
// accounts, tells of credits, pays to other banks and shows its statement; and
// for everything that may have happened it says later what became of it.
//
// The wire format and what is known about it are in docs/providers/safehaven.md.
// What an answer means for the money is decided in judge.go, by one rule.
package safehaven

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/provider"
)

// Unit is what an amount on the wire counts.
type Unit string

// The two units. Safe Haven counts naira everywhere we know of; its VAS pages
// can be read either way, so the unit can be switched without a new release.
const (
	Naira Unit = "naira"
	Kobo  Unit = "kobo"
)

// Config is what one of our accounts with Safe Haven needs.
type Config struct {
	BaseURL  string
	ClientID string // the OAuth client id shown in their dashboard
	// PrivateKeyPEM signs a fresh client assertion for each token. Assertion is
	// the other way: one long-lived assertion that somebody signed before.
	PrivateKeyPEM string
	Assertion     string
	Issuer        string // our company URL, as registered with them
	Audience      string // empty: BaseURL
	DebitAccount  string // our account: it pays for everything, and credits are swept into it
	BankCode      string // their own code for transfers to our account; empty: 090286, the live one
	Deadline      time.Duration
	ReadDeadline  time.Duration
	AmountUnit    Unit // empty: naira
	// Around, if set, wraps the HTTP transports: for traces.
	Around func(http.RoundTripper) http.RoundTripper
}

// String hides the key, the assertion and the account.
func (c Config) String() string { return "safehaven.Config{" + c.BaseURL + "}" }

// GoString hides as String does.
func (c Config) GoString() string { return c.String() }

// LogValue hides as String does.
func (c Config) LogValue() slog.Value { return slog.StringValue(c.String()) }

// Plug is Safe Haven as a biller, a verifier of identities and a bank.
type Plug struct {
	client   *provider.Client
	session  *sessions
	account  string
	bankCode string
	unit     Unit

	mu        sync.Mutex
	accountID string // their id of our account, once it was looked up
}

var (
	_ provider.Biller         = (*Plug)(nil)
	_ provider.EntityVerifier = (*Plug)(nil)
	_ provider.Verifier       = (*Plug)(nil)
	_ provider.Bank           = (*Plug)(nil)
)

// What their answers leave out: the name of the bank, and its code.
const (
	bankName     = "Safe Haven MFB"
	liveBankCode = "090286"
)

// New is a plug for one account. It makes no call yet.
func New(cfg Config, clk clock.Clock) (*Plug, error) {
	var all []error
	if cfg.ClientID == "" {
		all = append(all, errors.New("the client id is missing"))
	}
	if cfg.DebitAccount == "" {
		all = append(all, errors.New("the debit account is missing"))
	}
	switch cfg.AmountUnit {
	case "":
		cfg.AmountUnit = Naira
	case Naira, Kobo:
	default:
		all = append(all, fmt.Errorf("the amount unit must be %q or %q", Naira, Kobo))
	}
	where := provider.ClientConfig{
		BaseURL: cfg.BaseURL, PayDeadline: cfg.Deadline, ReadDeadline: cfg.ReadDeadline, Around: cfg.Around,
	}
	client, err := provider.NewClient(where)
	all = append(all, err)
	sign, err := signer(cfg, clk)
	if err := provider.Wrong("safehaven", append(all, err)...); err != nil {
		return nil, err
	}
	// Tokens have a client, and so a breaker, of their own: a catalogue that
	// fails must not keep payments from signing in.
	door, err := provider.NewClient(where)
	if err != nil {
		return nil, fmt.Errorf("safehaven: %w", err)
	}
	if cfg.BankCode == "" {
		cfg.BankCode = liveBankCode
	}
	return &Plug{
		client:   client,
		session:  &sessions{client: door, clientID: cfg.ClientID, sign: sign, clock: clk},
		account:  cfg.DebitAccount,
		bankCode: cfg.BankCode,
		unit:     cfg.AmountUnit,
	}, nil
}

// Name is the provider's name for people.
func (p *Plug) Name() string { return "Safe Haven" }

// Own is the name and the code of the bank that payers choose.
func (p *Plug) Own() provider.BankCode { return provider.BankCode{Code: p.bankCode, Name: bankName} }

// once makes a call that must not be made twice: it moves money, sends an SMS or
// opens an account. A caller who has already gone sends nothing; one who goes
// away meanwhile does not cut it short.
func (p *Plug) once(ctx context.Context, path string, body any) provider.Reply {
	if err := ctx.Err(); err != nil {
		return provider.Reply{Trouble: provider.CodeNotSent, Cause: err}
	}
	ctx, cancel := p.client.Begin(ctx)
	defer cancel()
	return p.with(ctx, p.client.Pay, provider.Call{Method: http.MethodPost, Path: path, Body: body})
}

// ask makes a call that may be made as often as it takes.
func (p *Plug) ask(ctx context.Context, method, path string, body any) provider.Reply {
	return p.with(ctx, p.client.Read, provider.Call{Method: method, Path: path, Body: body})
}

// with makes a call as us. A 401 or 403 means that the door stayed shut and
// nothing was carried out, so the call is made once more with a fresh token.
func (p *Plug) with(ctx context.Context, send func(context.Context, provider.Call) provider.Reply, call provider.Call) provider.Reply {
	for first := true; ; first = false {
		s, failed := p.session.current(ctx)
		if failed != nil {
			return *failed
		}
		// Spelled as their pages spell it.
		call.Header = http.Header{"Authorization": {"Bearer " + s.access}, "ClientID": {s.client}}
		reply := send(ctx, call)
		if !shut(reply) {
			return reply
		}
		p.session.drop(s)
		if !first {
			return reply
		}
	}
}
