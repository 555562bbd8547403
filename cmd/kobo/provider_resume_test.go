package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
)

// wire passes requests on to the program of a purse. It may treat the orders of airtime differently.
type wire struct {
	*httptest.Server
	sent    atomic.Int32        // the orders so far
	passing atomic.Int32        // the number of next orders that reach Kobo, if lost is set
	lost    atomic.Bool         // whether no response to an order comes back
	refuse  atomic.Bool         // whether the response to an order is a 400 without a reference
	hold    func(*http.Request) // called before an order is passed on; may be nil
}

func (u *purse) wire() *wire {
	w := &wire{}
	w.Server = httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		isOrder := r.URL.Path == "/api/v1/vtu/purchase-airtime" && r.URL.RawQuery == ""
		if isOrder {
			w.sent.Add(1)
			if w.lost.Load() && w.passing.Add(-1) < 0 {
				w.held(r)
				panic(http.ErrAbortHandler)
			}
		}
		forward := r.Clone(r.Context())
		forward.RequestURI, forward.URL.Scheme, forward.URL.Host = "", "http", strings.TrimPrefix(u.BaseURL, "http://")
		answer, err := http.DefaultTransport.RoundTrip(forward)
		if err != nil {
			u.t.Error(err)
			return
		}
		defer answer.Body.Close()
		if isOrder && w.lost.Load() {
			w.held(r)
			panic(http.ErrAbortHandler)
		}
		out.Header().Set("Kobo-Reason", answer.Header.Get("Kobo-Reason"))
		if isOrder && w.refuse.Load() {
			out.WriteHeader(http.StatusBadRequest)
			return
		}
		out.WriteHeader(answer.StatusCode)
		if _, err := io.Copy(out, answer.Body); err != nil {
			u.t.Error(err)
		}
	}))
	u.t.Cleanup(w.Close)
	u.options.server, u.options.to, u.options.wait = w.URL, "", time.Minute
	return w
}

func (w *wire) held(r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body) // only then does the server notice that the client is gone
	if w.hold != nil {
		w.hold(r)
	}
}

func same(*spendOptions) {}

// If the response to an order is lost, the command repeats the same request. The company pays once.
// Without time to repeat, the outcome is unknown, and the next run settles the order.
func TestSpendRepeatsALostOrder(t *testing.T) {
	u := newPurse(t, dbtest.Dialects[0])
	w := u.wire()
	w.lost.Store(true)
	w.passing.Store(1)
	w.hold = func(*http.Request) { w.lost.Store(false) }
	out, err := u.spend("", same)
	if err != nil || w.sent.Load() != 2 || u.balance() != "999950" {
		t.Errorf("%v, sent %d times, %s:\n%s", err, w.sent.Load(), u.balance(), out)
	}
	u.settled()
	w.lost.Store(true)
	w.passing.Store(1000)
	w.hold = nil
	out, err = u.spend("", func(o *spendOptions) { o.wait = 0 })
	if codeOf(err) != unknown || !strings.Contains(err.Error(), "Idempotency-Key spend-") || strings.Contains(err.Error(), "no money is gone") {
		t.Errorf("without time to repeat: %v:\n%s", err, out)
	}
	w.lost.Store(false)
	out, err = u.spend("", same)
	if err != nil || strings.Count(out, "SUCCESS") != 1 || !strings.Contains(out, "nothing else was sent") || u.balance() != "999900" {
		t.Errorf("the next run: %v, %s:\n%s", err, u.balance(), out)
	}
	u.settled()
}

// A 400 without a reference does not prove that nothing was paid. The command asks Kobo about the
// Idempotency-Key, and follows the operation that the request has begun. Of an order that Kobo
// refused for good, the command reports that no money is gone.
func TestSpendTrustsNoBareRefusal(t *testing.T) {
	u := newPurse(t, dbtest.Dialects[0])
	w := u.wire()
	w.refuse.Store(true)
	out, err := u.spend("", func(o *spendOptions) { o.phone, o.wait = "08031234504", 0 })
	if codeOf(err) != unknown || strings.Contains(out+err.Error(), "no money is gone") || u.balance() != "999950" {
		t.Errorf("%v, %s:\n%s", err, u.balance(), out)
	}
	u.script.advance("1h")
	if out, err = u.spend("", same); err != nil || !strings.Contains(out, "SUCCESS") || u.balance() != "999950" {
		t.Errorf("the next run: %v, %s:\n%s", err, u.balance(), out)
	}
	u.settled()
	out, err = u.spend("", func(o *spendOptions) { o.phone = "08031234501" })
	if codeOf(err) != failed || !strings.Contains(err.Error(), "no money is gone") || u.balance() != "999950" {
		t.Errorf("a declined order: %v, %s:\n%s", err, u.balance(), out)
	}
	u.settled()
}

