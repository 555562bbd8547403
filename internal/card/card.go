// Package card has payment cards issued to a company's customers, and puts money
// on them.
//
// The database has a card before its issuer is asked for it. After a lost answer the
// card is looked for among the customer's cards before another one is made. Putting
// money on a card is an operation: the amount is debited before the issuer is asked,
// and given back only on a definite no.
//
// The number that is printed on a physical card passes through to the issuer and is
// kept nowhere. Kobo knows no other card number.
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
	"github.com/kobo-waas/kobo/internal/opening"
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
	Company        string     `db:"company_id,key"`
	ID             string     `db:"id,key"`
	CustomerID     string     `db:"customer_id"`
	state          state      `db:"state,state"`
	provider       string     `db:"provider"` // the issuer, as the ledger names it
	ProviderCardID string     `db:"provider_card_id,changes"`
	account        string     `db:"account,changes"` // the issuer's id of the money that the card spends
	Type           string     `db:"kind,changes"`
	Brand          string     `db:"brand,changes"`
	Currency       string     `db:"currency,changes"`
	MaskedPAN      string     `db:"masked_pan,changes"`
	ExpiryMonth    string     `db:"expiry_month,changes"`
	ExpiryYear     string     `db:"expiry_year,changes"`
	Status         string     `db:"status,changes"`  // the issuer's word: active, inactive, canceled
	message        string     `db:"message,changes"` // why there is no card
	load           money.Kobo `db:"load_kobo"`
	opening.Intent
	CreatedAt time.Time `db:"created_at"`
	UpdatedAt time.Time `db:"updated_at,changes"` // zero while nothing has changed
}

// MarshalJSON is the card as GET /card/get-card and its event show it: twelve fields,
// and no card number.
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

// shown is the card with the fields that its issuer shows.
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
	issues      string                     // the name of the issuer of new cards; "" for none
	window      time.Duration
	house       customer.Address // for a company without an address
	openings    *opening.Machine
}

// New is the business. Fundings are a kind of the operations machine from then on.
// Issues names the issuer of new cards. Window is how long a call to an issuer may
// take. House is the address of a company that has set none; it may be empty.
func New(d *db.DB, book *ledger.Book, c clock.Clock, log *slog.Logger, operations *operation.Service,
	settlements *settlement.Service, customers *customer.Service, keys *idempotency.Service,
	issuers map[string]provider.Issuer, issues string, window time.Duration, house customer.Address,
) *Service {
	s := &Service{
		db: d, book: book, clock: c, log: log, operations: operations, settlements: settlements, customers: customers,
		keys: keys, issuers: issuers, issues: issues, window: window, house: house,
	}
	s.openings = &opening.Machine{
		Book: book, Clock: c, Log: log, Cases: operations, Window: window,
		Kind: "card", Job: ResolveJob, Find: s.followed,
		Unknown: "it is unknown whether a card was made",
		Gone:    "the card was not made",
		TooOld:  "a card whose creation is not known after 72 hours",
	}
	operations.Handle(Kind, operation.Kind{Route: route, Requery: s.requery, Effects: s.effects})
	return s
}

var (
	errNoCard   = fault.New(fault.Missing, "Card not found")
	errNoIssuer = fault.New(fault.Unavailable, "no issuer is configured")
)

// issuer is the issuer of a card. No other issuer knows the card.
func (s *Service) issuer(name string) (provider.Issuer, error) {
	if i := s.issuers[name]; i != nil {
		return i, nil
	}
	return nil, errNoIssuer
}

// said is the refusal or the silence of an issuer, in words for the company.
func said(by provider.Issuer, message string) *fault.Fault {
	return fault.New(fault.Refused, by.Name()+" API Error: "+cmp.Or(message, "the request was refused"))
}

// saidBy is said for the error of a call that moved no money.
func saidBy(by provider.Issuer, err error) error {
	var e *provider.Error
	if errors.As(err, &e) {
		return said(by, e.Message).Because(err)
	}
	return err
}

// find is an issued card of the company, as the database has it.
func (s *Service) find(ctx context.Context, company, cardID string) (Card, error) {
	c, err := findCard(ctx, s.db, company, cardID)
	if errors.Is(err, db.ErrNone) || err == nil && c.state != issued {
		return Card{}, errNoCard
	}
	return c, err
}

// Find is a card of the company, as its issuer shows it now.
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

// renew writes the changes of a card.
func (s *Service) renew(ctx context.Context, was, now Card) (Card, error) {
	if was == now {
		return was, nil
	}
	now.UpdatedAt = s.clock.Now()
	u := ledger.For(now.Company)
	u.Transition(cards.Record(now), string(issued))
	return now, s.book.Commit(ctx, u)
}

// List is a page of the cards of all customers or of one, newest first, with their
// number in all.
func (s *Service) List(ctx context.Context, company, customerID string, offset, limit int) ([]Card, int, error) {
	total, err := s.countCards(ctx, company, customerID)
	if err != nil {
		return nil, 0, err
	}
	list, err := s.page(ctx, company, customerID, limit, offset)
	return list, int(total), err
}

// Token is a short-lived pass to the card's secrets at the issuer, for the company's
// customer. Kobo does not keep the pass.
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
