// Package report reads data of several businesses, such as payouts and purchases, for statements,
// lists and checks. It writes nothing but its own tables: how far each ledger is verified, what each
// comparison of a bank's statement has found, and how many operations began in each hour.
package report

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/memo"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/settlement"
)

// Service reads reports from the database.
type Service struct {
	// Broken receives the rows of a company that a walk found altered, before the walk goes on. It
	// returns the texts of those that two operators have accepted. If Broken is nil, the walk only
	// reports its findings.
	Broken func(ctx context.Context, company string, breaks []ledger.Break) (accepted []string, err error)

	db     *db.DB
	clock  clock.Clock
	issuer Issuer
	small  int64         // Integrity reads a ledger of up to this number of entries as a whole
	limit  time.Duration // how long Integrity may read
	depth  int64         // the number of rows of each kind that a page of payments looks at

	stride     int64 // the number of purchases between two milestones
	milestones milestones

	damaged prometheus.Counter // the checks that have found a difference

	overviews overviews                   // the last overview
	flows     flows                       // what moved in accounts by day
	held      memo.Memo[map[string]int64] // the last sums over all companies, by the names of the accounts

	counted string       // the last company that CountHours has counted; only the one HoursJob uses it
	revenue revenueRound // the round of AddRevenue; only the one RevenueJob uses it
}

// New returns a service that reads a database.
func New(d *db.DB, c clock.Clock) *Service { return WithLetterhead(d, c, Issuer{}) }

// WithLetterhead returns a service whose statements name their issuer. An empty issuer gives
// statements no letterhead.
func WithLetterhead(d *db.DB, c clock.Clock, i Issuer) *Service {
	return &Service{db: d, clock: c, issuer: i, held: memo.Memo[map[string]int64]{Keep: overviewLife}, small: 10_000, flows: flows{most: flowEntries, kept: map[flowKey]flow{}}, limit: 8 * time.Second, depth: paymentLook, stride: stride, milestones: milestones{kept: map[string][]milestone{}}, damaged: prometheus.NewCounter(prometheus.CounterOpts{
		Name: "kobo_integrity_failures_total", Help: "Checks of a company's ledger, asked for by the company, that found a difference.",
	})}
}

// Outcome describes what Kobo knows about the outcome of an operation.
type Outcome struct {
	Reference     string
	Type          string // the kind of operation
	Status        string
	Amount        money.Kobo
	Attempts      int    // the number of status requests after the first request to the provider
	LastAnswer    string // "" before the first reply of the provider
	LastAskedAt   time.Time
	NextTryAt     time.Time
	GraceEndsAt   time.Time // as in an OutcomeClock; zero for an operation with an outcome
	CaseDueAt     time.Time // as in an OutcomeClock; zero for an operation with an outcome
	NeedsDecision bool      // the operation has an open case
	Doubt         operation.Doubt
	CreatedAt     time.Time
	UpdatedAt     time.Time
}

// Outcomes returns a page of the company's open operations, newest first, and the total count. If there are references, it
// returns only the operations with them.
func (s *Service) Outcomes(ctx context.Context, company string, references []string, offset, limit int) ([]Outcome, int, error) {
	if len(references) > 0 {
		list, total, err := db.Page(ctx, s.db, company, scanOutcome, `SELECT count(*) FROM operation WHERE`+isOneOf,
			outcomeColumns+`WHERE`+isOneOf+`ORDER BY operation.created_at + 0 DESC, operation.id DESC LIMIT $3 OFFSET $4`, limit, offset, company, references)
		return list, int(total), err
	}
	// The sum keeps PostgreSQL from walking the index of all companies in this order.
	list, total, err := db.Page(ctx, s.db, company, scanOutcome, `SELECT count(*) FROM operation WHERE`+isOpen,
		outcomeColumns+`WHERE`+isOpen+`ORDER BY operation.created_at + 0 DESC, operation.id DESC LIMIT $2 OFFSET $3`, limit, offset, company)
	return list, int(total), err
}

