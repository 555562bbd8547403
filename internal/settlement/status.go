package settlement

import (
	"context"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/wire"
)

// SetStatus makes a settlement account active or inactive. An inactive account cannot pay for a
// new payout, purchase or card funding, and is never the default. Operations that have begun
// continue to their end. Refunds still go to the account, and operators may adjust its balance.
func (s *Service) SetStatus(ctx context.Context, by operator.Operator, company string, settlementID int64, to Status, reason string) (Account, error) {
	reason = strings.TrimSpace(reason)
	if err := CheckStatus(to, reason); err != nil {
		return Account{}, err
	}
	u := ledger.For(company)
	u.Transition(accounts.Record(Account{Company: company, ID: settlementID, Status: to}), string(Active), string(Inactive))
	event.Emit(&u, event.SettlementStatusChanged, statusChanged{SettlementID: settlementID, Status: to, Reason: wire.Text(reason)})
	by.Audit(&u, "settlement.status", LedgerAccount(settlementID), map[string]string{"status": string(to), "reason": reason}, s.Clock.Now())
	err := s.Book.Commit(ctx, u)
	if ledger.Is(err, ledger.Moved) {
		return Account{}, errNoAccount
	}
	if err != nil {
		return Account{}, explain(err)
	}
	return s.Find(ctx, company, settlementID)
}

// CheckStatus returns an error if an operator cannot set this status for this reason.
func CheckStatus(to Status, reason string) error {
	switch {
	case to != Active && to != Inactive:
		return fault.New(fault.Invalid, `"status" must be one of [ACTIVE, INACTIVE]`)
	case utf8.RuneCountInString(strings.TrimSpace(reason)) > 500:
		return fault.New(fault.Invalid, `"reason" length must be less than or equal to 500 characters long`)
	}
	return nil
}

// statusChanged is the data of the event that reports a new status of a settlement account.
type statusChanged struct {
	SettlementID int64     `json:"settlementId"`
	Status       Status    `json:"status"`
	Reason       wire.Text `json:"reason"`
	Closed       *bool     `json:"closedToDebits,omitempty"` // only if the account was closed or opened because of altered rows
}

// Active reports whether the company has an active settlement account with this number.
func (s *Service) Active(ctx context.Context, company string, settlementID int64) (bool, error) {
	status, err := s.status(ctx, company, settlementID)
	if errors.Is(err, db.ErrNone) {
		return false, nil
	}
	return status == Active, err
}

// Chosen checks the settlement account that a company chooses for its credits, and returns its
// number. For 0 it returns the default account. The account must be active, else Chosen returns a
// Refused fault.
func (s *Service) Chosen(ctx context.Context, company string, settlementID int64) (int64, error) {
	if settlementID == 0 {
		d, err := s.Default(ctx, company)
		if fault.Is(err, fault.Missing) {
			err = errNotChosen
		}
		return d.ID, err
	}
	active, err := s.Active(ctx, company, settlementID)
	if err == nil && !active {
		err = errNotChosen
	}
	return settlementID, err
}

var errNotChosen = fault.New(fault.Refused, "Settlement account not found").With(fault.NotFound)

// Landing returns the settlement account that gets a credit. It is the chosen account if that
// account is active, else the default account. If all accounts are inactive, it is the chosen
// account. If chosen is 0, it is the default account, or the account with the lowest number if all
// accounts are inactive. It is a Missing fault only if the company has no settlement account.
func (s *Service) Landing(ctx context.Context, company string, chosen int64) (int64, error) {
	if chosen != 0 {
		active, err := s.Active(ctx, company, chosen)
		if active || err != nil {
			return chosen, err
		}
	}
	d, err := s.Default(ctx, company)
	switch {
	case !fault.Is(err, fault.Missing):
		return d.ID, err
	case chosen != 0:
		return chosen, nil
	}
	first, err := s.pick(ctx, company, func(Account) bool { return true })
	return first.ID, err
}
