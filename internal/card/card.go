// Package card orders payment cards for a company's customers from an issuer, and puts
// money on the cards.
//
// Kobo writes a card to the database before it orders the card from the issuer. If the issuer's
// reply is lost, Kobo searches the customer's cards at the issuer before it orders again. A
// funding is an operation: Kobo debits the amount before it asks the issuer to credit the card.
// Kobo refunds the amount only if the issuer definitely rejects the funding.
//
// Kobo passes the printed number of a physical card to the issuer and does not store the number.
// Kobo never receives the full number of a virtual card.
package card

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/customer"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/idempotency"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/opening"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/settlement"
)

// state is the state of a card's creation. The company sees only issued cards.
type state string

const (
	creating state = "CREATING"
	issued   state = "ISSUED"
	failed   state = "FAILED"
)

// The two types of cards that a company can order.
const (
	Virtual  = "virtual"
	Physical = "physical"
)

// Card is a card in the form that responses and events show to the company. It does not contain
// the full card number.
type Card struct {
	ID             string        `db:"id,key" json:"id"`
	Type           string        `db:"kind,changes" json:"type"`
	Brand          string        `db:"brand,changes" json:"brand"`
	Currency       string        `db:"currency,changes" json:"currency"`
	MaskedPAN      string        `db:"masked_pan,changes" json:"maskedPan"`
	ExpiryMonth    string        `db:"expiry_month,changes" json:"expiryMonth"`
	ExpiryYear     string        `db:"expiry_year,changes" json:"expiryYear"`
	Status         string        `db:"status,changes" json:"status"` // the issuer's status: active, inactive or canceled
	CustomerID     string        `db:"customer_id" json:"customerId"`
	CreatedAt      clock.Instant `db:"created_at" json:"createdAt"`
	UpdatedAt      clock.Instant `db:"updated_at,changes" json:"updatedAt"` // zero until the first change of the issued card
	ProviderCardID string        `db:"provider_card_id,changes" json:"providerCardId"`
}

// Activity is an event of a card that the issuer reported in a notice, such as a payment.
type Activity struct {
	ID         string        `db:"id,key" json:"id"` // the issuer's id of the event
	CardID     string        `db:"card_id" json:"cardId"`
	Type       string        `db:"word" json:"type"`          // the issuer's name of the event, such as transaction.created
	Amount     money.Kobo    `db:"amount_kobo" json:"amount"` // negative if the event took money from the card
	Currency   string        `db:"currency" json:"currency"`  // "" if the issuer did not say
	Merchant   string        `db:"merchant" json:"merchant"`  // the merchant's name and place; "" if there is none
	HappenedAt clock.Instant `db:"happened_at" json:"createdAt"`
}

// Config is what a Service needs.
type Config struct {
	DB          *db.DB
	Book        *ledger.Book
	Clock       clock.Clock
	Log         *slog.Logger
	Operations  *operation.Service
	Settlements *settlement.Service
	Customers   *customer.Service
	Keys        *idempotency.Service
	Issuers     map[string]provider.Issuer // the issuers by their names in the configuration
	Issues      string                     // the name of the issuer of new cards; "" if no issuer is configured
	Window      time.Duration              // the longest time that a call to an issuer may take
	House       customer.Address           // the deployment's billing address for a company without an address; may be empty
}

// Service orders and funds cards.
type Service struct {
	Config
	openings *opening.Machine
}

// New returns a Service and registers the operation kind of fundings.
func New(c Config) *Service {
	s := &Service{Config: c}
	s.openings = &opening.Machine{
		Book: c.Book, Clock: c.Clock, Log: c.Log, Cases: c.Operations, Window: c.Window,
		Kind: "card", Job: ResolveJob, Find: s.followed,
		Unknown: "it is unknown whether a card was made",
		Gone:    "the card was not made",
		TooOld:  "a card whose creation is not known after 72 hours",
	}
	c.Operations.Handle(Kind, operation.Kind{
		Route: settlement.Route, Requery: s.requery, Effects: s.effects,
		Cases: map[operation.Decision]operation.CaseHandler{{Reason: operation.CardBalance, Outcome: operation.Assigned}: s.assigned},
	})
	return s
}

var (
	errNoCard   = fault.New(fault.Missing, "Card not found")
	errNoIssuer = fault.New(fault.Unavailable, "no issuer is configured")
)

// issuer returns the configured issuer with this name, or errNoIssuer.
func (s *Service) issuer(name string) (provider.Issuer, error) {
	if i := s.Issuers[name]; i != nil {
		return i, nil
	}
	return nil, errNoIssuer
}

