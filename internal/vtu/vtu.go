// Package vtu sells airtime, data, TV and power ("virtual top-up") out of a
// company's settlement account.
//
// What is on sale is the billers' lists, taken over into tables of our own under
// ids of our own. A purchase is an operation: the price is debited before the
// biller is asked and given back only on a definite no.
package vtu

import (
	"context"
	"log/slog"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/settlement"
	"github.com/kobo-waas/kobo/internal/wire"
)

// Kind is the kind of operation a purchase is.
const Kind = "vtu"

// Service is one line of the trade, such as Data. In the API: a service.
type Service struct {
	ID, Name string
	Kind     provider.ServiceKind
}

// Category is one vendor within a service, such as a mobile network.
type Category struct {
	ID, ServiceID, Name    string
	Kind                   provider.ServiceKind
	provider, code, vendor string // the biller's name, its code for the call, its word for the vendor
}

// Product is one thing on sale in a category.
type Product struct {
	ID, Name, Validity string
	Amount             money.Kobo
	Fixed              bool
	code               string // the biller's, for the call
}

// Status is where a purchase stands.
type Status = operation.State

// The states of a purchase.
const (
	Pending = operation.Pending
	Success = operation.Success
	Failed  = operation.Failed
)

// Transaction is a purchase with all that is known of it, as GET /vtu/transaction
// shows it and its events carry it.
type Transaction struct {
	ID                string               `json:"transactionId"`
	Status            Status               `json:"status"`
	Type              provider.ServiceKind `json:"type"`
	Amount            money.Text           `json:"amount"`
	CreatedAt         clock.Instant        `json:"createdAt"`
	Fee               money.Text           `json:"fee"`
	IdempotencyKey    string               `json:"idempotencyKey"`
	SettlementID      int64                `json:"settlementId"`
	CategoryID        string               `json:"serviceCategoryId"`
	ProductID         wire.Text            `json:"productId"`
	ProductName       wire.Text            `json:"productName"`
	PhoneNumber       wire.Text            `json:"phoneNumber"`
	CardNumber        wire.Text            `json:"cardNumber"`
	ProviderReference wire.Text            `json:"providerReference"`
	Message           wire.Text            `json:"message"`
	Refunded          bool                 `json:"refunded"`
	UpdatedAt         clock.Instant        `json:"updatedAt"`
	MeterNumber       wire.Text            `json:"meterNumber"`
	Token             wire.Text            `json:"token"` // what a prepaid meter is told; "" while it is not known
}

// Of is a purchase and its operation, seen as one.
func Of(o operation.Operation, p Purchase) Transaction {
	return Transaction{
		ID: o.ID, Status: o.State, Type: p.Type, Amount: money.Text(o.Amount), Fee: money.Text(o.Fee),
		IdempotencyKey: o.IdempotencyKey, SettlementID: o.SettlementID, CategoryID: p.CategoryID,
		ProductID: wire.Text(p.ProductID), ProductName: wire.Text(p.ProductName), PhoneNumber: wire.Text(p.PhoneNumber),
		CardNumber: wire.Text(p.CardNumber), MeterNumber: wire.Text(p.MeterNumber), Token: wire.Text(o.Token),
		ProviderReference: wire.Text(o.ProviderReference), Message: wire.Text(o.Message), Refunded: o.Refunded(),
		CreatedAt: clock.Instant{Time: o.CreatedAt}, UpdatedAt: clock.Instant{Time: o.UpdatedAt},
	}
}

// Shop is the business.
type Shop struct {
	db          *db.DB
	book        *ledger.Book
	clock       clock.Clock
	log         *slog.Logger
	operations  *operation.Service
	settlements *settlement.Service
	billers     map[string]provider.Biller // by the name the configuration gives them
	routes      Routes
}

// New opens the shop and teaches the operations machine its kind.
func New(d *db.DB, book *ledger.Book, c clock.Clock, log *slog.Logger,
	operations *operation.Service, settlements *settlement.Service, billers map[string]provider.Biller, routes Routes,
) *Shop {
	s := &Shop{
		db: d, book: book, clock: c, log: log,
		operations: operations, settlements: settlements, billers: billers, routes: routes,
	}
	operations.Handle(Kind, operation.Kind{Route: route, Requery: s.requery, Effects: s.effects})
	return s
}

func route(o operation.Operation) operation.Route {
	return operation.Route{
		Settlement: settlement.LedgerAccount(o.SettlementID),
		Clearing:   settlement.ClearingAccount(Kind),
		Provider:   settlement.ProviderAccount(o.Provider),
	}
}

// requery asks the biller that was asked to buy, and no other, whatever the
// routes say by now: only that one can know, and what it does not know for
// certain nobody else may be asked to do.
func (s *Shop) requery(ctx context.Context, o operation.Operation) provider.Answer {
	b := s.billers[o.Provider]
	if b == nil {
		return provider.Answer{Code: "not_configured", Message: "The provider is not configured"}
	}
	return b.Requery(ctx, o.ID, o.CreatedAt)
}

// effects are the event that tells the outcome. A purchase that was definitely
// rejected gives its verification back, in the unit that gives the money back.
func (s *Shop) effects(ctx context.Context, o operation.Operation, u *ledger.Unit) error {
	p, err := s.findPurchase(ctx, o.Company, o.ID)
	if err != nil {
		return err
	}
	if o.State != Failed {
		event.Emit(u, event.VTUSuccess, Of(o, p))
		return nil
	}
	event.Emit(u, event.VTUFailed, Of(o, p))
	p.returnVerification(u)
	return nil
}

// Transaction is a purchase of the company, by its id or by the key the caller
// gave it.
func (s *Shop) Transaction(ctx context.Context, company, idOrKey string) (Transaction, error) {
	o, err := s.operations.Find(ctx, company, idOrKey)
	if fault.Is(err, fault.Missing) || err == nil && o.Kind != Kind {
		o, err = s.operations.FindByKey(ctx, company, Kind, idOrKey)
	}
	if fault.Is(err, fault.Missing) {
		return Transaction{}, fault.New(fault.Missing, "Transaction not found")
	}
	if err != nil {
		return Transaction{}, err
	}
	return s.complete(ctx, o)
}

func (s *Shop) complete(ctx context.Context, o operation.Operation) (Transaction, error) {
	p, err := s.findPurchase(ctx, o.Company, o.ID)
	return Of(o, p), err
}
