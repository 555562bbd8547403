// Package app puts the house together: it opens the database, picks the
// providers' plugs, builds every business, and runs until it is told to stop.
package app

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"

	"github.com/kobo-waas/kobo/internal/admin"
	"github.com/kobo-waas/kobo/internal/api"
	"github.com/kobo-waas/kobo/internal/card"
	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/collection"
	"github.com/kobo-waas/kobo/internal/company"
	"github.com/kobo-waas/kobo/internal/corporate"
	"github.com/kobo-waas/kobo/internal/crypto"
	"github.com/kobo-waas/kobo/internal/customer"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/deployment"
	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/idempotency"
	"github.com/kobo-waas/kobo/internal/identity"
	"github.com/kobo-waas/kobo/internal/inbox"
	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/payout"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/quota"
	"github.com/kobo-waas/kobo/internal/report"
	"github.com/kobo-waas/kobo/internal/secret"
	"github.com/kobo-waas/kobo/internal/settlement"
	"github.com/kobo-waas/kobo/internal/vtu"
	"github.com/kobo-waas/kobo/internal/webhook"
)

// App is one running program: every business on one database.
type App struct {
	DB          *db.DB
	Book        *ledger.Book
	Clock       clock.Clock
	Companies   *company.Service
	Operators   *operator.Service
	Deployment  *deployment.Service
	Settlements *settlement.Service
	Corporate   *corporate.Service
	Customers   *customer.Service
	Collections *collection.Service
	Inbox       *inbox.Service
	Operations  *operation.Service
	Payouts     *payout.Service
	Quotas      *quota.Service
	Cards       *card.Service
	Events      *event.Service
	Webhooks    *webhook.Service
	Keys        *idempotency.Service
	Shop        *vtu.Shop
	Crypto      *crypto.Service
	Reports     *report.Service
	Worker      *job.Worker

	cfg      Config
	log      *slog.Logger
	closed   atomic.Bool                    // the companies' door
	leaving  atomic.Bool                    // the program was told to stop
	exposed  bool                           // others than this machine can connect
	books    map[string]provider.Bookkeeper // the banks, for reconciliation
	world    *world                         // the sandbox; nil in live mode
	registry *prometheus.Registry
	traces   trace.TracerProvider
	flush    func(context.Context) error
}

// Open opens the database, which must have the schema of this program, and
// builds everything. Nothing runs yet.
func Open(ctx context.Context, cfg Config, log *slog.Logger) (*App, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	keys, err := cfg.keyring()
	if err != nil {
		return nil, err
	}
	a := &App{cfg: cfg, log: log, Clock: clock.System{}, registry: prometheus.NewRegistry()}
	if a.traces, a.flush, err = tracer(ctx, cfg.Traces, log); err != nil {
		return nil, err
	}
	if a.DB, err = db.Open(ctx, cfg.Database); err != nil {
		return nil, err
	}
	if err := a.build(ctx, keys); err != nil {
		a.Close()
		return nil, err
	}
	return a, nil
}

func (a *App) build(ctx context.Context, keys *secret.Keyring) error {
	err := a.DB.Fits(ctx)
	if err != nil {
		return err
	}
	if a.cfg.Mode == Sandbox {
		if a.world, err = openWorld(ctx, a.cfg, a.log); err != nil {
			return err
		}
		a.Clock = a.world.clock
	}
	p, err := a.providers()
	if err != nil {
		return err
	}
	if p.custody, err = a.custody(); err != nil {
		return err
	}
	letterhead, err := a.cfg.Issuer.letterhead()
	if err != nil {
		return err
	}
	a.businesses(keys, p)
	a.Reports.Letterhead(letterhead)
	if err := a.Operators.Recognise(ctx); err != nil {
		return err
	}
	return a.seeDoor(ctx)
}

