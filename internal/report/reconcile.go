package report

import (
	"context"
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
	// settling is the minimum age of a payment that is compared. Notifications about a younger payment
	// may not have arrived yet, and the bank's clock differs from ours.
	settling = 30 * time.Minute
	// furthest limits how much earlier than the requested day a statement may begin. It begins earlier
	// if an operation whose outcome is in the period was open for days.
	furthest = 7 * 24 * time.Hour
	// Earlier is how much of the statement before that a comparison reads too, if a payment lacks its debit.
	Earlier = 31 * 24 * time.Hour
	// LongestReach is how far back the daily comparison goes to cover what earlier ones have missed.
	LongestReach = 31 * 24 * time.Hour
	// lastPage is the maximum number of pages of a statement.
	lastPage = 100_000
)

// midnight returns the beginning of the bank's day that contains an instant.
func midnight(at time.Time) time.Time {
	y, m, d := at.In(clock.Lagos).Date()
	return time.Date(y, m, d, 0, 0, 0, 0, clock.Lagos)
}

// Reconciliation is the result of a comparison of a bank's statement with the ledger.
type Reconciliation struct {
	Bank     string
	From, To time.Time // the period of the statement
	Lines    int       // the number of lines on the statement
	Payments int
	Receipts int
	Breaks   []Break
	// Days are the whole days of the period, the oldest first.
	Days []StatementDay
}

// Break is a difference between the bank's statement and the ledger.
type Break struct {
	Reason  operation.Reason
	Company string // "house" (Kobo itself), if the company is not known
	Subject string // an operation's id; or the bank's name with a session ID, the name of a line, or a day
	Bank    money.Kobo
	Book    money.Kobo
	Detail  string
	At      time.Time // the time of the break's last statement line; zero if there is none
	// Case is the case that was opened about the break. It is empty until then.
	Case operation.Case

	credit bool      // the break is about a credit
	day    time.Time // the midnight of the day to which the break belongs
}

// Asked returns the case that must be opened for a break.
func (b Break) Asked() operation.Case {
	return operation.Case{
		Company: b.Company, Subject: b.Subject, Reason: b.Reason, Detail: b.Detail, Amount: b.Bank - b.Book, HappenedAt: b.At,
	}
}

// Undecided returns the number of breaks whose case the operators have not decided.
func (r Reconciliation) Undecided() (n int) {
	for _, b := range r.Breaks {
		if b.Case.State != operation.Resolved {
			n++
		}
	}
	return n
}

// Judged returns the instant up to which the comparison is complete. Later movements are too young.
func (r Reconciliation) Judged() time.Time { return window{to: r.To}.settled() }

// Payment is an operation and the amount that, according to the ledger, it moved at the bank.
type Payment struct {
	operation.Operation
	Booked  money.Kobo // the amount in the ledger
	Charged money.Kobo // the bank's charge in the ledger
	Sent    string     // our reference at the bank: the id, or the reference of the last attempt
}

// Receipt is a credit and the amount that, according to the ledger, came in at the bank.
type Receipt struct {
	Company string
	Session string
	Amount  money.Kobo
	At      time.Time // the bank's time of the credit
	Booked  money.Kobo
	Settled time.Time // when the credit was last moved in the ledger
}

// record is the ledger's side of the comparison with a bank's statement.
type record struct {
	paid     []Payment
	received []Receipt
	owners   map[string]string // which company owns a session ID that has no receipt, by session ID
	late     map[string]string // what operators must know about a refused attempt at the bank, by its reference
	// corrected has, for each day, the charges that operators have booked.
	corrected map[time.Time]money.Kobo
}

func (b record) copy() record {
	b.paid, b.received = slices.Clone(b.paid), slices.Clone(b.received)
	b.owners, b.late, b.corrected = maps.Clone(b.owners), maps.Clone(b.late), maps.Clone(b.corrected)
	return b
}

// Reconcile compares a bank's statement with the operations, the credits and the ledger. The
// statement begins on the day that contains from, and ends at to. Movements that happen during the
// comparison are too young to be compared.
func (s *Service) Reconcile(ctx context.Context, name string, bank provider.Bookkeeper, from, to time.Time) (Reconciliation, error) {
	ctx = db.WithLongTimeout(db.Reading(ctx))
	w := window{to: to, from: midnight(from)}
	r := Reconciliation{Bank: name, To: w.to}
	var ours record
	err := s.db.Snapshot(ctx, func(q db.Querier) (err error) {
		if ours, err = movedSince(ctx, q, name, w.from); err == nil {
			ours.corrected, err = corrections(ctx, q, name, w)
		}
		return err
	})
	if err != nil {
		return r, err
	}
	w.begin = beginning(w.from, ours.paid)
	lines, err := wholeStatement(ctx, bank, w.begin, w.to)
	if err != nil {
		return r, err
	}
	// The statement may also name operations that are open, refused or old. The record lacks them,
	// because they have no recent movement in the ledger. Read them too.
	if names := missing(lines, ours); len(names) > 0 {
		known := ours
		err = s.db.Snapshot(ctx, func(q db.Querier) error {
			ours = known.copy() // a snapshot may begin again
			return ours.find(ctx, q, name, names)
		})
		if err != nil {
			return r, err
		}
	}
	breaks := compare(w, lines, ours)
	if ids := undebited(breaks, lines, ours); len(ids) > 0 {
		earlier, err := earlierLines(ctx, bank, w, lines, ours.known(), ids)
		switch {
		case err == nil:
			breaks = compare(w, append(earlier, lines...), ours)
		case ctx.Err() != nil:
			return r, err
		default: // a bank may refuse so old a day, so the comparison goes on without it
			doubtful(breaks, ids, w.begin)
		}
	}
	r.From, r.Lines, r.Payments, r.Receipts = w.begin, len(lines), len(ours.paid), len(ours.received)
	r.Breaks = ofBank(name, breaks, ours.paid)
	r.Days = daysOf(w, lines)
	return r, nil
}

