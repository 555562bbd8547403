package api_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/api"
	"github.com/kobo-waas/kobo/internal/api/apitest"
	"github.com/kobo-waas/kobo/internal/card"
	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/collection"
	"github.com/kobo-waas/kobo/internal/company"
	"github.com/kobo-waas/kobo/internal/corporate"
	"github.com/kobo-waas/kobo/internal/crypto"
	"github.com/kobo-waas/kobo/internal/customer"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/idempotency"
	"github.com/kobo-waas/kobo/internal/identity"
	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/payout"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/report"
	"github.com/kobo-waas/kobo/internal/secret"
	"github.com/kobo-waas/kobo/internal/settlement"
	"github.com/kobo-waas/kobo/internal/vtu"
	"github.com/kobo-waas/kobo/internal/webhook"
)

// world is the edge on real businesses and a real database, as in dev. Only the
// biller is pretended here; the whole program plays the same transcripts with
// the sandbox.
type world struct {
	api.Config
	db        *db.DB
	stage     apitest.Stage
	clock     *clock.Movable
	reference string
	given     map[string]string
}

var me = operator.Local("test")

func newWorld(t testing.TB) *world {
	t.Helper()
	d, clk, log := dbtest.New(t, db.SQLite), &clock.Movable{}, slog.New(slog.NewTextHandler(io.Discard, nil))
	keys, err := secret.Parse(secret.Generate())
	if err != nil {
		t.Fatal(err)
	}
	book := ledger.WithAlerts(d, clk, settlement.LowBalance)
	t.Cleanup(book.Drain)
	operations := operation.NewService(d, book, clk, log, 2*time.Second)
	companies, settlements, bank := company.New(d, book, keys, clk), settlement.New(d, book, clk, operations), &bank{clock: clk}
	collections := collection.New(d, book, clk, log, settlements, operations, collection.Bank{Name: "safehaven", Opener: bank}, 2*time.Second)
	shop := vtu.New(d, book, clk, log, operations, settlements, map[string]provider.Biller{"safehaven": &biller{paid: map[string]provider.Purchase{}}}, nil)
	if err := shop.SyncDue(t.Context()); err != nil {
		t.Fatal(err)
	}
	payouts := payout.New(d, book, clk, log, companies, operations, settlements, map[string]provider.Payer{"safehaven": &payer{paid: map[string]string{}}}, "safehaven")
	if err := payouts.SyncDue(t.Context()); err != nil {
		t.Fatal(err)
	}
	addresses, node := newCrypto(crypto.Config{DB: d, Book: book, Clock: clk, Log: log, Operations: operations})
	worker := job.NewWorker(d, clk, log, job.Config{Kinds: map[string]job.Work{
		operation.ResolveJob: operations.Resolve, collection.ExpireJob: collections.Expire,
		crypto.WatchJob: addresses.Watch, crypto.ConfirmJob: addresses.Confirm,
	}})
	working, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	stopped := make(chan struct{})
	go func() { worker.Run(working); close(stopped) }()
	t.Cleanup(func() { stop(); <-stopped })

	events := event.NewService(d, book)
	webhooks := webhook.New(webhook.Config{DB: d, Book: book, Events: events, Keys: keys, Clock: clk, Log: log, Loopback: true, Audit: operator.SelfNote})
	sent := make(chan struct{})
	go func() { webhooks.Run(working); close(sent) }()
	t.Cleanup(func() { stop(); <-sent })

	w := &world{db: d, clock: clk, stage: apitest.Stage{Companies: companies, Settlements: settlements, Clock: clk, Raise: raise(d)}}
	answers, person := idempotency.NewService(d, book, clk, keys), &teller{bank: bank}
	identities := identity.NewService(d, book, clk, log, keys, person, 2*time.Second)
	w.Config = api.Config{
		Corporate: corporate.New(d, book, clk, log, identities, settlements, operations, answers, person, ""),
		Customers: customer.New(d, book, clk, log, identities, settlements, operations, answers, person, ""),
		Companies: companies, Settlements: settlements, Payouts: payouts, Collections: collections, VTU: shop, Crypto: addresses, Reports: report.New(d, clk),
		Events: events, Webhooks: webhooks,
		Keys: answers, Clock: clk, Log: log,
		// Nobody reaches them, and every answer has their headers.
		Limits: &api.Limits{
			Company: api.Limit{Requests: 1000, Period: time.Second, Burst: 100_000}, Token: api.Limit{Requests: 1000, Period: time.Second, Burst: 100_000},
		},
		Health:  answer("application/json", `{"status": "ok"}`),
		Ready:   answer("application/json", `{"database": "ok", "migrations": "ok", "status": "ready", "workers": "ok", "writes": "ok"}`),
		Metrics: answer("text/plain", "# no figures\n"),
		Mounts: map[string]http.Handler{
			"POST /sandbox/clock": w.moveClock(worker), "POST /sandbox/credit": bank.credit(settlements), "POST /sandbox/crypto-deposit": node.deposit(addresses, worker),
		},
	}
	w.Cards = card.New(d, book, clk, log, operations, settlements, w.Customers.(*customer.Service), answers,
		map[string]provider.Issuer{"sudo": &issuer{clock: clk, cards: map[string]provider.IssuedCard{}}}, "sudo", 2*time.Second, customer.Address{})
	w.found(t)
	return w
}

