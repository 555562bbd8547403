package settlement

import (
	"cmp"
	"context"
	"errors"
	"regexp"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operation"
)

// This file handles cases in which a bank's statement shows an amount that no ledger has. Two
// operators decide each case.

var errNoAmount = fault.New(fault.Refused, "The case does not say how much: dismiss it")

// between is the format of a session ID for transfers between banks (NIP). Notifications and the
// bank's list of credits identify a credit by such a session ID.
var between = regexp.MustCompile(`^[0-9]{30}$`)

// found returns the unit that books a credit which only the bank's statement has. The unit inserts
// the credit under its session ID, as for a notification. The ledger accepts each session ID of a
// bank only once. So either this unit or the unit of a notification books the credit, and the
// ledger refuses the other unit. A credit without a session ID is refused, because a later
// notification with a session ID would credit the money again.
//
// If the case belongs to House, the unit books the credit into suspense and takes it out again. An
// AssignJob then credits the company, which has a separate ledger. If an earlier notification has
// named the company, the case belongs to that company. In that case, the unit credits the company
// directly.
func (s *Service) found(ctx context.Context, c operation.Case, f operation.Finding, agreed bool) (ledger.Unit, error) {
	if err := s.MayCredit(ctx, f.Target, f.TargetID); err != nil {
		return ledger.Unit{}, err
	}
	bank, session, _ := strings.Cut(c.Subject, "/")
	switch {
	case !between.MatchString(session):
		return ledger.Unit{}, fault.New(fault.Refused, "The statement names no session for this credit, so the bank could tell of it again and it "+
			"would be credited twice: dismiss the case, and credit the company by an adjustment")
	case c.Amount <= 0:
		return ledger.Unit{}, errNoAmount
	}
	credit := Credit{
		ID: id.New(), Provider: bank, Session: session, Amount: c.Amount, At: cmp.Or(c.HappenedAt, c.CreatedAt),
		Narration: "Credit " + session,
	}
	if err := s.noTwin(ctx, credit); err != nil {
		return ledger.Unit{}, err
	}
	if err := s.unclaimed(ctx, credit, c.Company, agreed); err != nil {
		return ledger.Unit{}, err
	}
	switch c.Company {
	case House:
		u := s.creditUnit(House, credit, suspense)
		s.release(&u, credit, c.ID, f.Target)
		return u, nil
	case f.Target:
		return s.creditUnit(f.Target, credit, s.ownBooking(credit, f.TargetID)), nil
	}
	return ledger.Unit{}, fault.Newf(fault.Refused, "The credit is company %s's, as the bank has told of it", c.Company)
}

// noTwin returns an error if an open case reports a credit of the same amount that the ledger has
// and the statement lacks. The statement may have that credit under a different session ID.
func (s *Service) noTwin(ctx context.Context, credit Credit) error {
	missing, err := s.Operations.OpenOf(ctx, operation.NotOnStatement, -credit.Amount)
	if err != nil {
		return err
	}
	for _, c := range missing {
		if strings.HasPrefix(c.Subject, credit.Provider+"/") {
			return fault.Newf(fault.Refused, "It may be %s of company %s, which is in the ledger and not on the statement: settle case %s first",
				c.Subject, c.Company, c.ID)
		}
	}
	return nil
}

// unclaimed returns an error if the bank has notified Kobo of the credit since the case was opened.
// The first owner that is stored for a credit is final. Once two operators have agreed, unclaimed
// stores the case's company as the owner, and later notifications cannot change the owner.
func (s *Service) unclaimed(ctx context.Context, credit Credit, company string, agreed bool) error {
	owner, err := s.decided(ctx, credit)
	if errors.Is(err, db.ErrNone) {
		owner, err = company, nil
		if agreed {
			owner, err = s.decideFor(ctx, credit, company)
		}
	}
	there := false
	if err == nil {
		there, err = s.credited(ctx, owner, credit)
	}
	switch {
	case err != nil:
		return err
	case there && owner == House:
		return fault.New(fault.Refused, "The bank has told of this credit since, and it is in suspense: assign it in its own case, and dismiss this one")
	case there:
		return fault.Newf(fault.Refused, "The bank has told of this credit since, and it is in the ledger of company %s: dismiss the case", owner)
	case owner != company:
		return fault.Newf(fault.Refused, "The bank has told of this credit since, and is about to credit company %s", owner)
	}
	return nil
}

// booked returns the unit that books a bank's charges of one day. It uses the fintech's own
// ledger (House), since the operations behind the charges are unknown. The transfer's reference
// is the bank and the day, so reconciliation counts the transfer on that day.
func (s *Service) booked(_ context.Context, c operation.Case, _ operation.Finding, _ bool) (ledger.Unit, error) {
	bank, day, _ := strings.Cut(c.Subject, "/")
	if _, err := time.Parse(time.DateOnly, day); err != nil || c.Company != House {
		return ledger.Unit{}, fault.New(fault.Refused, "Only a bank's charges of a day can be booked")
	}
	if c.Amount == 0 {
		return ledger.Unit{}, errNoAmount
	}
	t := ledger.Transfer{
		Reference: c.Subject, Step: c.ID, Debit: ChargeAccount(bank), Credit: ProviderAccount(bank), Amount: c.Amount,
		Kind: operation.ChargeKind, Narration: "charges of " + day + " as on the statement",
	}
	if c.Amount < 0 { // the ledger has booked more charges than the bank took
		t.Debit, t.Credit, t.Amount = t.Credit, t.Debit, -t.Amount
	}
	u := ledger.For(House)
	u.OpenAccounts(ledger.Account{ID: t.Debit, Floor: money.NoFloor}, ledger.Account{ID: t.Credit, Floor: money.NoFloor})
	u.Transfer(t)
	return u, nil
}
