package sandbox

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/provider"
)

func TestTheClockMoves(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sandbox.db")
	clk := new(clock.Movable)
	s := open(t, Config{Path: path, Clock: clk})
	var told []time.Duration
	s.OnAdvance(func(_ context.Context, offset time.Duration) error {
		if clk.Offset() != offset {
			t.Errorf("told %v before the clock was there", offset)
		}
		told = append(told, offset)
		return nil
	})
	c := byHand(t, s)
	if status, body := c.do("GET", "/sandbox/clock", nil); status != 200 || body["offset"] != "0s" {
		t.Errorf("HTTP %d %v", status, body)
	}
	for _, step := range []struct{ advance, offset string }{{"2h", "2h0m0s"}, {"90s", "2h1m30s"}} {
		status, body := c.do("POST", "/sandbox/clock", map[string]string{"advance": step.advance})
		now, err := time.Parse("2006-01-02T15:04:05.000Z", fmt.Sprint(body["now"]))
		if status != 200 || body["offset"] != step.offset || err != nil || time.Since(now) > -time.Hour {
			t.Errorf("HTTP %d %v", status, body)
		}
	}
	if fmt.Sprint(told) != "[2h0m0s 2h1m30s]" {
		t.Errorf("told %v", told)
	}

	again := new(clock.Movable)
	open(t, Config{Path: path, Clock: again})
	if again.Offset() != 2*time.Hour+90*time.Second {
		t.Errorf("after a new start the clock is %v ahead", again.Offset())
	}
}

func TestAControlThatIsAwaySaysWhenToAskAgain(t *testing.T) {
	s := open(t, Config{Clock: new(clock.Movable)})
	s.OnAdvance(func(context.Context, time.Duration) error { return fault.New(fault.Unavailable, "away") })
	w, r := httptest.NewRecorder(), httptest.NewRequest("POST", "/sandbox/clock", strings.NewReader(`{"advance":"1h"}`))
	r.Header.Set("Content-Type", "application/json")
	s.Control().ServeHTTP(w, r)
	if w.Code != 503 || w.Header().Get("Retry-After") != "5" {
		t.Errorf("HTTP %d %v %s", w.Code, w.Header(), w.Body)
	}
}

func TestControlsAnswerBadInput(t *testing.T) {
	s := open(t, Config{})
	c := byHand(t, s)
	for _, body := range []string{
		"", "{", "[]", `"2h"`, `{}`, `{"advance":""}`, `{"advance":"2"}`, `{"advance":2}`, `{"advance":"-2h"}`, `{"advance":"0s"}`,
		`{"advance":"999999h"}`, `{"advance":"9999999999h"}`, `{"advance":"2h","to":1}`, `{"advance":"2h"}{}`,
		`{"advance":"` + strings.Repeat("1", 70000) + `"}`,
	} {
		status, got := c.do("POST", "/sandbox/clock", body)
		want := 400
		if len(body) > requestLimit {
			want = 413
		}
		if status != want || got["status"] != "error" || got["message"] == "" {
			t.Errorf("%.40s: HTTP %d %v", body, status, got)
		}
	}
	for range 2 { // ten years at once, but not ten more
		c.do("POST", "/sandbox/clock", `{"advance":"87600h"}`)
	}
	if status, got := c.do("POST", "/sandbox/clock", `{"advance":"1ms"}`); status != 400 {
		t.Errorf("beyond the farthest: HTTP %d %v", status, got)
	}
	if s.clock.Offset() != farthest {
		t.Errorf("the clock is %v ahead", s.clock.Offset())
	}
	if status, got := c.do("GET", "/sandbox/nothing", nil); status != 404 || got["status"] != "error" {
		t.Errorf("HTTP %d %v", status, got)
	}
	if status, got := c.do("DELETE", "/sandbox/clock", nil); status != 405 || got["status"] != "error" {
		t.Errorf("HTTP %d %v", status, got)
	}
	s.OnAdvance(func(context.Context, time.Duration) error { return errors.New("disk on fire") })
	s.clock = new(clock.Movable)
	if status, got := c.do("POST", "/sandbox/clock", `{"advance":"1h"}`); status != 500 || got["message"] != "Internal Server Error" {
		t.Errorf("HTTP %d %v", status, got)
	}
}

