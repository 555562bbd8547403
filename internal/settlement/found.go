package settlement

import (
	"cmp"
	"context"
	"errors"
	"regexp"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operation"
)

// What two operators may settle of what a bank's statement shows and no book has.

var errNoAmount = fault.New(fault.Refused, "The case does not say how much: dismiss it")

// between is a session between banks: what a notification and the bank's list call
// the same credit.
var between = regexp.MustCompile(`^[0-9]{30}$`)

// found credits what the statement has and no book. The credit is claimed under its
// session, as it is when the bank tells of it, in the unit that settles the case: told
// before, the claim is refused; told later, it is there. A line without a session
// could be told under one that we do not know, and be credited twice.
//
// What the house's case is about goes through suspense, like money of an unknown
// account, since the company's book is another. If the bank has said whose it is, and
// it never came into that book, the case is that company's, and it is credited there.
func (s *Service) found(ctx context.Context, c operation.Case, f operation.Finding, agreed bool) (ledger.Unit, error) {
	if err := s.mayTake(ctx, f); err != nil {
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
		u := s.suspenseUnit(credit)
		s.give(&u, credit, c.ID, f.Target)
		return u, nil
	case f.Target:
		return s.creditUnit(f.Target, credit, Taking{
			SettlementID: f.TargetID,
			Notes:        []db.Record{event.New(f.Target, event.SettlementCredit, credit.told(f.TargetID, s.clock.Now()))},
		}), nil
	}
	return ledger.Unit{}, fault.Newf(fault.Refused, "The credit is company %s's, as the bank has told of it", c.Company)
}

// noTwin refuses a credit while it is asked about one of the same amount that is in
// a book and that the statement does not show: the bank may call it something else.
func (s *Service) noTwin(ctx context.Context, credit Credit) error {
	missing, err := s.operations.OpenOf(ctx, operation.NotOnStatement, -credit.Amount)
	if err != nil {
		return err
	}
	for _, c := range missing {
		if strings.HasPrefix(c.Subject, credit.Provider+"/") {
			return fault.Newf(fault.Refused, "It may be %s of company %s, which is in the book and not on the statement: settle case %s first",
				c.Subject, c.Company, c.ID)
		}
	}
	return nil
}

// unclaimed refuses a credit that the bank has told of since its case was opened.
// Whose it is, is written down before it is credited, and the first word stays: once
// two have agreed, a notification finds theirs.
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
		return fault.Newf(fault.Refused, "The bank has told of this credit since, and it is in the book of company %s: dismiss the case", owner)
	case owner != company:
		return fault.Newf(fault.Refused, "The bank has told of this credit since, and is about to credit company %s", owner)
	}
	return nil
}

// booked has our book follow the bank's in what it charged on a day, in the house's
// book: which operation it was for, if any, nobody knows. The transfer's reference is
// the bank and its day, so whenever it is made it counts for that day.
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
	if c.Amount < 0 { // our book has more than the bank took
		t.Debit, t.Credit, t.Amount = t.Credit, t.Debit, -t.Amount
	}
	return ledger.Unit{
		Company:   House,
		Open:      []ledger.Account{{ID: t.Debit, Floor: money.NoFloor}, {ID: t.Credit, Floor: money.NoFloor}},
		Transfers: []ledger.Transfer{t},
	}, nil
}
