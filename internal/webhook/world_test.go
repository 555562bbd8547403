package webhook

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/idempotency"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/secret"
)

// world is the fixture of these tests: a database with companies' feeds, and the service that
// sends their events.
type world struct {
	*Service
	db    *db.DB
	clock *clock.Movable
	t     testing.TB
}

func each(t *testing.T, f func(t *testing.T, w *world)) {
	t.Helper()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		keys, err := secret.Parse(secret.Generate())
		must(t, err)
		f(t, newWorld(t, d, &clock.Movable{}, keys))
	})
}

// newWorld returns a fixture with a service on a database, as in one process. The service does not
// send until start is called.
func newWorld(t testing.TB, d *db.DB, clk *clock.Movable, keys *secret.Keyring) *world {
	t.Helper()
	book := ledger.New(d, clk)
	t.Cleanup(book.Drain)
	return &world{t: t, db: d, clock: clk, Service: New(Config{
		DB: d, Book: book, Events: event.NewService(d, book), Keys: keys, Clock: clk,
		Log: slog.New(slog.DiscardHandler), Loopback: true, Keep: 30 * 24 * time.Hour,
	})}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// start runs the service until the test ends or stop is called.
func (w *world) start() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { w.Run(ctx); close(ended) }()
	stop = func() { cancel(); <-ended }
	w.t.Cleanup(stop)
	return stop
}

func (w *world) found(company string) {
	w.t.Helper()
	u := ledger.Found(company)
	must(w.t, w.Book.Commit(context.Background(), u))
}

// tell commits n events of a kind, each with a number in its data.
func (w *world) tell(company, kind string, n int) {
	w.t.Helper()
	var all sync.WaitGroup
	for i := range n {
		u := ledger.For(company)
		event.Emit(&u, kind, map[string]int{"number": i})
		commit := func() {
			if err := w.Book.Commit(context.Background(), u); err != nil {
				w.t.Error(err)
			}
		}
		if n <= 50 {
			commit()
			continue
		}
		all.Go(commit)
	}
	all.Wait()
}

// aSecret returns a secret for messages that no test verifies.
func aSecret() secret.Text { return secret.NewText(newSecret()) }

// none stands for a missing Idempotency-Key in calls of the service.
var none *idempotency.Key

// during returns an Idempotency-Key. A request with this key calls do before its commit.
func (w *world) during(company string, do func()) *idempotency.Key {
	w.t.Helper()
	key, _, err := idempotency.NewService(w.db, w.Book, w.clock, w.Keys).Open(context.Background(), company, id.New(), "print")
	must(w.t, err)
	key.Render(func(any, error) idempotency.Answer {
		do()
		return idempotency.Answer{Status: 200}
	})
	return key
}

// endpoint creates an endpoint of a company, with this url and these kinds of events.
func (w *world) endpoint(company, url string, kinds ...string) Endpoint {
	w.t.Helper()
	e, err := w.Create(context.Background(), company, Draft{URL: &url, Kinds: &kinds}, none)
	must(w.t, err)
	return e
}

// settle moves the clock forward by this duration, and waits until nothing is left to send.
func (w *world) settle(by time.Duration) {
	w.t.Helper()
	w.clock.MoveTo(w.clock.Offset() + by)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	must(w.t, w.Settled(ctx))
}

func (w *world) now(e Endpoint) Endpoint {
	w.t.Helper()
	found, err := w.Find(context.Background(), e.Company, e.ID)
	must(w.t, err)
	return found
}

func (w *world) sent(e Endpoint, state DeliveryState) []Delivery {
	w.t.Helper()
	list, total, err := w.Deliveries(context.Background(), e.Company, e.ID, state, 1000, 0)
	must(w.t, err)
	if int(total) != len(list) {
		w.t.Errorf("%d deliveries, and the total is %d", len(list), total)
	}
	return list
}

// receiver is a company's server. It verifies messages with the official library of the Standard
// Webhooks specification.
type receiver struct {
	*httptest.Server
	t testing.TB

	mu      sync.Mutex
	answer  func(w http.ResponseWriter, m received) // responds to a message; nil for status 204
	secrets []string                                // the signature must be valid for each secret
	got     []received
}

type received struct {
	ID       string
	Sequence int64
	Event    string
	Body     string
	At       time.Time
	Header   http.Header
}

func newReceiver(t testing.TB) *receiver {
	t.Helper()
	r := &receiver{t: t}
	r.Server = httptest.NewServer(r)
	t.Cleanup(r.Close)
	return r
}

// ServeHTTP records one message and verifies its signature.
func (r *receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return // the sender has disconnected
	}
	m := received{Body: string(body), At: time.Now(), Header: request.Header}
	if err := json.Unmarshal(body, &m); err != nil || request.Method != http.MethodPost {
		r.t.Errorf("not a message: %s %q: %v", request.Method, body, err)
	}
	if m.ID != request.Header.Get("webhook-id") {
		r.t.Errorf("the webhook-id is %q, the event's id %q", request.Header.Get("webhook-id"), m.ID)
	}
	r.mu.Lock()
	for _, s := range r.secrets {
		verifier, err := standardwebhooks.NewWebhook(s)
		if err == nil {
			err = verifier.Verify(body, request.Header)
		}
		if err != nil {
			r.t.Errorf("the signature does not verify: %v", err)
		}
	}
	r.got = append(r.got, m)
	answer := r.answer
	r.mu.Unlock()
	if answer == nil {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	answer(w, m)
}

func (r *receiver) set(answer func(w http.ResponseWriter, m received)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answer = answer
}

func (r *receiver) trust(secrets ...Endpoint) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.secrets = nil
	for _, s := range secrets {
		r.secrets = append(r.secrets, s.Secret.Reveal())
	}
}

func (r *receiver) all() []received {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]received(nil), r.got...)
}

// sequences returns the sequence numbers of the messages, in the order of arrival.
func (r *receiver) sequences() string {
	var out []int64
	for _, m := range r.all() {
		out = append(out, m.Sequence)
	}
	return fmt.Sprint(out)
}

func fail(w http.ResponseWriter, _ received) {
	http.Error(w, "not today", http.StatusInternalServerError)
}

// eventually waits until a condition is true, and fails the test after a minute.
func eventually(t testing.TB, what string, is func() bool) {
	t.Helper()
	limit, look := time.NewTimer(time.Minute), time.NewTicker(5*time.Millisecond)
	defer limit.Stop()
	defer look.Stop()
	for !is() {
		select {
		case <-look.C:
		case <-limit.C:
			t.Fatalf("not within a minute: %s", what)
		}
	}
}

// deliveryCount returns the number of an endpoint's deliveries in a state.
func (s *Service) deliveryCount(ctx context.Context, company, endpointID string, state DeliveryState) (int64, error) {
	_, n, err := s.deliveries(ctx, company, endpointID, state, 1, 0)
	return n, err
}
