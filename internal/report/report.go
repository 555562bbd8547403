// Package report reads data of several businesses, such as payouts and purchases, for statements,
// lists and checks. It never writes, and owns no table.
package report

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/settlement"
)

// Service reads reports from the database.
type Service struct {
	db     *db.DB
	clock  clock.Clock
	issuer Issuer
}

// New returns a service that reads a database.
func New(d *db.DB, c clock.Clock) *Service { return WithLetterhead(d, c, Issuer{}) }

// WithLetterhead returns a service whose statements name their issuer. An empty issuer gives
// statements no letterhead.
func WithLetterhead(d *db.DB, c clock.Clock, i Issuer) *Service { return &Service{d, c, i} }

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
	NeedsDecision bool // the operation has an open case
	CreatedAt     time.Time
	UpdatedAt     time.Time
}

// Outcomes returns a page of the company's open operations, newest first, and the total count.
func (s *Service) Outcomes(ctx context.Context, company string, offset, limit int) ([]Outcome, int, error) {
	list, total, err := page(ctx, s.db, scanOutcome, `SELECT count(*) FROM operation WHERE`+isOpen,
		outcomeColumns+`WHERE`+isOpen+`ORDER BY operation.created_at DESC, operation.id DESC LIMIT $2 OFFSET $3`, limit, offset, company)
	return list, int(total), err
}

// Outcome returns the outcome of one operation of the company. The operation may have any state.
func (s *Service) Outcome(ctx context.Context, company, reference string) (Outcome, error) {
	o, err := db.One(ctx, s.db, scanOutcome,
		outcomeColumns+`WHERE operation.company_id = $1 AND operation.id = $2`, company, reference)
	if errors.Is(err, db.ErrNone) {
		return Outcome{}, fault.New(fault.Missing, "Outcome not found")
	}
	return o, err
}

// Integrity is the result of adding up all entries of a company's ledger again.
type Integrity struct {
	Company  string
	Sequence int64 // the number of the company's last event at the instant At
	At       time.Time
	Accounts []AccountCheck
	InFlight InFlight
	Entries  int64
	Wrongs   []string // the differences that were found, as text for operators
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

// Integrity adds up the company's whole ledger as it is at one instant.
func (s *Service) Integrity(ctx context.Context, company string) (out Integrity, err error) {
	err = s.db.Snapshot(ctx, func(q db.Querier) error {
		out, err = integrity(ctx, q, company, s.clock.Now(), func(ledger.Transfer) {})
		return err
	})
	return out, err
}

// integrity adds up the ledger through the querier q, and calls seen for each transfer.
func integrity(ctx context.Context, q db.Querier, company string, now time.Time, seen func(ledger.Transfer)) (Integrity, error) {
	sums, err := ledger.VerifyBeside(ctx, q, company, seen)
	if err != nil {
		return Integrity{}, err
	}
	out := Integrity{Company: company, Sequence: sums.Sequence, At: now, Entries: sums.Entries, Wrongs: sums.Wrongs}
	for _, a := range sums.Accounts {
		out.Accounts = append(out.Accounts, AccountCheck{a.ID, a.Entries, a.Balance, a.Sum})
		if a.Clearing() {
			out.InFlight.Clearing += a.Balance
		}
	}
	return out, out.add(db.WithLongTimeout(ctx), q)
}

// add compares the ledger with the operations, the events and the credits. It records each
// difference in i.Wrongs.
func (i *Integrity) add(ctx context.Context, q db.Querier) error {
	type sum struct {
		count int64
		money money.Kobo
	}
	open, err := db.One(ctx, q, db.Fields[sum], `SELECT count(*), CAST(coalesce(sum(amount_kobo + fee_kobo), 0) AS BIGINT)
		FROM operation WHERE company_id = $1 AND state = 'PENDING'`, i.Company)
	if err != nil {
		return err
	}
	i.InFlight.Operations, i.InFlight.Amount = int(open.count), open.money
	if i.InFlight.Clearing != open.money {
		i.wrong("clearing holds %d kobo for open operations of %d kobo", i.InFlight.Clearing, open.money)
	}
	type count struct{ events, last int64 }
	c, err := db.One(ctx, q, db.Fields[count], `SELECT count(*), coalesce(max(sequence), 0) FROM event WHERE company_id = $1`, i.Company)
	if err != nil {
		return err
	}
	if c.events != i.Sequence || c.last != i.Sequence {
		i.wrong("there are %d events, the last numbered %d, where the company lock row says %d", c.events, c.last, i.Sequence)
	}
	return i.addCredits(ctx, q)
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
