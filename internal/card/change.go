package card

import (
	"cmp"
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/idempotency"
	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/provider"
)

// ChangeJob is the kind of job that completes a change of a card's status.
const ChangeJob = "card.change"

// Change is a company's request to freeze, unfreeze or terminate a card.
type Change struct {
	Company string
	CardID  string
	To      provider.CardStatus
	Reason  string           // why the card ends, in the issuer's words; required to terminate a card
	Key     *idempotency.Key // nil without an Idempotency-Key
}

var (
	errEnded     = fault.New(fault.Refused, "Card is terminated").With(fault.CardTerminated)
	errChanging  = fault.New(fault.Refused, "A change of this card is being confirmed. Do not retry; check the card.").With(fault.BeingConfirmed)
	errReplaced  = fault.New(fault.Refused, "A later change of this card has replaced this one. Check the card.").With(fault.IdempotencyKeyUsed)
	changeEvents = map[provider.CardStatus]string{
		provider.CardInactive: event.CardFrozen, provider.CardActive: event.CardUnfrozen, provider.CardCanceled: event.CardTerminated,
	}
)

// unknownBalance is the balance of a card that could not be read before its termination.
const unknownBalance money.Kobo = -1

// SetStatus freezes, unfreezes or terminates a card at the issuer. It stores the change before it calls
// the issuer. If the issuer's reply is lost, SetStatus asks for the card once, and a job asks
// again until the outcome is known. Then the fault is errChanging, which is Refused.
//
// A request whose Idempotency-Key has begun a change never begins another one. It continues its change while this is open. After
// that the card tells the outcome.
//
// The money on a terminated card comes back later (Returned).
func (s *Service) SetStatus(ctx context.Context, r Change) (Card, error) {
	row, err := db.OrZero(s.findChange(ctx, r.Company, r.CardID)) // before the card, which then is as new as an outcome in the row
	if err != nil {
		return Card{}, err
	}
	c, by, err := s.atIssuer(ctx, r.Company, r.CardID)
	if err != nil {
		return Card{}, err
	}
	begun := r.Key.Subject()
	isLast := begun == row.name() || begun == row.cardID && row.status == r.To // an earlier release named the card alone
	switch {
	case begun != "" && (!isLast || row.state == done):
		return s.concluded(ctx, by, c, r, isLast)
	case row.state == opens && (begun == "" || s.isCalled(row)):
		return Card{}, errChanging
	case begun == "" && c.isOver():
		return Card{}, errEnded
	case begun == "":
		if row, err = s.beginChange(ctx, c, row, r); err != nil {
			return Card{}, err
		}
	}
	return s.change(context.WithoutCancel(ctx), by, c, row, r.Key)
}

// concluded returns and stores the response to a repeated request whose change has ended. The row does not tell whether the issuer has
// refused it, so the card does, unless a later change has replaced the row (isLast).
func (s *Service) concluded(ctx context.Context, by provider.Issuer, c stored, r Change, isLast bool) (Card, error) {
	var why error
	switch {
	case c.Status == string(r.To):
	case c.isOver():
		why = errEnded
	case isLast:
		why = said(by, "")
	default:
		why = errReplaced
	}
	return c.Card, s.finish(ctx, r.Key, c.Card, why)
}

// beginChange stores a change and the job that completes it. Parameter last is the card's previous
// change, or the zero value. The instant of the change names it (changeRow.name), so it is later than that of the previous one.
func (s *Service) beginChange(ctx context.Context, c stored, last changeRow, r Change) (changeRow, error) {
	now := s.Clock.Now().Truncate(time.Microsecond)
	row := changeRow{
		company: c.Company, cardID: c.ID, state: opens, status: r.To, reason: strings.TrimSpace(r.Reason), left: unknownBalance,
		calledUntil: now.Add(s.Window), createdAt: now, updatedAt: now,
	}
	if !now.After(last.createdAt) {
		row.createdAt = last.createdAt.Add(time.Microsecond)
	}
	u := ledger.For(c.Company)
	if last.cardID == "" {
		u.Insert(changes.Record(row))
	} else {
		u.Transition(changes.Record(row), done).Expect("created_at", clock.Micros(last.createdAt))
	}
	r.Key.Begin(&u, row.name(), row.calledUntil)
	u.Append(job.Job{Kind: ChangeJob, Subject: c.ID, Provider: c.provider, RunAt: row.calledUntil}.For(c.Company))
	err := s.Book.Commit(ctx, u)
	if ledger.Is(err, ledger.Exists, changes.Table) || ledger.Is(err, ledger.Moved) {
		return row, errChanging
	}
	if err != nil {
		return row, idempotency.Taken(err)
	}
	return row, nil
}

// isCalled reports whether the request that began a change may still be calling the issuer. If the end of its calls is far ahead, the
// clock was ahead when the change began, and says nothing.
func (s *Service) isCalled(r changeRow) bool {
	left := r.calledUntil.Sub(s.Clock.Now())
	return left > 0 && left <= s.Window+time.Hour
}

