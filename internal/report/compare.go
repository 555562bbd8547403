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

// window is the period of a comparison. The statement covers the time between begin and to. The
// comparison covers movements in the ledger since from, if they are older than the constant
// settling.
type window struct{ begin, from, to time.Time }

func (w window) settled() time.Time { return w.to.Add(-settling) }

// isBefore reports whether a movement certainly happened before the statement begins. The method
// mayBeBefore reports whether it may have happened before, because the bank's clock differs from
// ours.
func (w window) isBefore(at time.Time) bool    { return at.Before(w.begin.Add(-settling)) }
func (w window) mayBeBefore(at time.Time) bool { return at.Before(w.begin.Add(settling)) }

// session matches the session IDs between banks.
var session = regexp.MustCompile(`\b[0-9]{30}\b`)

// account groups the lines of the statement that have the same name (see nameOf).
type account struct {
	lines           []provider.StatementLine
	debits, returns int
	out             money.Kobo // the sum of debits less the sum of returns
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

// sheet has the lines of a statement, grouped by name.
type sheet map[string]*account

// nameOf returns the name of a line that belongs to no known payment or credit. The name is usually
// the bank's reference. For a credit it is the session ID within the reference, which a
// notification would also contain.
func nameOf(l provider.StatementLine) string {
	if told := session.FindAllString(l.Reference, -1); l.Credit && len(told) == 1 {
		return told[0]
	}
	return cmp.Or(strings.TrimSpace(l.Reference), l.ID, "a line of "+clock.Text(l.At))
}

// byName groups the lines by the payment or credit that they belong to. Other lines are grouped by
// the name that nameOf returns. Charges of the bank are added to c instead.
func byName(lines []provider.StatementLine, known names, c *charges) sheet {
	out, most := sheet{}, largestOf(lines)
	for _, l := range lines {
		name, there := known.owner(l)
		if !there && isCharge(l) && !most.isPayment(l) {
			c.addLine(l)
			continue
		}
		if !there {
			name = nameOf(l)
		}
		if out[name] == nil {
			out[name] = &account{}
		}
		out[name].add(l)
	}
	return out
}

// take removes the group of this name from the sheet, and returns the group.
func (s sheet) take(name string) (a account) {
	if s[name] != nil {
		a = *s[name]
		delete(s, name)
	}
	return a
}

// compare returns the breaks that are old enough to be certain. The lines and the record must
// belong to the same bank. The lines begin at w.begin, and the movements of the record at w.from.
func compare(w window, lines []provider.StatementLine, b record) (breaks []Break) {
	c := charges{window: w, days: map[time.Time]*day{}}
	for began, sum := range b.corrected {
		c.at(began).corrected = sum
	}
	s := byName(lines, b.known(), &c)
	add := func(b Break, at ...time.Time) {
		if b.Reason != "" && !slices.ContainsFunc(at, w.settled().Before) {
			b.At = at[0]
			b.day = midnight(firstOf(at))
			breaks = append(breaks, b)
		}
	}
	for _, p := range b.paid {
		a := s.take(p.ID)
		if p.isAsked(a, w) {
			continue
		}
		found, charged := p.against(a, w)
		add(found, a.last, p.UpdatedAt)
		c.addPayment(p, a, charged)
	}
	credits := merged(b.received)
	for _, session := range slices.Sorted(maps.Keys(credits)) {
		a := s.take(session)
		add(credits[session].against(a, w), a.last, credits[session].Settled)
	}
	for _, name := range slices.Sorted(maps.Keys(s)) {
		add(b.explained(unknown(name, cmp.Or(b.owners[name], settlement.House), *s[name]), *s[name]), s[name].last)
	}
	pair(breaks)
	return append(breaks, c.breaks()...)
}

// isAsked reports whether the outcome at the provider is still being asked for. That is so while the
// resolver polls a PENDING payment. A payment that FAILED because the provider had no record of it is
// asked about again for a day. The provider may accept the payment late, take its money, and only then
// refuse it and give the money back. So a line that is younger than that day decides nothing. An older
// line counts whatever the provider says, because the money may never come back.
func (p Payment) isAsked(a account, w window) bool {
	rechecked := p.State == operation.Failed && !p.NextAt.IsZero() && a.last.After(w.to.Add(-operation.LastRecheck))
	return p.State == operation.Pending || rechecked
}

// firstOf returns the first instant that is not zero.
func firstOf(at []time.Time) time.Time {
	i := slices.IndexFunc(at, func(t time.Time) bool { return !t.IsZero() })
	return at[max(i, 0)]
}

// merged returns one receipt for each session ID. A credit that moved from suspense to a company
// has a receipt in both ledgers, and merged combines the two.
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

// before returns the amount that the bank debited for a payment before the statement begins. It
// returns the whole amount if the payment succeeded before the statement. It also returns the whole
// amount if the payment may have begun before the statement, and the statement has no debit but
// shows that the money left: the payment succeeded or was returned.
func (p Payment) before(w window, debits, returns int) money.Kobo {
	done := p.State == operation.Success && w.isBefore(p.UpdatedAt)
	gone := w.mayBeBefore(p.CreatedAt) && debits == 0 && (p.State == operation.Success || returns > 0)
	if done || gone {
		return p.Amount
	}
	return 0
}

// against returns the break between a finished payment and its lines on the statement, if they
// differ. It also returns the bank's charge for the payment on the statement.
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

// against returns the break between a credit in the ledger and its lines on the statement, if they
// differ.
func (r Receipt) against(a account, w window) Break {
	b := Break{Company: r.Company, Subject: r.Session, Bank: -a.out, Book: r.Booked, credit: true}
	switch {
	case r.Booked != r.Amount:
		b.Reason, b.Detail = operation.AmountDiffers, fmt.Sprintf("a credit of %s; the ledger took %s", r.Amount, r.Booked)
	case a.debits+a.returns == 0 && w.mayBeBefore(r.At), -a.out == r.Amount:
		return Break{}
	case a.debits+a.returns == 0:
		b.Reason, b.Detail = operation.NotOnStatement, fmt.Sprintf("a credit of %s is in our ledger and not on the statement", r.Amount)
	default:
		b.Reason, b.Detail = operation.AmountDiffers, fmt.Sprintf("a credit of %s; the statement has %s", r.Amount, -a.out)
	}
	return b
}

// unknown returns the break about lines that belong to no known payment or credit.
func unknown(name, company string, a account) Break {
	b := Break{Company: company, Subject: name, Bank: a.out}
	switch {
	case a.out > 0:
		b.Reason, b.Detail = operation.UnknownDebit, fmt.Sprintf("a debit of %s that nothing of ours asked for", a.out)+a.mentions(name)
	case a.out < 0:
		b.Bank = -a.out
		b.Reason, b.Detail = operation.MissingCredit, fmt.Sprintf("a credit of %s that is in no ledger", -a.out)+a.mentions(name)
	}
	return b
}

// mentions returns which references like ours the lines have, beside their name. After a restore the ledger lacks such a
// payment, and the bank's name for the debit or for its return says nothing to the company that asked for it.
func (a account) mentions(name string) (text string) {
	var all []string
	for _, l := range a.lines {
		for _, n := range l.Names() {
			if n != name && !session.MatchString(n) && slices.Contains(provider.References(n), n) && !slices.Contains(all, n) {
				all = append(all, n)
			}
		}
	}
	if len(all) > 0 {
		text = "; the bank's words have the reference " + strings.Join(all, ", ")
	}
	return text
}

// explained adds to a break about unknown debits which refused attempt they name.
func (b record) explained(found Break, a account) Break {
	if found.Reason != operation.UnknownDebit {
		return found
	}
	for _, l := range a.lines {
		for _, name := range l.Names() {
			if b.late[name] != "" {
				found.Detail += ": it names " + b.late[name]
				return found
			}
		}
	}
	return found
}

// pair adds hints to two breaks that may have the same cause. One break is an unknown line. The
// other break is a payment or credit of the same amount that the statement does not show. The bank
// may have changed the reference of that payment or credit.
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