// A run that is killed leaves the Idempotency-Key on the terminal and the order in the state file. The
// next run settles that order with the same key, so the company pays once. It does not matter whether
// the request has reached Kobo.
func TestAKilledRunPaysOnce(t *testing.T) {
	for name, c := range map[string]struct {
		signal  syscall.Signal
		reaches int32
	}{
		"killed, paid": {syscall.SIGKILL, 1}, "killed, not paid": {syscall.SIGKILL, 0},
		"hung up, paid": {syscall.SIGHUP, 1}, "hung up, not paid": {syscall.SIGHUP, 0},
	} {
		if signal.Ignored(c.signal) {
			t.Logf("%s: left out, because %v is ignored here, as nohup does it, and the command inherits that", name, c.signal)
			continue
		}
		t.Run(name, func(t *testing.T) {
			u := newPurse(t, db.SQLite)
			w := u.wire()
			screen, err := os.Create(filepath.Join(t.TempDir(), "screen"))
			if err != nil {
				t.Fatal(err)
			}
			defer screen.Close()
			o := u.options
			run := exec.CommandContext(t.Context(), "kobo", "provider", "check", "--spend", o.amount, "--company", o.company, "--server", o.server, "--yes",
				"--api-key-file", o.apiKeyFile, "--pin-file", o.pinFile, "--phone", o.phone, "--state", o.state, "--wait", "1h")
			run.Stdout, run.Stderr = screen, screen
			var key atomic.Value
			sent := make(chan struct{})
			w.lost.Store(true)
			w.passing.Store(c.reaches)
			w.hold = func(r *http.Request) {
				if key.CompareAndSwap(nil, r.Header.Get("Idempotency-Key")) {
					close(sent)
				}
				<-r.Context().Done()
			}
			if err := run.Start(); err != nil {
				t.Fatal(err)
			}
			select {
			case <-sent:
			case <-time.After(time.Minute):
				t.Error("no order was sent")
			}
			shown, err := os.ReadFile(screen.Name())
			if k, _ := key.Load().(string); err != nil || k == "" || !strings.Contains(string(shown), k) {
				t.Errorf("the terminal did not show the key %q: %v\n%s", k, err, shown)
			}
			if err := run.Process.Signal(c.signal); err != nil {
				t.Error(err)
			}
			if err := run.Wait(); err == nil || c.signal == syscall.SIGHUP && run.ProcessState.ExitCode() != unknown {
				t.Errorf("it ended with %v", err)
			}
			w.lost.Store(false)
			u.left(t)

			out, err := u.spend("spend 50.00\n", func(o *spendOptions) { o.yes = false })
			if err != nil || strings.Count(out, "SUCCESS") != 1 || u.balance() != "999950" {
				t.Errorf("%v, %s:\n%s", err, u.balance(), out)
			}
			if asked := strings.Contains(out, "To go on, type"); asked != (c.reaches == 0) {
				t.Errorf("a confirmation was asked for: %t\n%s", asked, out)
			}
			u.settled()
			u.Sound(t)
		})
	}
}

// left checks the state file of a run that was killed. Only its owner may read it, and it has no secret.
func (u *purse) left(t *testing.T) {
	t.Helper()
	info, err := os.Stat(u.options.state)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(u.options.state)
	if err != nil || info.Mode().Perm() != 0o600 || strings.Contains(string(text), u.APIKey) || strings.Contains(string(text), `"`+u.PIN+`"`) {
		t.Errorf("%v %v\n%s", info.Mode(), err, text)
	}
	if _, err := u.spend("", func(o *spendOptions) { o.server = u.BaseURL }); err == nil || !strings.Contains(err.Error(), "settle it there first") {
		t.Errorf("the order was settled at a different server: %v", err)
	}
}

// A run does not send an order while the state file has the order of a different run, and does not
// guess what a damaged file means.
func TestSpendRefusesAForeignState(t *testing.T) {
	u := newPurse(t, dbtest.Dialects[0])
	s, err := u.options.spender(1, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	o := order{What: "airtime", Key: "spend-1", Body: map[string]any{"amount": json.Number("50.10")}}
	if err := s.note(o); err != nil {
		t.Fatal(err)
	}
	if err := s.note(o); err == nil || !strings.Contains(err.Error(), "a different run") {
		t.Errorf("a second order: %v", err)
	}
	if got, err := s.unsettled(); err != nil || got.Key != o.Key || got.Body["amount"] != o.Body["amount"] {
		t.Errorf("%+v, %v", got, err)
	}
	if err := os.WriteFile(u.options.state, []byte(`{"Order"`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := u.spend("", same); err == nil || !strings.Contains(err.Error(), "cannot be read") || u.balance() != "1000000" {
		t.Errorf("a damaged file: %v, %s", err, u.balance())
	}
}