func (a *App) businesses(keys *secret.Keyring, p plugs) {
	a.Book = ledger.New(a.DB, a.Clock)
	a.Companies = company.New(a.DB, a.Book, keys, a.Clock)
	a.Operators = operator.New(a.DB, keys, a.Clock)
	a.Deployment = deployment.New(a.DB, a.cfg.machine(), a.log, a.cfg.epochFile())
	a.Events = event.NewService(a.DB, a.Book)
	a.Keys = idempotency.NewService(a.DB, a.Book, a.Clock, keys)
	a.Webhooks = webhook.New(webhook.Config{
		DB: a.DB, Book: a.Book, Events: a.Events, Keys: keys, Clock: a.Clock, Log: a.log, Loopback: a.cfg.Mode == Sandbox,
		Keep:  time.Duration(a.cfg.Webhooks.KeepDays) * 24 * time.Hour,
		Audit: operator.SelfNote,
	})
	a.registry.MustRegister(a.Webhooks.Metrics()...)
	a.Quotas = quota.New(a.DB, a.Book, a.Clock)
	a.Operations = operation.NewService(a.DB, a.Book, a.Clock, a.log, a.cfg.Window)
	a.Operations.CheckOperators(a.Operators.Still)
	a.Settlements = settlement.New(a.DB, a.Book, a.Clock, a.Operations)
	for name, b := range p.banks {
		a.Settlements.Know(name, settlement.Bank{Name: b.Own().Name, Code: b.Own().Code, Float: p.float[name]})
	}
	a.Inbox = a.newInbox(keys, p)
	identities := identity.NewService(a.DB, a.Book, a.Clock, a.log, keys, p.verifier, a.cfg.Window)
	a.Corporate = corporate.New(a.DB, a.Book, a.Clock, a.log, identities, a.Settlements, a.Operations, a.Keys, p.banks[bankName], a.callback(bankName))
	a.Customers = customer.New(a.DB, a.Book, a.Clock, a.log, identities, a.Settlements, a.Operations, a.Keys, p.banks[bankName], a.callback(bankName))
	a.Collections = collection.New(a.DB, a.Book, a.Clock, a.log, a.Settlements, a.Operations,
		collection.Bank{Name: bankName, Opener: p.banks[bankName], Callback: a.callback(bankName)}, a.cfg.Window)
	a.Shop = vtu.New(a.DB, a.Book, a.Clock, a.log, a.Operations, a.Settlements, p.billers, p.routes)
	a.Payouts = payout.New(a.DB, a.Book, a.Clock, a.log, a.Companies, a.Operations, a.Settlements, p.payers(), bankName)
	a.Inbox.OnPayout(a.Payouts.Notified)
	a.Crypto = a.newCrypto(p.custody)
	a.Cards = a.newCards(p.issuers)
	a.Reports = report.New(a.DB, a.Clock)
	a.books = p.bookkeepers()
	a.Worker = job.NewWorker(a.DB, a.Clock, a.log)
	a.handleJobs()
	if a.world != nil {
		a.world.follow(a.Worker, a.Webhooks)
	}
}

// Close releases what Open took. Run does so itself when it ends.
func (a *App) Close() {
	if a.world != nil {
		a.world.close()
	}
	if a.Inbox != nil {
		a.Inbox.Drain()
	}
	if a.Book != nil {
		a.Book.Drain()
	}
	a.DB.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := a.flush(ctx); err != nil {
		a.log.Warn("traces were lost", "error", err)
	}
}

