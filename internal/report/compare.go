package report

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/settlement"
)

// window is what a comparison looks at: the statement begins where it must to
// show all of what moved from an instant on, and nothing is judged that is not
// older than settling.
type window struct{ begin, from, to time.Time }

func (w window) settled() time.Time { return w.to.Add(-settling) }

// wholly and maybe tell of an operation that began so long ago whether its debit
// lies before the statement: the clocks of the bank and ours differ.
func (w window) wholly(at time.Time) bool { return at.Before(w.begin.Add(-settling)) }
func (w window) maybe(at time.Time) bool  { return at.Before(w.begin.Add(settling)) }

// shape is that of our references, and of sessions between banks.
var (
	shape   = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|\b[a-z2-7]{20}\b|\b[0-9]{30}\b`)
	session = regexp.MustCompile(`\b[0-9]{30}\b`)
)

// named is what a line may belong to, the likeliest first: its reference, what
// of ours is in it, and for what the bank wrote itself (a sale's debit, and its
// return) what of ours is among its words. The narration of a credit is its
// sender's and no proof.
func named(l provider.StatementLine) (out []string) {
	reference := strings.TrimSpace(l.Reference)
	if reference != "" {
		out = append(out, reference)
	}
	out = append(out, shape.FindAllString(strings.ToLower(reference), -1)...)
	if !l.Credit || l.Reversal {
		out = append(out, shape.FindAllString(strings.ToLower(l.Narration), -1)...)
	}
	return out
}

// account is what the statement says of one name.
type account struct {
	lines           []provider.StatementLine
	debits, returns int
	out             money.Kobo // less what came back
	last            time.Time
}

func (a *account) add(l provider.StatementLine) {
	a.lines = append(a.lines, l)
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

// sheet is the statement by what its lines belong to.
type sheet map[string]*account

// strange is what a line is called that belongs to nothing of ours: the bank's
// reference; of a credit the session that is in it, by which it would be told.
func strange(l provider.StatementLine) string {
	if told := session.FindAllString(l.Reference, -1); l.Credit && len(told) == 1 {
		return told[0]
	}
	return cmp.Or(strings.TrimSpace(l.Reference), l.ID, "a line of "+clock.Text(l.At))
}

// laidOut puts each line where it belongs, and by itself what belongs to nothing of
// ours, unless it is a charge of the bank's own.
func laidOut(lines []provider.StatementLine, known names, c *charges) sheet {
	out := sheet{}
	for _, l := range lines {
		name, there := known.owner(l)
		if !there && chargeable(l) {
			c.shown(l)
			continue
		}
		if !there {
			name = strange(l)
		}
		if out[name] == nil {
			out[name] = &account{}
		}
		out[name].add(l)
	}
	return out
}

// take is what the statement says of a name, which is then done with.
func (s sheet) take(name string) (a account) {
	if s[name] != nil {
		a = *s[name]
		delete(s, name)
	}
	return a
}

// compare finds the breaks among what is old enough. Statement and record must
// be of one bank: its lines from the window's begin on, what moved since its
// from, and what the lines name.
func compare(w window, lines []provider.StatementLine, b record) (breaks []Break) {
	c := charges{window: w, days: map[time.Time]*day{}}
	for began, sum := range b.corrected {
		c.at(began).corrected = sum
	}
	s := laidOut(lines, b.known(), &c)
	note := func(b Break, at ...time.Time) {
		if b.Reason != "" && !slices.ContainsFunc(at, w.settled().Before) {
			b.At = at[0]
			breaks = append(breaks, b)
		}
	}
	for _, p := range b.paid {
		a := s.take(p.ID)
		if p.State == operation.Pending {
			continue // the resolver's
		}
		found, charged := p.against(a, w)
		note(found, a.last, p.UpdatedAt)
		c.of(p, a, charged)
	}
	credits := merged(b.received)
	for _, session := range slices.Sorted(maps.Keys(credits)) {
		a := s.take(session)
		note(credits[session].against(a, w), a.last, credits[session].Settled)
	}
	for _, name := range slices.Sorted(maps.Keys(s)) {
		note(unknown(name, cmp.Or(b.owners[name], settlement.House), *s[name]), s[name].last)
	}
	pair(breaks)
	return append(breaks, c.breaks()...)
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

// before is what the bank took for a payment before the statement begins, as
// far as can be told: all of it if the payment was done by then; and if it may
// have been and the statement shows no debit.
func (p Payment) before(w window, debits, returns int) money.Kobo {
	done := p.State == operation.Success && w.wholly(p.UpdatedAt)
	gone := w.maybe(p.CreatedAt) && debits == 0 && (p.State == operation.Success || returns > 0)
	if done || gone {
		return p.Amount
	}
	return 0
}

// against holds a settled operation against the statement. Charged is what the
// bank charged for it, as far as the statement shows it.
func (p Payment) against(a account, w window) (b Break, charged money.Kobo) {
	want := money.Kobo(0)
	if p.State == operation.Success {
		want = p.Amount
	}
	a, charged = p.split(a, w)
	before := p.before(w, a.debits, a.returns)
	moved := before + a.out
	b = Break{Company: p.Company, Subject: p.ID, Bank: moved, Book: p.Booked}
	says := func(r operation.Reason, format string, args ...any) (Break, money.Kobo) {
		b.Reason = r
		b.Detail = fmt.Sprintf("the %s of %s is %s; ", p.Kind, p.Amount, p.State) + fmt.Sprintf(format, args...)
		return b, charged
	}
	switch {
	case p.Booked != want:
		return says(operation.AmountDiffers, "the ledger has %s for it at %s", p.Booked, p.Provider)
	case moved == want:
		return Break{}, charged
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
func (r Receipt) against(a account, w window) Break {
	b := Break{Company: r.Company, Subject: r.Session, Bank: -a.out, Book: r.Booked, credit: true}
	switch {
	case r.Booked != r.Amount:
		b.Reason, b.Detail = operation.AmountDiffers, fmt.Sprintf("a credit of %s; the ledger took %s", r.Amount, r.Booked)
	case a.debits+a.returns == 0 && w.maybe(r.At), -a.out == r.Amount:
		return Break{}
	case a.debits+a.returns == 0:
		b.Reason, b.Detail = operation.NotOnStatement, fmt.Sprintf("a credit of %s is in our book and not on the statement", r.Amount)
	default:
		b.Reason, b.Detail = operation.AmountDiffers, fmt.Sprintf("a credit of %s; the statement has %s", r.Amount, -a.out)
	}
	return b
}

// unknown is what the statement has and we have not.
func unknown(name, company string, a account) Break {
	b := Break{Company: company, Subject: name, Bank: a.out}
	switch {
	case a.out > 0:
		b.Reason, b.Detail = operation.UnknownDebit, fmt.Sprintf("a debit of %s that nothing of ours asked for", a.out)
	case a.out < 0:
		b.Bank = -a.out
		b.Reason, b.Detail = operation.MissingCredit, fmt.Sprintf("a credit of %s that is in no book", -a.out)
	}
	return b
}

// pair says of a debit that nobody asked for whose it may be: a payment of the
// same amount that the statement does not show. The bank may have its own idea
// of the reference.
func pair(breaks []Break) {
	taken := map[int]bool{}
	for i := range breaks {
		j := slices.IndexFunc(breaks, func(b Break) bool {
			return b.Reason == operation.NotOnStatement && b.Book == breaks[i].Bank &&
				b.credit == (breaks[i].Reason == operation.MissingCredit)
		})
		if breaks[i].Reason != operation.UnknownDebit && breaks[i].Reason != operation.MissingCredit || j < 0 || taken[j] {
			continue
		}
		taken[j] = true
		breaks[i].Detail += "; the same amount is missing for " + breaks[j].Subject
		breaks[j].Detail += "; it may be " + breaks[i].Subject
	}
}
