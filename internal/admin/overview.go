package admin

import (
	"context"
	"maps"
	"slices"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/report"
	"github.com/kobo-waas/kobo/internal/wire"
)

func (e *edge) findOverview(ctx context.Context, _ *request) (any, error) {
	o, err := e.Reports.Overview(ctx)
	if err != nil {
		return nil, err
	}
	access, err := e.Operators.Access(ctx)
	if err != nil {
		return nil, err
	}
	out := Overview{
		At: clock.Text(o.At), FourEyes: e.FourEyes, Door: e.doorOf(access),
		Cases: rows(o.Cases, namedSumOf), Proposals: sumOf(o.Proposals), Adjustments: sumOf(o.Corrections),
		Unknown: rows(o.Unknown, namedSumOf), Inbox: rows(o.Inbox, namedSumOf), Suspense: o.Suspense, FailingJobs: sumOf(o.Jobs),
		ClosedAccounts: o.ClosedAccounts, Differences: o.Differences, Reconciliations: rows(o.Runs, reconciliationOf),
		Endpoints: rows(o.Endpoints, func(f report.FailingEndpoint) FailingEndpoint {
			return FailingEndpoint{f.Company, f.Name, f.ID, f.Failures, clock.Optional(f.Since)}
		}),
		Owed:  Owed{Amount: o.Owed.Amount, Companies: o.Companies, Accounts: o.Owed.Count},
		Banks: e.banks(o.Ledgers), Today: dayCounts(o.Today), Hours: rows(o.Hours, hourOf), LastWeek: rows(o.LastWeek, hourOf),
		Deposits: rows(o.Deposits, depositCountOf),
	}
	for i, s := range o.Clearing {
		out.Clearing = append(out.Clearing, ClearingOfAge{Age: report.ClearingAges[i], Count: s.Count, Amount: s.Amount, Oldest: clock.Optional(s.Oldest)})
	}
	return out, nil
}

// banks returns our money at each bank of this program, and at each bank with money in the ledger.
func (e *edge) banks(ledgers map[string]money.Kobo) []BankBalance {
	out := []BankBalance{}
	last := e.Program.Wallets()
	for _, name := range slices.Sorted(maps.Keys(e.Program.Roles)) {
		if !slices.Contains(e.Program.Roles[name], "bank") {
			continue
		}
		b := BankBalance{Provider: name, Ledger: ledgers[name]}
		if r, read := last[name]; read {
			balance, difference := r.Balance, r.Balance-b.Ledger
			b.Balance, b.Difference, b.ReadAt = &balance, &difference, clock.Optional(r.At)
		}
		out = append(out, b)
	}
	return out
}

func sumOf(s report.Sum) Sum { return Sum{s.Count, s.Amount, clock.Optional(s.Oldest)} }

func namedSumOf(n report.Named) NamedSum {
	return NamedSum{n.Name, n.Count, n.Amount, clock.Optional(n.Oldest)}
}

func hourOf(h report.Hour) HourCount {
	return HourCount{clock.Text(h.At), h.Kind, h.Provider, h.Outcome, h.Count, h.Amount}
}

func depositCountOf(d report.Deposits) DepositCount {
	return DepositCount{d.Provider, d.Asset, d.Outcome, d.Count, d.Text()}
}

// dayCounts adds up hours by kind and outcome.
func dayCounts(hours []report.Hour) []DayCount {
	out := []DayCount{}
	for _, h := range hours {
		at := slices.IndexFunc(out, func(d DayCount) bool { return d.Kind == h.Kind && d.Outcome == h.Outcome })
		if at < 0 {
			at, out = len(out), append(out, DayCount{Kind: h.Kind, Outcome: h.Outcome})
		}
		out[at].Count += h.Count
		out[at].Amount += h.Amount
	}
	return out
}

func reconciliationOf(r report.Run) Reconciliation {
	return Reconciliation{
		ID: r.ID, Provider: r.Bank, At: clock.Text(r.At), From: clock.Optional(r.From), To: clock.Optional(r.To), Lines: r.Lines,
		Payments: r.Payments, Credits: r.Credits, Breaks: r.Breaks, Undecided: r.Undecided, Trouble: wire.Optional(r.Trouble),
	}
}

func (e *edge) listReconciliations(ctx context.Context, r *request) (any, error) {
	return continued(ctx, r, reconciliationOf, r.filter("provider"), e.Reports.Runs, e.Reports.RunsAfter)
}

func (e *edge) findReconciliation(ctx context.Context, r *request) (any, error) {
	run, err := e.Reports.FindRun(ctx, r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	s := reconciliationOf(run)
	return ReconciliationDetail{
		ID: s.ID, Provider: s.Provider, At: s.At, From: s.From, To: s.To, Lines: s.Lines, Payments: s.Payments, Credits: s.Credits,
		Breaks: s.Breaks, Undecided: s.Undecided, Trouble: s.Trouble, Findings: rows(run.Findings, func(f report.Found) ReconciliationBreak {
			return ReconciliationBreak{
				Reason: string(f.Reason), Company: f.Company, Subject: f.Subject, Bank: f.Bank, Ledger: f.Book, Difference: f.Bank - f.Book,
				Detail: f.Detail, At: clock.Optional(f.At), Case: wire.Optional(f.Case),
			}
		}),
	}, nil
}
