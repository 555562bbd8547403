// Package app assembles the whole program. It opens the database, connects the providers,
// builds every service, and runs until it is told to stop.
package app

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
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
	"github.com/kobo-waas/kobo/internal/erasure"
	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/evidence"
	"github.com/kobo-waas/kobo/internal/idempotency"
	"github.com/kobo-waas/kobo/internal/identity"
	"github.com/kobo-waas/kobo/internal/inbox"
	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/keyring"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/payout"
	"github.com/kobo-waas/kobo/internal/person"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/quota"
	"github.com/kobo-waas/kobo/internal/report"
	"github.com/kobo-waas/kobo/internal/request"
	"github.com/kobo-waas/kobo/internal/secret"
	"github.com/kobo-waas/kobo/internal/settlement"
	"github.com/kobo-waas/kobo/internal/vtu"
	"github.com/kobo-waas/kobo/internal/webhook"
)

// App is the program: all its services on one database.
type App struct {
	DB          *db.DB
	Book        *ledger.Book
	Clock       clock.Clock
	Companies   *company.Service
	Operators   *operator.Service
	Deployment  *deployment.Service
	Keyring     *keyring.Service
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
	Requests    *request.Service
	Keys        *idempotency.Service
	Shop        *vtu.Shop
	Crypto      *crypto.Service
	Reports     *report.Service
	Evidence    *evidence.Service
	Erasures    *erasure.Service
	Worker      *job.Worker
	People      *person.Service

	cfg    Config
	log    *slog.Logger
	closed atomic.Bool // API access is closed
	// movesHeld is true if purchases must not move to further billers, since the database was restored.
	movesHeld atomic.Bool
	// restoredUntil is the instant, in microseconds, at which operators last ended such a hold; 0 if they never did.
	restoredUntil atomic.Int64
	holdsEndRead  atomic.Bool   // it was read since the start
	leaving       atomic.Bool   // the program is stopping
	on            Listeners     // those of Serve; empty before
	exposed       bool          // other machines can connect
	apart         map[part]bool // the parts that have a separate listener
	pairsMu       sync.RWMutex
	pairs         []*keyPair // the certificates of the listeners
	plugs         plugs
	sandbox       *sandboxMode // nil outside sandbox mode
	registry      *prometheus.Registry
	calls         *provider.Figures
	wallets       *provider.Wallets
	probe         *probe
	shut          atomic.Value // why API access is closed, as a label of the metrics; "" if it is open
	traces        trace.TracerProvider
	tap           func(name, address string) *provider.Tap // set while providers are checked; nil while the program serves
	flush         func(context.Context) error
}

// Open opens the database, which must have this program's schema, and builds all services. It
// starts no background work and serves no requests yet.
func Open(ctx context.Context, cfg Config, log *slog.Logger) (*App, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	keys, err := cfg.keyring()
	if err != nil {
		return nil, err
	}
	ring, err := cfg.evidence()
	if err != nil {
		return nil, err
	}
	a := &App{cfg: cfg, log: log, Clock: clock.System{}, registry: prometheus.NewRegistry(), calls: provider.NewFigures()}
	if a.traces, a.flush, err = tracer(ctx, cfg.Traces, log); err != nil {
		return nil, err
	}
	if a.DB, err = cfg.OpenDatabase(ctx); err != nil {
		return nil, err
	}
	a.probe = &probe{clock: cfg.machine(), check: a.checkDatabase}
	a.DB.SignWith(ring.Evidence())
	if err := a.build(ctx, keys, ring); err != nil {
		a.Close()
		return nil, err
	}
	return a, nil
}

func (a *App) build(ctx context.Context, keys, ring *secret.Keyring) error {
	err := a.DB.Fits(ctx)
	if err != nil {
		return err
	}
	if err = deployment.Match(ctx, a.DB, a.cfg.Mode.Environment()); err != nil {
		return err
	}
	if a.cfg.Mode.rules().simulates {
		if a.sandbox, err = openSandbox(ctx, a.cfg, a.log); err != nil {
			return err
		}
		a.Clock = a.sandbox.clock
	}
	a.calls.Follow(a.Clock)
	p, err := a.connect()
	if err != nil {
		return err
	}
	letterhead, err := a.cfg.Issuer.letterhead()
	if err != nil {
		return err
	}
	a.businesses(keys, p, letterhead)
	a.People, err = person.New(person.Config{DB: a.DB, Keys: keys, Operators: a.Operators, Clock: a.Clock, Machine: clock.System{}, Origin: a.cfg.ConsoleOrigin, Rules: a.rulesOfTwo})
	if err != nil {
		return err
	}
	if a.Keyring, err = a.newKeyring(keys, ring); err != nil {
		return err
	}
	if err := a.Operators.Recognise(ctx); err != nil {
		return err
	}
	if err := a.Keyring.Begin(ctx); err != nil {
		return err
	}
	a.Evidence = a.newEvidence(ring) // signs checkpoints with the line that Begin has chosen
	a.registry.MustRegister(a.Evidence.Metrics()...)
	a.Erasures = a.newErasures(keys)
	a.Worker = a.newWorker()
	a.registerFigures()
	if a.sandbox != nil {
		a.sandbox.follow(a.Worker, a.Webhooks)
	}
	return a.readAccess(ctx)
}

