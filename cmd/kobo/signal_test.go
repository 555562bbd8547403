package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/secret"
)

// serving starts kobo serve in sandbox mode, and returns the process and its base URL.
func serving(t *testing.T, settings ...string) (c *exec.Cmd, base string) {
	t.Helper()
	c = exec.CommandContext(t.Context(), "kobo", "serve") // TestMain has put kobo into the PATH
	c.Env = append(os.Environ(), "KOBO_MODE=sandbox", "KOBO_LISTEN=127.0.0.1:0", "KOBO_DATA="+t.TempDir(),
		"KOBO_DATABASE="+dbtest.URL(t, db.SQLite), "KOBO_MASTER_KEY="+secret.Generate())
	c.Env = append(c.Env, settings...)
	log, err := c.StderrPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(log)
	for lines.Scan() {
		var said struct{ Msg, Address string }
		if json.Unmarshal(lines.Bytes(), &said) == nil && said.Msg == "listening" {
			go func() { _, _ = io.Copy(io.Discard, log) }() // otherwise the program would block when the pipe is full
			return c, "http://" + said.Address
		}
	}
	t.Fatalf("kobo serve did not listen: %v", c.Wait())
	return nil, ""
}

// answers waits until /readyz responds with this status, and returns the response.
func answers(t *testing.T, base string, want int) *http.Response {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	look := time.NewTicker(15 * time.Millisecond)
	defer look.Stop()
	for {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/readyz", nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := http.DefaultClient.Do(r)
		if err == nil {
			_, err = io.Copy(io.Discard, res.Body)
			err = errors.Join(err, res.Body.Close())
		}
		if err == nil && res.StatusCode == want {
			return res
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			t.Fatalf("/readyz is not %d: %v", want, err)
		}
	}
}

// After the first signal, the program still completes its running requests, here for up to ten
// minutes. A second signal ends the program immediately.
func TestASecondSignalEndsTheProgramAtOnce(t *testing.T) {
	c, base := serving(t, "KOBO_SERVE_DRAIN=10m")
	answers(t, base, http.StatusOK)
	if err := c.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if last := answers(t, base, http.StatusServiceUnavailable); !last.Close {
		t.Error("an answer of a program that leaves is not the last on its connection")
	}
	if err := c.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	select {
	case err := <-ended:
		if c.ProcessState.ExitCode() != 1 {
			t.Errorf("it ended with %v", err)
		}
	case <-time.After(time.Minute):
		t.Error("it goes on draining")
	}
}
