package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/api"
	"github.com/kobo-waas/kobo/internal/api/apitest"
	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/company"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/idempotency"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/secret"
)

// broken replaces the business services, so every operation fails. Its Authenticate accepts one
// token. Each operation returns the error that say returns. If say returns nil, the response is an
// empty 200.
type broken struct{ say func() error }

const secretCause = "pq: password of kobo is hunter2"

func (b broken) Authenticate(_ context.Context, token string) (company.Identity, error) {
	if token == "let-me-in" {
		return company.Identity{Reference: "c123"}, nil
	}
	return company.Identity{}, errors.New(secretCause)
}

func (b broken) around(api.StrictHandlerFunc, string) api.StrictHandlerFunc {
	return func(context.Context, http.ResponseWriter, *http.Request, any) (any, error) { return nil, b.say() }
}

// lines is a log that a test can read while other goroutines write.
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

// config returns an API configuration without business services, and the API's log.
func (b broken) config() (api.Config, *lines) {
	log := &lines{}
	return api.Config{
		Authenticate: b.Authenticate, Around: []api.StrictMiddlewareFunc{b.around},
		Clock: clock.At(time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)), Log: slog.New(slog.NewJSONHandler(log, nil)),
	}, log
}

// stand returns a new database, with the keys and the ledger that every business service needs.
func stand(t testing.TB, c clock.Clock) (*db.DB, *secret.Keyring, *ledger.Book) {
	t.Helper()
	d := dbtest.New(t, db.SQLite)
	ring, err := secret.Parse(secret.Generate())
	if err != nil {
		t.Fatal(err)
	}
	book := ledger.New(d, c)
	t.Cleanup(book.Drain)
	return d, ring, book
}

// keys returns a real store of Idempotency-Keys for the company c123.
func keys(t *testing.T, c clock.Clock) *idempotency.Service {
	t.Helper()
	d, ring, book := stand(t, c)
	if err := book.Commit(t.Context(), ledger.Found("c123")); err != nil {
		t.Fatal(err)
	}
	return idempotency.NewService(d, book, c, ring)
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

// Transcripts also show the error responses that a healthy program never sends.
func TestTranscriptsOfFailures(t *testing.T) {
	unexpected := func() error { return errors.New(secretCause) }
	days := map[string]struct {
		say    func() error
		limits *api.Limits
	}{
		"unexpected":  {say: unexpected},
		"panic":       {say: func() error { panic(secretCause) }},
		"unavailable": {say: func() error { return fault.New(fault.Unavailable, "the database is away").Because(unexpected()) }},
		"bank_refuses": {say: func() error {
			f := fault.New(fault.Refused, "Failed to create COOP subaccount").With(fault.Declined)
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
			config, _ := broken{day.say}.config()
			config.Limits, config.Keys = day.limits, keys(t, config.Clock)
			player := apitest.New(t, serve(t, config), func(testing.TB) map[string]string { return map[string]string{} })
			player.Play(t, os.DirFS("testdata"), file)
			for _, key := range []string{"key", "one"} {
				if use, err := config.Keys.Used(t.Context(), "c123", key); !fault.Is(err, fault.Missing) {
					t.Errorf("an answer that is not the operation's own was frozen: %+v, %v", use, err)
				}
			}
		})
	}
}

// Without the database, every operation responds with "Internal Server Error". The response does
// not show the cause, but the log does.
func TestEveryOperationFailsWithoutItsDatabase(t *testing.T) {
	w, log := newWorld(t), &lines{}
	w.Authenticate = func(context.Context, string) (company.Identity, error) {
		return company.Identity{Reference: w.reference}, nil
	}
	w.Log = slog.New(slog.NewJSONHandler(log, nil))
	_, url := w.serve(t)
	_, refresh, err := w.stage.Companies.Tokens(t.Context(), w.reference, w.given["api_key"])
	if err != nil {
		t.Fatal(err)
	}
	w.db.Close()
	parameters := strings.NewReplacer("{reference}", w.reference, "{networkId}", w.Crypto.ListNetworks()[0].ID, "{", "", "}", "")
	failed := 0
	for path, item := range document(t).Paths.Map() {
		for method, o := range item.Operations() {
			if !strings.HasPrefix(path, "/api/") || o.OperationID == "listCryptoNetworks" || ofPeople[o.OperationID] { // the list of networks is in memory
				continue
			}
			body, header, status := "", []string{"Authorization", "Bearer let-me-in", "x-api-key", "key"}, http.StatusInternalServerError
			if o.RequestBody != nil {
				example, err := json.Marshal(o.RequestBody.Value.Content["application/json"].Example)
				if err != nil {
					t.Fatal(err)
				}
				body, header = string(example), append(header, "Content-Type", "application/json")
			}
			switch o.OperationID {
			case "generateToken":
				status = http.StatusBadRequest
			case "refreshAccessToken":
				body = fmt.Sprintf(`{"refreshToken":%q}`, refresh)
			case "findStatement":
				path += "?settlementId=1"
			case "listDailyTotals":
				path += "?settlementId=1&from=2030-01-02&to=2030-01-03"
			case "proveConsistency":
				path += "?from=1"
			}
			answer, text := send(t, method, url+parameters.Replace(path), body, header...)
			if answer.StatusCode != status || !strings.Contains(text, `"Internal Server Error"`) {
				t.Errorf("%s: %d %s", o.OperationID, answer.StatusCode, text)
			}
			failed++
		}
	}
	cause := "database is closed"
	if w.db.Dialect() == db.Postgres {
		cause = "closed pool"
	}
	if n := strings.Count(log.String(), cause); failed < 60 || n != failed {
		t.Errorf("%d operations failed, and the log has %d causes", failed, n)
	}
}
