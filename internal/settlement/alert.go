package settlement

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/idempotency"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/wire"
)

// Alert sets the low-balance alert of a settlement account; an amount of 0 removes the alert. The
// company gets an event each time the balance falls below the amount. If the balance is below the
// amount already, it must first rise to the amount. Another event reports this act of an operator.
func (s *Service) Alert(ctx context.Context, by operator.Operator, company string, settlementID int64, below money.Kobo) (Account, error) {
	return s.alert(ctx, by, company, settlementID, below, func(u *ledger.Unit, a Account) {
		event.Emit(u, event.SettlementAlertChanged, alertChanged{a.ID, wire.Optional(a.LowBalance)})
	})
}

// alertChanged is the data of the event that reports an alert of an operator. It has nothing else of the
// account, because the rest was read before the commit and may have changed by then.
type alertChanged struct {
	SettlementID int64       `json:"settlementId"`
	LowBalance   *money.Kobo `json:"lowBalance"` // in naira; nil if there is no alert
}

// alert does what Alert does. The function more completes the unit.
func (s *Service) alert(
	ctx context.Context, by operator.Operator, company string, settlementID int64, below money.Kobo, more func(*ledger.Unit, Account),
) (Account, error) {
	if err := CheckAlert(below); err != nil {
		return Account{}, err
	}
	a, err := s.Find(ctx, company, settlementID)
	if err != nil {
		return Account{}, err
	}
	a.LowBalance = below
	u := ledger.For(company)
	more(&u, a)
	u.SetAlert(LedgerAccount(settlementID), below)
	by.Audit(&u, "settlement.alert", LedgerAccount(settlementID), map[string]string{"lowBalance": below.Decimal()}, s.Clock.Now())
	if err = s.Book.Commit(ctx, u); err != nil {
		return Account{}, explain(idempotency.Taken(err))
	}
	return a, nil
}

// CheckAlert returns an error if a low-balance alert cannot have this amount.
func CheckAlert(below money.Kobo) error {
	if below < 0 || below > money.Max {
		return fault.New(fault.Invalid, `"lowBalance" is not an amount`)
	}
	return nil
}

// AlertOwn sets an alert like Alert, but for a request of the company through the API. Parameter key is
// the request's Idempotency-Key, or nil. The company gets the response and no event.
func (s *Service) AlertOwn(ctx context.Context, company string, settlementID int64, below money.Kobo, key *idempotency.Key) (Account, error) {
	return s.alert(ctx, operator.Self(company).From(ctx), company, settlementID, below, func(u *ledger.Unit, a Account) { key.Answer(u, a, nil) })
}

// LowBalance returns the event that reports a low balance (ledger.OnLowBalance). The event contains
// the account with the balance that the unit leaves in the account.
func LowBalance(low ledger.LowBalance, read func(lookups ...db.Lookup) error) (db.Record, error) {
	var all []Account
	var feeding []feeder
	company := [][]any{{low.Company}}
	err := read(
		lookUp(accounts, company, func(a Account) { all = append(all, a) }),
		lookUp(feeders, company, func(f feeder) { feeding = append(feeding, f) }),
	)
	if err != nil {
		return db.Record{}, err
	}
	slices.SortFunc(all, func(a, b Account) int { return cmp.Compare(a.ID, b.ID) })
	sortByAge(feeding)
	complete(all, feeding) // balances and alerts are not filled in here
	at := slices.IndexFunc(all, func(a Account) bool { return LedgerAccount(a.ID) == low.Account })
	if at < 0 {
		return db.Record{}, fmt.Errorf("settlement: an alert of %s, which is no settlement account", low.Account)
	}
	a := all[at]
	a.Balance, a.LowBalance = low.Balance, low.Below
	return event.New(low.Company, event.SettlementLowBalance, a), nil
}

// lookUp returns a database lookup, which reads all rows of these companies in a table. The lookup
// passes each row to found.
func lookUp[T any](table *db.Declared[T], companies [][]any, found func(T)) db.Lookup {
	return db.Lookup{
		Table: table.Table, By: []string{"company_id"}, Columns: table.Names()[1:], Keys: companies,
		Found: func(row []any) error {
			v, err := table.Value(db.Record{Table: table.Table, Values: row})
			if err == nil {
				found(v)
			}
			return err
		},
	}
}
