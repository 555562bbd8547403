package report

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/figure"
	"github.com/kobo-waas/kobo/internal/inbox"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/settlement"
)

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, labels, nil)
}

// The gauges cover all companies. No label names a company or an account number, since their number
// is unlimited.
var (
	casesOpen   = desc("kobo_cases_open", "Open cases by reason.", "reason")
	casesOldest = desc("kobo_cases_oldest_seconds", "Age of the oldest open case by reason, or 0.", "reason")

	pendingCount  = desc("kobo_operations_pending", "PENDING operations by kind.", "kind")
	pendingNaira  = desc("kobo_operations_pending_naira", "Amounts and fees of PENDING operations by kind.", "kind")
	pendingOldest = desc("kobo_operations_pending_oldest_seconds", "Age of the oldest PENDING operation by kind, or 0.", "kind")
	clearing      = desc("kobo_clearing_naira", "Money in the clearing accounts of all companies by kind of operation.", "kind")
	suspense      = desc("kobo_suspense_naira", "Money in suspense, whose owner is unknown.")

	jobsDue     = desc("kobo_jobs_due", "Due jobs that no worker has leased, by kind and provider; at most 10000.", "kind", "provider")
	jobsOldest  = desc("kobo_jobs_oldest_seconds", "Delay of the most overdue job that no worker has leased, by kind and provider, or 0.", "kind", "provider")
	inboxCount  = desc("kobo_inbox_waiting", "Notifications that are stored and not yet worked, by provider.", "provider")
	inboxOldest = desc("kobo_inbox_oldest_seconds", "Age of the oldest notification that is not yet worked, by provider.", "provider")

	pollAge      = desc("kobo_credit_poll_age_seconds", "Time since the credit poll had read every account that was due, by bank.", "provider")
	pollOldest   = desc("kobo_credit_poll_oldest_seconds", "Time since the credit poll read the account that has waited the longest, by bank.", "provider")
	pollAccounts = desc("kobo_credit_poll_accounts", "Accounts in the credit poll by bank and state: read, failing, or retired since the bank neither lists nor answers for them.", "provider", "state")
	pollUnlisted = desc("kobo_credit_poll_unlisted", "Permanent accounts of ours that the bank's last whole list of accounts lacked, by bank, without the retired ones.", "provider")
	reconcileAge = desc("kobo_reconciliation_age_seconds", "Time since the bank's statement was compared with the ledger, by bank.", "provider")

	walkWrong    = desc("kobo_walk_companies_wrong", "Companies whose last walk has found a difference.")
	walkFindings = desc("kobo_walk_findings", "Differences that the last walks have found; at most 20 are kept of a company.")

	accountsClosed = desc("kobo_accounts_closed", "Settlement accounts that are closed to debits, because rows of them do not verify.")

	reveals = desc("kobo_reveals_of_one_operator", "Contact data of customers and accounts of payouts that one operator has seen since midnight in Lagos: the highest number of an operator.")

	checkpointAge = desc("kobo_evidence_checkpoint_age_seconds", "Time since the newest checkpoint while rows of evidence wait for one, or 0.")
)

// Metrics returns the gauges of money and work in all companies. They are read from the database,
// so all programs on one database show the same values. Each source is one reading, which may fail
// without the others.
func (s *Service) Metrics(log *slog.Logger) (all []prometheus.Collector) {
	source := func(name string, read func(context.Context) ([]prometheus.Metric, error), descs ...*prometheus.Desc) {
		reading := func(ctx context.Context) ([]prometheus.Metric, error) { return read(db.Reading(ctx)) }
		all = append(all, &figure.Source{Name: name, Log: log, Descs: descs, Read: reading})
	}
	source("cases", s.caseFigures, casesOpen, casesOldest)
	source("money", s.moneyFigures, pendingCount, pendingNaira, pendingOldest, clearing, suspense)
	source("jobs", s.jobFigures, jobsDue, jobsOldest, inboxCount, inboxOldest)
	source("banks", s.bankFigures, pollAge, pollOldest, pollAccounts, pollUnlisted, reconcileAge)
	source("providers", s.providerFigures, unknownCount, unknownNaira, custodianAge)
	source("walks", s.walkFigures, walkWrong, walkFindings, accountsClosed)
	source("people", s.peopleFigures, reveals)
	source("evidence", s.evidenceFigures, checkpointAge)
	return append(all, s.damaged)
}

// total is a count, a sum of money in kobo and the oldest instant of some rows.
type total struct {
	count, kobo int64
	oldest      time.Time
}

// age returns the age of the oldest row, or 0 if there are no rows.
func (t total) age(now time.Time) time.Duration {
	if t.oldest.IsZero() {
		return 0
	}
	return max(now.Sub(t.oldest), 0)
}