// found makes the main company as dev does: approved, live, with a million naira.
func (w *world) found(t testing.TB) {
	t.Helper()
	c, key, err := w.stage.Companies.Create(t.Context(), me, "Main")
	if err != nil {
		t.Fatal(err)
	}
	for _, to := range []company.KYB{company.InProgress, company.Submitted, company.Approved} {
		if _, err := w.stage.Companies.MoveKYB(t.Context(), me, c.Reference, to, ""); err != nil {
			t.Fatal(err)
		}
	}
	_, err = w.stage.Companies.SetLive(t.Context(), me, c.Reference, true)
	if err != nil {
		t.Fatal(err)
	}
	a, err := w.stage.Settlements.Create(t.Context(), me, c.Reference, "Main")
	if err != nil {
		t.Fatal(err)
	}
	bank := settlement.BankAccount{Number: "0123456789", Name: "Main", BankName: "Sandbox Bank", BankCode: "090286"}
	if err := w.stage.Settlements.Feed(t.Context(), me, c.Reference, a.ID, bank); err != nil {
		t.Fatal(err)
	}
	if err := w.stage.Settlements.Fund(t.Context(), me, c.Reference, a.ID, 1_000_000*money.Naira, "safehaven", "seed"); err != nil {
		t.Fatal(err)
	}
	if err := w.stage.Companies.SetPIN(t.Context(), me, c.Reference, secret.NewText("1234")); err != nil {
		t.Fatal(err)
	}
	w.reference = c.Reference
	w.given = map[string]string{"reference": c.Reference, "api_key": key.Reveal(), "settlement_id": strconv.FormatInt(a.ID, 10), "pin": "1234"}
}

// serve starts the edge and gives a player for it.
func (w *world) serve(t testing.TB) (*apitest.Player, string) {
	t.Helper()
	h, err := api.New(w.Config)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return apitest.New(t, s.URL, func(t testing.TB) map[string]string {
		v := maps.Clone(w.given)
		maps.Copy(v, w.stage.Cast(t, w.reference))
		v["base_url"] = s.URL
		return v
	}), s.URL
}

func answer(kind, text string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		_, _ = io.WriteString(w, text)
	})
}

// moveClock is the sandbox's own control of that name.
func (w *world) moveClock(worker *job.Worker) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		var ask struct{ Advance string }
		err := json.NewDecoder(r.Body).Decode(&ask)
		by, wrong := time.ParseDuration(ask.Advance)
		if err != nil || wrong != nil {
			rw.WriteHeader(http.StatusBadRequest)
			return
		}
		w.clock.MoveTo(w.clock.Offset() + by)
		worker.Wake()
		_ = json.NewEncoder(rw).Encode(map[string]string{"status": "success", "now": clock.Text(w.clock.Now())})
	})
}

// raise gives the first settlement account of a company the number apitest.Raised.
func raise(d *db.DB) func(testing.TB, string) {
	return func(t testing.TB, company string) {
		t.Helper()
		for _, query := range []string{
			`UPDATE settlement_account SET id = $2 WHERE company_id = $1 AND id = 1`,
			`UPDATE ledger_account SET id = 'settlement/' || CAST($2 AS BIGINT) WHERE company_id = $1 AND id = 'settlement/1'`,
			`UPDATE operator_audit SET subject = 'settlement/' || CAST($2 AS BIGINT) WHERE company_id = $1 AND subject = 'settlement/1'`,
		} {
			if n, err := d.Exec(t.Context(), query, company, apitest.Raised); err != nil || n != 1 {
				t.Fatal(n, err)
			}
		}
	}
}
