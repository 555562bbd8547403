package safehaven

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/provider/sandbox"
	"github.com/kobo-waas/kobo/internal/provider/sandbox/books"
	"github.com/kobo-waas/kobo/internal/provider/sandbox/sandboxtest"
)

// The handler that Sandbox.Control returns serves the provider ledger. It serves no path of a
// provider, so it can run in the same server as Kobo's API.
func TestProviderLedger(t *testing.T) {
	s := open(t, sandbox.Config{Hold: time.Millisecond})
	p, _ := connect(t, s, s.Clock)
	for _, ending := range []string{"88", "01", "02", "03", "04", "05", "06", "07"} {
		buy := mtn(ending)
		buy.Reference = "ledger-" + ending
		p.Pay(context.Background(), buy)
	}
	c := sandboxtest.NewCaller(t, s.server.Control())
	status, body := c.Do("GET", "/sandbox/provider-ledger", nil)
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
	_, body = c.Do("GET", "/sandbox/provider-ledger/?reference=ledger-04", nil)
	if rows, _ = body["data"].([]any); len(rows) != 1 {
		t.Errorf("one of them: %v", body)
	}
	if status, _ = c.Do("GET", "/vas/services", nil); status != 404 {
		t.Errorf("the provider answers beside the API: HTTP %d", status)
	}
}

// Release ends the responses that the sandbox holds open, so that its server can stop.
func TestRelease(t *testing.T) {
	s := open(t, sandbox.Config{Hold: time.Hour})
	p, _ := connect(t, s, s.Clock)
	s.server.Release()
	buy := mtn("02")
	buy.Reference = "released"
	if a := p.Pay(context.Background(), buy); a.Outcome != provider.Unknown || a.Code != provider.CodeConnection {
		t.Errorf("%+v", a)
	}
}

// Each sale to which the bank responded is in the database file, even if the process is killed
// directly after the response.
func TestBooksSurviveAKill(t *testing.T) {
	if path := os.Getenv("SANDBOX_TO_KILL"); path != "" {
		serveUntilKilled(path)
		return
	}
	path, sold := runUntilKilled(t)
	s := open(t, sandbox.Config{Path: path})
	rows, err := s.requests(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, v := range rows {
		found[v.Reference] = v.Executions > 0
	}
	for reference := range sold {
		if !found[reference] {
			t.Errorf("%s was answered and is not in the books", reference)
		}
	}
	if b, err := s.Balance(t.Context(), debitAccount); err != nil || books.OpeningFloat-b != mtn("88").Amount*money.Kobo(len(rows)) {
		t.Errorf("%d sales and a balance of %v (%v)", len(rows), b, err)
	}
}

// runUntilKilled runs the calling test in a separate process, which reads the path of the books
// from SANDBOX_TO_KILL. It kills that process after 25 output lines that begin with "done".
func runUntilKilled(t *testing.T) (path string, done map[string]bool) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "sandbox.db")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	child := exec.CommandContext(ctx, os.Args[0], "-test.run=^"+t.Name()+"$")
	child.Env = append(os.Environ(), "SANDBOX_TO_KILL="+path)
	out, err := child.StdoutPipe()
	if err == nil {
		err = child.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	done = map[string]bool{}
	for lines := bufio.NewScanner(out); lines.Scan() && len(done) < 25; {
		if what, ok := strings.CutPrefix(lines.Text(), "done "); ok {
			done[what] = true
		}
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = child.Wait() // the error only reports the kill
	if len(done) < 25 {
		t.Fatalf("%d before the kill", len(done))
	}
	return path, done
}

// serveUntilKilled runs in the process that is killed. It makes sales and prints each of them.
func serveUntilKilled(path string) {
	b := &Bank{}
	if _, err := sandbox.Open(context.Background(), sandbox.Config{Path: path}, b); err != nil {
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
		books.Reading(b.Books, b.pay)(w, r)
		if w.Code == 200 {
			fmt.Println("done " + reference)
		}
	}
}
