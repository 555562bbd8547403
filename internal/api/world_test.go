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
	"strings"
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
	"github.com/kobo-waas/kobo/internal/deployment"
	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/evidence"
	"github.com/kobo-waas/kobo/internal/idempotency"
	"github.com/kobo-waas/kobo/internal/identity"
	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/payout"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/quota"
	"github.com/kobo-waas/kobo/internal/report"
	"github.com/kobo-waas/kobo/internal/request"
	"github.com/kobo-waas/kobo/internal/secret"
	"github.com/kobo-waas/kobo/internal/settlement"
	"github.com/kobo-waas/kobo/internal/vtu"
	"github.com/kobo-waas/kobo/internal/webhook"
)

// world is the API with real business services and a real database, as in dev. Only the providers
// are fake. The tests of the whole program play the same transcripts, but with the sandbox.
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
	if dbtest.HasCitus() {
		return newWorldOn(t, dbtest.New(t, dbtest.Citus))
	}
	return newWorldOn(t, dbtest.New(t, db.SQLite))
}

// newWorldOn returns a world on a new database of either engine.
func newWorldOn(t testing.TB, d *db.DB) *world {
	t.Helper()
	clk, log := &clock.Movable{}, slog.New(slog.NewTextHandler(io.Discard, nil))
	keys, err := secret.Parse(secret.Generate())
	if err != nil {
		t.Fatal(err)
	}
	book := ledger.WithAlerts(d, clk, settlement.LowBalance)
	t.Cleanup(book.Drain)
	operations := operation.NewService(d, book, clk, log, 2*time.Second)
	operations.Simulated = true
	companies, settlements, bank := company.New(d, book, keys, clk), settlement.New(settlement.Config{DB: d, Book: book, Clock: clk, Operations: operations}), &bank{clock: clk}
	collections := collection.New(collection.Config{
		DB: d, Book: book, Clock: clk, Log: log, Settlements: settlements, Operations: operations, Window: 2 * time.Second,
		Banks: provider.Only[provider.AccountOpener]("safehaven", bank),
	})
	shop := vtu.New(vtu.Config{
		DB: d, Book: book, Clock: clk, Log: log, Operations: operations, Settlements: settlements,
		Billers: map[string]provider.Biller{"safehaven": &biller{paid: map[string]provider.Purchase{}}},
	})
	if err := shop.SyncDue(t.Context()); err != nil {
		t.Fatal(err)
	}
	payouts := payout.New(payout.Config{
		DB: d, Book: book, Clock: clk, Log: log, Companies: companies, Operations: operations, Settlements: settlements,
		Payers: provider.Only[provider.Payer]("safehaven", &payer{paid: map[string]string{}}),
	})
	if err := payouts.SyncDue(t.Context()); err != nil {
		t.Fatal(err)
	}
	addresses, node := newCrypto(crypto.Config{DB: d, Book: book, Clock: clk, Log: log, Operations: operations, Ask: settlements.Ask})
	worker := job.NewWorker(d, clk, log, job.Config{Kinds: map[string]job.Work{
		operation.ResolveJob: operations.Resolve, payout.BulkCheckJob: payouts.CheckBulk, payout.BulkSendJob: payouts.SendBulk, collection.ExpireJob: collections.Expire,
		crypto.WatchJob: addresses.Watch, crypto.ConfirmJob: addresses.Confirm,
	}})
	working, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	stopped := make(chan struct{})
	go func() { worker.Run(working); close(stopped) }()
	t.Cleanup(func() { stop(); <-stopped })

	events := event.NewService(d, book)
	events.Environment = deployment.Dev
	webhooks := webhook.New(webhook.Config{DB: d, Book: book, Events: events, Keys: keys, Clock: clk, Log: log, Loopback: true})
	requests := request.New(request.Config{DB: d, Clock: clk, Log: log, Keep: 30 * 24 * time.Hour})
	logged := make(chan struct{})
	go func() { requests.Run(working); close(logged) }()
	t.Cleanup(func() { stop(); <-logged })
	sent := make(chan struct{})
	go func() { webhooks.Run(working); close(sent) }()
	t.Cleanup(func() { stop(); <-sent })

	w := &world{db: d, clock: clk, stage: apitest.Stage{Companies: companies, Settlements: settlements, Clock: clk, Raise: raise(d)}}
	answers, person := idempotency.NewService(d, book, clk, keys), &teller{bank: bank}
	identities := identity.New(identity.Config{DB: d, Book: book, Clock: clk, Log: log, Keys: keys, Banks: provider.Only[provider.Verifier]("safehaven", person), Window: 2 * time.Second})
	customers := customer.New(customer.Config{
		DB: d, Book: book, Clock: clk, Log: log, Identities: identities, Settlements: settlements, Operations: operations, Keys: answers, Banks: provider.Only[provider.AccountOpener]("safehaven", person),
	})
	settlements.Recipients = []settlement.Recipient{customers.BookCredit, collections.BookCredit}
	w.Config = api.Config{
		Corporate: corporate.New(corporate.Config{
			DB: d, Book: book, Clock: clk, Log: log, Identities: identities, Settlements: settlements, Operations: operations, Keys: answers, Banks: provider.Only[provider.AccountOpener]("safehaven", person),
		}),
		Customers: customers, Companies: companies, Settlements: settlements, Payouts: payouts, Quotas: quota.New(d, book, clk), Collections: collections, VTU: shop, Crypto: addresses, Reports: report.New(d, clk),
		Events: events, Webhooks: webhooks, Requests: requests,
		Evidence: evidence.New(evidence.Config{
			DB: d, Book: book, Events: events, Clock: clk, Log: log, Keys: keys.CheckpointKeys(),
			Name:   deployment.New(d, clk, log, "").Name,
			Hidden: func(account string) bool { return strings.HasPrefix(account, settlement.ChargeAccount("")) },
		}),
		Keys: answers, Clock: clk, Log: log, Authenticate: companies.Authenticate,
		// The limits are too high to refuse a test's request. They add the rate-limit headers to
		// every response.
		Limits: &api.Limits{
			Company: api.Limit{Requests: 1000, Period: time.Second, Burst: 100_000}, Token: api.Limit{Requests: 1000, Period: time.Second, Burst: 100_000},
		},
		Health:  answer("application/json", `{"environment": "dev", "status": "ok"}`),
		Ready:   answer("application/json", `{"database": "ok", "environment": "dev", "four_eyes": "off", "migrations": "ok", "status": "ready", "workers": "ok", "writes": "ok"}`),
		Metrics: answer("text/plain", "# no figures\n"),
		Mounts: map[string]http.Handler{
			"POST /sandbox/clock": w.moveClock(worker), "POST /sandbox/credit": bank.credit(settlements), "POST /sandbox/crypto-deposit": node.deposit(addresses, worker),
		},
	}
	w.Cards = card.New(card.Config{
		DB: d, Book: book, Clock: clk, Log: log, Operations: operations, Settlements: settlements,
		Customers: w.Customers, Keys: answers, Issues: "sudo", Window: 2 * time.Second,
		Issuers: map[string]provider.Issuer{"sudo": &issuer{clock: clk, cards: map[string]provider.IssuedCard{}}},
	})
	w.found(t)
	return w
}