// undebited returns the payments for which the bank, by these breaks, took less than the ledger has, and of which the
// statement shows no debit.
//
// The debit may be older than our payment. If a restore has lost a payment, and the company repeats it under its key, we have a
// payment that begins then, and the bank has taken the money before.
func undebited(breaks []Break, lines []provider.StatementLine, b record) map[string]bool {
	known, out := b.known(), map[string]bool{}
	for _, found := range breaks {
		if found.Bank < found.Book && known.own[found.Subject] && !found.credit {
			out[found.Subject] = true
		}
	}
	if len(out) == 0 {
		return nil
	}
	for _, l := range lines {
		if id, there := known.owner(l); there && !l.Credit {
			delete(out, id)
		}
	}
	return out
}

// doubtful adds to the breaks about these payments that their debits may be older.
func doubtful(breaks []Break, ids map[string]bool, begin time.Time) {
	for i, b := range breaks {
		if ids[b.Subject] {
			breaks[i].Detail += "; the statement before " + clock.Text(begin) + ", which may have it, could not be read"
		}
	}
}

// earlierLines returns the lines of these payments from the time before the statement.
func earlierLines(
	ctx context.Context, bank provider.Bookkeeper, w window, lines []provider.StatementLine, known names, ids map[string]bool,
) (found []provider.StatementLine, err error) {
	earlier, err := wholeStatement(ctx, bank, w.begin.Add(-Earlier), w.begin)
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for _, l := range lines {
		seen[l.Identity()] = true
	}
	for _, l := range earlier {
		if id, there := known.owner(l); there && ids[id] && !seen[l.Identity()] {
			found = append(found, l)
		}
	}
	return found, nil
}

// ofBank adds the bank's name to each subject that is not an operation, because a different bank
// may use the same session ID or reference.
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

// beginning returns the time at which a statement must begin to show all debits of these
// operations. The bank debited an operation when the operation began, perhaps days before its
// outcome. The statement begins before the first day in any case. So each movement of that day is surely on it,
// although the bank's clock differs from ours.
func beginning(from time.Time, paid []Payment) time.Time {
	first := from.Add(-settling)
	for _, p := range paid {
		if at := p.CreatedAt.Add(-settling); at.Before(first) && !at.Before(from.Add(-furthest)) {
			first = at
		}
	}
	return first
}

// wholeStatement reads all pages of a statement. If a page fails, it returns an error, since an
// incomplete statement would look like lost money. A new line may move an old line to the next
// page. So a line that is read twice counts only once.
func wholeStatement(ctx context.Context, bank provider.Bookkeeper, from, to time.Time) (all []provider.StatementLine, err error) {
	seen := map[string]bool{}
	for page := range lastPage {
		lines, more, err := bank.Statement(ctx, from, to, page)
		if err != nil {
			return nil, err
		}
		for _, l := range lines {
			if key := l.Identity(); !seen[key] {
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

// missing returns those names on the lines that belong to no payment or receipt of the record.
func missing(lines []provider.StatementLine, b record) []string {
	known, out := b.known(), map[string]bool{}
	for _, l := range lines {
		if _, there := known.owner(l); !there {
			for _, n := range l.Names() {
				out[n] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(out))
}

// names has the names that a statement may use for the payments and receipts of a record.
type names struct {
	own  map[string]bool   // the ids of all operations and the session IDs of all credits
	sent map[string]string // the ids of operations, by their session IDs between the banks
}

func (b record) known() names {
	known := names{own: map[string]bool{}, sent: map[string]string{}}
	for _, p := range b.paid {
		known.own[p.ID] = true
		if p.Sent != "" && p.Sent != p.ID {
			known.sent[p.Sent] = p.ID
		}
		if p.ProviderReference != "" {
			known.sent[p.ProviderReference] = p.ID
		}
	}
	for _, r := range b.received {
		known.own[r.Session] = true
	}
	return known
}

// owner returns the name of the payment or receipt that a line belongs to. The session ID between
// the banks identifies both the debit of a payment and the return of that payment. If a plain
// credit has that session ID, the payment went to a different company, and the credit is that
// company's receipt.
func (k names) owner(l provider.StatementLine) (string, bool) {
	for _, n := range l.Names() {
		if id, sent := k.sent[n]; sent && (!l.Credit || l.Reversal) {
			return id, true
		}
		if k.own[n] {
			return n, true
		}
	}
	return "", false
}
