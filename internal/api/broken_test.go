package api_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/api"
	"github.com/kobo-waas/kobo/internal/api/apitest"
	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/collection"
	"github.com/kobo-waas/kobo/internal/company"
	"github.com/kobo-waas/kobo/internal/corporate"
	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/idempotency"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/report"
	"github.com/kobo-waas/kobo/internal/secret"
	"github.com/kobo-waas/kobo/internal/settlement"
	"github.com/kobo-waas/kobo/internal/vtu"
)

// broken is every business on its worst day: the gate knows one token, and all
// that comes after it does what say does.
type broken struct{ say func() error }

const secretCause = "pq: password of kobo is hunter2"

func (b broken) Tokens(context.Context, string, string) (string, string, error) {
	return "", "", b.say()
}
func (b broken) Refresh(context.Context, string) (string, error) { return "", b.say() }
func (b broken) Holder(string) (string, error)                   { return "c123", b.say() }
func (b broken) Authenticate(_ context.Context, token string) (company.Identity, error) {
	if token == "let-me-in" {
		return company.Identity{Reference: "c123"}, nil
	}
	return company.Identity{}, errors.New(secretCause)
}

func (b broken) Accounts(context.Context, string) ([]settlement.Account, error) { return nil, b.say() }

func (b broken) CreateOwn(context.Context, string, string, *idempotency.Key) (settlement.Account, error) {
	return settlement.Account{}, b.say()
}

func (b broken) AlertOwn(context.Context, string, int64, money.Kobo, *idempotency.Key) (settlement.Account, error) {
	return settlement.Account{}, b.say()
}

// brokenCollections are broken, and find something else than events.
type brokenCollections struct{ broken }

func (b brokenCollections) Generate(context.Context, collection.Request) (collection.Collection, error) {
	return collection.Collection{}, b.say()
}

func (b brokenCollections) Find(context.Context, string, string) (collection.Collection, error) {
	return collection.Collection{}, b.say()
}

func (b broken) Initiate(context.Context, string, secret.Text, *idempotency.Key) (corporate.Sent, error) {
	return corporate.Sent{}, b.say()
}

func (b broken) Resend(context.Context, string, string, *idempotency.Key) (corporate.Sent, error) {
	return corporate.Sent{}, b.say()
}

func (b broken) Validate(context.Context, string, string, secret.Text, *idempotency.Key) (corporate.KYC, error) {
	return corporate.KYC{}, b.say()
}

func (b broken) GenerateAccount(context.Context, corporate.Request) (corporate.Account, error) {
	return corporate.Account{}, b.say()
}

func (b broken) Services(context.Context) ([]vtu.Service, error) { return nil, b.say() }

func (b broken) Categories(context.Context, string) ([]vtu.Category, error) { return nil, b.say() }

func (b broken) Products(context.Context, string) ([]vtu.Product, error) { return nil, b.say() }

func (b broken) PurchaseData(context.Context, vtu.DataPurchase) (vtu.Receipt, error) {
	return vtu.Receipt{}, b.say()
}

func (b broken) VerifyEntity(context.Context, vtu.EntityQuery) (vtu.Verification, error) {
	return vtu.Verification{}, b.say()
}

func (b broken) PurchaseCableTV(context.Context, vtu.CableTVPurchase) (vtu.Receipt, error) {
	return vtu.Receipt{}, b.say()
}

func (b broken) PurchaseAirtime(context.Context, vtu.AirtimePurchase) (vtu.Receipt, error) {
	return vtu.Receipt{}, b.say()
}

func (b broken) PurchaseUtility(context.Context, vtu.UtilityPurchase) (vtu.Receipt, error) {
	return vtu.Receipt{}, b.say()
}

func (b broken) Resume(context.Context, string, string, *idempotency.Key) (vtu.Receipt, error) {
	return vtu.Receipt{}, b.say()
}

func (b broken) Transaction(context.Context, string, string) (vtu.Transaction, error) {
	return vtu.Transaction{}, b.say()
}

func (b broken) Feed(context.Context, string, int64, int, time.Duration) ([]event.Event, bool, error) {
	return nil, false, b.say()
}

func (b broken) Find(context.Context, string, string) (event.Event, error) {
	return event.Event{}, b.say()
}

func (b broken) Purchases(context.Context, string, report.PurchaseFilter, int, int) ([]vtu.Transaction, int, error) {
	return nil, 0, b.say()
}

func (b broken) Outcomes(context.Context, string, int, int) ([]report.Outcome, int, error) {
	return nil, 0, b.say()
}

func (b broken) Outcome(context.Context, string, string) (report.Outcome, error) {
	return report.Outcome{}, b.say()
}

func (b broken) Integrity(context.Context, string) (report.Integrity, error) {
	return report.Integrity{}, b.say()
}

func (b broken) Since(context.Context, string, time.Time) (int64, error) { return 0, b.say() }

func (b broken) Used(context.Context, string, string) (idempotency.Use, error) {
	return idempotency.Use{}, b.say()
}

func (b broken) Open(context.Context, string, string, string) (*idempotency.Key, *idempotency.Answer, error) {
	return &idempotency.Key{}, nil, nil
}

func (b broken) Settle(context.Context, *idempotency.Key, idempotency.Answer) (idempotency.Answer, error) {
	return idempotency.Answer{}, errors.New("nothing that ends this way may be frozen")
}

// lines is a log that can be read while it is written.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// config is an edge on broken businesses, and what it logs.
func (b broken) config() (api.Config, *lines) {
	log := &lines{}
	return api.Config{
		Companies: b, Corporate: b, Settlements: b, Payouts: brokenPayouts{b}, Collections: brokenCollections{b}, VTU: b, Events: b, Reports: b, Keys: b,
		Clock: clock.At(time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)), Log: slog.New(slog.NewJSONHandler(log, nil)),
	}, log
}

func serve(t testing.TB, c api.Config) string {
	t.Helper()
	h, err := api.New(c)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

// The transcripts of worlds that a healthy program never shows.
func TestTranscriptsOfBadDays(t *testing.T) {
	unexpected := func() error { return errors.New(secretCause) }
	days := map[string]struct {
		say    func() error
		limits *api.Limits
	}{
		"unexpected":  {say: unexpected},
		"panic":       {say: func() error { panic(secretCause) }},
		"unavailable": {say: func() error { return fault.New(fault.Unavailable, "the database is away").Because(unexpected()) }},
		"bank_refuses": {say: func() error {
			f := fault.New(fault.Refused, "Failed to create COOP subaccount")
			f.Extra = map[string]any{"error": "Unknown registration number"}
			return f
		}},
		"in_flight": {say: func() error { return fault.New(fault.Conflict, "Duplicate request in flight") }},
		"limits": {say: unexpected, limits: &api.Limits{
			Company: api.Limit{Requests: 1, Period: time.Second, Burst: 3}, Token: api.Limit{Requests: 60, Period: time.Minute, Burst: 2},
		}},
	}
	for _, file := range transcripts(t, "broken") {
		name := strings.TrimSuffix(strings.TrimPrefix(file, "broken/"), ".txt")
		t.Run(name, func(t *testing.T) {
			day, known := days[name]
			if !known {
				t.Fatal("no world for this transcript")
			}
			config, log := broken{day.say}.config()
			config.Limits = day.limits
			player := apitest.New(t, serve(t, config), func(testing.TB) map[string]string { return map[string]string{} })
			player.Play(t, os.DirFS("testdata"), file)
			if strings.Contains(log.String(), "nothing that ends this way") {
				t.Error("an answer that is not the operation's own was frozen")
			}
		})
	}
}