func (a *App) businesses(keys *secret.Keyring, p plugs, letterhead report.Issuer) {
	a.Book = ledger.WithAlerts(a.DB, a.Clock, settlement.LowBalance)
	a.Companies = company.New(a.DB, a.Book, keys, a.Clock)
	a.Companies.Self = func(ctx context.Context, reference string) company.Actor { return operator.Self(reference).From(ctx) }
	a.Operators = operator.New(a.DB, keys, a.Clock)
	a.Operators.KeyLife = time.Duration(a.cfg.Operators.KeyDays) * 24 * time.Hour
	a.Deployment = deployment.New(a.DB, a.cfg.machine(), a.log, a.cfg.epochFile())
	a.Events = event.NewService(a.DB, a.Book)
	a.Events.Environment, a.Companies.Environment = a.cfg.Mode.Environment(), a.cfg.Mode.Environment()
	a.Keys = idempotency.NewService(a.DB, a.Book, a.Clock, keys)
	a.Webhooks = webhook.New(webhook.Config{
		DB: a.DB, Book: a.Book, Events: a.Events, Keys: keys, Clock: a.Clock, Log: a.log, Loopback: a.cfg.webhooksHere(),
		Keep: time.Duration(a.cfg.Webhooks.KeepDays) * 24 * time.Hour,
	})
	a.Requests = request.New(request.Config{
		DB: a.DB, Clock: a.Clock, Log: a.log, Keep: time.Duration(a.cfg.RequestLog.KeepDays) * 24 * time.Hour,
	})
	a.Quotas = quota.New(a.DB, a.Book, a.Clock)
	a.Operations = operation.WithOperators(a.DB, a.Book, a.Clock, a.log, a.cfg.Window, a.Operators.MayStillPropose)
	a.Operations.Restored = a.movesHeld.Load
	a.Operations.RestoredUntil = func() time.Time { return clock.Time(a.restoredUntil.Load()) }
	a.Operations.Calls = a.calls
	a.Operations.Simulated = a.cfg.Mode.rules().simulates
	a.plugs = p
	a.Settlements = a.newSettlements(p)
	a.Inbox = a.newInbox(keys, p)
	openers := routed(p, a.opener) // built after the inbox, which knows the callback URLs
	identities := identity.New(identity.Config{
		DB: a.DB, Book: a.Book, Clock: a.Clock, Log: a.log, Keys: keys, Window: a.cfg.Window,
		Banks: routed(p, func(_ string, b bank) provider.Verifier { return b.verifier }),
	})
	a.Corporate = corporate.New(corporate.Config{
		DB: a.DB, Book: a.Book, Clock: a.Clock, Log: a.log, Identities: identities, Settlements: a.Settlements, Operations: a.Operations,
		Keys: a.Keys, Banks: openers,
	})
	a.Customers = customer.New(customer.Config{
		DB: a.DB, Book: a.Book, Clock: a.Clock, Log: a.log, Identities: identities, Settlements: a.Settlements, Operations: a.Operations,
		Keys: a.Keys, Banks: openers, RefuseNames: a.cfg.NameMatch == "refuse",
	})
	a.Collections = collection.New(collection.Config{
		DB: a.DB, Book: a.Book, Clock: a.Clock, Log: a.log, Settlements: a.Settlements, Operations: a.Operations, Window: a.cfg.Window,
		Banks: openers,
	})
	longestCall, _ := a.deadlines()
	a.Shop = vtu.New(vtu.Config{
		Call: longestCall,
		DB:   a.DB, Book: a.Book, Clock: a.Clock, Log: a.log, Operations: a.Operations, Settlements: a.Settlements,
		Billers: p.billers, Routes: p.routes, Lookups: p.lookups, MostLoss: a.cfg.VTU.MostLoss, Audit: a.Operators.RecordIn, Note: a.Operators.NoteIn,
	})
	a.Payouts = payout.New(payout.Config{
		DB: a.DB, Book: a.Book, Clock: a.Clock, Log: a.log, Companies: a.Companies, Operations: a.Operations, Settlements: a.Settlements,
		Payers: routed(p, func(_ string, b bank) provider.Payer { return b }), SendsHeld: a.movesHeld.Load,
	})
	a.wallets = provider.NewWallets(p.wallets, p.walletLow, a.Clock)
	a.Crypto = a.newCrypto(p.custody)
	a.Cards = a.newCards(p.issuers)
	a.Reports = report.WithLetterhead(a.DB, a.Clock, letterhead)
	a.Reports.Broken = a.Settlements.Broken
}