// name identifies a change in the row of an Idempotency-Key: the card's ID, and the instant at which the change began.
func (r changeRow) name() string {
	return r.cardID + "/" + strconv.FormatInt(clock.Micros(r.createdAt), 10)
}

// change asks the issuer for a change that is stored, and stores the outcome. The issuer's card decides if
// the reply is lost. Only the issuer's calls end with the window: an outcome that comes at its last moment is stored.
//
// An earlier try may have changed the card. So a refusal of a later try ends the change only if the issuer shows the card in
// another status. A request that was not sent is no refusal then.
func (s *Service) change(ctx context.Context, by provider.Issuer, c stored, row changeRow, key *idempotency.Key) (Card, error) {
	if c.isOver() {
		return s.endChange(ctx, by, c, row, provider.Answer{}, key) // a notice of the issuer has told it
	}
	window, cancel := context.WithTimeout(ctx, s.Window)
	defer cancel()
	again := !s.isCalled(row) // an earlier try may have reached the issuer
	if row.status == provider.CardCanceled {
		if err := s.weigh(window, by, c, &row); err != nil {
			return Card{}, err
		}
	}
	answer := by.SetCardStatus(window, c.ProviderCardID, row.status, row.reason)
	if answer.Outcome != provider.Confirmed {
		seen, err := by.Card(window, c.ProviderCardID)
		isSeen := err == nil && seen.ID == c.ProviderCardID
		switch {
		case isSeen && seen.Status == row.status:
			answer.Outcome = provider.Confirmed
		case answer.Outcome == provider.Unknown, again && (!isSeen || answer.Code == provider.CodeNotSent):
			return Card{}, errChanging
		}
	}
	return s.endChange(ctx, by, c, row, answer, key)
}

// errOver means that the issuer shows a terminated card.
var errOver = errors.New("the card has ended by now")

// weigh reads what is on a card before each try to terminate it, and stores the amount with the time of the reading. The
// holder may have spent since an earlier try, so its amount is replaced, also by an unknown one. The amount stays if the card has
// ended by now, because the earlier try may have ended it. If another try has stored its reading meanwhile, the error is errChanging.
// Only the issuer's calls end with ctx. They take at most half of the window, so that a slow balance does not prevent the end of a
// stolen card.
func (s *Service) weigh(ctx context.Context, by provider.Issuer, c stored, row *changeRow) error {
	was, now := row.updatedAt, s.Clock.Now()
	reading, cancel := context.WithTimeout(ctx, s.Window/2)
	defer cancel()
	left, err := balanceBefore(reading, by, c.ProviderCardID)
	if err != nil {
		s.Log.Warn("the balance of a card was not read before its termination", "company", c.Company, "card", c.ID, "error", err)
	}
	if errors.Is(err, errOver) || left == row.left && err != nil {
		return nil
	}
	row.left, row.updatedAt = left, now
	u := ledger.For(row.company)
	u.Transition(changes.Record(*row), opens).Only("left_kobo", "updated_at").Expect("updated_at", clock.Micros(was))
	return ended(s.Book.Commit(context.WithoutCancel(ctx), u))
}

// balanceBefore reads the balance of a card that is about to end, or returns unknownBalance and an error. An earlier request may have
// ended the card already, and swept its balance, so the card must still be there after the balance was read (errOver).
func balanceBefore(ctx context.Context, by provider.Issuer, cardID string) (money.Kobo, error) {
	left, err := by.CardBalance(ctx, cardID)
	seen, unseen := by.Card(ctx, cardID)
	switch {
	case unseen == nil && seen.ID != cardID:
		unseen = errors.New("the issuer showed another card")
	case unseen == nil && seen.Status == provider.CardCanceled:
		unseen = errOver
	}
	if err = cmp.Or(unseen, err); err != nil {
		return unknownBalance, err
	}
	return left, nil
}

// ended turns the ledger's refusal of a change that another request or job has ended meanwhile into
// errChanging. It returns any other error unchanged.
func ended(err error) error {
	if ledger.Is(err, ledger.Moved, changes.Table) {
		return errChanging
	}
	return err
}

