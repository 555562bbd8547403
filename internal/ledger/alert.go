package ledger

import (
	"context"
	"fmt"
	"slices"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/money"
)

// alert is how low an account may get before somebody is told.
type alert struct {
	account string
	below   money.Kobo // 0 for no alert
}

// Fall is an account that had its alert or more before a unit, and has less
// after it. Up again and down again is another fall.
type Fall struct {
	Company, Account string
	Balance          money.Kobo // after the unit
	Below            money.Kobo

	sequence, at int64
}

// Watcher says what is to be appended to a company's rows for each of some
// falls, in their order. It may look rows up, as the batch found them under its
// locks; it writes nothing.
type Watcher func(falls []Fall, read func(lookups ...db.Lookup) error) ([]db.Record, error)

// Watch has fn told of falls, in the commit in which they happen. There is one
// watcher; call it before the first commit.
func (b *Book) Watch(fn Watcher) { b.watcher = fn }

// high are the accounts at their alert or above it that the unit debits.
func (d *decision) high(u Unit) (out []string) {
	for i := range u.transfers {
		id := u.transfers[i].Debit
		if a := d.accounts[accountKey{u.Company, id}]; a.alert > 0 && a.balance >= a.alert && d.watched {
			out = append(out, id)
		}
	}
	return out
}

// fall finds the accounts that are below their alerts now. The event of a fall has its
// number here, behind those of the unit that caused it.
func (d *decision) fall(company string, high []string) {
	for i, id := range high {
		a := d.accounts[accountKey{company, id}]
		if a.balance < a.alert && !slices.Contains(high[:i], id) {
			d.falls = append(d.falls, Fall{
				Company: company, Account: id, Balance: a.balance, Below: a.alert,
				sequence: d.next(company, Sequence), at: d.heads[company].at,
			})
		}
	}
}

func (d *decision) alert(company string, to alert) {
	a := d.accounts[accountKey{company, to.account}]
	a.alert = to.below
	a.changed = true
}

// tell appends what the watcher says of the batch's falls. Falls are rare, so
// only a batch that has some reads a second time.
func (b *Book) tell(ctx context.Context, p db.Pipeline, d *decision) error {
	if len(d.falls) == 0 {
		return nil
	}
	records, err := b.watcher(d.falls, func(lookups ...db.Lookup) error { return p.Read(ctx, lookups...) })
	if err != nil {
		return err
	}
	if len(records) != len(d.falls) {
		return fmt.Errorf("ledger: %d records for %d falls", len(records), len(d.falls))
	}
	for i, r := range records {
		f := d.falls[i]
		if r.Values[0] != f.Company {
			return fmt.Errorf("ledger: a row of %s that is not this company's", r.Table.Name)
		}
		d.insert(r.Table, filled(r.Values, f.at, func(Next) int64 { return f.sequence }))
	}
	return nil
}