func (s *Service) caseFigures(ctx context.Context) (out []prometheus.Metric, err error) {
	open, err := openCases(ctx, s.db)
	now := s.clock.Now()
	for _, r := range operation.Reasons() {
		t := open[string(r)]
		out = append(out, figure.Count(casesOpen, t.count, string(r)), figure.Seconds(casesOldest, t.age(now), string(r)))
	}
	return out, err
}

// The kinds of operations, which are also the names of their clearing accounts.
var operationKinds = []string{"payout", "vtu", "card"}

// moneyFigures reads the operations and the ledger in one SQL query, so both are as of one instant.
// The money in clearing is then exactly the money of PENDING operations.
func (s *Service) moneyFigures(ctx context.Context) (out []prometheus.Metric, err error) {
	queues, err := queueNames(ctx, s.db, s.db.Routed(), operation.ResolveJob)
	if err != nil {
		return nil, err
	}
	accounts := []string{settlement.SuspenseAccount}
	for _, kind := range operationKinds {
		accounts = append(accounts, settlement.ClearingAccount(kind))
	}
	held, pending, err := moneyInFlight(ctx, s.db, queues, accounts)
	now := s.clock.Now()
	for _, kind := range operationKinds {
		t := pending[kind]
		out = append(out, figure.Count(pendingCount, t.count, kind), figure.Naira(pendingNaira, t.kobo, kind),
			figure.Seconds(pendingOldest, t.age(now), kind), figure.Naira(clearing, held[settlement.ClearingAccount(kind)].kobo, kind))
	}
	return append(out, figure.Naira(suspense, held[settlement.SuspenseAccount].kobo)), err
}

func (s *Service) jobFigures(ctx context.Context) (out []prometheus.Metric, err error) {
	now := s.clock.Now()
	due, err := dueJobs(ctx, s.db, s.db.Routed(), now)
	if err != nil {
		return nil, err
	}
	var notices []string
	for queue, t := range due {
		kind, provider, _ := strings.Cut(queue, "/")
		out = append(out, figure.Count(jobsDue, t.count, kind, provider), figure.Seconds(jobsOldest, t.age(now), kind, provider))
		if kind == inbox.WorkJob {
			notices = append(notices, queue)
		}
	}
	waiting, err := waitingJobs(ctx, s.db, notices)
	for provider, t := range waiting {
		out = append(out, figure.Count(inboxCount, t.count, provider), figure.Seconds(inboxOldest, t.age(now), provider))
	}
	return out, err
}

func (s *Service) peopleFigures(ctx context.Context) ([]prometheus.Metric, error) {
	now := s.clock.Now().In(clock.Lagos)
	most, err := mostReveals(ctx, s.db, time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, clock.Lagos))
	return []prometheus.Metric{figure.Count(reveals, most)}, err
}

func (s *Service) bankFigures(ctx context.Context) (out []prometheus.Metric, err error) {
	now := s.clock.Now()
	for _, f := range []struct {
		desc *prometheus.Desc
		read func(context.Context, db.Querier) (map[string]time.Time, error)
	}{{pollAge, lastPolls}, {pollOldest, oldestPolls}, {reconcileAge, lastReconciliations}} {
		last, err := f.read(ctx, s.db)
		if err != nil {
			return nil, err
		}
		for bank, at := range last {
			// A time in the future is the work of a clock that was ahead. It shows as old, not as new.
			out = append(out, figure.Seconds(f.desc, now.Sub(at).Abs(), bank))
		}
	}
	polled, err := polledAccounts(ctx, s.db)
	for bank, n := range polled {
		out = append(out, figure.Count(pollUnlisted, n.unlisted, bank))
		for state, count := range map[string]int64{"read": n.read, "failing": n.failing, "retired": n.retired} {
			out = append(out, figure.Count(pollAccounts, count, bank, state))
		}
	}
	return out, err
}

func (s *Service) walkFigures(ctx context.Context) ([]prometheus.Metric, error) {
	found, err := walkFindingsOf(ctx, s.db)
	if err != nil {
		return nil, err
	}
	var n int64
	for _, text := range found {
		var wrongs []string
		if err := decode(text, &wrongs); err != nil {
			return nil, err
		}
		n += int64(len(wrongs))
	}
	closed, err := closedAccounts(ctx, s.db)
	return []prometheus.Metric{
		figure.Count(walkWrong, int64(len(found))), figure.Count(walkFindings, n), figure.Count(accountsClosed, closed),
	}, err
}

func (s *Service) evidenceFigures(ctx context.Context) ([]prometheus.Metric, error) {
	last, err := unsignedSince(ctx, s.db)
	return []prometheus.Metric{figure.Seconds(checkpointAge, total{oldest: last}.age(s.clock.Now()))}, err
}

// queueNames returns the names of the job queues of a kind.
func queueNames(ctx context.Context, q db.Querier, routed bool, kind string) ([]string, error) {
	all, err := allQueues(ctx, q, routed)
	return slices.DeleteFunc(all, func(queue string) bool { return !strings.HasPrefix(queue, kind+"/") }), err
}
