package ledger

import (
	"fmt"
	"math"

	"github.com/kobo-waas/kobo/internal/money"
)

// mark closes an account to debits, or opens it again.
type mark struct {
	account string
	closed  bool
}

// CloseDebits closes an account to debits. From then on the ledger refuses each transfer that debits
// the account, unless the transfer is a correction (Transfer.Correction). Credits go on. An account
// that is closed already keeps the instant of its closing.
func (u *Unit) CloseDebits(account string) { u.marks = append(u.marks, mark{account, true}) }

// OpenDebits opens an account to debits again.
func (u *Unit) OpenDebits(account string) { u.marks = append(u.marks, mark{account, false}) }

// mark closes or opens an account in the batch.
func (d *decision) mark(company string, m mark) {
	a := d.account(company, m.account)
	switch {
	case !m.closed:
		a.closedAt = 0
	case a.closedAt == 0:
		a.closedAt = d.locks[company].at
	}
	a.marked = true
}

// lacksAccount returns the first account that does not exist and whose alert or mark the unit sets.
func (d *decision) lacksAccount(u *Unit) (id string, lacks bool) {
	is := func(id string) bool {
		a := d.account(u.Company, id)
		return a.found || a.opened
	}
	for _, a := range u.alerts {
		if !is(a.account) {
			return a.account, true
		}
	}
	for _, m := range u.marks {
		if !is(m.account) {
			return m.account, true
		}
	}
	return "", false
}

// shortfall tries the transfers on copies of the accounts. It returns the error of the first
// transfer that is impossible, or nil.
func (d *decision) shortfall(u *Unit) error {
	if len(u.transfers) == 0 {
		return nil
	}
	trial := make(map[string]account, 4)
	at := func(id string) (account, bool) {
		if a, ok := trial[id]; ok {
			return a, true
		}
		if a := d.account(u.Company, id); a.found || a.opened {
			return *a, true
		}
		for _, o := range u.open {
			if o.ID == id {
				return account{floor: o.Floor}, true
			}
		}
		return account{}, false
	}
	for i := range u.transfers {
		t := &u.transfers[i]
		debit, ok := at(t.Debit)
		if !ok {
			return &Refusal{Reason: NoAccount, Account: t.Debit}
		}
		credit, ok := at(t.Credit)
		if !ok {
			return &Refusal{Reason: NoAccount, Account: t.Credit}
		}
		if debit.closedAt != 0 && !t.Correction {
			return &Refusal{Reason: Closed, Account: t.Debit}
		}
		least := debit.floor
		if t.Leave > 0 {
			least = max(least, t.Leave)
		}
		// This means balance - least < amount, written so that it cannot overflow.
		if debit.balance < least || least != money.NoFloor && debit.balance-least < t.Amount {
			return &Refusal{Reason: Short, Account: t.Debit, Balance: debit.balance}
		}
		if credit.balance > math.MaxInt64-t.Amount || debit.balance < math.MinInt64+t.Amount {
			return fmt.Errorf("ledger: %s or %s would overflow", t.Debit, t.Credit)
		}
		debit.balance -= t.Amount
		credit.balance += t.Amount
		trial[t.Debit], trial[t.Credit] = debit, credit
	}
	return nil
}
