// Package report answers questions that span businesses. It only reads, and
// owns no table.
package report

import (
	"context"
	"errors"
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

// Service reads.
type Service struct {
	db     *db.DB
	clock  clock.Clock
	issuer Issuer
}

// New reads from a database.
func New(d *db.DB, c clock.Clock) *Service { return &Service{db: d, clock: c} }

// Letterhead says who issues statements; until then they have no letterhead.
func (s *Service) Letterhead(i Issuer) { s.issuer = i }

// Outcome is what is known of an operation's end.
type Outcome struct {
	Reference     string
	Type          string // the kind of operation
	Status        string
	Amount        money.Kobo
	Attempts      int    // how often the provider was asked after the first call
	LastAnswer    string // "" before any
	LastAskedAt   time.Time
	NextTryAt     time.Time
	NeedsDecision bool // an open case: a human decides
	CreatedAt     time.Time
	UpdatedAt     time.Time
}

// Outcomes are the company's operations whose outcome is not known yet, newest
// first, and how many there are.
func (s *Service) Outcomes(ctx context.Context, company string, offset, limit int) ([]Outcome, int, error) {
	total, err := pendingCount(ctx, s.db, company)
	if err != nil {
		return nil, 0, err
	}
	list, err := pending(ctx, s.db, company, offset, limit)
	return list, int(total), err
}

// Outcome is one operation of the company, whatever its state.
func (s *Service) Outcome(ctx context.Context, company, reference string) (Outcome, error) {
	o, err := findOutcome(ctx, s.db, company, reference)
	if errors.Is(err, db.ErrNone) {
		return Outcome{}, fault.New(fault.Missing, "Outcome not found")
	}
	return o, err
}

// Integrity is what re-adding a company's book came to.
type Integrity struct {
	Company  string
	Sequence int64 // the company's last event that the reading saw
	At       time.Time
	Accounts []AccountCheck
	InFlight InFlight
	Entries  int64
	Wrongs   []string // what does not add up, for operators
}

// AccountCheck is one account as it stands beside its entries added up.
type AccountCheck struct {
	Name                string
	Entries             int64
	Balance, Recomputed money.Kobo
}

// InFlight is the money in clearing beside the open operations it belongs to.
type InFlight struct {
	Clearing   money.Kobo
	Operations int
	Amount     money.Kobo
}

// Intact tells whether everything adds up.
func (i Integrity) Intact() bool { return len(i.Wrongs) == 0 }

// Own are the accounts as their company sees them. What a bank charged the fintech
// is not shown by itself: it stands with the fintech's money at that bank, of which
// it was taken, and adds up to nothing there. So what is shown still adds up.
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

// Integrity re-adds the company's whole book, as it was at one instant.
func (s *Service) Integrity(ctx context.Context, company string) (out Integrity, err error) {
	err = s.db.Snapshot(ctx, func(q db.Querier) error {
		out, err = integrity(ctx, q, company, s.clock.Now(), func(ledger.Transfer) {})
		return err
	})
	return out, err
}

// integrity re-adds the book that q sees, and shows each transfer to seen.
func integrity(ctx context.Context, q db.Querier, company string, now time.Time, seen func(ledger.Transfer)) (Integrity, error) {
	book, err := ledger.VerifyBeside(ctx, q, company, seen)
	if err != nil {
		return Integrity{}, err
	}
	out := Integrity{Company: company, Sequence: book.Sequence, At: now, Entries: book.Entries, Wrongs: book.Wrongs}
	for _, a := range book.Accounts {
		out.Accounts = append(out.Accounts, AccountCheck{a.ID, a.Entries, a.Balance, a.Sum})
		if a.Clearing() {
			out.InFlight.Clearing += a.Balance
		}
	}
	return out, out.add(db.Patient(ctx), q)
}

// add compares the book with the operations and the events around it.
func (i *Integrity) add(ctx context.Context, q db.Querier) error {
	count, amount, err := openOperations(ctx, q, i.Company)
	if err != nil {
		return err
	}
	i.InFlight.Operations, i.InFlight.Amount = int(count), amount
	if i.InFlight.Clearing != amount {
		i.wrong("clearing holds %d kobo for open operations of %d kobo", i.InFlight.Clearing, amount)
	}
	events, last, err := eventCount(ctx, q, i.Company)
	if err != nil {
		return err
	}
	if events != i.Sequence || last != i.Sequence {
		i.wrong("there are %d events, the last numbered %d, where the head says %d", events, last, i.Sequence)
	}
	return i.addCredits(ctx, q)
}

// Head is a company that has a book, and the number of its last event.
type Head struct {
	Company  string
	Sequence int64
}

// Heads are all companies that have a book, in order.
func (s *Service) Heads(ctx context.Context) ([]Head, error) { return heads(ctx, s.db) }
