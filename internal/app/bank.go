package app

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/kobo-waas/kobo/internal/inbox"
	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/secret"
	"github.com/kobo-waas/kobo/internal/vtu"
)

// BankConfig is one of several accounts at banks. NAME is a name of your choice: small
// letters, digits and `_`. The ledger knows the bank by this name, so it stays. The other
// settings are those of the plug's own group, such as `banks.NAME.base_url`. See
// docs/operating/banks.md.
type BankConfig struct {
	Plug string `koanf:"plug"` // The kind of bank: `safehaven`.
}

// VTUConfig is about sales of airtime, data, TV and power.
type VTUConfig struct {
	// The biller of each service that several billers offer, such as `DATA=vtpass,
	// DATA/GLO=safehaven`. A service without a line is the default bank's. Further billers follow
	// after `>`, such as `AIRTIME=vtpass>safehaven`: a purchase moves to the next biller if the one
	// before has definitely never started it. Data and TV move only between products that operators
	// have paired. See docs/providers/vtpass.md.
	Routes string `koanf:"routes"`
	// Percentage by which a paired product may cost more at the further biller than the company pays.
	// The fintech pays the difference. A purchase above the limit does not move.
	MostLoss int `koanf:"most_loss"`
	// Naira below which our wallet at a biller, a bank or an issuer counts as low, such as
	// `vtpass=50000, sudo=200000`. Operators see the level, and an alert fires below it. Empty: no level.
	WalletLow string `koanf:"wallet_low"`
}

