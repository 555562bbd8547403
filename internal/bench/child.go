package bench

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"github.com/kobo-waas/kobo/internal/app"
	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/company"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/provider/safehaven"
	"github.com/kobo-waas/kobo/internal/secret"
)

// role is what a child process does. It stands in the first line of the child's standard input.
type role struct {
	// Provider makes the child the instant provider, with TLS if a certificate is given.
	Provider         bool
	Certificate, Key string

	// The other fields are for the child that runs Kobo.
	Data, Database string
	ProviderURL    string
	Companies      int
	Poor           bool // only the first company gets money
	Soak           *soakRole
}

// ready is the line that a child writes to its standard output once it serves.
type ready struct {
	Address   string // of the provider with its scheme, of Kobo without
	Companies []Account
}

// Account is a company and its settlement account.
type Account struct {
	app.Credentials
	token string
}

// Child runs a child process of the bench until its standard input ends. The parent's death ends
// the input too.
func Child(ctx context.Context, in io.Reader, out io.Writer) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var r role
	d := json.NewDecoder(in)
	if err := d.Decode(&r); err != nil {
		return fmt.Errorf("only kobo bench starts this command: %w", err)
	}
	go func() {
		_, _ = io.Copy(io.Discard, in) // returns when the parent ends
		stop()
	}()
	tell := func(is ready) error { return json.NewEncoder(out).Encode(is) }
	if r.Provider {
		return r.provide(ctx, tell)
	}
	return r.serve(ctx, tell)
}

func (r role) provide(ctx context.Context, tell func(ready) error) error {
	var own *tls.Certificate
	if r.Certificate != "" {
		c, err := tls.LoadX509KeyPair(r.Certificate, r.Key)
		if err != nil {
			return err
		}
		own = &c
	}
	l, address, err := listen(own)
	if err != nil {
		return err
	}
	if err := tell(ready{Address: address}); err != nil {
		return errors.Join(err, l.Close())
	}
	s := &instant{begun: time.Now().UTC().Format("090286060102150405")}
	return s.serve(ctx, l)
}

// serve runs Kobo as kobo serve does in sandbox mode, with one difference: the plug of the bank
// calls the instant provider for everything that a measured request causes. In a soak the plug
// calls the sandbox instead.
func (r role) serve(ctx context.Context, tell func(ready) error) error {
	cfg := app.DevConfig(r.Data, r.Database)
	cfg.Window, cfg.Log, cfg.ExperimentalCitus = app.Defaults().Window, app.Defaults().Log, true
	log, err := app.NewLogger(os.Stderr, cfg.Log)
	if err != nil {
		return err
	}
	if r.Soak != nil {
		r.Soak.configure(&cfg)
	} else if err := r.connect(&cfg); err != nil {
		return err
	}
	a, first, err := app.OpenDev(ctx, cfg, false, log)
	if err != nil {
		return err
	}
	all, err := r.found(ctx, a, first)
	if err != nil {
		a.Close()
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		a.Close()
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var untold error
	err = a.Run(ctx, l, func() {
		if untold = tell(ready{Address: l.Addr().String(), Companies: all}); untold != nil {
			stop()
		}
	})
	return errors.Join(err, untold)
}

// connect makes the plug of the bank call the instant provider.
func (r role) connect(cfg *app.Config) error {
	// The plug's deadlines are those of the program (app.Config.Window).
	fast, err := safehaven.New(safehaven.Config{
		ClientConfig: provider.ClientConfig{BaseURL: r.ProviderURL, PayDeadline: cfg.Window * 8 / 10, ReadDeadline: cfg.Window / 2},
		ClientID:     "bench", Assertion: "bench", DebitAccount: "0100000001",
	}, clock.System{})
	if err != nil {
		return err
	}
	cfg.Around = func(b provider.Biller) provider.Biller {
		if b.Name() != fast.Name() {
			return b
		}
		return biller{b, fast}
	}
	cfg.AroundBanks = func(b provider.Bank) provider.Bank { return bank{b, fast} }
	return nil
}

// biller sells through the instant provider. The sandbox has the catalogue.
type biller struct {
	provider.Biller
	fast *safehaven.Plug
}

// Pay buys from the instant provider.
func (b biller) Pay(ctx context.Context, p provider.Purchase) provider.Answer {
	return b.fast.Pay(ctx, p)
}

// Requery asks the instant provider.
func (b biller) Requery(ctx context.Context, s provider.Sale) provider.Answer {
	return b.fast.Requery(ctx, s)
}

// bank pays through the instant provider. The sandbox has the list of banks and the statement.
type bank struct {
	provider.Bank
	fast *safehaven.Plug
}

// NameEnquiry asks the instant provider.
func (b bank) NameEnquiry(ctx context.Context, bankCode, account string) provider.NameAnswer {
	return b.fast.NameEnquiry(ctx, bankCode, account)
}

// Transfer pays through the instant provider.
func (b bank) Transfer(ctx context.Context, t provider.TransferOrder) provider.TransferAnswer {
	return b.fast.Transfer(ctx, t)
}

// RequeryTransfer asks the instant provider.
func (b bank) RequeryTransfer(ctx context.Context, reference string) provider.TransferAnswer {
	return b.fast.RequeryTransfer(ctx, reference)
}

// float is the opening balance of each company.
const float = money.Max

// found creates the companies. The first exists already.
func (r role) found(ctx context.Context, a *app.App, first app.Credentials) ([]Account, error) {
	by, opening := operator.Local("bench"), money.Kobo(float)
	if r.Soak != nil {
		opening = soakFloat
	}
	all := make([]Account, max(r.Companies, 1))
	all[0].Credentials = first
	errs := make([]error, len(all))
	turn := make(chan struct{}, 32)
	var founders sync.WaitGroup
	for i := range all {
		turn <- struct{}{}
		founders.Go(func() {
			defer func() { <-turn }()
			if i > 0 {
				all[i].Credentials, errs[i] = foundOne(ctx, a, by, fmt.Sprint("Company ", i))
			}
			if errs[i] == nil && (i == 0 || !r.Poor) {
				errs[i] = a.Settlements.Fund(ctx, by, all[i].Reference, all[i].SettlementID, opening, "safehaven", "bench")
			}
		})
	}
	founders.Wait()
	return all, errors.Join(errs...)
}

func foundOne(ctx context.Context, a *app.App, by operator.Operator, name string) (c app.Credentials, err error) {
	is, key, err := a.Companies.Create(ctx, by, name)
	for _, to := range []company.KYB{company.InProgress, company.Submitted, company.Approved} {
		if err == nil {
			_, err = a.Companies.SetKYB(ctx, by, is.Reference, to, "bench")
		}
	}
	if err == nil {
		_, err = a.Companies.SetLive(ctx, by, is.Reference, true)
	}
	c = app.Credentials{Reference: is.Reference, APIKey: key.Reveal(), PIN: "1234"}
	if err == nil {
		err = a.Companies.SetPIN(ctx, by, is.Reference, secret.NewText(c.PIN))
	}
	if err != nil {
		return c, err
	}
	account, err := a.Settlements.Create(ctx, by, is.Reference, "Main account")
	c.SettlementID = account.ID
	return c, err
}
