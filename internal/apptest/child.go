package apptest

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/app"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/settlement"
)

// Moment is a point in the program's run at which a Child kills itself, as if the power failed.
type Moment string

// These are the moments. The number at the end counts the commits since the start of the program.
// The program is killed right after that commit, before the code that committed can continue.
const (
	Never        Moment = ""
	FirstCommit  Moment = "commit 1"
	SecondCommit Moment = "commit 2"
	ThirdCommit  Moment = "commit 3"
	Paying       Moment = "paying" // before the payment request is sent to the provider
	Paid         Moment = "paid"   // after the provider's reply to the payment request, before the reply is committed
	Asked        Moment = "asked"  // after the reply to a requery (a request for the status), before its commit
)

// Child is a whole program in a separate process.
type Child struct {
	*Client
	command *exec.Cmd
	log     *childLog
	leash   io.Closer
	dead    chan struct{}
	reaped  sync.Once
}

// These environment variables tell a child process what to do. The program itself does not read
// them.
const (
	childHome   = "KOBO_TEST_CHILD"
	childMoment = "KOBO_TEST_CHILD_DIES"
	childWindow = "KOBO_TEST_CHILD_WINDOW"
)

// Main runs a package's tests. In a process that Spawn has started, it runs the program
// instead. A package that uses Spawn calls Main from its TestMain.
func Main(m *testing.M) {
	do := childMain
	if what := os.Getenv(childCopying); what != "" {
		do = func() error { return copyingMain(what) }
	} else if os.Getenv(childHome) == "" {
		os.Exit(m.Run())
	}
	if err := do(); err != nil {
		fmt.Fprintln(os.Stderr, "child:", err)
		os.Exit(1)
	}
}

// Spawn runs a program of this home in a separate process. The process kills itself at the moment
// dies. It is killed at the latest when the test ends.
func (h Home) Spawn(t testing.TB, dies Moment, window time.Duration) *Child {
	t.Helper()
	where, err := json.Marshal(h)
	if err != nil {
		t.Fatal(err)
	}
	command := exec.Command(os.Args[0])
	command.Env = append(os.Environ(),
		childHome+"="+string(where), childMoment+"="+string(dies), childWindow+"="+window.String())
	log := &childLog{}
	command.Stderr = log
	leash, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := command.StdoutPipe()
	if err == nil {
		err = command.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	c := &Child{command: command, log: log, leash: leash, dead: make(chan struct{})}
	t.Cleanup(func() { c.Kill() })
	line, err := bufio.NewReader(out).ReadString('\n')
	var credentials app.Credentials
	if err == nil {
		err = json.Unmarshal([]byte(line), &credentials)
	}
	if err != nil {
		t.Fatalf("apptest: the child did not start: %v", err)
	}
	c.Client = newClient(t, credentials)
	return c
}

// PID returns the child's process id.
func (c *Child) PID() int { return c.command.Process.Pid }

// Log returns what the child has logged so far.
func (c *Child) Log() string {
	c.log.mu.Lock()
	defer c.log.mu.Unlock()
	return c.log.text.String()
}

// childLog stores the log of a child, and copies it to standard error.
type childLog struct {
	mu   sync.Mutex
	text strings.Builder
}

// Write stores a piece of the log and copies it to standard error.
func (l *childLog) Write(b []byte) (int, error) {
	l.mu.Lock()
	l.text.Write(b)
	l.mu.Unlock()
	return os.Stderr.Write(b)
}

// Kill kills the child immediately and waits for its end.
func (c *Child) Kill() {
	_ = c.command.Process.Kill() // the process may have ended already
	c.Dead()
}

// Dead waits for the end of the child.
func (c *Child) Dead() {
	c.reaped.Do(func() {
		_ = c.command.Wait() // "signal: killed" is the expected error
		_ = c.leash.Close()
		if c.Client != nil {
			c.http.CloseIdleConnections()
		}
		close(c.dead)
	})
	<-c.dead
}

// childMain runs the program in the child's process. It writes its credentials to standard
// output, and ends when its parent ends.
func childMain() error {
	var h Home
	if err := json.Unmarshal([]byte(os.Getenv(childHome)), &h); err != nil {
		return err
	}
	window, err := time.ParseDuration(os.Getenv(childWindow))
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin) // returns when the parent ends
		stop()
	}()
	dies := Moment(os.Getenv(childMoment))
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))
	options := []Option{
		Window(window), Around(func(b provider.Biller) provider.Biller { return mortal{b, dies} }),
		AroundBanks(func(b provider.Bank) provider.Bank { return mortalBank{b, dies} }),
	}
	a, credentials, err := app.OpenDev(ctx, h.config(options), false, log)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	credentials.BaseURL = "http://" + listener.Addr().String()
	dieAtCommit(a, dies)
	return a.Run(ctx, listener, func() {
		_ = json.NewEncoder(os.Stdout).Encode(credentials) // without a parent, no process reads the credentials
	})
}

// dieAtCommit makes the process kill itself at the chosen commit of the ledger, counted from now
// on. A commit that is only for the company `house` does not count.
func dieAtCommit(a *app.App, dies Moment) {
	last, commits := strings.CutPrefix(string(dies), "commit ")
	if !commits {
		return
	}
	n := 0
	a.Book.Committed(func(companies []string) {
		if len(companies) == 1 && companies[0] == settlement.House {
			return
		}
		if n++; fmt.Sprint(n) == last {
			die()
		}
	})
}

// die kills the process immediately, so not even a deferred call runs.
func die() {
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = self.Kill()
	}
	if err != nil {
		panic(err)
	}
	select {}
}

// mortal is a biller that kills the program at a chosen moment.
type mortal struct {
	provider.Biller
	dies Moment
}

// Pay kills the program before or after the payment, if the test has chosen that moment.
func (m mortal) Pay(ctx context.Context, p provider.Purchase) provider.Answer {
	if m.dies == Paying {
		die()
	}
	a := m.Biller.Pay(ctx, p)
	if m.dies == Paid {
		die()
	}
	return a
}

// Requery kills the program after the biller's reply about the status, if the test has chosen that
// moment.
func (m mortal) Requery(ctx context.Context, s provider.Sale) provider.Answer {
	a := m.Biller.Requery(ctx, s)
	if m.dies == Asked {
		die()
	}
	return a
}

// mortalBank is a bank that kills the program at a chosen moment.
type mortalBank struct {
	provider.Bank
	dies Moment
}

// Transfer kills the program before or after the payment, if the test has chosen that moment.
func (m mortalBank) Transfer(ctx context.Context, t provider.TransferOrder) provider.TransferAnswer {
	if m.dies == Paying {
		die()
	}
	a := m.Bank.Transfer(ctx, t)
	if m.dies == Paid {
		die()
	}
	return a
}

// RequeryTransfer kills the program after the bank's reply about the status, if the test has chosen
// that moment.
func (m mortalBank) RequeryTransfer(ctx context.Context, reference string) provider.TransferAnswer {
	a := m.Bank.RequeryTransfer(ctx, reference)
	if m.dies == Asked {
		die()
	}
	return a
}
