package corporate_test

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/company"
	"github.com/kobo-waas/kobo/internal/corporate"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/idempotency"
	"github.com/kobo-waas/kobo/internal/identity"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/secret"
	"github.com/kobo-waas/kobo/internal/settlement"
)

const bvn = "22212345678"

// bank is a fake bank whose replies a test sets. By default it opens an account.
type bank struct {
	mu       sync.Mutex
	started  []provider.IdentityStart
	opened   []provider.AccountRequest
	sought   []string
	start    provider.Answer // the reply to Start; the zero value means confirmed
	open     func(n int) provider.AccountAnswer
	found    provider.AccountAnswer
	sessions map[string]bool
}

func (b *bank) Start(_ context.Context, s provider.IdentityStart) provider.Answer {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.started = append(b.started, s)
	if b.start != (provider.Answer{}) {
		return b.start
	}
	b.sessions = map[string]bool{fmt.Sprint("session-", len(b.started)): true} // forgets the earlier OTP's session
	return provider.Answer{Outcome: provider.Confirmed, Reference: fmt.Sprint("session-", len(b.started))}
}

func (b *bank) Confirm(_ context.Context, c provider.IdentityConfirm) provider.IdentityAnswer {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.sessions[c.Session] || c.OTP.Reveal() != "123456" {
		return provider.IdentityAnswer{Answer: provider.Answer{Outcome: provider.Rejected, Message: "no"}}
	}
	return provider.IdentityAnswer{Answer: provider.Answer{Outcome: provider.Confirmed, Reference: c.Session}}
}

func account(number string) provider.AccountAnswer {
	return provider.AccountAnswer{
		Answer:  provider.Answer{Outcome: provider.Confirmed},
		Account: provider.Account{Number: number, Name: "ACME / ADA TESTER", BankName: "Safe Haven MFB", BankCode: "999240", ProviderID: "p1"},
	}
}

func (b *bank) OpenAccount(_ context.Context, r provider.AccountRequest) provider.AccountAnswer {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.opened = append(b.opened, r)
	if b.open != nil {
		return b.open(len(b.opened))
	}
	return account("8000000011")
}

func (b *bank) FindAccount(_ context.Context, reference string) provider.AccountAnswer {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sought = append(b.sought, reference)
	return b.found
}

func (b *bank) OpenVirtualAccount(context.Context, provider.VirtualAccountRequest) provider.VirtualAccountAnswer {
	panic("a corporate account is no virtual one")
}

type world struct {
	*corporate.Service
	db          *db.DB
	clock       *clock.Manual
	bank        *bank
	settlements *settlement.Service
	operations  *operation.Service
	events      *event.Service
	keys        *idempotency.Service
	company     string
	account     settlement.Account
}

var me = operator.Local("test")

func newWorld(t *testing.T, d *db.DB) *world {
	t.Helper()
	w := &world{db: d, clock: clock.At(time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)), bank: &bank{}}
	log := slog.New(slog.DiscardHandler)
	ring, err := secret.Parse(secret.Generate())
	must(t, err)
	book := ledger.New(d, w.clock)
	t.Cleanup(book.Drain)
	companies := company.New(d, book, ring, w.clock)
	w.operations = operation.NewService(d, book, w.clock, log, 5*time.Second)
	w.settlements = settlement.New(settlement.Config{DB: d, Book: book, Clock: w.clock, Operations: w.operations})
	w.events, w.keys = event.NewService(d, book), idempotency.NewService(d, book, w.clock, ring)
	identities := identity.New(identity.Config{DB: d, Book: book, Clock: w.clock, Log: log, Keys: ring, Banks: provider.Only[provider.Verifier]("safehaven", w.bank), Window: 5 * time.Second})
	w.Service = corporate.New(corporate.Config{
		DB: d, Book: book, Clock: w.clock, Log: log, Identities: identities, Settlements: w.settlements, Operations: w.operations, Keys: w.keys, Banks: provider.Only[provider.AccountOpener]("safehaven", w.bank),
	})
	w.company = w.join(t, companies)
	w.account, err = w.settlements.Create(t.Context(), me, w.company, "Main")
	must(t, err)
	return w
}

func (w *world) join(t *testing.T, companies *company.Service) string {
	t.Helper()
	c, _, err := companies.Create(t.Context(), me, "Acme")
	must(t, err)
	return c.Reference
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

// told returns the kinds of the company's events.
func (w *world) told(t *testing.T) (kinds []string) {
	t.Helper()
	events, _, err := w.events.Feed(t.Context(), w.company, 0, 100, 0)
	must(t, err)
	for _, e := range events {
		kinds = append(kinds, e.Kind)
	}
	return kinds
}

// proven proves a signatory's identity, and returns the ID of the KYC record.
func (w *world) proven(t *testing.T) string {
	t.Helper()
	sent, err := w.Initiate(t.Context(), w.company, secret.NewText(bvn), nil)
	must(t, err)
	k, err := w.Validate(t.Context(), w.company, sent.SessionID, secret.NewText("123456"), nil)
	must(t, err)
	return k.ID
}
