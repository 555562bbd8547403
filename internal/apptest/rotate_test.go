package apptest_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/app"
	"github.com/kobo-waas/kobo/internal/apptest"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/keyring"
	"github.com/kobo-waas/kobo/internal/secret"
)

// machines are two programs of one database, each with its own file of the keyring.
type machines struct {
	t        *testing.T
	home     apptest.Home
	files    [2]string
	programs [2]*apptest.Program
}

func masterFile(path string) apptest.Option {
	return func(c *app.Config) { c.MasterKeyFile = path }
}

func newMachines(t *testing.T) *machines {
	t.Helper()
	m := &machines{t: t, home: apptest.NewHome(t, db.Postgres)}
	line := secret.Generate()
	for i := range m.files {
		m.files[i] = filepath.Join(t.TempDir(), "master.key")
		if err := os.WriteFile(m.files[i], []byte(line), 0o600); err != nil {
			t.Fatal(err)
		}
		m.programs[i] = m.home.Start(t, masterFile(m.files[i]))
	}
	return m
}

func (m *machines) do(err error) {
	m.t.Helper()
	if err != nil {
		m.t.Fatal(err)
	}
}

// copyFile gives the second machine the file of the first one.
func (m *machines) copyFile() {
	text, err := os.ReadFile(m.files[0])
	m.do(err)
	m.do(os.WriteFile(m.files[1], text, 0o600))
}

// state makes both programs read their files. They do the same every two seconds.
func (m *machines) state() {
	m.t.Helper()
	for _, p := range m.programs {
		m.do(p.App.Keyring.State(m.t.Context()))
	}
}

// writes returns the key with which each program writes.
func (m *machines) writes() string {
	m.t.Helper()
	list, err := m.programs[0].App.Keyring.Programs(m.t.Context(), keyring.Master)
	m.do(err)
	var out []string
	for _, p := range list {
		out = append(out, p.Writes)
	}
	return strings.Join(out, " ")
}

// load sends requests to both programs until done is closed, and fails the test for a response other
// than 200. Each access token of one program is also used at the other one.
func (m *machines) load(sent *atomic.Int64, done <-chan struct{}) *sync.WaitGroup {
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			for n := i; ; n++ {
				select {
				case <-done:
					return
				default:
				}
				got, a, err := m.programs[n%2].Tokens(m.t.Context())
				if err != nil || a.Status != http.StatusOK {
					m.t.Errorf("a token: %v, %v", a, err)
					return
				}
				sent.Add(1)
				for k := range 10 {
					a, err := m.programs[(n+k)%2].Raw(m.t.Context(), http.MethodGet, accounts, nil, "Authorization", "Bearer "+got.AccessToken)
					if err != nil || a.Status != http.StatusOK {
						m.t.Errorf("after %d requests: %v, %v", sent.Load(), a, err)
						return
					}
					sent.Add(1)
				}
			}
		})
	}
	return &all
}

