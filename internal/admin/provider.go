package admin

import (
	"context"
	"maps"
	"slices"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/report"
	"github.com/kobo-waas/kobo/internal/wire"
)

// Program is the program that serves the API, and what only it has seen of the providers.
type Program struct {
	Name    string
	Running func(ctx context.Context) ([]string, error) // the names of all programs on the database
	Roles   map[string][]string                         // what each configured provider does, by its name
	Calls   *provider.Figures
	Wallets func() map[string]provider.Reading
}

func (e *edge) listProviders(ctx context.Context, _ *request) (any, error) {
	running, known, err := e.providers(ctx)
	if err != nil {
		return nil, err
	}
	out := Providers{Programs: running, Providers: []ProviderSummary{}}
	wallets := e.Program.Wallets()
	for _, name := range slices.Sorted(maps.Keys(known)) {
		all := provider.Together(e.Program.Calls.Seen(name))
		money := known[name]
		unknown := money.Unknown()
		out.Providers = append(out.Providers, ProviderSummary{
			Name: name, Roles: rolesOf(e.Program.Roles[name]),
			Program: ProviderGlance{
				Name: e.Program.Name, Since: clock.Text(e.Program.Calls.Since()), Last15Minutes: tallyOf(all.Recent),
				LastSuccessAt: clock.Optional(all.LastSuccessAt), LastFailureAt: clock.Optional(all.LastFailureAt), LastFailure: wire.Optional(all.LastFailure),
				Wallet: walletOf(wallets, name),
			},
			Unknown:    UnknownMoney{Count: unknown.Count, AmountKobo: int64(unknown.Amount)},
			LedgerKobo: int64(money.Ledger), ReadAt: clock.Optional(money.ReadAt()),
		})
	}
	return out, nil
}

func (e *edge) findProvider(ctx context.Context, r *request) (any, error) {
	running, known, err := e.providers(ctx)
	if err != nil {
		return nil, err
	}
	name := r.PathValue("name")
	money, there := known[name]
	if !there {
		return nil, fault.New(fault.Missing, "Provider not found")
	}
	accounts, err := e.creditAccounts(ctx, name)
	if err != nil {
		return nil, err
	}
	unknown := money.Unknown()
	out := Provider{
		Name: name, Roles: rolesOf(e.Program.Roles[name]), Programs: running,
		Program: ProviderView{
			Name: e.Program.Name, Since: clock.Text(e.Program.Calls.Since()),
			Calls: rows(e.Program.Calls.Seen(name), callsOf), Operations: rows(e.Program.Calls.Outcomes(name), callsOf),
			Wallet: walletOf(e.Program.Wallets(), name),
		},
		Unknown:    ProviderUnknown{Count: unknown.Count, AmountKobo: int64(unknown.Amount)},
		LedgerKobo: int64(money.Ledger), CreditsReadAt: clock.Optional(money.CreditsReadAt),
		StatementComparedAt: clock.Optional(money.StatementComparedAt), ChainReadAt: clock.Optional(money.ChainReadAt),
		CreditAccounts: accounts,
	}
	for i, u := range money.Unknowns {
		out.Unknown.Ages = append(out.Unknown.Ages, UnknownOfAge{Age: report.Ages[i], Count: u.Count, AmountKobo: int64(u.Amount)})
	}
	return out, nil
}

// mostRetired is how many retired accounts of a bank are shown.
const mostRetired = 100

// creditAccounts returns the accounts of a bank in the credit poll, or nil for a provider that is no bank.
func (e *edge) creditAccounts(ctx context.Context, name string) (*CreditAccounts, error) {
	a, polled, err := e.Reports.CreditAccounts(ctx, name, mostRetired)
	if err != nil || !polled {
		return nil, err
	}
	return &CreditAccounts{
		Read: a.Read, Failing: a.Failing, Unlisted: a.Unlisted, Retired: a.Retired,
		NewestRetired: rows(a.Newest, func(r report.RetiredAccount) RetiredAccount {
			return RetiredAccount{Account: r.Account, RetiredAt: clock.Text(r.At)}
		}),
	}, nil
}

// providers returns the names of the running programs, and what the database knows about each
// provider. A provider that is configured here is always among them.
func (e *edge) providers(ctx context.Context) ([]string, map[string]report.ProviderMoney, error) {
	running, err := e.Program.Running(ctx)
	if err != nil {
		return nil, nil, err
	}
	known, err := e.Reports.Providers(ctx, slices.Sorted(maps.Keys(e.Program.Roles))...)
	return running, known, err
}

func rolesOf(roles []string) []string {
	return append([]string{}, roles...) // without roles, JSON shows [] and not null
}

func callsOf(s provider.Seen) ProviderCalls {
	return ProviderCalls{
		Call: s.Call, LastSuccessAt: clock.Optional(s.LastSuccessAt), LastFailureAt: clock.Optional(s.LastFailureAt), LastFailure: wire.Optional(s.LastFailure),
		Last15Minutes: tallyOf(s.Recent), Last24Hours: tallyOf(s.Day),
	}
}

func tallyOf(t provider.Tally) ProviderTally {
	return ProviderTally{
		Calls: t.Calls, Successes: t.Successes, Refusals: t.Refusals, NotSent: t.NotSent, Unknowns: t.Unknowns,
		P50Ms: t.Quantile(50).Milliseconds(), P99Ms: t.Quantile(99).Milliseconds(),
	}
}

func walletOf(all map[string]provider.Reading, name string) *ProviderWallet {
	r, read := all[name]
	if !read {
		return nil
	}
	w := &ProviderWallet{BalanceKobo: int64(r.Balance), ReadAt: clock.Text(r.At)}
	if r.Low > 0 {
		low := int64(r.Low)
		w.LowKobo = &low
	}
	return w
}
