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
	"sync"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/api"
	"github.com/kobo-waas/kobo/internal/api/apitest"
	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/collection"
	"github.com/kobo-waas/kobo/internal/company"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/idempotency"
	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/report"
	"github.com/kobo-waas/kobo/internal/secret"
	"github.com/kobo-waas/kobo/internal/settlement"
	"github.com/kobo-waas/kobo/internal/vtu"
)

// world is the edge on real businesses and a real database, as in dev. Only the
// biller is pretended here; the whole program plays the same transcripts with
// the sandbox.
type world struct {
	api.Config
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
	book := ledger.New(d, clk)
	t.Cleanup(book.Drain)
	operations := operation.NewService(d, book, clk, log, 2*time.Second)
	companies, settlements, bank := company.New(d, book, keys, clk), settlement.New(d, book, clk, operations), &bank{clock: clk}
	collections := collection.New(d, book, clk, log, settlements, collection.Bank{Name: "safehaven", Opener: bank}, 2*time.Second)
	shop := vtu.New(d, book, clk, log, operations, settlements, map[string]provider.Biller{"biller": &biller{paid: map[string]string{}}})
	if err := shop.SyncDue(t.Context()); err != nil {
		t.Fatal(err)
	}
	worker := job.NewWorker(d, clk, log)
	worker.Handle(operation.ResolveJob, operations.Resolve)
	worker.Handle(collection.ExpireJob, collections.Expire)
	working, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	stopped := make(chan struct{})
	go func() { worker.Run(working); close(stopped) }()
	t.Cleanup(func() { stop(); <-stopped })

	w := &world{clock: clk, stage: apitest.Stage{Companies: companies, Settlements: settlements, Clock: clk}}
	w.Config = api.Config{
		Companies: companies, Settlements: settlements, Collections: collections, VTU: shop, Events: event.NewService(d, book), Reports: report.New(d, clk),
		Keys: idempotency.NewService(d, book, clk), Clock: clk, Log: log,
		Health: answer("alive"), Ready: answer("ready"), Metrics: answer("# no figures\n"),
		Mounts: map[string]http.Handler{
			"POST /sandbox/clock": w.moveClock(worker), "POST /sandbox/credit": bank.credit(settlements),
		},
	}
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
	w.reference = c.Reference
	w.given = map[string]string{"reference": c.Reference, "api_key": key.Reveal(), "settlement_id": strconv.FormatInt(a.ID, 10)}
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

func answer(text string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, text) })
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

// biller is a provider whose stories the phone number decides (completion.md §5).
type biller struct {
	mu   sync.Mutex
	paid map[string]string // reference → phone
}

func (b *biller) Name() string { return "Biller" }

func (b *biller) Services(context.Context) ([]provider.Service, error) {
	return []provider.Service{
		{Code: "airtime", Name: "Airtime", Kind: provider.Airtime},
		{Code: "data", Name: "Data", Kind: provider.Data},
		{Code: "utility", Name: "Utility", Kind: provider.Utility},
		{Code: "cable", Name: "Cable TV", Kind: provider.CableTV},
	}, nil
}

func (b *biller) Categories(_ context.Context, service string) ([]provider.Category, error) {
	if service != "data" {
		return nil, nil
	}
	return []provider.Category{{Code: "mtn", Name: "MTN"}, {Code: "9m", Name: "9MOBILE"}}, nil
}

func (b *biller) Products(context.Context, string) ([]provider.Product, error) {
	return []provider.Product{
		{Code: "100mb", Name: "100MB Daily", Validity: "1 day", Amount: 100 * money.Naira, Fixed: true},
		{Code: "650mb", Validity: "650MB, 3 days", Amount: 500 * money.Naira, Fixed: true},
	}, nil
}

func (b *biller) Pay(_ context.Context, p provider.Purchase) provider.Answer {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.paid[p.Reference] = p.Phone
	switch p.Phone[len(p.Phone)-2:] {
	case "01":
		return provider.Answer{Outcome: provider.Rejected, Code: "99", Message: "Declined"}
	case "02", "03":
		return provider.Answer{Code: provider.CodeTimeout}
	}
	return provider.Answer{Outcome: provider.Confirmed, Reference: "biller-" + p.Reference, Code: "00", Message: "Successful"}
}

func (b *biller) Requery(_ context.Context, reference string) provider.Answer {
	b.mu.Lock()
	defer b.mu.Unlock()
	if phone := b.paid[reference]; phone[len(phone)-2:] == "03" {
		return provider.Answer{Missing: true, Code: "25", Message: "No such reference"}
	}
	return provider.Answer{Outcome: provider.Confirmed, Reference: "biller-" + reference, Code: "00", Message: "Successful"}
}