// A master key is replaced while two programs serve: a new line is added on both machines, promoted
// on one after the other, and the old line is removed. No request of 10,000 is refused.
func TestTwoProgramsServeWhileAKeyIsRotated(t *testing.T) {
	m := newMachines(t)
	var sent atomic.Int64
	during := func(least int64, steps ...func()) {
		t.Helper()
		done := make(chan struct{})
		all := m.load(&sent, done)
		for i, step := range steps {
			m.until(&sent, least*int64(i+1)/int64(len(steps)+1))
			step()
		}
		m.until(&sent, least)
		close(done)
		all.Wait()
	}
	s, old := m.programs[0].App.Keyring, m.writes()[:8]
	var next string
	during(7000,
		func() {
			var err error
			next, err = secret.File{Path: m.files[0]}.AddLine()
			m.do(err)
			m.state()
			if err := s.Promotable(t.Context(), keyring.Master, next); !fault.Is(err, fault.Refused) || !strings.Contains(err.Error(), "do not hold") {
				t.Errorf("one program lacks the line: %v", err)
			}
			m.do(secret.File{Path: m.files[0]}.PromoteLine(next)) // an operator may do so all the same
			m.state()
			if got := m.writes(); got != old+" "+old {
				t.Errorf("a program writes with a line that the other one lacks: %s", got)
			}
		},
		func() {
			m.copyFile()
			m.do(secret.File{Path: m.files[1]}.PromoteLine(old))
			m.state()
			m.state()
			m.do(s.Promotable(t.Context(), keyring.Master, next))
			if got := m.writes(); got != old+" "+next && got != next+" "+old {
				t.Errorf("the first machine has promoted the line: %s", got)
			}
		},
		func() {
			m.do(secret.File{Path: m.files[1]}.PromoteLine(next))
			m.state()
			if got := m.writes(); got != next+" "+next {
				t.Errorf("both machines have promoted the line: %s", got)
			}
		},
	)
	if err := s.Remove(t.Context(), old, false); !fault.Is(err, fault.Refused) || !strings.Contains(err.Error(), "tokens: ") {
		t.Errorf("tokens of the old line are alive: %v", err)
	}
	m.programs[0].Advance(31 * 24 * time.Hour)
	for tick := time.NewTicker(5 * time.Millisecond); m.programs[0].App.Clock.Now().Sub(m.programs[1].App.Clock.Now()) > time.Hour; {
		<-tick.C
	}
	p := m.programs[1]
	m.do(p.App.Companies.CheckPIN(t.Context(), p.Reference, p.PIN))
	for _, key := range []string{p.AdminKey, p.SecondAdminKey} {
		if _, err := p.App.Operators.Authenticate(t.Context(), key); err != nil {
			t.Error(err)
		}
	}
	during(10_000, func() {
		_, err := s.Rekey(t.Context(), func(keyring.Progress) {})
		m.do(err)
		m.do(s.Remove(t.Context(), old, false))
		for _, file := range m.files {
			m.do(secret.File{Path: file}.RemoveLine(old))
		}
		m.state()
	})
	t.Logf("%d requests", sent.Load())
}

// until waits until the load has sent a number of requests.
func (m *machines) until(sent *atomic.Int64, n int64) {
	m.t.Helper()
	for tick := time.NewTicker(5 * time.Millisecond); sent.Load() < n && !m.t.Failed(); {
		<-tick.C
	}
}

// A program that lacks a line with which the database was written does not start, and a running
// program keeps such a line. A lost line can be given up.
func TestAProgramNeedsEveryWrittenLine(t *testing.T) {
	m := newMachines(t)
	old := m.writes()[:8]
	next, err := secret.File{Path: m.files[0]}.AddLine()
	m.do(err)
	m.do(secret.File{Path: m.files[0]}.PromoteLine(next))
	m.copyFile()
	m.state()
	m.state()
	m.do(secret.File{Path: m.files[1]}.RemoveLine(old))
	if err := m.programs[1].App.Keyring.State(t.Context()); err == nil || !strings.Contains(err.Error(), "lacks the line "+old) {
		t.Errorf("the file lost a line that is in use: %v", err)
	}
	if a, err := m.programs[1].Raw(t.Context(), http.MethodGet, "/readyz", nil); err != nil || a.Status != http.StatusServiceUnavailable || !strings.Contains(a.Body, "lacks a key") {
		t.Errorf("%v, %v", a, err)
	}
	if got := tokens(t, m.programs[1].Client); knock(t, m.programs[0].Client, got.AccessToken).Status != http.StatusOK {
		t.Error("the program does not go on with the keys that it has")
	}
	start := func(file string) error {
		cfg := app.DevConfig(m.home.Data, m.home.Database)
		cfg.MasterKeyFile = file
		a, _, err := app.OpenDev(t.Context(), cfg, false, slog.New(slog.DiscardHandler))
		if err == nil {
			a.Close()
		}
		return err
	}
	if err := start(m.files[1]); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("lacks the line %s", old)) {
		t.Errorf("it starts: %v", err)
	}
	m.do(start(m.files[0]))
	s := m.programs[0].App.Keyring
	if err := s.Remove(t.Context(), next, true); !fault.Is(err, fault.Refused) || !strings.Contains(err.Error(), "writes with") {
		t.Errorf("programs write with the line: %v", err)
	}
	if err := s.Remove(t.Context(), old, false); !fault.Is(err, fault.Refused) || !strings.Contains(err.Error(), "transaction PINs: 1") {
		t.Errorf("a PIN depends on the line: %v", err)
	}
	m.do(s.Remove(t.Context(), old, true))
	m.do(start(m.files[1]))
	m.copyFile()
	m.do(m.programs[1].App.Keyring.State(t.Context()))
}
