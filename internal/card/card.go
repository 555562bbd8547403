// Package card has payment cards issued to a company's customers, and puts money
// on them.
//
// A card is written down before its issuer is asked for it; when the answer is
// lost the card is looked for among the customer's before another one is made.
// Putting money on a card is an operation: the amount is debited before the
// issuer is asked and given back only on a definite no.
//
// Nothing here knows a card number. One that is printed on a physical card passes
// through to the issuer and is kept nowhere.
package card

import (
	"cmp"
	"context"
	"encoding/json"
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
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/settlement"
)

// The states of a card's creation. The company sees a card once it is issued.
type state string

const (
	creating state = "CREATING"
	issued   state = "ISSUED"
	failed   state = "FAILED"
)

// The types of cards.
const (
	Virtual  = "virtual"
	Physical = "physical"
)

// Card is a card as its company sees it.
type Card struct {
	Company        string
	ID             string
	Type           string
	Brand          string
	Currency       string
	MaskedPAN      string
	ExpiryMonth    string
	ExpiryYear     string
	Status         string // the issuer's word: active, inactive, canceled
	CustomerID     string
	CreatedAt      time.Time
	UpdatedAt      time.Time // zero while nothing has changed
	ProviderCardID string

	state       state
	provider    string // the issuer, as the books name it
	account     string // the issuer's id of what the card spends from
	message     string // why there is no card
	load        money.Kobo
	calledUntil time.Time // by then the call to the issuer is over, whatever happens
	missing     int64     // how often the issuer's list did not have it
}

// MarshalJSON is the card as GET /card/get-card shows it, which is what its
// event carries: twelve fields, and no card number.
func (c Card) MarshalJSON() ([]byte, error) {
	var updated *string
	if !c.UpdatedAt.IsZero() {
		text := clock.Text(c.UpdatedAt)
		updated = &text
	}
	return json.Marshal(struct {
		ID             string  `json:"id"`
		Type           string  `json:"type"`
		Brand          string  `json:"brand"`
		Currency       string  `json:"currency"`
		MaskedPAN      string  `json:"maskedPan"`
		ExpiryMonth    string  `json:"expiryMonth"`
		ExpiryYear     string  `json:"expiryYear"`
		Status         string  `json:"status"`
		CustomerID     string  `json:"customerId"`
		CreatedAt      string  `json:"createdAt"`
		UpdatedAt      *string `json:"updatedAt"`
		ProviderCardID string  `json:"providerCardId"`
	}{
		c.ID, c.Type, c.Brand, c.Currency, c.MaskedPAN, c.ExpiryMonth, c.ExpiryYear, c.Status, c.CustomerID,
		clock.Text(c.CreatedAt), updated, c.ProviderCardID,
	})
}

// shown is the card with what its issuer says of it.
func (c Card) shown(i provider.IssuedCard) Card {
	c.ProviderCardID, c.Status = i.ID, i.Status
	for field, value := range map[*string]string{
		&c.account: i.Account, &c.Type: i.Type, &c.Brand: i.Brand, &c.Currency: i.Currency,
		&c.MaskedPAN: i.MaskedPAN, &c.ExpiryMonth: i.ExpiryMonth, &c.ExpiryYear: i.ExpiryYear,
	} {
		if value != "" {
			*field = value
		}
	}
	return c
}

// Service is the business.
type Service struct {
	db          *db.DB
	book        *ledger.Book
	clock       clock.Clock
	log         *slog.Logger
	operations  *operation.Service
	settlements *settlement.Service
	customers   *customer.Service
	keys        *idempotency.Service
	issuers     map[string]provider.Issuer // by the name the configuration gives them
	issues      string                     // which of them issues new cards; "" for none
	window      time.Duration
	house       customer.Address // for a company without an address
}

// New opens the business and teaches the operations machine its kind. Issues
// names the issuer of new cards; window is how long a call to one may take. House
// is the address of a company that has set none; it may be empty.
func New(d *db.DB, book *ledger.Book, c clock.Clock, log *slog.Logger, operations *operation.Service, settlements *settlement.Service,
	customers *customer.Service, keys *idempotency.Service, issuers map[string]provider.Issuer, issues string, window time.Duration, house customer.Address,
) *Service {
	s := &Service{
		db: d, book: book, clock: c, log: log, operations: operations, settlements: settlements, customers: customers,
		keys: keys, issuers: issuers, issues: issues, window: window, house: house,
	}
	operations.Handle(Kind, operation.Kind{Route: route, Requery: s.requery, Effects: s.effects})
	return s
}

var (
	errNoCard   = fault.New(fault.Missing, "Card not found")
	errNoIssuer = fault.New(fault.Unavailable, "no issuer is configured")
)

// issuer is the one that issued a card; no other knows it.
func (s *Service) issuer(name string) (provider.Issuer, error) {
	if i := s.issuers[name]; i != nil {
		return i, nil
	}
	return nil, errNoIssuer
}

// said is an issuer's no, or its silence, in words for the company.
func said(by provider.Issuer, message string) *fault.Fault {
	return fault.New(fault.Refused, by.Name()+" API Error: "+cmp.Or(message, "the request was refused"))
}

// saidBy is said for a call that moved no money.
func saidBy(by provider.Issuer, err error) error {
	var e *provider.Error
	if errors.As(err, &e) {
		return said(by, e.Message).Because(err)
	}
	return err
}

// find is an issued card of the company, as the books have it.
func (s *Service) find(ctx context.Context, company, cardID string) (Card, error) {
	c, err := s.findCard(ctx, company, cardID)
	if errors.Is(err, db.ErrNone) || err == nil && c.state != issued {
		return Card{}, errNoCard
	}
	return c, err
}

// Find is a card of the company as it stands at its issuer now.
func (s *Service) Find(ctx context.Context, company, cardID string) (Card, error) {
	c, err := s.find(ctx, company, cardID)
	if err != nil {
		return Card{}, err
	}
	by, err := s.issuer(c.provider)
	if err != nil {
		return Card{}, err
	}
	seen, err := by.Card(ctx, c.ProviderCardID)
	if err != nil {
		return Card{}, saidBy(by, err)
	}
	if seen.ID != c.ProviderCardID {
		return Card{}, said(by, "it showed another card")
	}
	return s.renew(ctx, c, c.shown(seen))
}

// renew writes down what has changed on a card.
func (s *Service) renew(ctx context.Context, was, now Card) (Card, error) {
	if was == now {
		return was, nil
	}
	now.UpdatedAt = s.clock.Now()
	err := s.book.Commit(ctx, ledger.Unit{Company: now.Company, Moves: []ledger.Move{now.move(issued, issued)}})
	return now, err
}

// List is limit of the company's cards after the first offset, newest first, and
// how many there are: of all customers, or of one.
func (s *Service) List(ctx context.Context, company, customerID string, offset, limit int) ([]Card, int, error) {
	total, err := s.countCards(ctx, company, customerID)
	if err != nil {
		return nil, 0, err
	}
	list, err := s.cards(ctx, company, customerID, limit, offset)
	return list, int(total), err
}

// Token is a short-lived pass with which the company's customer sees the card's
// secrets at the issuer. It is kept nowhere.
func (s *Service) Token(ctx context.Context, company, cardID string) (provider.CardToken, error) {
	c, err := s.find(ctx, company, cardID)
	if err != nil {
		return provider.CardToken{}, err
	}
	by, err := s.issuer(c.provider)
	if err != nil {
		return provider.CardToken{}, err
	}
	token, err := by.CardToken(ctx, c.ProviderCardID)
	return token, saidBy(by, err)
}