// Control alone shows no path of the provider, so it can be mounted beside the
// API.
func TestProviderLedger(t *testing.T) {
	s := open(t, Config{Hold: time.Millisecond})
	p, _ := plug(t, s, s.clock)
	for _, ending := range []string{"88", "01", "02", "03", "04", "05", "06", "07"} {
		buy := mtn(ending)
		buy.Reference = "ledger-" + ending
		p.Pay(context.Background(), buy)
	}
	server := httptest.NewServer(s.Control())
	defer server.Close()
	c := &caller{t: t, base: server.URL, header: map[string][]string{}}
	status, body := c.do("GET", "/sandbox/provider-ledger", nil)
	rows, _ := body["data"].([]any)
	var got []string
	for _, r := range rows {
		row := r.(map[string]any)
		got = append(got, fmt.Sprint(row["reference"], row["kind"], row["amount"], row["status"], row["number"], row["executions"]))
	}
	want := "ledger-88data800successful0803*****881 ledger-02data800successful0803*****021 ledger-04data800successful0803*****041"
	if status != 200 || body["status"] != "success" || strings.Join(got, " ") != want {
		t.Errorf("HTTP %d %v\nwant %s", status, got, want)
	}
	_, body = c.do("GET", "/sandbox/provider-ledger/?reference=ledger-04", nil)
	if rows, _ = body["data"].([]any); len(rows) != 1 {
		t.Errorf("one of them: %v", body)
	}
	if status, _ = c.do("GET", "/vas/services", nil); status != 404 {
		t.Errorf("the provider answers beside the API: HTTP %d", status)
	}
}

// Release ends the answers that are held, so that a server can stop.
func TestRelease(t *testing.T) {
	s := open(t, Config{Hold: time.Hour})
	p, _ := plug(t, s, s.clock)
	s.Release()
	buy := mtn("02")
	buy.Reference = "released"
	if a := p.Pay(context.Background(), buy); a.Outcome != provider.Unknown || a.Code != provider.CodeConnection {
		t.Errorf("%+v", a)
	}
}

// What was answered is in the books when the process is killed the moment after.
func TestBooksSurviveAKill(t *testing.T) {
	if path := os.Getenv("SANDBOX_TO_KILL"); path != "" {
		serveUntilKilled(path)
		return
	}
	path := filepath.Join(t.TempDir(), "sandbox.db")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	child := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestBooksSurviveAKill$")
	child.Env = append(os.Environ(), "SANDBOX_TO_KILL="+path)
	out, err := child.StdoutPipe()
	if err == nil {
		err = child.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	sold := map[string]bool{}
	for lines := bufio.NewScanner(out); lines.Scan() && len(sold) < 25; {
		if reference, ok := strings.CutPrefix(lines.Text(), "sold "); ok {
			sold[reference] = true
		}
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = child.Wait() // it was killed, and says so
	s := open(t, Config{Path: path})
	rows, err := s.executed(t.Context(), "")
	if err != nil || len(sold) < 25 {
		t.Fatalf("%d sold before the kill: %v", len(sold), err)
	}
	found := map[string]bool{}
	for _, v := range rows {
		found[v.reference] = true
	}
	for reference := range sold {
		if !found[reference] {
			t.Errorf("%s was answered and is not in the books", reference)
		}
	}
	if b, err := s.balance(t.Context()); err != nil || openingFloat-b != mtn("88").Amount*money.Kobo(len(rows)) {
		t.Errorf("%d sales and a balance of %v (%v)", len(rows), b, err)
	}
}

// serveUntilKilled is the process that is killed: it sells and says so.
func serveUntilKilled(path string) {
	s, err := Open(context.Background(), Config{Path: path})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	for i := 0; ; i++ {
		reference := fmt.Sprintf("kill-%06d", i)
		body, err := json.Marshal(payment(reference, "08031234588"))
		if err != nil {
			os.Exit(1)
		}
		r := httptest.NewRequest("POST", "/vas/pay/data", strings.NewReader(string(body)))
		r.SetPathValue("kind", "data")
		w := httptest.NewRecorder()
		s.pay(w, r)
		if w.Code == 200 {
			fmt.Println("sold " + reference)
		}
	}
}
