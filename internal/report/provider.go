package report

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/figure"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/settlement"
)

// Ages are the classes of ages of operations whose outcome is unknown: up to 5 minutes, 1 hour or 24
// hours, and older.
var Ages = [...]string{"5m", "1h", "24h", "older"}

// Unknown is the number of operations whose outcome is unknown, and their amounts and fees.
type Unknown struct {
	Count  int64
	Amount money.Kobo
}

// ProviderMoney is what the database knows about a provider. All programs on the database see the
// same.
type ProviderMoney struct {
	// Unknowns are the PENDING operations whose first call has ended without an outcome, in the order
	// of Ages. Those with an open case are left out, because they stand among the cases.
	Unknowns [len(Ages)]Unknown
	// Ledger is our money at the provider according to the ledgers of all companies. It is negative
	// for a biller whose wallet is filled outside Kobo. It may be five seconds old.
	Ledger money.Kobo
	// These are the last times at which any program read something of the provider. A time is zero if
	// the provider has nothing of the kind.
	CreditsReadAt, StatementComparedAt, ChainReadAt time.Time
}

// Unknown returns the sum of the unknown operations of all ages.
func (p ProviderMoney) Unknown() (sum Unknown) {
	for _, u := range p.Unknowns {
		sum.Count += u.Count
		sum.Amount += u.Amount
	}
	return sum
}

// ReadAt returns the last time at which any program read the provider's own record: a bank's statement
// or list of credits, or a blockchain.
func (p ProviderMoney) ReadAt() time.Time {
	last := p.CreditsReadAt
	for _, at := range []time.Time{p.StatementComparedAt, p.ChainReadAt} {
		if at.After(last) {
			last = at
		}
	}
	return last
}

// Providers returns what the database knows about some providers. The result also has each other
// provider that has an open operation or a record that is read regularly.
func (s *Service) Providers(ctx context.Context, names ...string) (map[string]ProviderMoney, error) {
	out := map[string]ProviderMoney{}
	for _, name := range names {
		out[name] = ProviderMoney{}
	}
	with := func(name string, change func(*ProviderMoney)) {
		p := out[name]
		change(&p)
		out[name] = p
	}
	unknowns, err := s.unknowns(ctx, false)
	if err != nil {
		return nil, err
	}
	for name, all := range unknowns {
		with(name, func(p *ProviderMoney) { p.Unknowns = all })
	}
	for _, source := range []struct {
		read func(context.Context, db.Querier) (map[string]time.Time, error)
		set  func(*ProviderMoney, time.Time)
	}{
		{lastPolls, func(p *ProviderMoney, at time.Time) { p.CreditsReadAt = at }},
		{lastReconciliations, func(p *ProviderMoney, at time.Time) { p.StatementComparedAt = at }},
		{lastChainReads, func(p *ProviderMoney, at time.Time) { p.ChainReadAt = at }},
	} {
		times, err := source.read(ctx, s.db)
		if err != nil {
			return nil, err
		}
		for name, at := range times {
			with(name, func(p *ProviderMoney) { source.set(p, at) })
		}
	}
	var accounts []string
	for name := range out {
		accounts = append(accounts, settlement.ProviderAccount(name))
	}
	slices.Sort(accounts)
	held, err := s.held.Read(s.clock.Now(), strings.Join(accounts, " "), func() (map[string]int64, error) { return heldIn(ctx, s.db, accounts) })
	for account, kobo := range held {
		with(strings.TrimPrefix(account, settlement.ProviderAccount("")), func(p *ProviderMoney) { p.Ledger = -money.Kobo(kobo) })
	}
	return out, err
}

// CreditAccounts are the accounts of a bank in the credit poll.
type CreditAccounts struct {
	Read     int64 // accounts whose last read succeeded
	Failing  int64 // accounts whose last read failed
	Unlisted int64 // permanent accounts of ours that the bank's last whole list lacked, without the retired ones
	Retired  int64 // accounts that the poll does not read any more
	// Newest are the accounts that were retired last, the newest first.
	Newest []RetiredAccount
}

// RetiredAccount is an account that the bank neither lists nor answers for.
type RetiredAccount struct {
	Account string // the bank's id of the account
	At      time.Time
}

// CreditAccounts returns the accounts of a bank in the credit poll, and up to limit of the retired ones. It
// returns false if no credit poll reads the provider.
func (s *Service) CreditAccounts(ctx context.Context, bank string, limit int) (out CreditAccounts, polled bool, err error) {
	all, err := polledAccounts(ctx, s.db)
	n, polled := all[bank]
	if err != nil || !polled {
		return out, false, err
	}
	out = CreditAccounts{Read: n.read, Failing: n.failing, Unlisted: n.unlisted, Retired: n.retired}
	out.Newest, err = newestRetired(ctx, s.db, bank, limit)
	return out, true, err
}

// unknowns returns the operations without an outcome by provider, in the order of Ages. It names also the providers whose
// operations all have a case, and counts these operations if withCases is true.
func (s *Service) unknowns(ctx context.Context, withCases bool) (map[string][len(Ages)]Unknown, error) {
	queues, err := queueNames(ctx, s.db, s.db.Routed(), operation.ResolveJob)
	if err != nil {
		return nil, err
	}
	rows, err := unknownOperations(ctx, s.db, queues, s.clock.Now())
	out := map[string][len(Ages)]Unknown{}
	for _, r := range rows {
		all := out[r.provider]
		if withCases || r.hasCase == 0 {
			all[r.age].Count += r.count
			all[r.age].Amount += r.amount
		}
		out[r.provider] = all
	}
	return out, err
}

var (
	unknownCount = desc("kobo_provider_unknown", "PENDING operations whose first call has ended without an outcome, by provider and age.", "provider", "age")
	unknownNaira = desc("kobo_provider_unknown_naira", "Amounts and fees of PENDING operations whose first call has ended without an outcome, by provider and age.", "provider", "age")
	custodianAge = desc("kobo_custodian_read_age_seconds", "Time since any program read a custodian, or since the first attempt.", "custodian")
)

func (s *Service) providerFigures(ctx context.Context) (out []prometheus.Metric, err error) {
	unknowns, err := s.unknowns(ctx, true)
	if err != nil {
		return nil, err
	}
	for name, all := range unknowns {
		for i, u := range all {
			out = append(out, figure.Count(unknownCount, u.Count, name, Ages[i]), figure.Naira(unknownNaira, int64(u.Amount), name, Ages[i]))
		}
	}
	read, err := lastChainReads(ctx, s.db)
	now := s.clock.Now()
	for name, at := range read {
		out = append(out, figure.Seconds(custodianAge, now.Sub(at), name))
	}
	return out, err
}
