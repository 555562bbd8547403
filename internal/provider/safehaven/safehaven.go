// Package safehaven is the plug for Safe Haven Microfinance Bank. The bank sells airtime, data, TV
// and power ("VAS"), and proves identities by BVN and OTP. It opens accounts, reports credits, pays
// to other banks and provides a statement. For every call that moves money, the plug can ask for
// the outcome later.
//
// The wire format is described in docs/providers/safehaven.md. The function judge in judge.go
// derives the outcome of a request from the bank's reply.
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

// Unit is the unit of amounts in requests and replies.
type Unit string

// The two units. Safe Haven uses naira in all calls whose unit is documented. Its VAS documentation
// does not state the unit, and its samples differ by the kind of service. So a setting can switch
// the unit of each kind without a new release.
const (
	Naira Unit = "naira"
	Kobo  Unit = "kobo"
)

// Config is the configuration of one of our accounts with Safe Haven.
type Config struct {
	provider.ClientConfig
	ClientID string // the OAuth client id shown in Safe Haven's dashboard
	// PrivateKeyPEM signs a new client assertion for each token. Assertion is an alternative to the
	// key: a pre-signed assertion with a long lifetime.
	PrivateKeyPEM string
	Assertion     string
	Issuer        string // our company URL, as registered with Safe Haven
	Audience      string // if empty, BaseURL is used
	DebitAccount  string // our account: it pays for all calls and receives all forwarded credits
	BankCode      string // the bank's code for transfers to our account; if empty, the live code 090286
	AmountUnit    Unit   // of VAS amounts; may differ by kind, as in "DATA=kobo, *=naira"; empty means naira
}

// Plug implements the interfaces of a biller, an identity verifier and a bank for Safe Haven.
type Plug struct {
	client   *provider.Client
	session  *sessions
	account  string
	bankCode string
	units    provider.ByKind // the Unit of each kind of service

	mu        sync.Mutex
	accountID string // the bank's id of our account; empty until it was looked up
}

var (
	_ provider.Biller         = (*Plug)(nil)
	_ provider.EntityVerifier = (*Plug)(nil)
	_ provider.Verifier       = (*Plug)(nil)
	_ provider.Bank           = (*Plug)(nil)
)

// These constants are the bank's name and code, which the bank's replies do not contain.
const (
	bankName     = "Safe Haven MFB"
	liveBankCode = "090286"
)

// New returns a plug for one account. It sends no request.
func New(cfg Config, clk clock.Clock) (*Plug, error) {
	cfg.BankCode = cmp.Or(cfg.BankCode, liveBankCode)
	units, unclear := provider.ParseByKind(string(cfg.AmountUnit), string(Naira), string(Naira), string(Kobo))
	if unclear != nil {
		unclear = fmt.Errorf("the amount unit %w", unclear)
	}
	client, err := provider.NewClient(cfg.ClientConfig)
	sign, unsigned := signer(cfg, clk)
	err = provider.Wrong("safehaven",
		provider.If(cfg.ClientID == "", "the client id is missing"),
		provider.If(cfg.DebitAccount == "", "the debit account is missing"),
		unclear, err, unsigned)
	if err != nil {
		return nil, err
	}
	// The token requests have a separate client with a separate circuit breaker. Failed catalogue
	// reads must not stop the token requests of payments.
	tokens, err := provider.NewClient(cfg.ClientConfig)
	if err != nil {
		return nil, fmt.Errorf("safehaven: %w", err)
	}
	return &Plug{
		client:   client,
		session:  &sessions{client: tokens, clientID: cfg.ClientID, sign: sign, clock: clk},
		account:  cfg.DebitAccount,
		bankCode: cfg.BankCode,
		units:    units,
	}, nil
}

// Name returns the provider's display name.
func (p *Plug) Name() string { return "Safe Haven" }

// Own returns the name and the code of Safe Haven, which payers choose when they send money to it.
func (p *Plug) Own() provider.BankCode { return provider.BankCode{Code: p.bankCode, Name: bankName} }

// once sends a request that must not be sent twice, because it moves money, sends an SMS or opens
// an account. If the caller's context has already ended, nothing is sent. If the context ends
// later, the call continues.
func (p *Plug) once(ctx context.Context, path string, body any) provider.Reply {
	if err := ctx.Err(); err != nil {
		return provider.Reply{Trouble: provider.CodeNotSent, Cause: err}
	}
	ctx, cancel := p.client.Begin(ctx)
	defer cancel()
	return p.with(ctx, p.client.Pay, provider.Call{Method: http.MethodPost, Path: path, Body: body})
}

// ask sends a request that may be repeated.
func (p *Plug) ask(ctx context.Context, method, path string, body any) provider.Reply {
	return p.with(ctx, p.client.Read, provider.Call{Method: method, Path: path, Body: body})
}

// with makes a call with an access token. A reply that refuses the token (shut) means that the provider
// carried nothing out. In that case with makes the call a second time, with a new token. If there is no
// new token, with returns the first reply, because the provider has received that call.
func (p *Plug) with(ctx context.Context, send func(context.Context, provider.Call) provider.Reply, call provider.Call) provider.Reply {
	var refused *provider.Reply
	for {
		s, failed := p.session.current(ctx)
		switch {
		case failed != nil && refused != nil:
			return *refused
		case failed != nil:
			return *failed
		}
		// The spelling of the headers follows Safe Haven's documentation.
		call.Header = http.Header{"Authorization": {"Bearer " + s.access}, "ClientID": {s.client}}
		reply := send(ctx, call)
		if e, ok := read(reply); ok && reply.Trouble == "" {
			reply.Object = e
		}
		if !shut(reply) {
			return reply
		}
		p.session.drop(s)
		if refused != nil {
			return reply
		}
		refused = &reply
	}
}
