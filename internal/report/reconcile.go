package report

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/inbox"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/provider"
)

const (
	// settling is how old everything about a payment must be before it is judged:
	// notifications are on their way, and the bank's clock is not ours.
	settling = 30 * time.Minute
	// furthest is how much further back than it was asked for a statement is read,
	// for operations that were open for long.
	furthest = 7 * 24 * time.Hour
	// lastPage is where a statement that has no end is given up.
	lastPage = 100_000
)

// midnight is when the bank's day of an instant began.
func midnight(at time.Time) time.Time {
	y, m, d := at.In(clock.Lagos).Date()
	return time.Date(y, m, d, 0, 0, 0, 0, clock.Lagos)
}

// Reconciliation is a bank's statement held against our books.
type Reconciliation struct {
	Bank     string
	From, To time.Time // of the statement
	Lines    int       // what was compared
	Payments int
	Receipts int
	Breaks   []Break
}

// Break is something on which the bank and our books differ.
type Break struct {
	Reason  operation.Reason
	Company string // the house, when nobody's
	Subject string // the operation, or the bank and its session, what it calls the line, or a day of charges
	Bank    money.Kobo
	Book    money.Kobo
	Detail  string
	At      time.Time // of the last line about it; zero without one
	// Case is what became of it, once somebody has been asked.
	Case operation.Case

	credit bool // it is about money that came in
}

// Asked is the case that asks for a decision about a break.
func (b Break) Asked() operation.Case {
	return operation.Case{
		Company: b.Company, Subject: b.Subject, Reason: b.Reason, Detail: b.Detail, Amount: b.Bank - b.Book, HappenedAt: b.At,
	}
}

// Undecided is how many breaks still wait for a decision.
func (r Reconciliation) Undecided() (n int) {
	for _, b := range r.Breaks {
		if b.Case.State != operation.Resolved {
			n++
		}
	}
	return n
}

// Judged is up to when our own doing was certainly seen by the comparison.
func (r Reconciliation) Judged() time.Time { return window{to: r.To}.settled() }

// Payment is an operation and what the ledger says went to the bank for it, and
// stayed.
type Payment struct {
	operation.Operation
	Booked  money.Kobo // of the amount
	Charged money.Kobo // on top
}

// Receipt is a credit of the bank's and what the ledger took for it.
type Receipt struct {
	Company string
	Session string
	Amount  money.Kobo
	Booked  money.Kobo
	At      time.Time // the bank's
	Settled time.Time // the ledger's last word
}

// record is what our books have of a bank.
type record struct {
	paid     []Payment
	received []Receipt
	owners   map[string]string // the companies of sessions that no book has
	// corrected is what operators have booked of the bank's charges, by the day.
	corrected map[time.Time]money.Kobo
}

func (b *record) add(paid []Payment, received []Receipt) {
	b.paid, b.received = append(b.paid, paid...), append(b.received, received...)
}

// Reconcile holds a bank's statement from the day of an instant on, and up to
// another, against the operations that were asked of it, the credits it told of
// and the ledger. What happens meanwhile is too young to be judged.
func (s *Service) Reconcile(ctx context.Context, name string, bank provider.Bookkeeper, from, to time.Time) (Reconciliation, error) {
	ctx = db.Patient(ctx)
	w := window{to: to, from: midnight(from)}
	r := Reconciliation{Bank: name, To: w.to}
	var book record
	err := s.db.Snapshot(ctx, func(q db.Querier) (err error) {
		if book, err = movedSince(ctx, q, name, w.from); err == nil {
			book.corrected, err = corrections(ctx, q, name, w)
		}
		return err
	})
	if err != nil {
		return r, err
	}
	w.begin = beginning(w.from, book.paid)
	lines, err := wholeStatement(ctx, bank, w.begin, w.to)
	if err != nil {
		return r, err
	}
	// What the statement names and did not move of late: what is open, what was
	// refused, and what is older than the statement.
	if names := missing(lines, book); len(names) > 0 {
		err = s.db.Snapshot(ctx, func(q db.Querier) error { return book.find(ctx, q, name, names) })
		if err != nil {
			return r, err
		}
	}
	r.From, r.Lines, r.Payments, r.Receipts = w.begin, len(lines), len(book.paid), len(book.received)
	r.Breaks = ofBank(name, compare(w, lines, book), book.paid)
	return r, nil
}

// ofBank gives what is not an operation of ours the name of its bank: another
// bank may call something else the same.
func ofBank(bank string, breaks []Break, paid []Payment) []Break {
	ours := map[string]bool{}
	for _, p := range paid {
		ours[p.ID] = true
	}
	for i, b := range breaks {
		if !ours[b.Subject] {
			breaks[i].Subject = inbox.Subject(bank, b.Subject)
		}
	}
	return breaks
}

// beginning is where the statement must begin to show all of what ended in the
// window: an operation that was open for days was debited days before.
func beginning(from time.Time, paid []Payment) time.Time {
	first := from
	for _, p := range paid {
		if at := p.CreatedAt.Add(-settling); at.Before(first) && !at.Before(from.Add(-furthest)) {
			first = at
		}
	}
	return first
}

// wholeStatement reads all pages, or fails: half a statement would look like
// money lost. A line that a page shows again, since others came before it
// meanwhile, is no second debit.
func wholeStatement(ctx context.Context, bank provider.Bookkeeper, from, to time.Time) (all []provider.StatementLine, err error) {
	seen := map[string]bool{}
	for page := range lastPage {
		lines, more, err := bank.Statement(ctx, from, to, page)
		if err != nil {
			return nil, err
		}
		for _, l := range lines {
			if key := own(l); !seen[key] {
				seen[key] = true
				all = append(all, l)
			}
		}
		if !more {
			return all, nil
		}
	}
	return nil, fault.New(fault.Unavailable, "The statement has no end")
}

// own is what tells a line from all others: the bank's id, or all that it says.
func own(l provider.StatementLine) string {
	if l.ID != "" {
		return l.ID
	}
	return fmt.Sprint(l.At.UnixMicro(), l.Credit, l.Amount, l.Balance, l.Reference, l.Narration)
}

// missing is what the lines name and the record has not.
func missing(lines []provider.StatementLine, b record) []string {
	known, out := b.known(), map[string]bool{}
	for _, l := range lines {
		if _, there := known.owner(l); !there {
			for _, n := range named(l) {
				out[n] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(out))
}

// names are what lines of the statement may call what a record has.
type names struct {
	own  map[string]bool   // operations and the sessions of credits
	sent map[string]string // operations by the session between the banks
}

func (b record) known() names {
	known := names{own: map[string]bool{}, sent: map[string]string{}}
	for _, p := range b.paid {
		known.own[p.ID] = true
		if p.ProviderReference != "" {
			known.sent[p.ProviderReference] = p.ID
		}
	}
	for _, r := range b.received {
		known.own[r.Session] = true
	}
	return known
}

// owner is what of the record a line belongs to. A payment's session between the
// banks is that of its debit and its return; on a credit it may be the same
// payment, from one company to another, coming in.
func (k names) owner(l provider.StatementLine) (string, bool) {
	for _, n := range named(l) {
		if id, sent := k.sent[n]; sent && (!l.Credit || l.Reversal) {
			return id, true
		}
		if k.own[n] {
			return n, true
		}
	}
	return "", false
}