// live creates a company that may use the API. It returns the company's reference and an API key.
func live(t testing.TB, companies *company.Service, name string) (reference, key string) {
	t.Helper()
	c, text, err := companies.Create(t.Context(), me, name)
	if err != nil {
		t.Fatal(err)
	}
	for _, to := range []company.KYB{company.InProgress, company.Submitted, company.Approved} {
		if _, err := companies.SetKYB(t.Context(), me, c.Reference, to, ""); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := companies.SetLive(t.Context(), me, c.Reference, true); err != nil {
		t.Fatal(err)
	}
	return c.Reference, text.Reveal()
}

// found creates the company that most transcripts use. As in dev, it is approved and live, and has
// a million naira.
func (w *world) found(t testing.TB) {
	t.Helper()
	reference, key := live(t, w.stage.Companies, "Main")
	a, err := w.stage.Settlements.Create(t.Context(), me, reference, "Main")
	if err != nil {
		t.Fatal(err)
	}
	bank := settlement.BankAccount{Number: "0123456789", Name: "Main", BankName: "Sandbox Bank", BankCode: "090286"}
	if err := w.stage.Settlements.Feed(t.Context(), me, reference, a.ID, bank); err != nil {
		t.Fatal(err)
	}
	if err := w.stage.Settlements.Fund(t.Context(), me, reference, a.ID, 1_000_000*money.Naira, "safehaven", "seed"); err != nil {
		t.Fatal(err)
	}
	if err := w.stage.Companies.SetPIN(t.Context(), me, reference, secret.NewText("1234")); err != nil {
		t.Fatal(err)
	}
	w.reference = reference
	w.given = map[string]string{"reference": reference, "api_key": key, "settlement_id": strconv.FormatInt(a.ID, 10), "pin": "1234"}
}

// serve starts the API. It returns a player, which plays transcripts against the API, and the URL.
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

// moveClock imitates the sandbox endpoint /sandbox/clock.
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

// raise returns a function that changes the number of a company's first settlement account to
// apitest.Raised.
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
