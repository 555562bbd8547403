package card_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/card"
	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/company"
	"github.com/kobo-waas/kobo/internal/customer"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/idempotency"
	"github.com/kobo-waas/kobo/internal/identity"
	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/secret"
	"github.com/kobo-waas/kobo/internal/settlement"
)

// issuer is a fake Issuer whose replies a test sets. It records the requests.
type issuer struct {
	mu      sync.Mutex
	holders []provider.Cardholder
	orders  []provider.CardOrder
	cards   []provider.IssuedCard
	funded  []provider.CardFunding
	polls   int
	asked   provider.CardFunding // by the last requery
	create  provider.Answer      // the reply to an order
	made    bool                 // whether an order without a reply still makes the card
	mute    bool                 // whether the issuer omits references from its list
	answer  provider.Answer      // the reply to a funding
	later   provider.Answer      // the reply to a requery
	change  provider.Answer      // the reply to a change of a card's status
	changes []provider.CardStatus
	left    money.Kobo // what is on each card
	back    money.Kobo // what the list says came back from a card
	// returning is true if the list has a line of it without an outcome.
	returning bool
	broken    error  // the error of every call that is not a payment
	during    func() // runs in the middle of a funding
	late      bool   // whether the reply to a change comes when the time for it is over
	changed   func() // runs before the reply to a change of a card's status
	ordered   func() // runs before an order makes the card
	unread    error  // the error of the calls for a card's balance
	slow      bool   // whether a call for a card's balance takes all its time
	now       func() time.Time
}

func (i *issuer) Name() string { return "Sudo" }

func (i *issuer) OpenCardholder(_ context.Context, h provider.Cardholder) (string, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.broken != nil {
		return "", i.broken
	}
	i.holders = append(i.holders, h)
	return fmt.Sprint("holder-", len(i.holders)), nil
}

