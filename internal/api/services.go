package api

import (
	"context"
	"time"

	"github.com/kobo-waas/kobo/internal/chain"
	"github.com/kobo-waas/kobo/internal/collection"
	"github.com/kobo-waas/kobo/internal/company"
	"github.com/kobo-waas/kobo/internal/corporate"
	"github.com/kobo-waas/kobo/internal/crypto"
	"github.com/kobo-waas/kobo/internal/customer"
	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/idempotency"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/report"
	"github.com/kobo-waas/kobo/internal/secret"
	"github.com/kobo-waas/kobo/internal/settlement"
	"github.com/kobo-waas/kobo/internal/vtu"
	"github.com/kobo-waas/kobo/internal/webhook"
)

// What the edge asks of the businesses. Every "no" is a *fault.Fault; any other
// error is our own mistake.

// Companies says who is calling.
type Companies interface {
	Tokens(ctx context.Context, reference, apiKey string) (access, refresh string, err error)
	Refresh(ctx context.Context, refreshToken string) (access string, err error)
	// Holder is the company that an access token was given to, whatever it may do.
	Holder(accessToken string) (company string, err error)
	// Authenticate is the gate: the company behind an access token, if it may
	// use the API now.
	Authenticate(ctx context.Context, accessToken string) (company.Identity, error)
}

// Settlements keep the companies' money.
type Settlements interface {
	Accounts(ctx context.Context, company string) ([]settlement.Account, error)
	CreateOwn(ctx context.Context, company, name string, key *idempotency.Key) (settlement.Account, error)
	// Alert has the company told when the balance falls below; 0 for never.
	AlertOwn(ctx context.Context, company string, settlementID int64, below money.Kobo, key *idempotency.Key) (settlement.Account, error)
}

// Collections wait for single payments.
type Collections interface {
	Generate(ctx context.Context, r collection.Request) (collection.Collection, error)
	Find(ctx context.Context, company, id string) (collection.Collection, error)
}

// Corporate opens companies' own bank accounts.
type Corporate interface {
	Initiate(ctx context.Context, company string, bvn secret.Text, key *idempotency.Key) (corporate.Sent, error)
	Resend(ctx context.Context, company, sessionID string, key *idempotency.Key) (corporate.Sent, error)
	Validate(ctx context.Context, company, sessionID string, otp secret.Text, key *idempotency.Key) (corporate.KYC, error)
	GenerateAccount(ctx context.Context, r corporate.Request) (corporate.Account, error)
}

// Customers are the companies' own, with their accounts and what comes in on
// them. Lists are limit rows after the first offset, newest first, and how many
// there are in all.
type Customers interface {
	Create(ctx context.Context, r customer.Registration) (customer.Created, error)
	Resend(ctx context.Context, company, idOrEmail string, key *idempotency.Key) (customer.Resent, error)
	GenerateAccount(ctx context.Context, r customer.Request) (customer.Customer, error)
	Find(ctx context.Context, company, idOrEmail string) (customer.Customer, error)
	Customers(ctx context.Context, company, search string, offset, limit int) ([]customer.Customer, int, error)
	Transactions(ctx context.Context, company string, f customer.TransactionFilter, offset, limit int) ([]customer.Transaction, int, error)
	TransactionsOf(ctx context.Context, company, customerID string) ([]customer.Transaction, error)
	Transaction(ctx context.Context, company, customerID, transactionID string) (customer.Transaction, error)
}

// VTU sells airtime, data and bills.
type VTU interface {
	Services(ctx context.Context) ([]vtu.Service, error)
	Categories(ctx context.Context, serviceID string) ([]vtu.Category, error)
	Products(ctx context.Context, categoryID string) ([]vtu.Product, error)
	VerifyEntity(ctx context.Context, q vtu.EntityQuery) (vtu.Verification, error)
	PurchaseData(ctx context.Context, p vtu.DataPurchase) (vtu.Receipt, error)
	PurchaseCableTV(ctx context.Context, p vtu.CableTVPurchase) (vtu.Receipt, error)
	PurchaseAirtime(ctx context.Context, p vtu.AirtimePurchase) (vtu.Receipt, error)
	PurchaseUtility(ctx context.Context, p vtu.UtilityPurchase) (vtu.Receipt, error)
	// Resume answers for a purchase that an earlier request with the same
	// Idempotency-Key began and did not answer.
	Resume(ctx context.Context, company, transactionID string, key *idempotency.Key) (vtu.Receipt, error)
	Transaction(ctx context.Context, company, idOrKey string) (vtu.Transaction, error)
}

