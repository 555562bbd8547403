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

// Moment is one at which a Child kills itself, as if the power had gone.
type Moment string

// The moments. Of those that end in a number that of the commits since the start
// is meant; the program is killed when the database has it and nobody has been
// told.
const (
	Never        Moment = ""
	FirstCommit  Moment = "commit 1"
	SecondCommit Moment = "commit 2"
	ThirdCommit  Moment = "commit 3"
	Paying       Moment = "paying" // the provider is about to be asked to pay
	Paid         Moment = "paid"   // it has answered, and we have not written it down
	Asked        Moment = "asked"  // it has answered what became of a payment
)

// Child is a whole program in a process of its own.
type Child struct {
	*Client
	command *exec.Cmd
	log     *childLog
	leash   io.Closer
	dead    chan struct{}
	reaped  sync.Once
}

// What the child is told by its parent. The test harness's own variables are
// nothing to the program's configuration.
const (
	childHome   = "KOBO_TEST_CHILD"
	childMoment = "KOBO_TEST_CHILD_DIES"
	childWindow = "KOBO_TEST_CHILD_WINDOW"
)

// Main runs a package's tests, or, in a process that Spawn has made, the
// program. A package that spawns has it for its TestMain.
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

// Spawn runs a program in this home in a process of its own, which kills itself
// at the given moment, or is killed at the latest when the test ends.
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

// PID is the child's number among the machine's processes.
func (c *Child) PID() int { return c.command.Process.Pid }

// Log is what the child has written to its log so far.
func (c *Child) Log() string {
	c.log.mu.Lock()
	defer c.log.mu.Unlock()
	return c.log.text.String()
}

// childLog keeps what a child writes to its log, and shows it.
type childLog struct {
	mu   sync.Mutex
	text strings.Builder
}

// Write keeps and shows a piece of the log.
func (l *childLog) Write(b []byte) (int, error) {
	l.mu.Lock()
	l.text.Write(b)
	l.mu.Unlock()
	return os.Stderr.Write(b)
}

// Kill ends the child on the spot, in the middle of whatever it does, and waits
// until it is gone.
func (c *Child) Kill() {
	_ = c.command.Process.Kill() // it may have died by itself: Dead waits either way
	c.Dead()
}

// Dead waits until the child is gone.
func (c *Child) Dead() {
	c.reaped.Do(func() {
		_ = c.command.Wait() // "signal: killed" is what we want to hear
		_ = c.leash.Close()
		if c.Client != nil {
			c.http.CloseIdleConnections()
		}
		close(c.dead)
	})
	<-c.dead
}

// childMain is the program in the child's process. It says its credentials on
// standard output, and ends when its parent does.
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
		_, _ = io.Copy(io.Discard, os.Stdin) // ends with the parent, however that ends
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
		_ = json.NewEncoder(os.Stdout).Encode(credentials) // a parent that has gone needs none
	})
}

// dieAtCommit counts the commits of the ledger from now on, but for those of the
// house's own work.
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

// die is kill -9 from within; nothing runs after it, not even a deferred call.
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

// mortal is a plug at which the program dies.
type mortal struct {
	provider.Biller
	dies Moment
}

// Pay dies before or after the payment.
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

// Requery dies after the answer.
func (m mortal) Requery(ctx context.Context, reference string, begun time.Time) provider.Answer {
	a := m.Biller.Requery(ctx, reference, begun)
	if m.dies == Asked {
		die()
	}
	return a
}

// mortalBank is a bank at which the program dies.
type mortalBank struct {
	provider.Bank
	dies Moment
}

// Transfer dies before or after the payment.
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

// RequeryTransfer dies after the answer.
func (m mortalBank) RequeryTransfer(ctx context.Context, reference string) provider.TransferAnswer {
	a := m.Bank.RequeryTransfer(ctx, reference)
	if m.dies == Asked {
		die()
	}
	return a
}
