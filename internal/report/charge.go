package report

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"time"

	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/settlement"
)

const (
	// mostCharge is the largest line that is taken for a charge by its words.
	mostCharge = 10_000 * money.Naira
	// chargesLate is how long after a day has ended its charges are compared:
	// banks take some of them in the night, or the day after.
	chargesLate = 24 * time.Hour
)

// chargeWords are what banks write on their own account.
var chargeWords = regexp.MustCompile(`(?i)\b(charges?|fees?|commission|vat|stamp ?duty|sms|levy|emtl|maintenance|bvn|verification)\b`)

// chargeable tells whether a line that belongs to nothing of ours is a charge of
// the bank's, or one that it gave back.
func chargeable(l provider.StatementLine) bool {
	return (!l.Credit || l.Reversal) && l.Amount <= mostCharge && chargeWords.MatchString(l.Narration)
}

// split takes what the bank charged for a payment out of what the statement says
// of it: what was booked as a charge, in whatever lines it comes, or else smaller
// debits beside the payment's own; and what of them came back.
func (p Payment) split(a account, w window) (own account, charged money.Kobo) {
	var debits money.Kobo
	beside := w.maybe(p.CreatedAt) || p.State != operation.Success
	for _, l := range a.lines {
		if !l.Credit {
			debits += l.Amount
			beside = beside || l.Amount >= p.Amount
		}
	}
	exact := p.Charged > 0 && debits == p.Amount+p.Charged
	late := p.Charged > 0 && debits == p.Charged && w.maybe(p.CreatedAt)
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

// charges are what the bank took for itself, by the day: a hundred lines of ten
// naira are one question to a human and not a hundred.
type charges struct {
	window window
	days   map[time.Time]*day
}

// day is what differs on one.
type day struct {
	lines, booked   int
	unbooked, short money.Kobo // on the statement only; in our book only
	corrected       money.Kobo // booked by operators for that day, whenever they did
}

func (c *charges) at(at time.Time) *day {
	began := midnight(at)
	if c.days[began] == nil {
		c.days[began] = &day{}
	}
	return c.days[began]
}

// shown is a charge on the statement that belongs to nothing of ours.
func (c *charges) shown(l provider.StatementLine) {
	d := c.at(l.At)
	d.lines++
	if l.Credit {
		d.unbooked -= l.Amount
	} else {
		d.unbooked += l.Amount
	}
}

// of compares what the statement charges for a payment with what was booked. Of
// a payment from before the statement that is not all, and one that it does not
// show at all is a break of its own.
func (c *charges) of(p Payment, a account, charged money.Kobo) {
	at := p.UpdatedAt
	if !a.last.IsZero() {
		at = a.last
	}
	switch d := c.at(at); {
	case charged > p.Charged:
		d.lines++
		d.unbooked += charged - p.Charged
	case charged < p.Charged && len(a.lines) > 0 && !c.window.maybe(p.CreatedAt):
		d.booked++
		d.short += p.Charged - charged
	}
}

// breaks are the days that are over and on which the charges differ. A bank may
// show all of a day's in one line: what counts is their sum.
func (c *charges) breaks() (out []Break) {
	for _, began := range slices.SortedFunc(maps.Keys(c.days), time.Time.Compare) {
		d := c.days[began]
		late := began.AddDate(0, 0, 1).Add(chargesLate).After(c.window.to)
		if d.unbooked == d.short+d.corrected || late || began.Before(c.window.from) {
			continue
		}
		b := Break{
			Reason: operation.UnbookedCharge, Company: settlement.House, Subject: began.Format(time.DateOnly), At: began,
			Bank: d.unbooked, Book: d.short + d.corrected,
			Detail: fmt.Sprintf("%d charges of %s on the statement are in no book; %d of %s in our book are not on the statement",
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
