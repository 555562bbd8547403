package apptest_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/apptest"
	"github.com/kobo-waas/kobo/internal/db"
)

// line is a client connection that stays open as long as the program allows. Unlike http.Transport,
// it never sends a request a second time.
type line struct {
	net.Conn
	answers *bufio.Reader
}

func dial(address string) (*line, error) {
	c, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	return &line{c, bufio.NewReader(c)}, nil
}

// ask sends a GET request and reads the response.
func (l *line) ask(path, token string) (*http.Response, string, error) {
	return l.send(http.MethodGet, path, token, "")
}

// send sends a request with a body in JSON and reads the response.
func (l *line) send(method, path, token, body string) (*http.Response, string, error) {
	r, err := http.NewRequest(method, "http://kobo"+path, strings.NewReader(body))
	if err != nil {
		return nil, "", err
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	if err := r.Write(l); err != nil {
		return nil, "", err
	}
	res, err := http.ReadResponse(l.answers, r)
	if err != nil {
		return nil, "", err
	}
	answer, err := io.ReadAll(res.Body)
	return res, string(answer), errors.Join(err, res.Body.Close())
}

// fleet is a load balancer in front of several programs. It sends a caller to the first program
// that was ready at the most recent check.
type fleet struct {
	mu    sync.Mutex
	ready []string // addresses
}

func (f *fleet) choose() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.ready[0]
}

// enter waits until a program is ready, and then lets the load balancer send callers to it. The
// method leave waits until the program reports that it is stopping, and then excludes that program.
func (f *fleet) enter(t *testing.T, p *apptest.Program) {
	awaitReadiness(t, p, http.StatusOK)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ready = append(f.ready, address(p))
}

func (f *fleet) leave(t *testing.T, p *apptest.Program) {
	said := awaitReadiness(t, p, http.StatusServiceUnavailable)
	if !strings.Contains(said, `"program":"leaving"`) {
		t.Errorf("a program that leaves says %s", said)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ready = slices.DeleteFunc(f.ready, func(a string) bool { return a == address(p) })
}

func address(p *apptest.Program) string { return strings.TrimPrefix(p.BaseURL, "http://") }

func awaitReadiness(t *testing.T, p *apptest.Program, want int) (said string) {
	t.Helper()
	apptest.Eventually(t, func() string {
		a, err := p.Raw(t.Context(), http.MethodGet, "/readyz", nil)
		if err != nil || a.Status != want {
			return fmt.Sprintf("/readyz: %s, %v", a, err)
		}
		said = a.Body
		return ""
	})
	return said
}

// call sends a request every few milliseconds until it is stopped. It uses open connections. Every
// request must get a response. If a response closes the connection, call opens a new connection.
func (f *fleet) call(t *testing.T, token string, stop <-chan struct{}, answered, last *atomic.Int64) {
	var l *line
	pace := time.NewTicker(5 * time.Millisecond)
	defer pace.Stop()
	for {
		select {
		case <-stop:
			if l != nil {
				_ = l.Close()
			}
			return
		case <-pace.C:
		}
		if l == nil {
			var err error
			if l, err = dial(f.choose()); err != nil {
				t.Errorf("a program that is ready was not reached: %v", err)
				return
			}
		}
		res, body, err := l.ask("/api/v1/settlement/accounts", token)
		if err != nil || res.StatusCode != http.StatusOK {
			t.Errorf("a request was not answered: %v %s", err, body)
			return
		}
		if answered.Add(1); res.Close {
			last.Add(1)
			_ = l.Close()
			l = nil
		}
	}
}

// Two programs are replaced one after the other, while callers send requests on open connections.
// Every request gets a response.
func TestARollingRestartCutsNoConnection(t *testing.T) {
	each(t, func(t *testing.T, dialect db.Dialect) {
		home := apptest.NewHome(t, dialect)
		drain := apptest.Drain(time.Second)
		old := []*apptest.Program{home.Start(t, drain), home.Start(t, drain)}
		tokens, _, err := old[0].Tokens(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		f := &fleet{}
		for _, p := range old {
			f.enter(t, p)
		}
		var callers sync.WaitGroup
		var answered, last atomic.Int64
		stop := make(chan struct{})
		const many = 4
		for range many {
			callers.Go(func() { f.call(t, tokens.AccessToken, stop, &answered, &last) })
		}
		reaches := func(n *atomic.Int64, want int64) {
			apptest.Eventually(t, func() string {
				if got := n.Load(); got < want {
					return fmt.Sprintf("%d of %d", got, want)
				}
				return ""
			})
		}
		for _, p := range old {
			reaches(&answered, answered.Load()+many)
			before := last.Load()
			p.Stopping()
			f.leave(t, p)
			reaches(&last, before+1)
			p.Stop()
			f.enter(t, home.Start(t, drain))
		}
		reaches(&answered, answered.Load()+many)
		close(stop)
		callers.Wait()
		t.Logf("%d requests, %d of them the last on their connection", answered.Load(), last.Load())
	})
}