// Close releases everything that Open has opened. Run calls Close before it returns.
func (a *App) Close() {
	if a.sandbox != nil {
		a.sandbox.close()
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

// Handler returns the handler of all HTTP requests to the program.
func (a *App) Handler() (http.Handler, error) {
	proxies, err := a.cfg.proxies()
	if err != nil {
		return nil, err
	}
	limits := a.limits()
	operators, err := a.operatorsAPI(limits.Failed())
	if err != nil {
		return nil, err
	}
	cfg := api.Config{
		Companies: a.Companies, Corporate: a.Corporate, Customers: a.Customers, Settlements: a.Settlements, Payouts: a.Payouts, Quotas: a.Quotas, Cards: a.Cards, Collections: a.Collections, VTU: a.Shop, Crypto: a.Crypto, Events: a.Events, Reports: a.Reports, Evidence: a.Evidence, Keys: a.Keys,
		Bound: func(r *http.Request) context.Context {
			ctx := db.Within(r.Context(), cmp.Or(a.cfg.DatabaseTimeout, databaseTimeout))
			if r.Method == http.MethodGet || r.Method == http.MethodHead {
				ctx = db.Reading(ctx)
			}
			return ctx
		},
		At: a.DB.At, People: a.People.People, SignedIn: a.People.Ready, SignedLines: a.Operators.SignedLines,
		FailedLogin: func(ctx context.Context, action, reference string) {
			a.warn(ctx, a.Operators.FailedLogin(ctx, action, reference), "a failed request for tokens could not be recorded")
		},
		Webhooks: a.Webhooks, Requests: a.Requests, Authenticate: a.Companies.Authenticate, PublicURL: a.cfg.PublicURL,
		Clock: a.Clock, Log: a.log, Limits: limits, Proxies: proxies, Closed: a.closed.Load, Registry: a.registry, Traces: a.traces,
		Health: http.HandlerFunc(a.healthy), Ready: http.HandlerFunc(a.ready), Metrics: a.metrics(),
		Serves: a.serves,
		Mounts: map[string]http.Handler{"/admin/v1/": operators, "GET /admin/openapi.json": admin.Reference()},
	}
	var handler http.Handler
	a.mountPages(cfg.Mounts, operators, limits.Failed(), func() http.Handler { return handler })
	cfg.Mounts[inbox.Pattern] = a.Inbox.CallbackHandler()
	cfg.Mounts[card.Pattern] = a.Cards.CallbackHandler()
	for name, p := range a.cfg.accounts() {
		if m, ok := p.(mounter); ok {
			m.mount(a, name, cfg.Mounts)
		}
	}
	if a.sandbox != nil {
		cfg.Mounts["/sandbox/"] = a.sandboxControls(proxies)
	}
	handler, err = api.New(cfg)
	return handler, err
}

// databaseTimeout limits the total time that a request waits for the database. If the database does
// not reply, the caller still gets a response within ten seconds.
const databaseTimeout = 9500 * time.Millisecond

// Run serves HTTP on the listener and runs the background jobs until ctx ends. Then it drains,
// finishes running requests and jobs, and closes the app. Run calls the function ready when the
// server can take requests. The function may be nil.
func (a *App) Run(ctx context.Context, listener net.Listener, ready func()) error {
	return a.Serve(ctx, Listeners{Public: listener}, ready)
}

// Serve does the same as Run on several listeners. It closes all of them before it returns.
func (a *App) Serve(ctx context.Context, on Listeners, ready func()) error {
	defer a.Close()
	defer on.Close()
	a.on, a.exposed = on, !loopback(on.Public.Addr())
	a.apart = map[part]bool{adminPart: on.Admin != nil, metricsPart: on.Metrics != nil}
	handler, err := a.Handler()
	if err != nil {
		return err
	}
	var unused newConnections
	all, err := a.fronts(on, closing(&a.leaving, handler), &unused)
	if err != nil {
		return err
	}
	defer closeAll(all)
	if err := a.begin(ctx, all); err != nil {
		return err
	}
	working, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	jobs := a.startJobs(working)
	failed := make(chan error, len(all))
	for _, f := range all {
		go func() { failed <- f.serve() }()
	}
	if ready != nil {
		ready()
	}
	select {
	case err = <-failed:
	case <-ctx.Done():
		err = a.shutDown(ctx, all, failed)
	}
	stop()
	jobs.Wait()
	if errors.Is(err, http.ErrServerClosed) {
		err = nil
	}
	return err
}

// begin prepares the database and the sandbox before the first request.
func (a *App) begin(ctx context.Context, all []front) error {
	a.warnFileModes()
	a.warnPlainKeyring()
	a.sayFourEyes(ctx)
	a.warnPlainDatabase()
	if a.cfg.Mode.rules().warnsOfExposure && a.exposed && !a.apart[metricsPart] {
		a.log.Warn("everybody who reaches this program can read /metrics: set metrics_listen")
	}
	if err := a.checkRights(ctx); err != nil {
		return err
	}
	if err := errors.Join(a.Keyring.State(ctx), a.meetDatabase(ctx), a.warnUnconfigured(ctx)); err != nil {
		return err
	}
	if err := a.Inbox.Begin(ctx); err != nil {
		return err
	}
	if err := a.planJobs(ctx); err != nil {
		return err
	}
	if a.sandbox == nil {
		return nil
	}
	notified := all[0]
	if notified.TLSConfig != nil {
		notified = all[len(all)-1] // withPlainCallbacks has added this server
	}
	return a.sandbox.setCallbacks(notified.listener.Addr(), a.callbackPath)
}
