package report

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/settlement"
)

const (
	// mostCharge is the maximum amount of a statement line that counts as a charge.
	mostCharge = 10_000 * money.Naira
	// chargesLate is how long after the end of a day its charges are compared. Banks take some charges
	// of a day in the following night or on the following day.
	chargesLate = 24 * time.Hour
)

// chargeWords matches words that banks use in the narrations of their charges.
var chargeWords = regexp.MustCompile(`(?i)\b(charges?|fees?|commission|vat|stamp ?duty|sms|levy|emtl|maintenance|bvn|verification)\b`)

// isCharge reports whether a line that belongs to no payment or credit is a charge of the bank, or
// the return of such a charge.
func isCharge(l provider.StatementLine) bool {
	return (!l.Credit || l.Reversal) && l.Amount <= mostCharge && chargeWords.MatchString(l.Narration)
}

// largest has the largest amount of the lines whose whole reference is one of ours, by that reference.
type largest map[string]money.Kobo

func largestOf(lines []provider.StatementLine) largest {
	out := largest{}
	for _, l := range lines {
		if name := wholly(l); name != "" {
			out[name] = max(out[name], l.Amount)
		}
	}
	return out
}

// isPayment reports whether a line is the debit or the return of a payment of ours, although no ledger has that payment. A restore
// may have lost it. Its narration is the company's, and proves no charge. A smaller line under the same reference is not the payment.
func (m largest) isPayment(l provider.StatementLine) bool {
	name := wholly(l)
	return name != "" && l.Amount >= m[name]
}

// wholly returns the reference of a line if the whole of it is one of ours, and otherwise "". The session between banks is none.
func wholly(l provider.StatementLine) string {
	name := strings.ToLower(strings.TrimSpace(l.Reference))
	if !slices.Contains(provider.References(name), name) || session.MatchString(name) {
		return ""
	}
	return name
}

// split separates a payment's own lines from the lines of the bank's charges. A charge in the
// ledger may be part of the payment's debit, or have separate lines. If the debits are not exactly
// the payment plus its charge, smaller debits in addition to the payment's debit count as charges.
// Small credits count as returned charges, up to the charges that the statement or the ledger shows. If
// the payment was debited before the statement begins, its charge was too, and a small credit beside the
// returned amount counts as that charge.
func (p Payment) split(a account, w window) (own account, charged money.Kobo) {
	var debits money.Kobo
	beside := w.mayBeBefore(p.CreatedAt) || p.State != operation.Success
	for _, l := range a.lines {
		if !l.Credit {
			debits += l.Amount
			beside = beside || l.Amount >= p.Amount
		}
	}
	exact := p.Charged > 0 && debits == p.Amount+p.Charged
	late := p.Charged > 0 && debits == p.Charged && w.mayBeBefore(p.CreatedAt)
	small := func(l provider.StatementLine) bool { return beside && l.Amount < p.Amount && l.Amount <= mostCharge }
	if exact || late {
		charged = p.Charged
	}
	if exact {
		own.add(provider.StatementLine{Amount: p.Amount, At: a.last})
	}
	for _, l := range a.lines {
		switch {
		case l.Credit || exact || late:
		case small(l):
			charged += l.Amount
		default:
			own.add(l)
		}
	}
	back := max(charged, p.Charged)
	if debits == 0 && w.mayBeBefore(p.CreatedAt) && slices.ContainsFunc(a.lines, func(l provider.StatementLine) bool { return l.Amount == p.Amount }) {
		back = mostCharge
	}
	for _, l := range a.lines {
		switch {
		case !l.Credit:
		case small(l) && l.Amount <= back:
			charged -= l.Amount
			back -= l.Amount
		default:
			own.add(l)
		}
	}
	return own, charged
}

// charges groups the bank's charges by day. A hundred charges of ten naira on one day become one
// case.
type charges struct {
	window window
	days   map[time.Time]*day
}

// day has the differences between the statement and the ledger for one day.
type day struct {
	lines, booked int
	unbooked      money.Kobo // the sum that is only on the statement
	short         money.Kobo // the sum that is only in the ledger
	corrected     money.Kobo // the sum that operators have booked for that day, at any time
}

func (c *charges) at(at time.Time) *day {
	began := midnight(at)
	if c.days[began] == nil {
		c.days[began] = &day{}
	}
	return c.days[began]
}

// addLine adds a charge that is on the statement and does not belong to a payment.
func (c *charges) addLine(l provider.StatementLine) {
	d := c.at(l.At)
	d.lines++
	if l.Credit {
		d.unbooked -= l.Amount
	} else {
		d.unbooked += l.Amount
	}
}

// chargedAt returns an instant of the day to which the difference of a payment's charge belongs. That is the day of its last line. If
// the payment was still open when the charges of that day were compared, it is the day on which the payment ended. The day does not
// depend on the window, so every comparison adds the difference to the same day.
func (p Payment) chargedAt(last time.Time) time.Time {
	compared := midnight(last).AddDate(0, 0, 1).Add(chargesLate)
	wasOpen := p.CreatedAt.Before(compared) && p.UpdatedAt.After(compared) && p.State != operation.Reversed // UpdatedAt is when it was reversed
	if last.IsZero() || wasOpen {
		return p.UpdatedAt
	}
	return last
}

// addPayment adds the difference between a payment's charge on the statement and its charge in the
// ledger. A charge that is only in the ledger is ignored if the payment may have been made before
// the statement begins. It is also ignored if the statement has no lines for the payment, because
// that is reported as a separate break.
func (c *charges) addPayment(p Payment, a account, charged money.Kobo) {
	switch d := c.at(p.chargedAt(a.last)); {
	case charged > p.Charged:
		d.lines++
		d.unbooked += charged - p.Charged
	case charged < p.Charged && len(a.lines) > 0 && !c.window.mayBeBefore(p.CreatedAt):
		d.booked++
		d.short += p.Charged - charged
	}
}

// chargesOpen reports whether it is too early to compare the charges of a day.
func chargesOpen(began time.Time, w window) bool {
	return began.AddDate(0, 0, 1).Add(chargesLate).After(w.to)
}

// breaks returns a break for each past day on which the charges on the statement and in the ledger
// differ. A bank may show a day's charges in one line, so only the day's sums are compared.
func (c *charges) breaks() (out []Break) {
	for _, began := range slices.SortedFunc(maps.Keys(c.days), time.Time.Compare) {
		d := c.days[began]
		late := chargesOpen(began, c.window)
		if d.unbooked == d.short+d.corrected || late || began.Before(c.window.from) {
			continue
		}
		b := Break{
			Reason: operation.UnbookedCharge, Company: settlement.House, Subject: began.Format(time.DateOnly), At: began, day: began,
			Bank: d.unbooked, Book: d.short + d.corrected,
			Detail: fmt.Sprintf("charges on the statement that are in no ledger: %d, together %s; in our ledger and not on the statement: %d, together %s",
				d.lines, d.unbooked, d.booked, d.short),
		}
		if d.corrected != 0 {
			b.Detail += fmt.Sprintf("; %s was booked for the day since", d.corrected)
		}
		if b.Bank < b.Book {
			b.Reason = operation.NotOnStatement
		}
		out = append(out, b)
	}
	return out
}
