package ledger

import (
	"fmt"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/money"
)

// LowBalance is an account that had its alert or more before a unit, and has less after
// the unit. An account that rises again and falls again has another low balance.
type LowBalance struct {
	Company, Account string
	Balance          money.Kobo // after the unit
	Below            money.Kobo // the alert
}

// OnLowBalance makes the row that the commit of a low balance appends, such as an event.
// It may read rows, which are as they were before the batch. It writes nothing.
type OnLowBalance func(low LowBalance, read func(lookups ...db.Lookup) error) (db.Record, error)

// appendLow appends a row for each account that an accepted unit has brought below its
// alert. The number of the row follows the numbers of the unit's own rows.
func (d *decision) appendLow(u *Unit) error {
	for _, t := range u.transfers {
		a := d.account(u.Company, t.Debit)
		if d.onLow == nil || a.alert == 0 || a.before < a.alert || a.balance >= a.alert {
			continue
		}
		a.before = a.balance // another transfer of the unit may debit the same account
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
