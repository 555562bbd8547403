package safehaven

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/provider/sandbox"
	"github.com/kobo-waas/kobo/internal/provider/sandbox/books"
)

// The bank sends a notice again, with growing pauses, until the client responds with 2xx or no
// attempt is left.
func TestNoticesAreTriedAgain(t *testing.T) {
	var knocks, status atomic.Int32
	status.Store(http.StatusInternalServerError)
	client := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		knocks.Add(1)
		if status.Load() == http.StatusFound {
			w.Header().Set("Location", "/elsewhere")
		}
		w.WriteHeader(int(status.Load()))
	}))
	defer client.Close()
	b := newBanker(t, sandbox.Config{})
	b.listen(t, client.URL)
	if err := b.Adopt(t.Context(), "8000000011", "Demo Company", ""); err != nil {
		t.Fatal(err)
	}
	credit := object{"accountNumber": "8000000011", "amount": 100}
	told := func(after time.Duration, want int32) {
		t.Helper()
		if err := b.server.Advance(t.Context(), after); err != nil {
			t.Fatal(err)
		}
		b.settle(t)
		if n := knocks.Load(); n != want {
			t.Errorf("%v later: %d knocks, want %d", after, n, want)
		}
	}
	b.must("POST", "/sandbox/credit", credit)
	told(time.Microsecond, 1)
	status.Store(http.StatusFound) // a redirect is not followed, and does not count as accepted
	told(time.Second, 2)
	for i, wait := range books.Retries[1:] {
		if wait >= 30*time.Second { // longer than a slow machine takes between two steps
			told(wait/2, int32(i)+2)
			wait /= 2
		}
		told(wait, int32(i)+3)
	}
	told(24*time.Hour, 6)

	status.Store(http.StatusAccepted)
	b.must("POST", "/sandbox/credit", credit)
	told(time.Microsecond, 7)
	told(24*time.Hour, 7)
	states, err := db.All(t.Context(), b, db.Value[string], `SELECT state || ' ' || answer FROM sandbox_outbox ORDER BY id`)
	if err != nil || fmt.Sprint(states) != "[given_up HTTP 302 delivered HTTP 202]" {
		t.Errorf("%q %v", states, err)
	}
}

// settle waits until no attempt to send a notice is running.
func (b banker) settle(t *testing.T) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); ; {
		n, err := db.One(t.Context(), b, db.Value[int64], `SELECT COUNT(*) FROM sandbox_outbox WHERE lease_until > 0`)
		if err != nil || time.Now().After(deadline) {
			t.Fatalf("%d notices are still on their way: %v", n, err)
		}
		if n == 0 {
			return
		}
	}
}

// The sandbox refuses a callback URL whose host is a different machine.
func TestCallbacksAreLocal(t *testing.T) {
	b := newBanker(t, sandbox.Config{})
	if err := b.SetCallback("http://example.test/"); err == nil {
		t.Error("a callback elsewhere was accepted")
	}
	if err := b.Adopt(t.Context(), "8000000011", "A", "http://example.test/"); err == nil {
		t.Error("an account with a callback elsewhere was accepted")
	}
}

// A notice that has no callback URL waits until SetCallback sets the default callback URL.
func TestNoticesWaitForAnAddress(t *testing.T) {
	b := newBanker(t, sandbox.Config{})
	if err := b.SetCallback(""); err != nil {
		t.Fatal(err)
	}
	if err := b.Adopt(t.Context(), "8000000011", "A", ""); err != nil {
		t.Fatal(err)
	}
	b.must("POST", "/sandbox/credit", object{"accountNumber": "8000000011", "amount": 100})
	b.silence()
	if err := b.SetCallback(b.told.URL); err != nil {
		t.Fatal(err)
	}
	b.notice()
}

// A credit that was recorded before the process was killed still gets its notice after a restart.
func TestNoticesSurviveAKill(t *testing.T) {
	if path := os.Getenv("SANDBOX_TO_KILL"); path != "" {
		creditUntilKilled(path)
		return
	}
	path, credited := runUntilKilled(t)
	b := newBanker(t, sandbox.Config{Path: path})
	for len(credited) > 0 {
		_, n := b.notice()
		delete(credited, fmt.Sprint(n["sessionId"]))
	}
}

// creditUntilKilled runs in the process that is killed. It makes credits and prints each of them.
// It has no callback, so the notices wait.
func creditUntilKilled(path string) {
	ctx := context.Background()
	bank := &Bank{}
	s, err := sandbox.Open(ctx, sandbox.Config{Path: path}, bank)
	if err == nil {
		err = bank.Adopt(ctx, "8000000011", "A", "")
	}
	for err == nil {
		w := httptest.NewRecorder()
		r := httptest.NewRequest("POST", "/sandbox/credit", strings.NewReader(`{"accountNumber":"8000000011","amount":5}`))
		r.Header.Set("Content-Type", "application/json")
		s.Control().ServeHTTP(w, r)
		_, rest, ok := strings.Cut(w.Body.String(), `"sessionId":"`)
		if w.Code == 200 && ok {
			fmt.Println("done " + rest[:30])
		}
	}
	fmt.Println(err)
	os.Exit(1)
}

// Two programs on the same books send each notice only one time.
func TestTwoProgramsSendEachNoticeOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sandbox.db")
	b := newBanker(t, sandbox.Config{Path: path})
	other := open(t, sandbox.Config{Path: path})
	other.listen(t, b.told.URL)
	if err := other.Adopt(t.Context(), "8000000011", "A", ""); err != nil {
		t.Fatal(err)
	}
	const credits = 40
	for range credits {
		b.must("POST", "/sandbox/credit", object{"accountNumber": "8000000011", "amount": 100})
		other.Nudge()
	}
	seen := map[string]int{}
	for range credits {
		_, n := b.notice()
		seen[fmt.Sprint(n["sessionId"])]++
	}
	b.settle(t)
	b.silence()
	if len(seen) != credits {
		t.Errorf("%d of %d were told", len(seen), credits)
	}
}
