package card

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/customer"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/opening"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/provider"
)

// ResolveJob is the kind of job that finds the outcome of a card creation to which the issuer
// did not reply.
const ResolveJob = "card.resolve"

const (
	// slack is the longest time by which the issuer's clock may be behind Kobo's clock.
	slack = 5 * time.Minute
	// strayAge is the longest time by which Kobo's clock may have been ahead at an order, for a card that operators look at.
	strayAge = 25 * time.Hour
)

// attempt is the creation of a card. Its fields holder, request and who are empty if a job runs
// the attempt.
type attempt struct {
	*Service
	stored
	holder  holder
	request Request
	who     customer.Customer
}

// Resolve runs a ResolveJob: it searches the issuer for a card whose creation has no known outcome.
func (s *Service) Resolve(ctx context.Context, j job.Job) (next time.Time, err error) {
	return s.openings.Resolve(ctx, j)
}

// followed returns the card creation whose outcome the job must find, or nil if the creation has
// ended.
func (s *Service) followed(ctx context.Context, j job.Job) (opening.Attempt, error) {
	c, err := findCard(ctx, s.DB, j.Company, j.Subject)
	if err != nil || c.state != creating {
		return nil, err
	}
	return &attempt{Service: s, stored: c}, nil
}

// lookFor searches the issuer once for a card whose creation has no known outcome. It returns
// the card with its new state.
func (s *Service) lookFor(ctx context.Context, c stored) (stored, error) {
	err := s.openings.Look(ctx, &attempt{Service: s, stored: c})
	if err != nil && !errors.Is(err, opening.ErrTaken) {
		return c, err
	}
	return findCard(ctx, s.DB, c.Company, c.ID)
}

func (a *attempt) Name() opening.Name {
	return opening.Name{Company: a.Company, ID: a.ID, Subject: a.ID, Reference: a.ID, Provider: a.provider}
}

func (a *attempt) Record() db.Record { return cards.Record(a.stored) }

// Touch leaves updatedAt unchanged, because updatedAt records only changes after a card was issued.
func (a *attempt) Touch(time.Time) {}

// Ask registers the customer with the issuer and orders the card. If the registration fails, Ask
// does not order the card.
func (a *attempt) Ask(ctx context.Context) (provider.Answer, error) {
	by, err := a.issuer(a.provider)
	if err != nil {
		return provider.Answer{Outcome: provider.Rejected, Message: "the issuer is not configured"}, nil
	}
	if err := a.introduce(ctx, by); err != nil {
		a.Log.Warn("a cardholder was not made known", "company", a.Company, "card", a.ID, "error", err)
		no := provider.Answer{Outcome: provider.Rejected}
		var why *provider.Error
		if errors.As(err, &why) {
			no.Message = why.Message
		}
		return no, nil
	}
	said := by.CreateCard(ctx, provider.CardOrder{
		Reference: a.ID, Cardholder: a.holder.providerID, Type: a.Type, Brand: a.Brand, Currency: a.Currency,
		Number: a.request.Number, SendPINSMS: a.request.SendPINSMS,
	})
	if said.Outcome == provider.Confirmed {
		a.stored = a.shown(said.Card)
	}
	return said.Answer, nil
}

// introduce registers the customer as a cardholder with the issuer, unless the customer is
// already registered.
func (a *attempt) introduce(ctx context.Context, by provider.Issuer) (err error) {
	h := &a.holder
	if h.providerID != "" {
		return nil
	}
	if h.providerID, err = by.OpenCardholder(ctx, person(a.who)); err != nil {
		return err
	}
	h.state, h.cardID = busy, a.ID
	u := ledger.For(a.Company)
	u.Transition(holders.Record(*h), busy)
	return a.Book.Commit(ctx, u)
}

func person(c customer.Customer) provider.Cardholder {
	return provider.Cardholder{
		FirstName: c.FirstName, MiddleName: string(c.MiddleName), LastName: c.LastName, Email: c.Email, Phone: c.PhoneNumber,
		DateOfBirth: string(c.DateOfBirth), Address: provider.CardholderAddress{
			Line1: c.Address.Line1, Line2: c.Address.Line2, City: c.Address.City, State: c.Address.State,
			PostalCode: c.Address.PostalCode, Country: c.Address.Country,
		},
	}
}

