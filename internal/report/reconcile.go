package report

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/inbox"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/settlement"
)

const (
	// settling is how old everything about a payment must be before it is judged:
	// notifications are on their way, and the bank's clock is not ours.
	settling = 30 * time.Minute
	// overdue is when money in clearing is listed: the resolver has given up.
	overdue = 72 * time.Hour
)

// Reconciliation is a bank's statement held against our books.
type Reconciliation struct {
	Bank     string
	From, To time.Time
	Lines    int // what was compared
	Payments int
	Receipts int
	Breaks   []Break
}

// Break is something on which the bank and our books differ.
type Break struct {
	Reason  operation.Reason
	Company string // the house, when nobody's
	Subject string // the operation, or the bank and its session or what it calls the line
	Bank    money.Kobo
	Book    money.Kobo
	Detail  string
}

// Payment is an operation and what the ledger says went to the bank for it, and
// stayed.
type Payment struct {
	operation.Operation
	Booked money.Kobo
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

// Reconcile holds a bank's statement from an instant on against the operations
// that were asked of it, the credits it told of and the ledger. The statement is
// read first: what happens meanwhile is too young to be judged.
func (s *Service) Reconcile(ctx context.Context, name string, bank provider.Bookkeeper, from time.Time) (Reconciliation, error) {
	r := Reconciliation{Bank: name, From: from, To: s.clock.Now()}
	lines, err := wholeStatement(ctx, bank, r.From, r.To)
	if err != nil {
		return r, err
	}
	var names []string
	for _, l := range lines {
		names = append(names, named(l)...)
	}
	var paid []Payment
	var received []Receipt
	err = s.db.Snapshot(ctx, func(q db.Querier) (err error) {
		if paid, err = payments(ctx, q, name, from, names); err == nil {
			received, err = receipts(ctx, q, name, from, names)
		}
		return err
	})
	if err != nil {
		return r, err
	}
	r.Lines, r.Payments, r.Receipts = len(lines), len(paid), len(received)
	r.Breaks = ofBank(name, compare(r.From, r.To, lines, paid, received), paid)
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

// wholeStatement reads all pages. A line that a page shows again, since others
// came before it meanwhile, is no second debit.
func wholeStatement(ctx context.Context, bank provider.Bookkeeper, from, to time.Time) (all []provider.StatementLine, err error) {
	seen := map[string]bool{}
	for page, more := 0, true; more; page++ {
		var lines []provider.StatementLine
		if lines, more, err = bank.Statement(ctx, from, to, page); err != nil {
			return nil, err
		}
		for _, l := range lines {
			if l.ID == "" || !seen[l.ID] {
				all = append(all, l)
			}
			seen[l.ID] = true
		}
	}
	return all, nil
}

// shortest is the least length of a reference of ours.
const shortest = 20

// named is what a line may belong to, the likeliest first: its reference, and
// for what the bank wrote itself (a sale's debit, and its return) a reference of
// ours among its words. The narration of a credit is its sender's and no proof.
func named(l provider.StatementLine) []string {
	out := []string{l.Reference}
	if !l.Credit || l.Reversal {
		for _, word := range strings.Fields(l.Narration) {
			if len(word) >= shortest {
				out = append(out, word)
			}
		}
	}
	return out
}

// account is what the statement says of one reference.
type account struct {
	debits, returns int
	out             money.Kobo // less what came back
	last            time.Time
}

func (a *account) add(l provider.StatementLine) {
	if l.Credit {
		a.returns++
		a.out -= l.Amount
	} else {
		a.debits++
		a.out += l.Amount
	}
	if l.At.After(a.last) {
		a.last = l.At
	}
}

// compare finds the breaks among what is old enough. The three lists must be of
// one bank: its statement between two instants, the operations and credits of
// that time, and those that the statement names.
func compare(from, to time.Time, lines []provider.StatementLine, paid []Payment, received []Receipt) (breaks []Break) {
	edge, settled := from.Add(settling), to.Add(-settling)
	credits := merged(received)
	known := map[string]bool{}
	for _, p := range paid {
		known[p.ID] = true
	}
	for session := range credits {
		known[session] = true
	}
	bank := map[string]*account{}
	for _, l := range lines {
		name := cmp.Or(l.Reference, l.ID)
		if i := slices.IndexFunc(named(l), func(n string) bool { return known[n] }); i >= 0 {
			name = named(l)[i]
		}
		if bank[name] == nil {
			bank[name] = &account{}
		}
		bank[name].add(l)
	}
	take := func(name string) (a account) {
		if bank[name] != nil {
			a = *bank[name]
			delete(bank, name)
		}
		return a
	}
	note := func(b Break, at ...time.Time) {
		if b.Reason != "" && !slices.ContainsFunc(at, settled.Before) {
			breaks = append(breaks, b)
		}
	}
	for _, p := range paid {
		if a := take(p.ID); p.State != operation.Pending {
			note(p.against(a, edge), a.last, p.UpdatedAt)
		}
	}
	for _, session := range slices.Sorted(maps.Keys(credits)) {
		a := take(session)
		note(credits[session].against(a, edge), a.last, credits[session].Settled)
	}
	for _, name := range slices.Sorted(maps.Keys(bank)) {
		note(unknown(name, *bank[name]), bank[name].last)
	}
	return breaks
}

// merged is one receipt for each session: money that was in suspense and then
// given to a company has a row in both books.
func merged(received []Receipt) map[string]Receipt {
	out := map[string]Receipt{}
	for _, r := range received {
		if o, there := out[r.Session]; there {
			r.Booked += o.Booked
			if o.Settled.After(r.Settled) {
				r.Settled = o.Settled
			}
			if r.Company == settlement.House {
				r.Company = o.Company
			}
		}
		out[r.Session] = r
	}
	return out
}

// against holds a settled operation against the statement. Edge is a little
// after the statement begins: of what is older, the debit may lie before it.
func (p Payment) against(a account, edge time.Time) Break {
	want := money.Kobo(0)
	if p.State == operation.Success {
		want = p.Amount
	}
	before := money.Kobo(0)
	done := p.State == operation.Success && p.UpdatedAt.Before(edge)
	if p.CreatedAt.Before(edge) && (done || a.debits == 0) && (want > 0 || a.returns > 0) {
		before = p.Amount
	}
	moved := before + a.out
	b := Break{Company: p.Company, Subject: p.ID, Bank: moved, Book: p.Booked}
	says := func(r operation.Reason, format string, args ...any) Break {
		b.Reason = r
		b.Detail = fmt.Sprintf("the %s of %s is %s; ", p.Kind, p.Amount, p.State) + fmt.Sprintf(format, args...)
		return b
	}
	switch {
	case p.Booked != want:
		return says(operation.AmountDiffers, "the ledger has %s for it at %s", p.Booked, p.Provider)
	case moved == want:
		return Break{}
	case want == 0 && moved > 0:
		return says(operation.FailedReversal, "%s took %s and did not give it back", p.Provider, moved)
	case want > 0 && a.returns > 0 && moved < want:
		return says(operation.FailedReversal, "%s gave %s of it back", p.Provider, want-moved)
	case moved > want && (a.debits > 1 || before > 0):
		return says(operation.DuplicateDebit, "%s took %s for it", p.Provider, moved)
	case a.debits+a.returns == 0:
		return says(operation.NotOnStatement, "%s shows no debit", p.Provider)
	}
	return says(operation.AmountDiffers, "%s took %s", p.Provider, moved)
}

// against holds a credit in our books against the statement.
func (r Receipt) against(a account, edge time.Time) Break {
	b := Break{Company: r.Company, Subject: r.Session, Bank: -a.out, Book: r.Booked}
	switch {
	case r.Booked != r.Amount:
		b.Reason, b.Detail = operation.AmountDiffers, fmt.Sprintf("a credit of %s; the ledger took %s", r.Amount, r.Booked)
	case a.debits+a.returns == 0 && r.At.Before(edge), -a.out == r.Amount:
		return Break{}
	case a.debits+a.returns == 0:
		b.Reason, b.Detail = operation.NotOnStatement, fmt.Sprintf("a credit of %s is in our book and not on the statement", r.Amount)
	default:
		b.Reason, b.Detail = operation.AmountDiffers, fmt.Sprintf("a credit of %s; the statement has %s", r.Amount, -a.out)
	}
	return b
}

// unknown is what the statement has and we have not.
func unknown(name string, a account) Break {
	b := Break{Company: settlement.House, Subject: name, Bank: a.out}
	switch {
	case a.out > 0:
		b.Reason, b.Detail = operation.UnknownDebit, fmt.Sprintf("a debit of %s that nothing of ours asked for", a.out)
	case a.out < 0:
		b.Bank = -a.out
		b.Reason, b.Detail = operation.MissingCredit, fmt.Sprintf("a credit of %s that is in no book", -a.out)
	}
	return b
}

// Overdue is money that has been in a clearing account for more than 72 hours.
type Overdue struct {
	Company    string
	Account    string
	Amount     money.Kobo
	Operations []operation.Operation
}

// Overdue lists what no answer has moved out of clearing for 72 hours, with the
// operations whose it is.
func (s *Service) Overdue(ctx context.Context) (list []Overdue, err error) {
	old, err := pendingSince(ctx, s.db, s.clock.Now().Add(-overdue))
	for _, o := range old {
		account := settlement.ClearingAccount(o.Kind)
		if n := len(list); n == 0 || list[n-1].Company != o.Company || list[n-1].Account != account {
			list = append(list, Overdue{Company: o.Company, Account: account})
		}
		last := &list[len(list)-1]
		last.Amount += o.Amount + o.Fee
		last.Operations = append(last.Operations, o)
	}
	return list, err
}