// openFundings is the number of the card fundings that OpenFundings returns at most.
const openFundings = 100

// OpenFundings returns the card fundings of a company without an outcome, the newest first, and whether these are all.
func (s *Service) OpenFundings(ctx context.Context, company string) (list []Outcome, isAll bool, err error) {
	list, err = db.All(ctx, s.db, scanOutcome, outcomeColumns+`WHERE operation.company_id = $1 AND operation.state = 'PENDING' AND operation.kind = 'card'
		ORDER BY operation.id DESC LIMIT $2`, company, openFundings+1)
	if len(list) > openFundings {
		return list[:openFundings], false, err
	}
	return list, true, err
}

// Outcome returns the outcome of one operation of the company. The operation may have any state.
func (s *Service) Outcome(ctx context.Context, company, reference string) (Outcome, error) {
	o, err := db.One(ctx, s.db, scanOutcome,
		outcomeColumns+`WHERE operation.company_id = $1 AND operation.id = $2`, company, reference)
	if errors.Is(err, db.ErrNone) {
		return Outcome{}, fault.New(fault.Missing, "Outcome not found")
	}
	if err != nil {
		return o, err
	}
	doubts, err := operation.Doubts(ctx, s.db, company, []string{reference})
	o.Doubt = doubts[reference]
	return o, err
}

// Integrity is the result of a check of a company's ledger.
type Integrity struct {
	Company  string
	Sequence int64 // the number of the company's last event at the instant At
	At       time.Time
	// VerifiedUpTo is the number of the last event up to which everything was found sound. It is
	// Sequence, unless this check has found a difference.
	VerifiedUpTo int64
	// FullWalkAt is when the last walk through all rows began, or zero before the first walk.
	FullWalkAt time.Time
	Accounts   []AccountCheck
	InFlight   InFlight
	Entries    int64
	Wrongs     []string // the differences that were found, as text for operators

	breaks []ledger.Break // the differences whose account is known; only a check of new rows finds them
}

// AccountCheck has an account's balance and the sum of the account's entries. Both must be equal.
type AccountCheck struct {
	Name                string
	Entries             int64
	Balance, Recomputed money.Kobo
}

// InFlight has the money that clearing accounts hold (Clearing), and the number and the sum of the
// open operations. Clearing and Amount must be equal.
type InFlight struct {
	Clearing   money.Kobo
	Operations int
	Amount     money.Kobo
}

// Intact reports whether the ledger adds up without any difference.
func (i Integrity) Intact() bool { return len(i.Wrongs) == 0 }

// Own returns the accounts in the form in which the company sees them. A company does not see the
// accounts of the banks' charges. Own adds the charges to the account of the fintech's money at the
// bank, from which the bank took them. So the balances still add up to zero.
func (i Integrity) Own() []AccountCheck {
	var out []AccountCheck
	for _, a := range i.Accounts {
		if bank, charge := strings.CutPrefix(a.Name, settlement.ChargeAccount("")); charge {
			a.Name = settlement.ProviderAccount(bank)
		}
		at := slices.IndexFunc(out, func(b AccountCheck) bool { return b.Name == a.Name })
		if at < 0 {
			out = append(out, a)
			continue
		}
		out[at].Entries += a.Entries
		out[at].Balance += a.Balance
		out[at].Recomputed += a.Recomputed
	}
	slices.SortFunc(out, func(a, b AccountCheck) int { return strings.Compare(a.Name, b.Name) })
	return out
}

func (i *Integrity) wrong(format string, args ...any) {
	i.Wrongs = append(i.Wrongs, i.Company+": "+fmt.Sprintf(format, args...))
}

// Head is a company with a ledger, and the sequence number of its last event.
type Head struct {
	Company  string
	Sequence int64
}

// Heads returns all companies with a ledger, ordered by company.
func (s *Service) Heads(ctx context.Context) ([]Head, error) {
	return db.All(ctx, s.db, db.Fields[Head], `SELECT company_id, event_sequence FROM ledger_head ORDER BY company_id`)
}