// Look searches the issuer's list of the customer's cards for the card of this attempt.
func (a *attempt) Look(ctx context.Context) (provider.Answer, error) {
	h, err := a.findHolder(ctx, a.Company, a.CustomerID)
	if err != nil {
		return provider.Answer{}, err
	}
	if h.providerID == "" {
		// The customer is not registered with the issuer, so Kobo has not ordered the card.
		return provider.Answer{Outcome: provider.Rejected, Message: "the customer could not be made known to the issuer"}, nil
	}
	by, err := a.issuer(a.provider)
	if err != nil {
		return provider.Answer{}, err
	}
	list, err := by.Cards(ctx, h.providerID)
	if err != nil {
		a.Log.Warn("a cardholder's cards could not be read", "company", a.Company, "card", a.ID, "error", err)
		return provider.Answer{Code: "not_read"}, nil
	}
	made, stray, err := a.pick(ctx, list)
	if err == nil && made == nil {
		err = a.report(ctx, stray)
	}
	if err != nil || made == nil {
		return provider.Answer{Missing: true}, err
	}
	a.stored = a.shown(*made)
	return provider.Answer{Outcome: provider.Confirmed}, nil
}

// pick returns the card on an issuer's list that has this attempt's reference. Some issuers do not
// return references. In that case pick returns a card that has the requested type, was created
// after the request and is not yet known to Kobo. This card must be the requested card, because a
// customer has only one card in creation at a time. A card that the directory has for this attempt comes first, whatever its age: an
// earlier look, or the reply to the order, has found it, and its state was not stored.
//
// If there is no such card, pick returns a stray one: an unknown card of the type that seems to be at most strayAge older than the
// request. It may be the requested card, if Kobo's clock was ahead at the request, or another one.
func (a *attempt) pick(ctx context.Context, list []provider.IssuedCard) (made, stray *provider.IssuedCard, err error) {
	if i := slices.IndexFunc(list, func(l provider.IssuedCard) bool { return l.Reference == a.ID }); i >= 0 {
		return &list[i], nil, nil
	}
	for i, l := range list {
		whose, isOurs, err := a.owner(ctx, a.provider, l.ID)
		older := a.CreatedAt.Sub(l.CreatedAt)
		switch {
		case err != nil:
			return nil, nil, err
		case isOurs && whose == owned{a.Company, a.ID}:
			return &list[i], nil, nil
		case isOurs, l.Reference != "", !strings.EqualFold(l.Type, a.Type), older > strayAge:
		case older > slack:
			stray = &list[i]
		case made == nil:
			made = &list[i]
		}
	}
	return made, stray, nil
}

// report asks the operators about a stray card, from the second look that finds no better one. Kobo does not take the card, because it
// may have been ordered without Kobo. Each unresolved case about the card is about this attempt, since the card is not issued yet. So one
// is enough, whatever operators have decided, and the time of the request, when a clock may have been ahead, does not matter.
func (a *attempt) report(ctx context.Context, stray *provider.IssuedCard) error {
	if stray == nil || a.Missing == 0 {
		return nil
	}
	detail := "the card is missing, and the issuer has a card that nobody knows, which may be it: " + stray.ID
	return a.Operations.OpenCase(ctx, a.Company, a.ID, operation.Unresolved, detail)
}

// Enter records in the directory of all companies which company owns the card. This happens before
// the state becomes ISSUED, so Kobo can match every notice of the issuer with its company.
func (a *attempt) Enter(ctx context.Context) error { return a.enter(ctx, a.stored) }

// Adopt sets the state to ISSUED, and allows the customer's next creation to begin. It returns no
// response for the Idempotency-Key yet, because an initial funding may follow.
func (a *attempt) Adopt(_ context.Context, u *ledger.Unit) (any, error) {
	a.state, a.message = issued, ""
	a.release(u)
	event.Emit(u, event.CardGenerated, a.Card)
	return nil, nil
}

// Refuse sets the state to FAILED, and allows the customer's next creation to begin.
func (a *attempt) Refuse(u *ledger.Unit, no provider.Answer) error {
	a.state, a.message = failed, no.Message
	a.release(u)
	return a.why(a.stored)
}

func (a *attempt) Unanswered(provider.Answer) error { return errCreating }

// why returns the reason for a failed creation as a fault for the company.
func (s *Service) why(c stored) error {
	by := s.Issuers[c.provider]
	if c.message == "" || by == nil {
		return errNotCreated
	}
	return said(by, c.message)
}
