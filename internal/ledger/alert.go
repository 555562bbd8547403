package ledger

import (
	"fmt"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/money"
)

// LowBalance is an account whose balance was at or above its alert before a unit, and is below the
// alert after the unit. If the balance rises to the alert and falls again, that is a new low
// balance.
type LowBalance struct {
	Company, Account string
	Balance          money.Kobo // the balance after the unit
	Below            money.Kobo // the amount of the alert
}

// OnLowBalance returns the row that reports a low balance, such as an event. The ledger appends
// this row in the same commit as the unit that caused the low balance. OnLowBalance may read rows,
// and reads them as they were before the batch. It must not write anything.
type OnLowBalance func(low LowBalance, read func(lookups ...db.Lookup) error) (db.Record, error)

// appendLow appends the row of OnLowBalance for each account that an accepted unit has brought
// below its alert. This row is numbered after the rows that the unit itself appends.
func (d *decision) appendLow(u *Unit) error {
	for _, t := range u.transfers {
		a := d.account(u.Company, t.Debit)
		if d.onLow == nil || a.alert == 0 || a.before < a.alert || a.balance >= a.alert {
			continue
		}
		a.before = a.balance // so that a second transfer of the unit from the same account reports nothing
		r, err := d.onLow(LowBalance{u.Company, t.Debit, a.balance, a.alert}, d.read)
		if err != nil {
			return err
		}
		if r.Table == nil || r.Values[0] != u.Company {
			return fmt.Errorf("ledger: the row about account %s of %s is missing or another company's", t.Debit, u.Company)
		}
		d.append(u.Company, r)
	}
	return nil
}
