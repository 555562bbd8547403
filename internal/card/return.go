package card

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/settlement"
)

// ReturnJob is the kind of job that brings back what was left on a terminated card.
const ReturnJob = "card.return"

const (
	// returnPause is the time between two looks at the issuer's list for the money of a terminated card.
	returnPause = 10 * time.Minute
	// returnPatience is the time after which the operators are asked for this money. returnLimit is the same if the issuer's list
	// shows that the money is on its way. From returnPatience on, the list is looked at once an hour.
	returnPatience, returnLimit = time.Hour, 72 * time.Hour
)

// Returned runs a ReturnJob. The issuer moves what is left on a terminated card to the fintech's account.
// If a line on the list of that account names the card, Returned credits the company. Otherwise
// the issuer's notice, or the balance before the termination, says how much is left. This amount is a
// claim and no proof, so after an hour a case asks two operators. If such a line has no outcome yet, Returned asks about it
// for three days first. A balance of 0 says that there is nothing to bring back only if the list was read and no line names the card,
// because money may have come in after the balance was read.
//
// A funding of the card may be open at the termination. Returned waits for its outcome. If the money has reached the card after the
// card ended, nobody knows how much of it was swept, so a case asks the operators. If it has reached the card after Kobo read the
// balance, this balance is not what was left.
func (s *Service) Returned(ctx context.Context, j job.Job) (next time.Time, err error) {
	c, by, err := s.atIssuer(ctx, j.Company, j.Subject)
	if err != nil {
		return time.Time{}, err
	}
	open, paid, err := s.lateFundings(ctx, c, j.CreatedAt)
	if err != nil || open {
		return s.Clock.Now().Add(returnPause), err
	}
	late := s.isLate(c, j, paid)
	back, listed, err := by.ReturnedBalance(ctx, c.ProviderCardID, j.CreatedAt)
	if err == nil && listed && back > 0 && !late {
		return time.Time{}, s.giveBack(ctx, c, back)
	}
	if err != nil {
		s.Log.Warn("the issuer's list was not read for a terminated card", "company", c.Company, "card", c.ID, "error", err)
	}
	isOnItsWay, isUnread, now := err == nil && listed && back == 0 && !late, err != nil, s.Clock.Now()
	switch {
	case now.Sub(j.CreatedAt) < returnPatience:
		return now.Add(returnPause), nil
	case isOnItsWay && now.Sub(j.CreatedAt) < returnLimit:
		return now.Add(returnPatience), nil
	}
	left, err := s.leftOn(ctx, c, j, paid)
	switch {
	case err != nil:
		return time.Time{}, err
	case late, left == 0 && isOnItsWay:
		left = unknownBalance // money came in after the reading
	case left == 0 && isUnread && now.Sub(j.CreatedAt) < returnLimit:
		return now.Add(returnPatience), nil
	case left == 0 && isUnread:
		left = unknownBalance
	case left == 0:
		return time.Time{}, nil
	}
	detail := "a terminated card held this amount, and no line of the issuer's list names the card"
	if isOnItsWay {
		detail = "a terminated card held this amount, and the line of the issuer's list that names the card has no outcome"
	}
	if left == unknownBalance {
		left, detail = 0, "it is unknown how much was left on a terminated card: ask the issuer"
	}
	return time.Time{}, s.Operations.Open(ctx, operation.Case{
		Company: c.Company, Subject: c.ID, Reason: operation.CardBalance, Detail: detail, Amount: left,
	})
}

// giveBack credits the money of a terminated card to the account that pays for the company's fundings. It
// credits the money once, however often it is called. If another amount is credited already, a case asks the operators.
func (s *Service) giveBack(ctx context.Context, c stored, amount money.Kobo) error {
	to, err := s.purse(ctx, c.Company)
	if err != nil {
		return err
	}
	u, err := s.Settlements.CreditUnit(ctx, c.Company, s.returned(c, amount), to.ID)
	if err == nil {
		err = s.Book.Commit(ctx, u)
	}
	if !ledger.Is(err, ledger.Exists) {
		return err
	}
	earlier, err := s.Settlements.FindCredit(ctx, c.Company, c.provider, sessionOf(c))
	if err != nil || earlier.Amount == amount {
		return err
	}
	differs := ledger.For(c.Company)
	_, err = s.Operations.AddCase(ctx, &differs, operation.Case{
		Company: c.Company, Subject: c.ID, Reason: operation.CardBalance,
		Detail: fmt.Sprintf("by the issuer's list %s came back from a terminated card, and %s is credited already", amount, earlier.Amount),
	})
	if err == nil {
		err = s.Book.Commit(ctx, differs)
	}
	return err
}