// said turns an issuer's message into a fault for the company.
func said(by provider.Issuer, message string) *fault.Fault {
	return fault.New(fault.Refused, by.Name()+" API Error: "+cmp.Or(message, "the request was refused")).With(fault.Declined)
}

// saidBy turns an error that the issuer returned into a fault for the company. It is for calls that
// move no money. An error that did not come from the issuer is returned unchanged.
func saidBy(by provider.Issuer, err error) error {
	var e *provider.Error
	if errors.As(err, &e) {
		return said(by, e.Message).Because(err)
	}
	return err
}

// find reads an issued card of the company from the database.
func (s *Service) find(ctx context.Context, company, cardID string) (stored, error) {
	c, err := findCard(ctx, s.DB, company, cardID)
	if errors.Is(err, db.ErrNone) || err == nil && c.state != issued {
		return stored{}, errNoCard
	}
	return c, err
}

// atIssuer returns an issued card of the company and the issuer that issued the card.
func (s *Service) atIssuer(ctx context.Context, company, cardID string) (stored, provider.Issuer, error) {
	c, err := s.find(ctx, company, cardID)
	if err != nil {
		return c, nil, err
	}
	by, err := s.issuer(c.provider)
	return c, by, err
}

// Find returns a card of the company with the status that the issuer now reports.
func (s *Service) Find(ctx context.Context, company, cardID string) (Card, error) {
	c, err := s.renewed(ctx, company, cardID)
	return c.Card, err
}

// renewed reads a card's current data from its issuer, and writes any changes to the database.
func (s *Service) renewed(ctx context.Context, company, cardID string) (stored, error) {
	c, by, err := s.atIssuer(ctx, company, cardID)
	if err != nil {
		return c, err
	}
	seen, err := by.Card(ctx, c.ProviderCardID)
	if err != nil {
		return c, saidBy(by, err)
	}
	if seen.ID != c.ProviderCardID {
		return c, said(by, "it showed another card")
	}
	if c.isOver() && seen.Status != provider.CardCanceled {
		s.Log.Warn("the issuer shows a terminated card in another status", "company", company, "card", cardID, "status", seen.Status)
	}
	now := c.shown(seen)
	if now == c {
		return c, nil
	}
	now.UpdatedAt.Time = s.Clock.Now()
	u := ledger.For(company)
	u.Transition(cards.Record(now), string(issued)).Expect("status", c.Status)
	if now.Status != c.Status {
		s.tell(&u, now)
	}
	err = s.Book.Commit(ctx, u)
	if ledger.Is(err, ledger.Moved) {
		return s.find(ctx, company, cardID) // another program has just stored the new status
	}
	return now, err
}

// Transactions returns a page of a card's activities, newest first, and the total count.
func (s *Service) Transactions(ctx context.Context, company, cardID string, offset, limit int) ([]Activity, int, error) {
	if _, err := s.find(ctx, company, cardID); err != nil {
		return nil, 0, err
	}
	return s.activitiesOf(ctx, company, cardID, offset, limit)
}

// Token returns a short-lived token, with which the company reads the card's secrets from the
// issuer. Kobo does not store the token.
func (s *Service) Token(ctx context.Context, company, cardID string) (provider.CardToken, error) {
	c, by, err := s.atIssuer(ctx, company, cardID)
	if err != nil {
		return provider.CardToken{}, err
	}
	token, err := by.CardToken(ctx, c.ProviderCardID)
	return token, saidBy(by, err)
}

// SendDefaultPIN asks the issuer to send the card's first PIN to the cardholder. It returns the
// issuer's message. SendDefaultPIN records that the Idempotency-Key is in use before it calls the
// issuer. Therefore only one of two identical requests calls the issuer. If Kobo crashes during a
// request, the outcome is unknown, and a retry sends the PIN again.
func (s *Service) SendDefaultPIN(ctx context.Context, company, cardID string, key *idempotency.Key) (string, error) {
	c, by, err := s.atIssuer(ctx, company, cardID)
	if err != nil {
		return "", err
	}
	if key != nil && key.Subject() == "" {
		u := ledger.For(company)
		key.Begin(&u, c.ID, s.Clock.Now().Add(s.Window))
		if err := s.Book.Commit(ctx, u); err != nil {
			return "", idempotency.Taken(err)
		}
	}
	message, err := by.SendDefaultPIN(ctx, c.ProviderCardID)
	message, err = cmp.Or(message, "PIN sent successfully"), saidBy(by, err)
	if err != nil && !fault.Is(err, fault.Refused) {
		return "", err // the issuer did not reply, so a retry with this Idempotency-Key calls the issuer again
	}
	// The response is stored even if the caller has closed the connection.
	return message, s.finish(context.WithoutCancel(ctx), key, message, err)
}
