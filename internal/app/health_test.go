package app

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
)

// While another connection locks the database file, SQLite ignores the context of a query. /readyz
// must still respond in time.
func TestReadyWaitsForNoLock(t *testing.T) {
	ctx := context.WithoutCancel(t.Context())
	cfg := DevConfig(t.TempDir(), "")
	a, _, err := OpenDev(ctx, cfg, false, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	other, err := db.Open(ctx, a.cfg.Database)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	err = other.Tx(ctx, func(db.Querier) error {
		soon, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
		defer cancel()
		w, answered := httptest.NewRecorder(), make(chan struct{})
		go func() {
			defer close(answered)
			a.ready(w, httptest.NewRequestWithContext(soon, http.MethodGet, "/readyz", nil))
		}()
		patience := time.NewTimer(4 * time.Second) // SQLite waits for five seconds
		defer patience.Stop()
		select {
		case <-answered:
		case <-patience.C:
			t.Error("no answer while the file is locked")
			<-answered
		}
		said := map[string]string{}
		if err := json.Unmarshal(w.Body.Bytes(), &said); err != nil {
			return err
		}
		if w.Code != http.StatusServiceUnavailable || said["database"] != "away" {
			t.Errorf("%d %v", w.Code, said)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Four eyes are on in live mode and in staging mode, and off in the sandbox. A program without them says so in /readyz and
// in its log.
func TestAProgramSaysThatFourEyesAreOff(t *testing.T) {
	for _, c := range []struct {
		mode    Mode
		setting string
		want    bool
	}{{Live, "", true}, {Live, "off", false}, {Live, "on", true}, {Staging, "", true}, {Staging, "off", false}, {Sandbox, "", false}, {Sandbox, "on", true}} {
		if got := (Config{Mode: c.mode, FourEyes: c.setting}).NeedsTwo(); got != c.want {
			t.Errorf("%s %q: %v", c.mode, c.setting, got)
		}
	}
	for setting, off := range map[string]string{"off": "off", "on": ""} {
		ctx, log := context.WithoutCancel(t.Context()), &bytes.Buffer{}
		cfg := DevConfig(t.TempDir(), "")
		cfg.FourEyes = setting
		a, _, err := OpenDev(ctx, cfg, false, slog.New(slog.NewTextHandler(log, nil)))
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		a.sayFourEyes(ctx)
		w, said := httptest.NewRecorder(), map[string]string{}
		a.ready(w, httptest.NewRequestWithContext(ctx, http.MethodGet, "/readyz", nil))
		if err := json.Unmarshal(w.Body.Bytes(), &said); err != nil || said["four_eyes"] != off {
			t.Errorf("%s: %v, %v", setting, said, err)
		}
		if strings.Contains(log.String(), "four_eyes is off") != (off == "off") {
			t.Errorf("%s: %s", setting, log)
		}
	}
}

// Each mode states its environment.
func TestHealthStatesTheEnvironment(t *testing.T) {
	for want, a := range map[string]*App{
		"live": {cfg: Config{Mode: Live}}, "staging": {cfg: Config{Mode: Staging}}, "dev": {cfg: Config{Mode: Sandbox}},
	} {
		w := httptest.NewRecorder()
		a.healthy(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/healthz", nil))
		said := map[string]string{}
		if err := json.Unmarshal(w.Body.Bytes(), &said); err != nil || said["environment"] != want || said["status"] != "ok" {
			t.Errorf("%s: %v, %v", want, said, err)
		}
	}
}

// A database that does not answer in time has not said that it belongs to another program.
func TestASlowDatabaseIsNotOfAnotherProgram(t *testing.T) {
	for _, one := range []struct {
		err  error
		want string
	}{
		{fmt.Errorf("reading the schema: %w", context.DeadlineExceeded), "unknown"},
		{context.Canceled, "unknown"},
		{io.ErrUnexpectedEOF, "unknown"},
		{errors.New("the database has schema 1 and this program needs 2: run kobo migrate"), "not those of this program"},
	} {
		if got := misfit(one.err); got != one.want {
			t.Errorf("%v: %s", one.err, got)
		}
	}
}

// A flood of requests for /readyz costs the database a few checks, and leaves the program ready.
func TestAFloodOfReadinessChecksIsReady(t *testing.T) {
	for _, dialect := range dbtest.Servers() {
		t.Run(string(dialect), func(t *testing.T) {
			cfg := DevConfig(t.TempDir(), dbtest.EmptyURL(t, dialect))
			cfg.ExperimentalCitus = dbtest.HasCitus()
			if dialect == db.Postgres {
				cfg.Database += "&pool_max_conns=4"
			}
			a, _, _ := serving(t, cfg, io.Discard)
			var refused, made atomic.Int64
			a.probe.mu.Lock()
			a.probe.check = func(ctx context.Context) checked {
				made.Add(1)
				return a.checkDatabase(ctx)
			}
			a.probe.mu.Unlock()
			began := time.Now()
			var all sync.WaitGroup
			for range 1000 {
				all.Go(func() {
					w := httptest.NewRecorder()
					a.ready(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/readyz", nil))
					if w.Code != http.StatusOK && refused.Add(1) == 1 {
						t.Error(w.Body)
					}
				})
			}
			all.Wait()
			if n, most := made.Load(), 1+int64(time.Since(began)/probeKeep); refused.Load() > 0 || n > most {
				t.Errorf("%d are not ready, and the database was checked %d times, at most %d", refused.Load(), n, most)
			}
		})
	}
}

// The outcome of a check is kept for a second, and a waiting request stops the check of nobody else.
func TestTheOutcomeOfAReadinessCheckIsKeptForASecond(t *testing.T) {
	machine := clock.At(time.Now())
	answers := make(chan checked)
	p := probe{clock: machine, check: func(context.Context) checked { return <-answers }}
	away := checked{away: io.ErrUnexpectedEOF}
	gone, leave := context.WithCancel(t.Context())
	leave()
	if got := p.outcome(gone); !errors.Is(got.away, context.Canceled) {
		t.Errorf("a request that has gone: %v", got)
	}
	answers <- away // of the check that the request began
	for i, want := range []checked{away, away, {}, {}} {
		if i == 2 {
			machine.Advance(probeKeep)
			go func() { answers <- checked{} }()
		}
		if got := p.outcome(t.Context()); got != want {
			t.Errorf("%d: %v", i, got)
		}
	}
}
