package sandbox_test

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/provider/sandbox"
	"github.com/kobo-waas/kobo/internal/provider/sandbox/books"
	"github.com/kobo-waas/kobo/internal/provider/sandbox/sandboxtest"
)

func TestTheClockMoves(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sandbox.db")
	clk := new(clock.Movable)
	s := sandboxtest.Open(t, sandbox.Config{Path: path, Clock: clk})
	var told []time.Duration
	s.OnAdvance(func(_ context.Context, offset time.Duration) (bool, error) {
		if clk.Offset() != offset {
			t.Errorf("told %v before the clock was there", offset)
		}
		told = append(told, offset)
		return len(told) > 1, nil
	})
	c := sandboxtest.NewCaller(t, s.Handler())
	if status, body := c.Do("GET", "/sandbox/clock", nil); status != 200 || body["offset"] != "0s" {
		t.Errorf("HTTP %d %v", status, body)
	}
	for _, step := range []struct{ advance, offset string }{{"2h", "2h0m0s"}, {"90s", "2h1m30s"}} {
		status, body := c.Do("POST", "/sandbox/clock", map[string]string{"advance": step.advance})
		now, err := time.Parse("2006-01-02T15:04:05.000Z", fmt.Sprint(body["now"]))
		if status != 200 || body["offset"] != step.offset || body["settled"] != (len(told) > 1) || err != nil || time.Since(now) > -time.Hour {
			t.Errorf("HTTP %d %v", status, body)
		}
	}
	if fmt.Sprint(told) != "[2h0m0s 2h1m30s]" {
		t.Errorf("told %v", told)
	}

	again := new(clock.Movable)
	sandboxtest.Open(t, sandbox.Config{Path: path, Clock: again})
	if again.Offset() != 2*time.Hour+90*time.Second {
		t.Errorf("after a new start the clock is %v ahead", again.Offset())
	}
}

func TestAControlThatIsAwaySaysWhenToAskAgain(t *testing.T) {
	s := sandboxtest.Open(t, sandbox.Config{Clock: new(clock.Movable)})
	s.OnAdvance(func(context.Context, time.Duration) (bool, error) { return false, fault.New(fault.Unavailable, "away") })
	w, r := httptest.NewRecorder(), httptest.NewRequest("POST", "/sandbox/clock", strings.NewReader(`{"advance":"1h"}`))
	r.Header.Set("Content-Type", "application/json")
	s.Control().ServeHTTP(w, r)
	if w.Code != 503 || w.Header().Get("Retry-After") != "5" {
		t.Errorf("HTTP %d %v %s", w.Code, w.Header(), w.Body)
	}
}

func TestControlsAnswerBadInput(t *testing.T) {
	s := sandboxtest.Open(t, sandbox.Config{})
	c := sandboxtest.NewCaller(t, s.Handler())
	for _, body := range []string{
		"", "{", "[]", `"2h"`, `{}`, `{"advance":""}`, `{"advance":"2"}`, `{"advance":2}`, `{"advance":"-2h"}`, `{"advance":"0s"}`,
		`{"advance":"999999h"}`, `{"advance":"9999999999h"}`, `{"advance":"2h","to":1}`, `{"advance":"2h"}{}`,
		`{"advance":"` + strings.Repeat("1", 70000) + `"}`,
	} {
		status, got := c.Do("POST", "/sandbox/clock", body)
		want := 400
		if len(body) > books.RequestLimit {
			want = 413
		}
		if status != want || got["status"] != "error" || got["message"] == "" {
			t.Errorf("%.40s: HTTP %d %v", body, status, got)
		}
	}
	for range 2 { // the first move reaches the limit of ten years, and the second is refused
		c.Do("POST", "/sandbox/clock", `{"advance":"87600h"}`)
	}
	if status, got := c.Do("POST", "/sandbox/clock", `{"advance":"1ms"}`); status != 400 {
		t.Errorf("beyond the farthest: HTTP %d %v", status, got)
	}
	if s.Clock.Offset() != 10*365*24*time.Hour {
		t.Errorf("the clock is %v ahead", s.Clock.Offset())
	}
	if status, got := c.Do("GET", "/sandbox/nothing", nil); status != 404 || got["status"] != "error" {
		t.Errorf("HTTP %d %v", status, got)
	}
	if status, got := c.Do("DELETE", "/sandbox/clock", nil); status != 405 || got["status"] != "error" {
		t.Errorf("HTTP %d %v", status, got)
	}
	s = sandboxtest.Open(t, sandbox.Config{})
	s.OnAdvance(func(context.Context, time.Duration) (bool, error) { return false, errors.New("disk on fire") })
	c = sandboxtest.NewCaller(t, s.Handler())
	if status, got := c.Do("POST", "/sandbox/clock", `{"advance":"1h"}`); status != 500 || got["message"] != "Internal Server Error" {
		t.Errorf("HTTP %d %v", status, got)
	}
}

// Two programs on the same books may each move the clock before they have seen the move of the other.
func TestMovesOfTwoProgramsAddUp(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sandbox.db")
	one, other := sandboxtest.Open(t, sandbox.Config{Path: path}), sandboxtest.Open(t, sandbox.Config{Path: path})
	for i, s := range []*sandbox.Sandbox{one, other, one} {
		if err := s.Advance(t.Context(), time.Hour); err != nil {
			t.Fatal(err)
		}
		if want := time.Duration(i+1) * time.Hour; s.Clock.Offset() != want {
			t.Errorf("after move %d the clock is %v ahead", i+1, s.Clock.Offset())
		}
	}
	if err := other.Follow(t.Context()); err != nil || other.Clock.Offset() != 3*time.Hour {
		t.Errorf("the other program's clock is %v ahead (%v)", other.Clock.Offset(), err)
	}
}