// Handler is the program's whole HTTP face.
func (a *App) Handler() (http.Handler, error) {
	proxies, err := a.cfg.proxies()
	if err != nil {
		return nil, err
	}
	limits := a.cfg.Limits.limits()
	operators, err := admin.New(admin.Config{
		Operators: a.Operators, Companies: a.Companies, Settlements: a.Settlements,
		Operations: a.Operations, Webhooks: a.Webhooks, Reports: a.Reports, Crypto: a.Crypto, Payouts: a.Payouts, Cards: a.Cards, Quotas: a.Quotas,
		Clock: a.Clock, Log: a.log, Failed: limits.Failed(),
	})
	if err != nil {
		return nil, err
	}
	cfg := api.Config{
		Companies: a.Companies, Corporate: a.Corporate, Customers: a.Customers, Settlements: a.Settlements, Payouts: a.Payouts, Cards: a.Cards, Collections: a.Collections, VTU: a.Shop, Crypto: a.Crypto, Events: a.Events, Reports: a.Reports, Keys: a.Keys,
		Webhooks: a.Webhooks, PublicURL: a.cfg.PublicURL,
		Clock: a.Clock, Log: a.log, Limits: limits, Proxies: proxies, Closed: a.closed.Load, Registry: a.registry, Traces: a.traces,
		Health: http.HandlerFunc(healthy), Ready: http.HandlerFunc(a.ready), Metrics: a.metrics(),
		Mounts: map[string]http.Handler{"/admin/v1/": operators, "GET /admin/openapi.json": admin.Reference()},
	}
	cfg.Mounts[inbox.Pattern] = a.Inbox.Door()
	cfg.Mounts[card.Pattern] = a.Cards.Door()
	cfg.Mounts["POST "+tatumPath] = a.tatumDoor()
	if a.world != nil {
		cfg.Mounts["/sandbox/"] = a.steering(proxies)
	}
	return a.answering(cfg)
}

// patience lets an answer reach its caller within ten seconds, while the database
// says nothing.
const patience = 9500 * time.Millisecond

// answering is the whole face, whose requests share a bound on their waits for the
// database.
func (a *App) answering(cfg api.Config) (http.Handler, error) {
	face, err := api.New(cfg)
	limit := cmp.Or(a.cfg.Patience, patience)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		face.ServeHTTP(w, r.WithContext(db.Within(r.Context(), limit)))
	}), err
}

func (c LimitConfig) limits() *api.Limits {
	if c.Off {
		return nil
	}
	return &api.Limits{
		Company: api.Limit{Requests: c.CompanyPerSecond, Period: time.Second, Burst: c.CompanyBurst},
		Token:   api.Limit{Requests: c.TokenPerMinute, Period: time.Minute, Burst: c.TokenPerMinute},

		Callbacks: api.Limit{Requests: c.CallbacksPerSecond, Period: time.Second, Burst: c.CallbacksBurst},
	}
}

// goodbye is how long requests in hand may take once the program is told to
// stop: longer than a call to a provider.
const goodbye = 10 * time.Second

// Run serves on the listener and works until ctx ends; then it drains, lets what
// is in hand finish, and closes the app. Ready, which may be nil, is called once
// requests are answered.
func (a *App) Run(ctx context.Context, listener net.Listener, ready func()) error {
	defer a.Close()
	a.exposed = !loopback(listener.Addr())
	handler, err := a.Handler()
	if err != nil {
		return err
	}
	var unused newcomers
	server := &http.Server{
		Handler: parting(&a.leaving, handler), ConnState: unused.see, ErrorLog: slog.NewLogLogger(a.log.Handler(), slog.LevelWarn),
		ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 30 * time.Second, IdleTimeout: 2 * time.Minute,
		WriteTimeout: a.cfg.Window + time.Minute, MaxHeaderBytes: api.MaxHeader, // net/http adds 4096 bytes, and counts spaces that the edge never sees
	}
	server.RegisterOnShutdown(a.Events.Close)
	server.RegisterOnShutdown(unused.dismiss)
	a.seeModes()
	if err := a.meetDatabase(ctx); err != nil {
		return err
	}
	if err := a.Inbox.Begin(ctx); err != nil {
		return err
	}
	if err := errors.Join(a.planReconciliation(ctx), a.Webhooks.Begin(ctx)); err != nil {
		return err
	}
	if a.world != nil {
		if err := a.world.callBack(listener.Addr(), a.Inbox.Path(bankName)); err != nil {
			return err
		}
	}
	working, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	jobs := a.startJobs(working)
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	if ready != nil {
		ready()
	}
	select {
	case err = <-failed:
	case <-ctx.Done():
		err = a.leave(ctx, server, failed)
	}
	stop()
	jobs.Wait()
	if errors.Is(err, http.ErrServerClosed) {
		err = nil
	}
	return err
}
