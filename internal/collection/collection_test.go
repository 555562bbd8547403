package collection_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/collection"
	"github.com/kobo-waas/kobo/internal/company"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/nuban"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/report"
	"github.com/kobo-waas/kobo/internal/secret"
	"github.com/kobo-waas/kobo/internal/settlement"
)

const bankCode = "090286"

// absent is the bank's reply if the account is not on its list.
var absent = provider.AccountAnswer{Answer: provider.Answer{Missing: true}}

// bank is a fake bank that opens virtual accounts. If its field next is not nil, this function
// changes the next reply.
type bank struct {
	provider.AccountOpener
	clock *clock.Manual

	mu   sync.Mutex
	seen []provider.VirtualAccountRequest
	next func(a *provider.VirtualAccountAnswer)
	// held is the reply of FindAccount.
	held provider.AccountAnswer
	look []string // the references for which FindAccount was called
}

func (b *bank) FindAccount(_ context.Context, reference string) provider.AccountAnswer {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.look = append(b.look, reference)
	return b.held
}

func (b *bank) OpenVirtualAccount(_ context.Context, r provider.VirtualAccountRequest) provider.VirtualAccountAnswer {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.seen = append(b.seen, r)
	number, err := nuban.Make(bankCode, int64(700_000_000+len(b.seen)))
	if err != nil {
		panic(err)
	}
	a := provider.VirtualAccountAnswer{
		Answer:    provider.Answer{Outcome: provider.Confirmed},
		Account:   provider.Account{Number: number, Name: "KOBO CHECKOUT", BankName: "Safe Haven MFB", BankCode: bankCode},
		ExpiresAt: b.clock.Now().Add(r.ValidFor),
	}
	if next := b.next; next != nil {
		b.next = nil
		next(&a)
	}
	return a
}

type house struct {
	*collection.Service
	t           testing.TB
	db          *db.DB
	book        *ledger.Book
	clock       *clock.Manual
	bank        *bank
	worker      *job.Worker
	resolved    func(j job.Job) // runs after each run of a ResolveJob, before its end is stored; or nil
	settlements *settlement.Service
	main        settlement.Account
}

var me = operator.Local("test")

func each(t *testing.T, f func(t *testing.T, h *house)) {
	t.Helper()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		clk, log := clock.At(time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)), slog.New(slog.DiscardHandler)
		h := &house{t: t, db: d, book: ledger.New(d, clk), clock: clk, bank: &bank{clock: clk, held: absent}}
		t.Cleanup(h.book.Drain)
		operations := operation.NewService(d, h.book, clk, log, time.Second)
		h.settlements = settlement.New(settlement.Config{DB: d, Book: h.book, Clock: clk, Operations: operations})
		h.Service = collection.New(collection.Config{
			DB: d, Book: h.book, Clock: clk, Log: log, Settlements: h.settlements, Operations: operations, Window: time.Second,
			Banks: provider.Only[provider.AccountOpener]("safehaven", h.bank),
		})
		h.settlements.Recipients = []settlement.Recipient{h.BookCredit}
		h.worker = job.NewWorker(d, clk, log, job.Config{Kinds: map[string]job.Work{collection.ExpireJob: h.Expire, collection.ResolveJob: h.resolve}})
		ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
		done := make(chan struct{})
		go func() { h.worker.Run(ctx); close(done) }()
		t.Cleanup(func() { stop(); <-done })
		h.main = h.account()
		f(t, h)
	})
}

// account creates a company and returns its settlement account.
func (h *house) account() settlement.Account {
	h.t.Helper()
	keys, err := secret.Parse(secret.Generate())
	if err != nil {
		h.t.Fatal(err)
	}
	c, _, err := company.New(h.db, h.book, keys, h.clock).Create(h.t.Context(), me, "Acme")
	if err != nil {
		h.t.Fatal(err)
	}
	a, err := h.settlements.Create(h.t.Context(), me, c.Reference, "Main")
	if err != nil {
		h.t.Fatal(err)
	}
	return a
}

// asks returns a request of the main company for a virtual account.
func (h *house) asks(reference string, amount money.Kobo) collection.Request {
	return collection.Request{Company: h.main.Company, ExternalReference: reference, Amount: amount}
}

func (h *house) generates(r collection.Request) collection.Collection {
	h.t.Helper()
	c, err := h.Generate(h.t.Context(), r)
	if err != nil {
		h.t.Fatal(err)
	}
	return c
}

// pays credits a virtual account with money, as a payer's transfer would.
func (h *house) pays(session, account string, amount money.Kobo) {
	h.t.Helper()
	err := h.settlements.Receive(h.t.Context(), "safehaven", provider.Inbound{
		Outcome: provider.Confirmed, SessionID: session, CreditAccount: account, Amount: amount, At: h.clock.Now(),
		SenderName: "BOLA SAMPLE", Narration: "invoice", Virtual: true,
	})
	if err != nil {
		h.t.Fatal(err)
	}
}

// passes advances the clock, and waits until all due jobs have run.
func (h *house) passes(d time.Duration) {
	h.t.Helper()
	h.clock.Advance(d)
	ctx, cancel := context.WithTimeout(h.t.Context(), time.Minute)
	defer cancel()
	if err := h.worker.Settled(ctx); err != nil {
		h.t.Fatal(err)
	}
}

func (h *house) is(c collection.Collection, want collection.State, balance money.Kobo) {
	h.t.Helper()
	if got, err := h.Find(h.t.Context(), c.Company, c.ID); err != nil || got.State != want {
		h.t.Errorf("the collection is %s, %v; want %s", got.State, err, want)
	}
	if a, err := h.settlements.Find(h.t.Context(), c.Company, c.SettlementID); err != nil || a.Balance != balance {
		h.t.Errorf("the account holds %s, %v; want %s", a.Balance, err, balance)
	}
	if i, err := report.New(h.db, h.clock).Integrity(h.t.Context(), c.Company); err != nil || !i.Intact() {
		h.t.Errorf("%v, %v", i.Wrongs, err)
	}
}

// told returns the main company's events, each as "kind status amount reason".
func (h *house) told() (out []string) {
	h.t.Helper()
	list, _, err := event.NewService(h.db, h.book).Feed(h.t.Context(), h.main.Company, 0, 100, 0)
	if err != nil {
		h.t.Fatal(err)
	}
	for _, e := range list {
		var data struct {
			ID, Reason, Status string
			PaidAmount         json.Number
		}
		if err := json.Unmarshal(e.Data, &data); err != nil || data.ID == "" {
			h.t.Errorf("%s, %v", e.Data, err)
		}
		out = append(out, strings.Join(strings.Fields(fmt.Sprint(e.Kind, " ", data.Status, " ", data.PaidAmount, " ", data.Reason)), " "))
	}
	return out
}
