package customer_test

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/company"
	"github.com/kobo-waas/kobo/internal/customer"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/idempotency"
	"github.com/kobo-waas/kobo/internal/identity"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/secret"
	"github.com/kobo-waas/kobo/internal/settlement"
)

const bvn = "22212345678"

// bank is a fake bank whose replies a test sets. By default it opens an account if it receives the
// OTP of the latest session.
type bank struct {
	mu      sync.Mutex
	started []provider.IdentityStart
	opened  []provider.AccountRequest
	start   provider.Answer // the reply to Start; the zero value means confirmed
	open    func(n int) provider.AccountAnswer
	found   provider.AccountAnswer
	holder  secret.Text // the name in the BVN's record
	// starting is called before an OTP is sent; nil for nothing.
	starting func()
}

func (b *bank) Start(_ context.Context, s provider.IdentityStart) provider.Answer {
	if b.starting != nil {
		b.starting()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.started = append(b.started, s)
	if b.start != (provider.Answer{}) {
		return b.start
	}
	return provider.Answer{Outcome: provider.Confirmed, Reference: fmt.Sprint("session-", len(b.started))}
}

func (b *bank) Confirm(_ context.Context, c provider.IdentityConfirm) provider.IdentityAnswer {
	b.mu.Lock()
	defer b.mu.Unlock()
	if c.OTP.Reveal() != "123456" || c.Session != fmt.Sprint("session-", len(b.started)) {
		return provider.IdentityAnswer{Answer: provider.Answer{Outcome: provider.Rejected, Message: "Invalid OTP"}}
	}
	return provider.IdentityAnswer{Answer: provider.Answer{Outcome: provider.Confirmed, Reference: "proof"}, Holder: b.holder}
}

func account(number int) provider.AccountAnswer {
	return provider.AccountAnswer{
		Answer:  provider.Answer{Outcome: provider.Confirmed},
		Account: provider.Account{Number: fmt.Sprint(8000000000 + number), Name: "ACME / ADA TESTER", BankName: "Safe Haven MFB", BankCode: "999240"},
	}
}

func (b *bank) OpenAccount(_ context.Context, r provider.AccountRequest) provider.AccountAnswer {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.opened = append(b.opened, r)
	switch {
	case b.open != nil:
		return b.open(len(b.opened))
	case r.Proven && r.IdentitySession == "proof" && r.OTP.Reveal() == "":
	case r.OTP.Reveal() != "123456" || r.IdentitySession != fmt.Sprint("session-", len(b.started)):
		return provider.AccountAnswer{Answer: provider.Answer{Outcome: provider.Rejected, Message: "Invalid OTP"}}
	}
	a := account(len(b.opened))
	a.Holder = b.holder
	return a
}

func (b *bank) FindAccount(context.Context, string) provider.AccountAnswer { return b.found }

func (b *bank) OpenVirtualAccount(context.Context, provider.VirtualAccountRequest) provider.VirtualAccountAnswer {
	panic("a customer's account is no virtual one")
}

type world struct {
	*customer.Service
	db          *db.DB
	book        *ledger.Book
	clock       *clock.Manual
	bank        *bank
	settlements *settlement.Service
	operations  *operation.Service
	events      *event.Service
	keys        *idempotency.Service
	company     string
	main, other settlement.Account
}

var me = operator.Local("test")

func newWorld(t testing.TB, d *db.DB) *world {
	t.Helper()
	w := &world{db: d, clock: clock.At(time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)), bank: &bank{}}
	log := slog.New(slog.DiscardHandler)
	ring, err := secret.Parse(secret.Generate())
	must(t, err)
	w.book = ledger.New(d, w.clock)
	t.Cleanup(w.book.Drain)
	w.operations = operation.NewService(d, w.book, w.clock, log, 5*time.Second)
	w.settlements = settlement.New(settlement.Config{DB: d, Book: w.book, Clock: w.clock, Operations: w.operations})
	w.events, w.keys = event.NewService(d, w.book), idempotency.NewService(d, w.book, w.clock, ring)
	identities := identity.New(identity.Config{DB: d, Book: w.book, Clock: w.clock, Log: log, Keys: ring, Banks: provider.Only[provider.Verifier]("safehaven", w.bank), Window: 5 * time.Second})
	w.Service = customer.New(customer.Config{
		DB: d, Book: w.book, Clock: w.clock, Log: log, Identities: identities, Settlements: w.settlements, Operations: w.operations, Keys: w.keys, Banks: provider.Only[provider.AccountOpener]("safehaven", w.bank),
	})
	w.settlements.Recipients = []settlement.Recipient{w.BookCredit}
	c, _, err := company.New(d, w.book, ring, w.clock).Create(t.Context(), me, "Acme")
	must(t, err)
	w.company = c.Reference
	w.main, err = w.settlements.Create(t.Context(), me, w.company, "Main")
	must(t, err)
	w.other, err = w.settlements.Create(t.Context(), me, w.company, "Other")
	must(t, err)
	return w
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// want checks that err is a fault of this kind with this message.
func want(t *testing.T, err error, kind fault.Kind, message string) {
	t.Helper()
	if f := fault.Of(err); f == nil || f.Kind != kind || f.Message != message {
		t.Errorf("want %s %q, got %v", kind, message, err)
	}
}

func (w *world) registration(email string) customer.Registration {
	return customer.Registration{
		Customer: customer.Customer{
			Company: w.company,
			Profile: customer.Profile{FirstName: "Ada", LastName: "Tester", Email: email, PhoneNumber: "08012345678"},
			Address: &customer.Address{Line1: "1 Test Street", City: "Lagos", State: "Lagos"},
		},
		BVN: secret.NewText(bvn),
	}
}

// served creates a customer with an account and returns the customer.
func (w *world) served(t *testing.T, email string, settlementID int64) customer.Customer {
	t.Helper()
	_, err := w.Create(t.Context(), w.registration(email))
	must(t, err)
	c, err := w.GenerateAccount(t.Context(), w.request(email, settlementID))
	must(t, err)
	return c
}

func (w *world) request(who string, settlementID int64) customer.Request {
	return customer.Request{Company: w.company, Customer: who, OTP: secret.NewText("123456"), SettlementID: settlementID}
}

// pay credits an account with money, as a payer's transfer would.
func (w *world) pay(t testing.TB, number, session string, amount money.Kobo) {
	t.Helper()
	must(t, w.settlements.Receive(t.Context(), "safehaven", provider.Inbound{
		Outcome: provider.Confirmed, SessionID: session, CreditAccount: number, Amount: amount, Narration: "for " + session,
	}))
}

func (w *world) balance(t *testing.T, settlementID int64) money.Kobo {
	t.Helper()
	a, err := w.settlements.Find(t.Context(), w.company, settlementID)
	must(t, err)
	return a.Balance
}

// told returns the company's events.
func (w *world) told(t *testing.T) []event.Event {
	t.Helper()
	events, _, err := w.events.Feed(t.Context(), w.company, 0, 1000, 0)
	must(t, err)
	return events
}
