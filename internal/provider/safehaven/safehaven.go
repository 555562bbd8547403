// Package safehaven is the plug for Safe Haven Microfinance Bank. The bank sells
// airtime, data, TV and power ("VAS"), and proves identities by BVN and OTP. It opens
// accounts, reports credits, pays to other banks and keeps a statement. The plug can
// ask later for the outcome of every call that moves money.
//
// The wire format is described in docs/providers/safehaven.md. One rule in judge.go
// decides the meaning of an answer for the money.
package safehaven

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"sync"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/provider"
)

// Unit is the unit of amounts on the wire.
type Unit string

// The two units. Safe Haven counts naira in all calls that we know. The VAS pages
// leave the unit open, so a setting can switch it without a new release.
const (
	Naira Unit = "naira"
	Kobo  Unit = "kobo"
)

// Config is what one of our accounts with Safe Haven needs.
type Config struct {
	provider.ClientConfig
	ClientID string // the OAuth client id shown in their dashboard
	// PrivateKeyPEM signs a new client assertion for each token. Assertion replaces
	// the key: one assertion with a long life, signed before.
	PrivateKeyPEM string
	Assertion     string
	Issuer        string // our company URL, as registered with them
	Audience      string // empty: BaseURL
	DebitAccount  string // our account: it pays for everything, and all credits go on to it
	BankCode      string // their own code for transfers to our account; empty: 090286, the live one
	AmountUnit    Unit   // empty: naira
}

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

// The name and the code of the bank, which its answers leave out.
const (
	bankName     = "Safe Haven MFB"
	liveBankCode = "090286"
)

// New returns a plug for one account. It makes no call yet.
func New(cfg Config, clk clock.Clock) (*Plug, error) {
	cfg.AmountUnit, cfg.BankCode = cmp.Or(cfg.AmountUnit, Naira), cmp.Or(cfg.BankCode, liveBankCode)
	client, err := provider.NewClient(cfg.ClientConfig)
	sign, unsigned := signer(cfg, clk)
	err = provider.Wrong("safehaven",
		provider.If(cfg.ClientID == "", "the client id is missing"),
		provider.If(cfg.DebitAccount == "", "the debit account is missing"),
		provider.If(cfg.AmountUnit != Naira && cfg.AmountUnit != Kobo, `the amount unit must be "naira" or "kobo"`),
		err, unsigned)
	if err != nil {
		return nil, err
	}
	// Tokens have a client, and so a circuit breaker, of their own. A catalogue that
	// fails must not stop the tokens of payments.
	tokens, err := provider.NewClient(cfg.ClientConfig)
	if err != nil {
		return nil, fmt.Errorf("safehaven: %w", err)
	}
	return &Plug{
		client:   client,
		session:  &sessions{client: tokens, clientID: cfg.ClientID, sign: sign, clock: clk},
		account:  cfg.DebitAccount,
		bankCode: cfg.BankCode,
		unit:     cfg.AmountUnit,
	}, nil
}

// Name returns the provider's name for people.
func (p *Plug) Name() string { return "Safe Haven" }

// Own returns the name and the code of the bank that payers choose.
func (p *Plug) Own() provider.BankCode { return provider.BankCode{Code: p.bankCode, Name: bankName} }

// once makes a call that must not be made twice, since it moves money, sends an SMS
// or opens an account. If the caller is gone before, nothing is sent. If the caller
// goes away later, the call goes on.
func (p *Plug) once(ctx context.Context, path string, body any) provider.Reply {
	if err := ctx.Err(); err != nil {
		return provider.Reply{Trouble: provider.CodeNotSent, Cause: err}
	}
	ctx, cancel := p.client.Begin(ctx)
	defer cancel()
	return p.with(ctx, p.client.Pay, provider.Call{Method: http.MethodPost, Path: path, Body: body})
}

// ask makes a call that may be repeated.
func (p *Plug) ask(ctx context.Context, method, path string, body any) provider.Reply {
	return p.with(ctx, p.client.Read, provider.Call{Method: method, Path: path, Body: body})
}

// with makes a call with a token. A 401 or 403 means that nothing was carried out,
// so the call is made once more with a new token.
func (p *Plug) with(ctx context.Context, send func(context.Context, provider.Call) provider.Reply, call provider.Call) provider.Reply {
	for first := true; ; first = false {
		s, failed := p.session.current(ctx)
		if failed != nil {
			return *failed
		}
		// The headers are spelled as in Safe Haven's pages.
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