// endChange stores the outcome of a change: the card's status, its event and the response for the
// Idempotency-Key. A notice of the issuer may have stored the status already. Then endChange reports no
// second event. If the card is terminated, a termination has succeeded and every other change has failed.
// If a later change has begun, the ledger refuses the unit, so that the later change stays open and keeps its job.
func (s *Service) endChange(
	ctx context.Context, by provider.Issuer, c stored, row changeRow, answer provider.Answer, key *idempotency.Key,
) (Card, error) {
	for {
		u, why, written := ledger.For(c.Company), error(nil), []string{} // another try may have stored a later balance, which stays
		switch {
		case c.isOver() && row.status != provider.CardCanceled:
			why = errEnded
		case !c.isOver() && answer.Outcome != provider.Confirmed:
			why = said(by, answer.Message)
			row.left, written = unknownBalance, []string{"left_kobo"} // the card goes on, and so does its balance
		}
		row.state = done
		u.Transition(changes.Record(row), opens).Only(written...).Expect("created_at", clock.Micros(row.createdAt))
		u.Remove(job.Row(c.Company, ChangeJob, c.ID))
		if why == nil {
			s.move(&u, &c, row.status, s.Clock.Now())
		}
		key.Finish(&u, c.Card, why)
		err := s.Book.Commit(ctx, u)
		if err == nil {
			return c.Card, why
		}
		if !ledger.Is(err, ledger.Moved, cards.Table) {
			return Card{}, ended(err)
		}
		if c, err = findCard(ctx, s.DB, c.Company, c.ID); err != nil {
			return Card{}, err
		}
	}
}

// move makes a unit set a card's status and report the change, unless the card has the status or is terminated. The
// ledger refuses the unit if the status has changed meanwhile.
func (s *Service) move(u *ledger.Unit, c *stored, to provider.CardStatus, now time.Time) {
	if c.Status == string(to) || c.isOver() {
		return
	}
	seen := c.Status
	c.Status, c.UpdatedAt.Time = string(to), now
	u.Transition(cards.Record(*c), string(issued)).Expect("status", seen)
	s.tell(u, *c)
}

// tell makes a unit report the new status of a card to the company. If the card is terminated, the unit
// also enqueues the job that brings back what was left on it.
func (s *Service) tell(u *ledger.Unit, c stored) {
	to := provider.CardStatus(c.Status)
	if kind := changeEvents[to]; kind != "" {
		event.Emit(u, kind, c.Card)
	}
	if to == provider.CardCanceled {
		u.Append(job.Job{Kind: ReturnJob, Subject: c.ID, Provider: c.provider, RunAt: s.Clock.Now()}.For(c.Company))
	}
}

// CompleteChange runs a ChangeJob: it asks the issuer again for a change whose outcome is unknown.
// After 72 hours a case asks the operators. A case about an earlier change, or about the card's first load, does not replace it.
func (s *Service) CompleteChange(ctx context.Context, j job.Job) (next time.Time, err error) {
	row, err := s.findChange(ctx, j.Company, j.Subject)
	if errors.Is(err, db.ErrNone) || err == nil && row.state != opens {
		return time.Time{}, nil
	}
	if err != nil {
		return time.Time{}, err
	}
	if s.isCalled(row) {
		return row.calledUntil, nil
	}
	c, by, err := s.atIssuer(ctx, j.Company, j.Subject)
	if err != nil {
		return time.Time{}, err
	}
	_, err = s.change(ctx, by, c, row, nil)
	if !errors.Is(err, errChanging) {
		if fault.Is(err, fault.Refused) {
			err = nil // the issuer refused the change, which is its outcome
		}
		return time.Time{}, err
	}
	began, age := row.createdAt, s.Clock.Now().Sub(row.createdAt)
	next = s.Clock.Now().Add(min(time.Hour, max(30*time.Second, age, -age)))
	if j.CreatedAt.Before(began) {
		began = j.CreatedAt // the clock was ahead when the change began, and the job was brought forward
	}
	if s.Clock.Now().Sub(began) <= changeCase {
		return next, nil
	}
	detail := "it is unknown whether the card is " + string(row.status)
	return next, s.Operations.OpenCaseSince(ctx, c.Company, c.ID, operation.Unresolved, began, detail)
}

// changeCase is the age of an unknown change at which operators are asked.
const changeCase = 72 * time.Hour

// standing reads a card and its last change for a funding that the ledger has refused because one of them has changed. It returns
// errEnded or errEnding if the card must not be funded.
func (s *Service) standing(ctx context.Context, c stored) (stored, changeRow, error) {
	row, err := db.OrZero(s.findChange(ctx, c.Company, c.ID))
	if err == nil {
		c, err = s.find(ctx, c.Company, c.ID)
	}
	row.company, row.cardID = c.Company, c.ID
	switch {
	case err != nil:
	case c.isOver():
		err = errEnded
	case row.ends():
		err = errEnding
	}
	return c, row, err
}

// ends reports whether the change is a termination without an outcome.
func (r changeRow) ends() bool { return r.state == opens && r.status == provider.CardCanceled }

// expect makes the ledger refuse the unit u if another change is open than r, or if r has ended. If r is not open, no change may be
// open. A card without a change has no row, which the ledger takes for a row in the state "".
func (r changeRow) expect(u *ledger.Unit) {
	if r.state == opens {
		u.Expect(changes.Record(r), opens).Expect("status", string(r.status))
	} else {
		u.Expect(changes.Record(r), "", done)
	}
}