// sessionOf returns the session ID of the credit with a terminated card's money. It follows from the card, so the
// ledger accepts one such credit for each card.
func sessionOf(c stored) string { return "card/" + c.ProviderCardID }

// returned is the credit of a terminated card's money.
func (s *Service) returned(c stored, amount money.Kobo) settlement.Credit {
	return settlement.Credit{
		ID: id.New(), Provider: c.provider, Session: sessionOf(c), Account: c.account, Amount: amount, At: s.Clock.Now(),
		SenderName: c.MaskedPAN, Narration: "Balance of a terminated card",
	}
}

// assigned returns the unit with which two operators credit the company with the money of a terminated
// card. They may choose any active settlement account of the company.
func (s *Service) assigned(ctx context.Context, k operation.Case, f operation.Finding, agreed bool) (ledger.Unit, error) {
	c, err := s.find(ctx, k.Company, k.Subject)
	switch {
	case err != nil:
		return ledger.Unit{}, err
	case f.Target != k.Company:
		return ledger.Unit{}, fault.Newf(fault.Refused, "The card is company %s's", k.Company)
	case k.Amount <= 0:
		return ledger.Unit{}, fault.New(fault.Refused, "The case does not say how much: dismiss it, and credit the company by an adjustment")
	}
	if !agreed {
		return ledger.Unit{}, s.Settlements.MayCredit(ctx, f.Target, f.TargetID)
	}
	return s.Settlements.CreditUnit(ctx, k.Company, s.returned(c, k.Amount), f.TargetID)
}

// leftOn returns what was left on a terminated card, or unknownBalance. The amount of the issuer's notice counts before the balance that
// was read before the termination, because the holder may have spent in between. That balance does not count if a funding became a
// success after it was read. A notice of 0 may come after the money was swept, or have no balance, so it alone says nothing.
func (s *Service) leftOn(ctx context.Context, c stored, j job.Job, paid successes) (money.Kobo, error) {
	told, err := s.toldLeft(ctx, c)
	if err == nil && told > 0 || err != nil && !errors.Is(err, db.ErrNone) {
		return told, err
	}
	row, err := s.findChange(ctx, c.Company, c.ID)
	switch {
	case errors.Is(err, db.ErrNone), err == nil && row.status != provider.CardCanceled:
		return unknownBalance, nil // the card was terminated at the issuer
	case err != nil:
		return row.left, err
	}
	from := row.updatedAt
	if row.updatedAt.Sub(j.CreatedAt) > aheadBy {
		from = time.Time{} // the clock was ahead at the reading
	}
	if paid.after(row.updatedAt, from, s.Clock.Now()) {
		return unknownBalance, nil
	}
	return row.left, nil
}

// aheadBy is how much later than its job a termination seems to be if the clock was ahead: job.Recover then brings the job forward. A
// program whose clock is right does so within an hour, so the true termination is not earlier than the job by more than this.
const aheadBy = 2 * time.Hour

// isLate reports whether a funding has become a success after the termination, which the card's row and the job date. If the clock was
// ahead at the termination, the job has the time at which it was brought forward, and a success of the same clock is compared with the
// row. One of a clock that was right counts as late unless it came well before the job. Then it came before the termination.
func (s *Service) isLate(c stored, j job.Job, paid successes) bool {
	ended, from := j.CreatedAt, j.CreatedAt
	if c.UpdatedAt.Sub(j.CreatedAt) > aheadBy {
		ended, from = c.UpdatedAt.Time, j.CreatedAt.Add(-aheadBy)
	}
	return paid.after(ended, from, s.Clock.Now())
}

// successes are the times at which the fundings of a card became successes.
type successes []time.Time

// after reports whether a success came after an instant. A success in the future is of a clock that was ahead, and is compared with
// ahead. Every other one is compared with from.
func (l successes) after(ahead, from, now time.Time) bool {
	return slices.ContainsFunc(l, func(at time.Time) bool {
		if at.After(now) {
			return at.After(ahead)
		}
		return at.After(from)
	})
}

// lateFundings reports whether a funding of a terminated card has no outcome yet. It also returns when the others became successes.
func (s *Service) lateFundings(ctx context.Context, c stored, ended time.Time) (open bool, paid successes, err error) {
	const longest = 96 * time.Hour // after three days without an outcome operators decide
	references, err := s.fundingsSince(ctx, c.Company, c.ID, ended.Add(-longest))
	for _, reference := range references {
		var o operation.Operation
		if o, err = s.Operations.Find(ctx, c.Company, reference); err != nil {
			return false, paid, err
		}
		open = open || o.State == operation.Pending
		if o.State == operation.Success {
			paid = append(paid, o.UpdatedAt)
		}
	}
	return open, paid, err
}