var bankName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,31}$`)

// banks returns the accounts at banks by their names. A group such as `safehaven` outside
// `banks` counts as a bank of that name if it has a setting. If `banks` is empty, it always
// counts.
func (c Config) banks() map[string]Provider {
	out := map[string]Provider{}
	maps.Copy(out, c.Banks)
	for plug, unset := range bankPlugs {
		switch group := c.Providers[plug]; {
		case group != nil && group != unset:
			out[plug] = group
		case len(c.Banks) == 0:
			out[plug] = unset
		}
	}
	return out
}

// accounts returns all our accounts at banks and other providers, by the providers' names in the
// configuration.
func (c Config) accounts() map[string]Provider {
	out := c.banks()
	for name, group := range c.Providers {
		if bankPlugs[name] == nil {
			out[name] = group
		}
	}
	return out
}

// defaultBank returns the name of the default bank. This is the only bank; or else the bank with
// the name of a plug, such as safehaven; or else the bank "main". So a newly added bank gets no
// work before a route names it.
func (c Config) defaultBank() string {
	all := c.banks()
	names := slices.Sorted(maps.Keys(all))
	for _, name := range names {
		if bankPlugs[name] != nil || len(names) == 1 {
			return name
		}
	}
	if all["main"] != nil {
		return "main"
	}
	return ""
}

// checkProviders returns the errors in the settings of all our accounts at providers.
func (c Config) checkProviders() error {
	n, accounts := len(c.banks()), c.accounts()
	all := []error{
		errorIf(n > 1 && c.Jobs.Inbox < n, "jobs.inbox must be at least %d, the number of banks", n),
		failure(c.routes()), failure(c.bankRoutes()), failure(c.walletLow()),
	}
	for _, name := range slices.Sorted(maps.Keys(accounts)) {
		group := name
		if c.Banks[name] != nil {
			group = "banks." + name
			all = append(all,
				errorIf(!bankName.MatchString(name), "%s: a name has small letters, digits and _, at most 32, and begins with a letter", group),
				errorIf(registered[name] != nil && bankPlugs[name] == nil, "%s: this is the name of another provider", group),
				errorIf(c.Providers[name] != nil && c.Providers[name] != registered[name], "%s and %s name the same bank: keep one of the two", name, group))
		}
		all = append(all, accounts[name].check(c.Mode, group))
	}
	return errors.Join(append(all, c.checkSameAccount())...)
}

// marked is a group of settings for an account that may appear under only one name. A mark is a
// hash of the account's number, or of the client's id at the bank.
type marked interface{ marks(m Mode) []string }

// checkSameAccount refuses two names for the same account, because the ledger would then record
// each credit of the account twice.
func (c Config) checkSameAccount() error {
	var all []error
	names, banks := map[string]string{}, c.banks()
	for _, name := range slices.Sorted(maps.Keys(banks)) {
		m, ok := banks[name].(marked)
		if !ok || c.Mode.rules().simulates {
			continue
		}
		for _, mark := range m.marks(c.Mode) {
			all = append(all, errorIf(names[mark] != "", "the banks %s and %s have the same client_id or debit_account", names[mark], name))
			names[mark] = name
		}
	}
	return errors.Join(all...)
}

// routes returns the biller that sells each service. The default bank sells the services for which
// no route is set.
func (c Config) routes() (vtu.Routes, error) {
	routes, err := vtu.ParseRoutes(c.VTU.Routes)
	all, accounts := []error{prefixed("vtu.routes: ", err)}, c.accounts()
	for _, name := range routes.Names() {
		s, ok := accounts[name].(seller)
		all = append(all, errorIf(!ok || !s.sells(c.Mode), "vtu.routes names %q, which is not configured", name))
	}
	return routes.Otherwise(c.defaultBank()), errors.Join(all...)
}

// walletLow returns the balance below which our wallet at each provider counts as low.
func (c Config) walletLow() (map[string]money.Kobo, error) {
	out, accounts := map[string]money.Kobo{}, c.accounts()
	var all []error
	for _, pair := range strings.Split(c.VTU.WalletLow, ",") {
		if strings.TrimSpace(pair) == "" {
			continue
		}
		name, text, _ := strings.Cut(strings.TrimSpace(pair), "=")
		low, err := money.Parse(text)
		all = append(all, errorIf(err != nil || low == 0 || out[name] != 0, "vtu.wallet_low: a level is written PROVIDER=NAIRA, one for each provider, not %q", pair))
		s, sells := accounts[name].(seller)
		i, issues := accounts[name].(SudoConfig)
		configured := sells && s.sells(c.Mode) || issues && i.issues(c.Mode)
		all = append(all, errorIf(!configured, "vtu.wallet_low names %q, which is not configured", name))
		out[name] = low
	}
	return out, errors.Join(all...)
}

// bankRoutes returns the bank that does each kind of work, such as payouts.
func (c Config) bankRoutes() (provider.Routes, error) {
	routes, err := provider.ParseRoutes(c.BankRoutes, provider.BankRoutes)
	all, banks := []error{prefixed("bank_routes: ", err)}, c.banks()
	for _, name := range routes.Names() {
		all = append(all, errorIf(banks[name] == nil, "bank_routes names %q, which is not configured", name))
	}
	routes = routes.Otherwise(c.defaultBank())
	for _, kind := range provider.BankRoutes.Kinds {
		all = append(all, errorIf(routes[provider.AnyKind] == "" && routes[kind] == "",
			"bank_routes names no bank for %s: several banks without main need a default, such as *=NAME", kind))
	}
	return routes, errors.Join(all...)
}

// bank is one of our accounts at a bank.
type bank struct {
	provider.Bank
	verifier provider.Verifier
	float    string   // number of our own account; the bank forwards credits of companies' accounts to it
	marks    []string // identify the account (inbox.Config); none in sandbox mode
}

// routed returns a router that picks a bank for each kind of work. The function role converts a
// bank to the type that the caller needs.
func routed[T any](p plugs, role func(name string, b bank) T) provider.Router[T] {
	out := provider.Router[T]{All: map[string]T{}, Routes: p.bankWork}
	for name, b := range p.banks {
		out.All[name] = role(name, b)
	}
	return out
}

// opener is a bank that opens accounts. The bank sends notifications about the credits of these
// accounts to the callback URL. In sandbox mode the URL is empty, because the sandbox uses one URL
// for all accounts.
type opener struct {
	provider.Bank
	callback string
}

// OpenAccount opens a permanent account.
func (o opener) OpenAccount(ctx context.Context, r provider.AccountRequest) provider.AccountAnswer {
	r.CallbackURL = o.callback
	return o.Bank.OpenAccount(ctx, r)
}

// OpenVirtualAccount opens an account for one payment.
func (o opener) OpenVirtualAccount(ctx context.Context, r provider.VirtualAccountRequest) provider.VirtualAccountAnswer {
	r.CallbackURL = o.callback
	return o.Bank.OpenVirtualAccount(ctx, r)
}

func (a *App) opener(name string, b bank) provider.AccountOpener {
	if a.cfg.CallbackBase == "" {
		return opener{b, ""}
	}
	return opener{b, a.cfg.CallbackBase + a.Inbox.Path(name)}
}

// newInbox returns the service that stores the banks' notifications and books their credits.
func (a *App) newInbox(keys *secret.Keyring, p plugs) *inbox.Service {
	return inbox.NewService(inbox.Config{
		DB: a.DB, Keys: keys, Clock: a.Clock, Log: a.log,
		Banks:  routed(p, func(_ string, b bank) provider.Receiver { return b }).All,
		Period: a.cfg.CreditPollPeriod,
		Numbers: func(ctx context.Context, name, after string, most int) ([]string, error) {
			return a.Settlements.Numbers(ctx, p.banks[name].Own().Code, after, most)
		},
		Marks: routed(p, func(_ string, b bank) []string { return b.marks }).All,
		Receive: func(ctx context.Context, name string, in provider.Inbound) error {
			// The bank forwards each credit of a company's account to our own account. So the bank's list of
			// credits contains the same credit twice, and the entry for our own account is skipped. What
			// comes from an account of no company is not skipped. Kobo has not opened that account, so
			// nobody knows whether it forwards only credits that Kobo reads.
			if in.CreditAccount == p.banks[name].float {
				if ours, err := a.Settlements.Holds(ctx, in.SenderAccount); err != nil || ours {
					return err
				}
			}
			return a.Settlements.Receive(ctx, name, in)
		},
		Ask: func(ctx context.Context, subject string, d inbox.Doubt, detail string) error {
			return a.Settlements.Ask(ctx, subject, operation.Reason(d), detail)
		},
		Payout: func(ctx context.Context, reference string) error { return a.Payouts.Notified(ctx, reference) },
		Stored: func() { a.Worker.Wake() }, // a function, because the worker is created later
	})
}

// warnUnconfigured logs the providers that have open work but are no longer configured.
func (a *App) warnUnconfigured(ctx context.Context) error {
	names, err := job.Providers(ctx, a.DB)
	for _, name := range names {
		if !a.plugs.has(name) {
			a.log.Warn("open work waits for a provider that is not configured", "provider", name)
		}
	}
	return err
}

// CallbackAddress returns the address that the dashboard of a provider needs: a bank, or VTpass. It
// contains a secret.
func (c Config) CallbackAddress(name string) (string, error) {
	_, sells := c.Providers[name].(VTpassConfig)
	if c.banks()[name] == nil && !sells {
		return "", fmt.Errorf("%q is neither a bank nor vtpass", name)
	}
	keys, err := c.keyring()
	if err != nil {
		return "", err
	}
	return c.CallbackBase + inbox.NewService(inbox.Config{Keys: keys}).Path(name), nil
}

// callbackPath returns the URL path that receives a provider's notifications.
func (a *App) callbackPath(name string) string {
	_, bank := a.plugs.banks[name]
	_, sales := a.plugs.billers[name].(provider.SaleReceiver)
	if bank || sales {
		return a.Inbox.Path(name)
	}
	return "/callbacks/" + name
}
