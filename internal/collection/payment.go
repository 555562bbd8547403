package collection

import (
	"context"
	"errors"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/settlement"
)

// ExpireJob is the kind of job that expires a collection.
const ExpireJob = "collection.expire"

// The reasons why a payment does not complete its collection.
const (
	tooLate     = "EXPIRED"
	paidBefore  = "ALREADY_PAID"
	wrongAmount = "WRONG_AMOUNT"
)

// eventData is a collection in the form that an event shows. It contains the fields of
// GET /virtual-account and the ID. The event of a payment also contains the payment.
type eventData struct {
	ID                   string `json:"id"`
	VirtualTransactionID string `json:"virtual_trx_id"`
	Collection
	SettlementID int64 `json:"settlementId"`
	*paid
}

type paid struct {
	PaidAmount    money.Kobo `json:"paidAmount"`
	PaidAt        string     `json:"paidAt"`
	SessionID     string     `json:"sessionId"`
	SenderName    string     `json:"senderName"`
	SenderBank    string     `json:"senderBank,omitempty"`
	SenderAccount string     `json:"senderAccount,omitempty"`
	Narration     string     `json:"narration"`
	Reason        string     `json:"reason,omitempty"`
}

func (c Collection) eventData(p *paid) eventData { return eventData{c.ID, c.ID, c, c.SettlementID, p} }

// accepts returns the reason why a payment does not complete the collection, or "".
func (c Collection) accepts(amount money.Kobo, at time.Time) (reason string) {
	fits := amount == c.Amount
	switch c.Control {
	case provider.UnderPayment:
		fits = amount <= c.Amount
	case provider.OverPayment:
		fits = amount >= c.Amount
	}
	switch {
	case c.State == Success:
		return paidBefore
	case c.State == Failed || at.After(c.ExpiresAt.Time):
		return tooLate
	case !fits:
		return wrongAmount
	}
	return ""
}

// BookCredit returns the settlement account for a credit on one of the company's virtual accounts.
// If the payment is the expected one, the credit's unit also completes the collection. If the
// collection changes before the commit, the settlement package calls BookCredit again. BookCredit
// returns false if the account is not a virtual account of the company.
func (s *Service) BookCredit(ctx context.Context, company string, credit settlement.Credit) (settlement.Booking, bool, error) {
	c, err := s.of(ctx, company, credit)
	if errors.Is(err, db.ErrNone) {
		return settlement.Booking{}, false, nil
	}
	if err != nil {
		return settlement.Booking{}, false, err
	}
	now := s.Clock.Now()
	if credit.At.IsZero() {
		credit.At = now
	}
	landed, err := s.Settlements.Landing(ctx, company, c.SettlementID)
	if err != nil {
		return settlement.Booking{}, false, err
	}
	payment := &paid{
		PaidAmount: credit.Amount, PaidAt: clock.Text(credit.At), SessionID: credit.Session,
		SenderName: credit.SenderName, SenderBank: credit.SenderBank, SenderAccount: credit.SenderAccount,
		Narration: credit.Narration, Reason: c.accepts(credit.Amount, credit.At),
	}
	kind, completes := event.VirtualAccountLatePayment, payment.Reason == ""
	if completes {
		kind = event.VirtualAccountSuccess
		c.State, c.CreditID, c.UpdatedAt = Success, credit.ID, now
	}
	return settlement.Booking{SettlementID: landed, Kind: "collection", Effects: func(u *ledger.Unit) {
		if completes {
			u.Transition(collections.Record(c), string(Pending))
			operation.Labels{ExternalReference: c.ExternalReference, Metadata: c.Metadata}.Show(u, Kind, credit.ID, now)
		}
		c.SettlementID = landed // the event shows the settlement account that received the money
		event.Emit(u, kind, c.eventData(payment))
	}}, true, nil
}

// of returns the collection to which a credit belongs.
func (s *Service) of(ctx context.Context, company string, credit settlement.Credit) (Collection, error) {
	if credit.Reference != "" {
		c, err := s.byReference(ctx, company, credit.Reference)
		if err == nil && c.AccountNumber == credit.Account || err != nil && !errors.Is(err, db.ErrNone) {
			return c, err
		}
	}
	return s.byAccount(ctx, company, credit.Account)
}

// Expire runs an ExpireJob: it sets an unpaid collection to FAILED. A later payment counts as late.
func (s *Service) Expire(ctx context.Context, j job.Job) (next time.Time, err error) {
	c, err := s.find(ctx, j.Company, j.Subject)
	if err != nil {
		return time.Time{}, err
	}
	now := s.Clock.Now()
	switch {
	case c.State != Pending:
		return time.Time{}, nil
	case now.Before(c.ExpiresAt.Time):
		return c.ExpiresAt.Time, nil
	}
	c.State, c.UpdatedAt = Failed, now
	u := ledger.For(c.Company)
	u.Transition(collections.Record(c), string(Pending))
	event.Emit(&u, event.VirtualAccountFailed, c.eventData(nil))
	err = s.Book.Commit(ctx, u)
	if ledger.Is(err, ledger.Moved) {
		return time.Time{}, nil // a payment completed the collection at the last moment
	}
	return time.Time{}, err
}
