// Package vtu sells airtime, data, TV packages and electricity ("virtual top-up"). The price is
// debited from a company's settlement account.
//
// The catalogue is a copy of the billers' lists, with IDs from Kobo. A purchase is an operation:
// Kobo debits the price before it calls the biller. Kobo refunds the price only if the biller
// definitely rejects the purchase.
package vtu

import (
	"context"
	"log/slog"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/settlement"
	"github.com/kobo-waas/kobo/internal/wire"
)

// Kind is the operation kind of purchases.
const Kind = "vtu"

// Service is a type of product, such as data bundles.
type Service struct {
	ID   string               `json:"serviceId"`
	Name string               `json:"serviceName"`
	Kind provider.ServiceKind `json:"-"`
}

// Category is a vendor within a service, such as a mobile network.
type Category struct {
	ID        string `json:"serviceCategoryId"`
	Name      string `json:"serviceCategoryName"`
	ServiceID string `json:"serviceId"`

	kind                   provider.ServiceKind
	provider, code, vendor string // the biller's name, the biller's code for the category, the vendor's name
}

// Product is an item on sale in a category, such as a data bundle.
type Product struct {
	ID       string     `json:"categoryProductId"`
	Name     string     `json:"categoryProductName"`
	Amount   money.Text `json:"amount"`
	Fixed    bool       `json:"isFixedAmount"`
	Validity string     `json:"validity"`

	code string // the biller's code for the product
}

// The states of a purchase. The price of a Failed or Reversed purchase is refunded. A Reversed
// purchase had succeeded before the biller returned its money.
const (
	Pending  = operation.Pending
	Success  = operation.Success
	Failed   = operation.Failed
	Reversed = operation.Reversed
)

// Bought is a purchase in the form of the response to the purchase request.
type Bought struct {
	ID        string               `json:"transactionId"`
	Status    operation.State      `json:"status"`
	Type      provider.ServiceKind `json:"type"`
	Amount    money.Text           `json:"amount"`
	CreatedAt clock.Instant        `json:"createdAt"`
}

// Cursor returns the place of a purchase in the list of the company's purchases.
func (b Bought) Cursor() string {
	return db.Place{At: clock.Micros(b.CreatedAt.Time), ID: b.ID}.Cursor()
}

// BoughtPower is a purchase of electricity in the form of the response to the purchase request.
type BoughtPower struct {
	Bought
	Token wire.Text `json:"token"` // the token for a prepaid meter; "" until it is known
	provider.MeterCodes
}

// Transaction is a purchase in the form that GET /vtu/transaction and the events show.
type Transaction struct {
	Bought
	Fee            money.Text `json:"fee"`
	IdempotencyKey string     `json:"idempotencyKey"`
	SettlementID   int64      `json:"settlementId"`
	Goods
	ProviderReference wire.Text     `json:"providerReference"`
	Message           wire.Text     `json:"message"`
	Refunded          bool          `json:"refunded"`
	UpdatedAt         clock.Instant `json:"updatedAt"`
	Meter             wire.Text     `json:"meterNumber"`
	Token             wire.Text     `json:"token"`
	provider.MeterCodes
	operation.Labels
}

// Of builds a transaction from a purchase and its operation.
func Of(o operation.Operation, p Purchase) Transaction {
	return Transaction{
		Bought: Bought{o.ID, o.State, p.Type, money.Text(o.Amount), clock.Instant{Time: o.CreatedAt}},
		Fee:    money.Text(o.Fee), IdempotencyKey: o.IdempotencyKey, SettlementID: o.SettlementID, Goods: p.Goods,
		ProviderReference: wire.Text(o.ProviderReference), Message: wire.Text(o.Message), Refunded: o.Refunded(),
		UpdatedAt: clock.Instant{Time: o.UpdatedAt}, Meter: wire.Text(p.Meter), Token: wire.Text(o.Token),
		MeterCodes: provider.ReadMeterCodes(o.Codes), Labels: o.Labels,
	}
}

// Config is what a Shop needs.
type Config struct {
	DB          *db.DB
	Book        *ledger.Book
	Clock       clock.Clock
	Log         *slog.Logger
	Operations  *operation.Service
	Settlements *settlement.Service
	Billers     map[string]provider.Biller // the billers by their names in the configuration
	Routes      Routes
	// Lookups states for each biller whether it looks up purchases by our references, according to
	// the setting lookup_by_reference. A biller without an entry does.
	Lookups map[string]provider.ByKind
	// Call is the longest time of a call to a biller that may move money. A purchase moves to a further
	// biller only if so much of its window is left.
	Call time.Duration
	// MostLoss is the percentage by which a further biller's price may exceed what the company pays.
	MostLoss int
	// Audit appends a line to the audit log in the caller's transaction. It may be nil.
	Audit func(ctx context.Context, q db.Querier, action, subject string, details map[string]string) error
	// Note does the same as Audit for an act of an operator.
	Note func(ctx context.Context, q db.Querier, by operator.Operator, action, subject string, details map[string]string) error
}

// Shop shows the catalogue and makes the purchases.
type Shop struct {
	Config
	shelf shelf
}

// New returns a Shop and registers the operation kind of purchases.
func New(c Config) *Shop {
	s := &Shop{Config: c}
	s.shelf.keep(fresh)
	c.Operations.Handle(Kind, operation.Kind{Route: route, Requery: s.requery, Effects: s.effects, Returns: true})
	return s
}

// route returns the ledger accounts of a purchase. A further biller may take another price than the
// company pays. The difference is a charge to the fintech.
func route(o operation.Operation) operation.Route {
	r := settlement.Route(o)
	r.Charge = settlement.ChargeAccount(o.Provider)
	return r
}

// effects adds the purchase's event to the unit that records the outcome. If the purchase failed,
// the same unit makes the verification unused again.
func (s *Shop) effects(ctx context.Context, o operation.Operation, u *ledger.Unit) error {
	p, err := s.findPurchase(ctx, o.Company, o.ID)
	if err == nil {
		p.Effects(o, u)
	}
	return err
}

// Effects adds to the unit of the outcome what the purchase changes with it.
func (p Purchase) Effects(o operation.Operation, u *ledger.Unit) {
	switch o.State {
	case Failed:
		event.Emit(u, event.VTUFailed, Of(o, p))
		p.verification(u, used, unused)
	case Reversed:
		event.Emit(u, event.VTUReversed, Of(o, p))
	default:
		event.Emit(u, event.VTUSuccess, Of(o, p))
	}
}

func (s *Shop) complete(ctx context.Context, o operation.Operation) (Transaction, error) {
	p, err := s.findPurchase(ctx, o.Company, o.ID)
	return Of(o, p), err
}