func (i *issuer) CreateCard(_ context.Context, o provider.CardOrder) provider.CardAnswer {
	if i.ordered != nil {
		i.ordered()
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.orders = append(i.orders, o)
	c := provider.IssuedCard{
		ID: fmt.Sprint("sudo-card-", len(i.orders)), Reference: o.Reference, Account: fmt.Sprint("account-", len(i.orders)),
		Type: o.Type, Brand: o.Brand, Currency: o.Currency, MaskedPAN: "506321*********0001", ExpiryMonth: "08", ExpiryYear: "2033",
		Status: "active", CreatedAt: i.now(),
	}
	if i.mute {
		c.Reference = ""
	}
	if i.create.Outcome == provider.Confirmed || i.create.Outcome == provider.Unknown && i.made {
		i.cards = append(i.cards, c)
	}
	return provider.CardAnswer{Answer: i.create, Card: c}
}

func (i *issuer) Cards(context.Context, string) ([]provider.IssuedCard, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	return append([]provider.IssuedCard(nil), i.cards...), i.broken
}

func (i *issuer) Card(_ context.Context, id string) (provider.IssuedCard, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, c := range i.cards {
		if c.ID == id {
			return c, i.broken
		}
	}
	return provider.IssuedCard{}, &provider.Error{Provider: "Sudo", Code: "404", Message: "Card not found"}
}

func (i *issuer) CardToken(context.Context, string) (provider.CardToken, error) {
	return provider.CardToken{Value: secret.NewText("pass"), ExpiresIn: 2 * time.Minute}, i.broken
}

func (i *issuer) SendDefaultPIN(context.Context, string) (string, error) {
	return "PIN sent.", i.broken
}

func (i *issuer) SetCardStatus(ctx context.Context, id string, to provider.CardStatus, _ string) provider.Answer {
	if i.changed != nil {
		defer i.changed()
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.slow && ctx.Err() != nil {
		return unsent
	}
	if i.late {
		<-ctx.Done()
	}
	i.changes = append(i.changes, to)
	for n, c := range i.cards {
		if c.ID == id && (i.change.Outcome == provider.Confirmed || i.change.Outcome == provider.Unknown && i.made) {
			i.cards[n].Status = to
		}
	}
	return i.change
}

func (i *issuer) CardBalance(ctx context.Context, _ string) (money.Kobo, error) {
	if i.slow {
		<-ctx.Done()
		return 0, ctx.Err()
	}
	return i.left, errors.Join(i.broken, i.unread)
}

func (i *issuer) ReturnedBalance(context.Context, string, time.Time) (money.Kobo, bool, error) {
	return i.back, i.back > 0 || i.returning, i.broken
}

func (i *issuer) FundCard(_ context.Context, f provider.CardFunding) provider.Answer {
	i.mu.Lock()
	i.funded = append(i.funded, f)
	answer, during := i.answer, i.during
	i.mu.Unlock()
	if during != nil {
		during()
	}
	return answer
}

func (i *issuer) RequeryFunding(_ context.Context, f provider.CardFunding) provider.Answer {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.polls++
	i.asked = f
	return i.later
}

func (i *issuer) ParseCardNotice(h http.Header, body []byte) (provider.CardNotice, error) {
	if h.Get("Authorization") != "right" {
		return provider.CardNotice{}, provider.ErrForged
	}
	var n provider.CardNotice
	err := json.Unmarshal(body, &n)
	n.Reply = []byte("heard")
	return n, err
}

// The replies of the fake issuer.
var (
	yes     = provider.Answer{Outcome: provider.Confirmed, Code: "00"}
	no      = provider.Answer{Outcome: provider.Rejected, Code: "57", Message: "The card is blocked."}
	silence = provider.Answer{Code: provider.CodeTimeout}
	unseen  = provider.Answer{Code: "not_listed", Missing: true}
)

// verifier is a fake Verifier that accepts every person. It is also a fake AccountOpener.
type verifier struct{}

// opened counts the opened accounts of all tests, so that each account gets a new number. Tests may
// share a database, in which each account number belongs to one company.
var opened atomic.Int64

func (*verifier) Start(context.Context, provider.IdentityStart) provider.Answer {
	return provider.Answer{Outcome: provider.Confirmed, Reference: "session"}
}

func (*verifier) Confirm(context.Context, provider.IdentityConfirm) provider.IdentityAnswer {
	return provider.IdentityAnswer{Answer: yes}
}

func (*verifier) OpenAccount(context.Context, provider.AccountRequest) provider.AccountAnswer {
	return provider.AccountAnswer{Answer: yes, Account: provider.Account{Number: fmt.Sprint(8000000000 + opened.Add(1)), Name: "ADA", BankCode: "999240"}}
}

func (*verifier) FindAccount(context.Context, string) provider.AccountAnswer {
	return provider.AccountAnswer{}
}

func (*verifier) OpenVirtualAccount(context.Context, provider.VirtualAccountRequest) provider.VirtualAccountAnswer {
	return provider.VirtualAccountAnswer{}
}

var me = operator.Local("test")

// world contains the services under test, a company that has ₦1,000, and a customer who may have
// cards.
type world struct {
	people *int64
	*card.Service
	t           *testing.T
	ring        *secret.Keyring
	db          *db.DB
	book        *ledger.Book
	clock       *clock.Movable
	issuer      *issuer
	operations  *operation.Service
	settlements *settlement.Service
	customers   *customer.Service
	companies   *company.Service
	keys        *idempotency.Service
	company     string
	account     int64
	customer    customer.Customer
}

func newWorld(t *testing.T, d *db.DB) *world {
	t.Helper()
	ring, err := secret.Parse(secret.Generate())
	must(t, err)
	w := &world{people: new(int64), t: t, ring: ring, clock: &clock.Movable{}}
	w.issuer = &issuer{create: yes, answer: yes, later: yes, change: yes, now: func() time.Time { return w.clock.Now() }}
	w.run(d)
	w.company = w.join("Main")
	w.account = w.open(w.company, 1000*money.Naira)
	w.customer = w.serve(w.company, "ada@example.test", &customer.Address{Line1: "1 Marina", City: "Lagos", State: "Lagos"})
	return w
}

// run creates the services of a program on a database.
func (w *world) run(d *db.DB) {
	log := slog.New(slog.DiscardHandler)
	w.db, w.book = d, ledger.New(d, w.clock)
	w.t.Cleanup(w.book.Drain)
	w.operations = operation.NewService(d, w.book, w.clock, log, 2*time.Second)
	w.companies = company.New(d, w.book, w.ring, w.clock)
	w.settlements = settlement.New(settlement.Config{DB: d, Book: w.book, Clock: w.clock, Operations: w.operations})
	w.keys = idempotency.NewService(d, w.book, w.clock, w.ring)
	bank := &verifier{}
	identities := identity.New(identity.Config{DB: d, Book: w.book, Clock: w.clock, Log: log, Keys: w.ring, Banks: provider.Only[provider.Verifier]("bank", bank), Window: 2 * time.Second})
	w.customers = customer.New(customer.Config{
		DB: d, Book: w.book, Clock: w.clock, Log: log, Identities: identities, Settlements: w.settlements, Operations: w.operations, Keys: w.keys, Banks: provider.Only[provider.AccountOpener]("bank", bank),
	})
	w.Service = card.New(card.Config{
		DB: d, Book: w.book, Clock: w.clock, Log: log, Operations: w.operations, Settlements: w.settlements,
		Customers: w.customers, Keys: w.keys, Issuers: map[string]provider.Issuer{"sudo": w.issuer}, Issues: "sudo", Window: 2 * time.Second,
	})
}

// another returns a second program on the same database, with separate connections.
func (w *world) another(d *db.DB) *world {
	v := *w
	v.run(d)
	return &v
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (w *world) join(name string) string {
	w.t.Helper()
	c, _, err := w.companies.Create(w.t.Context(), me, name)
	must(w.t, err)
	return c.Reference
}

func (w *world) open(company string, float money.Kobo) int64 {
	w.t.Helper()
	a, err := w.settlements.Create(w.t.Context(), me, company, "Account")
	must(w.t, err)
	if float > 0 {
		must(w.t, w.settlements.Fund(w.t.Context(), me, company, a.ID, float, "bank", "seed"))
	}
	return a.ID
}

// created returns a new customer who has not completed the OTP verification.
func (w *world) created(company, email string, address *customer.Address) customer.Customer {
	w.t.Helper()
	*w.people++
	c, err := w.customers.Create(w.t.Context(), customer.Registration{
		Customer: customer.Customer{
			Company: company, Address: address,
			Profile: customer.Profile{FirstName: "Ada", LastName: "Obi", Email: email, PhoneNumber: "08012345678"},
		},
		BVN: secret.NewText(strconv.FormatInt(22212345678+*w.people, 10)), // a new BVN each time, so that no cooldown applies
	})
	must(w.t, err)
	return c.Customer
}

// serve returns a new customer who has completed the OTP verification and may have cards.
func (w *world) serve(company, email string, address *customer.Address) customer.Customer {
	w.t.Helper()
	c, err := w.customers.GenerateAccount(w.t.Context(), customer.Request{
		Company: company, Customer: w.created(company, email, address).ID, OTP: secret.NewText("123456"),
	})
	must(w.t, err)
	return c
}

func (w *world) request() card.Request {
	return card.Request{Company: w.company, Customer: w.customer.ID, Type: card.Virtual, Brand: "Verve", Currency: "NGN"}
}

// card generates a new card for the main customer and returns it.
func (w *world) card() card.Card {
	w.t.Helper()
	g, err := w.Generate(w.t.Context(), w.request())
	must(w.t, err)
	return g.Card
}

func (w *world) fund(cardID string, amount money.Kobo) (card.Funding, error) {
	return w.Fund(context.WithoutCancel(w.t.Context()), card.Order{Company: w.company, CardID: cardID, Amount: amount})
}

// refused checks that an error is a fault with this message.
func (w *world) refused(err error, words string) {
	w.t.Helper()
	if err == nil || fault.Of(err).Message != words {
		w.t.Errorf("want %q, got %v", words, err)
	}
}

// poll runs the resolver once for a funding.
func (w *world) poll(reference string) {
	w.t.Helper()
	_, err := w.operations.Resolve(w.t.Context(), job.Job{Company: w.company, Subject: reference})
	must(w.t, err)
}

func (w *world) forward(d time.Duration) { w.clock.MoveTo(w.clock.Offset() + d) }

// holds checks balances of the company's ledger accounts, and verifies its ledger.
func (w *world) holds(own, clearing, paid money.Kobo) {
	w.t.Helper()
	got, err := w.book.Balances(w.t.Context(), w.company)
	must(w.t, err)
	for account, k := range map[string]money.Kobo{
		settlement.LedgerAccount(w.account): own, settlement.ClearingAccount(card.Kind): clearing, settlement.ProviderAccount("sudo"): paid,
	} {
		if got[account] != k {
			w.t.Errorf("%s holds %s, want %s", account, got[account], k)
		}
	}
	must(w.t, w.db.Snapshot(w.t.Context(), func(q db.Querier) error {
		r, err := ledger.Verify(w.t.Context(), q, w.company)
		for _, wrong := range r.Wrongs {
			w.t.Error(wrong)
		}
		return err
	}))
}

// events returns the company's events about cards, the newest last.
func (w *world) events() (out []event.Event) {
	w.t.Helper()
	all, _, err := event.NewService(w.db, w.book).Feed(w.t.Context(), w.company, 0, 1000, 0)
	must(w.t, err)
	for _, e := range all {
		if len(e.Kind) > 5 && e.Kind[:5] == "card." {
			out = append(out, e)
		}
	}
	return out
}

func kinds(events []event.Event) (out []string) {
	for _, e := range events {
		out = append(out, e.Kind)
	}
	return out
}