// Crypto gives addresses and keeps what came to them.
type Crypto interface {
	ListNetworks() []chain.Network
	Generate(ctx context.Context, g crypto.Generation) (crypto.Address, error)
	// Resume answers for an address that an earlier request with the same
	// Idempotency-Key has made and did not answer for.
	Resume(ctx context.Context, company, subject string, key *idempotency.Key) (crypto.Address, error)
	Addresses(ctx context.Context, company, networkID string) ([]crypto.Address, error)
	// Transactions are limit rows after the first offset, newest first, and how
	// many there are in all.
	Transactions(ctx context.Context, company string, f crypto.TransactionFilter, offset, limit int) ([]crypto.Transaction, int, error)
}

// Webhooks are where companies want their events sent.
type Webhooks interface {
	Create(ctx context.Context, company string, d webhook.Draft, key *idempotency.Key) (webhook.Endpoint, error)
	List(ctx context.Context, company string) ([]webhook.Endpoint, error)
	Find(ctx context.Context, company, id string) (webhook.Endpoint, error)
	Backlog(ctx context.Context, e webhook.Endpoint) (webhook.Backlog, error)
	Update(ctx context.Context, company, id string, d webhook.Draft, key *idempotency.Key) (webhook.Endpoint, error)
	Rotate(ctx context.Context, company, id string, key *idempotency.Key) (webhook.Endpoint, error)
	Delete(ctx context.Context, company, id string) error
	Test(ctx context.Context, company, id string, key *idempotency.Key) (webhook.Delivery, error)
	Deliveries(ctx context.Context, company, id string, state webhook.DeliveryState, limit, offset int) ([]webhook.Delivery, int64, error)
	Resend(ctx context.Context, company, deliveryID string, key *idempotency.Key) (webhook.Delivery, error)
	Replay(ctx context.Context, company, id string, first, last int64, key *idempotency.Key) (webhook.Replay, error)
}

// Events is the feed of what happened to a company.
type Events interface {
	Feed(ctx context.Context, company string, after int64, limit int, wait time.Duration) (events []event.Event, more bool, err error)
	Find(ctx context.Context, company, id string) (event.Event, error)
	// Since is the number of the first event at an instant or after it.
	Since(ctx context.Context, company string, at time.Time) (int64, error)
}

// Reports are questions across businesses.
type Reports interface {
	// Purchases and Outcomes (the unresolved ones) are limit rows after the first
	// offset, newest first, and how many there are in all.
	Purchases(ctx context.Context, company string, f report.PurchaseFilter, offset, limit int) ([]vtu.Transaction, int, error)
	Outcomes(ctx context.Context, company string, offset, limit int) ([]report.Outcome, int, error)
	Outcome(ctx context.Context, company, reference string) (report.Outcome, error)
	Integrity(ctx context.Context, company string) (report.Integrity, error)
	// Entry is the first entry of a reference, Entries the newest of all.
	Entry(ctx context.Context, company, reference string) (report.Entry, error)
	Entries(ctx context.Context, company string, f report.EntryFilter, offset, limit int) ([]report.Entry, int, error)
	Statement(ctx context.Context, company string, settlementID int64, from, to time.Time) (*report.Statement, error)
}

// Keys remember the answers to requests with an Idempotency-Key.
type Keys interface {
	// Used tells what became of the request with a key.
	Used(ctx context.Context, company, value string) (idempotency.Use, error)
	Open(ctx context.Context, company, value, fingerprint string) (*idempotency.Key, *idempotency.Answer, error)
	// Settle gives the answer that stands for a request: the stored one, or else
	// this one, which it stores. While another request is at work it gives a fault.
	Settle(ctx context.Context, k *idempotency.Key, a idempotency.Answer) (idempotency.Answer, error)
}
