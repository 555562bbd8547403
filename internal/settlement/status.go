package settlement

import (
	"context"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/operator"
)

// SetStatus switches a settlement account on or off. One that is off pays for
// nothing new: payouts, purchases and card fundings do not find it, and it is
// nobody's default. What has begun goes on to its end, refunds come back into
// it, and operators may still correct its balance.
func (s *Service) SetStatus(ctx context.Context, by operator.Operator, company string, settlementID int64, to Status, reason string) (Account, error) {
	reason = strings.TrimSpace(reason)
	switch {
	case to != Active && to != Inactive:
		return Account{}, fault.New(fault.Invalid, `"status" must be one of [ACTIVE, INACTIVE]`)
	case utf8.RuneCountInString(reason) > 500:
		return Account{}, fault.New(fault.Invalid, `"reason" length must be less than or equal to 500 characters long`)
	}
	now := s.clock.Now()
	err := s.book.Commit(ctx, ledger.Unit{
		Company: company,
		Moves: []ledger.Move{{
			Table: accountTable, Key: []any{company, settlementID}, From: []string{string(Active), string(Inactive)}, To: string(to),
		}},
		Notes: []db.Record{
			by.Note(company, "settlement.status", LedgerAccount(settlementID), map[string]string{"status": string(to), "reason": reason}, now),
		},
	})
	if ledger.Is(err, ledger.Moved) {
		return Account{}, errNoAccount
	}
	if err != nil {
		return Account{}, explain(err)
	}
	return s.Find(ctx, company, settlementID)
}

// Active tells whether the company has this settlement account and may use it.
func (s *Service) Active(ctx context.Context, company string, settlementID int64) (bool, error) {
	status, err := s.status(ctx, company, settlementID)
	if errors.Is(err, db.ErrNone) {
		return false, nil
	}
	return status == Active, err
}

// Chosen is the settlement account that a company wants what comes in to go to,
// which must be active, or the default one, which 0 means. Faults are Refused.
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

var errNotChosen = fault.New(fault.Refused, "Settlement account not found")

// Landing is the settlement account that a credit goes into: the one it was meant
// for while that is active, or the default one, which 0 also means. When all of
// them are switched off the money is still the company's, and goes where it was
// to go.
func (s *Service) Landing(ctx context.Context, company string, chosen int64) (int64, error) {
	if chosen != 0 {
		active, err := s.Active(ctx, company, chosen)
		if active || err != nil {
			return chosen, err
		}
	}
	d, err := s.Default(ctx, company)
	if fault.Is(err, fault.Missing) && chosen != 0 {
		return chosen, nil
	}
	return d.ID, err
}
