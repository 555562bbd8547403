package db_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/fault"
)

const newThing = `CREATE TABLE db_thing (company_id TEXT NOT NULL, id TEXT NOT NULL, name TEXT NOT NULL,
	n BIGINT NOT NULL CHECK (n >= 0), PRIMARY KEY (company_id, id))`

// until waits until a condition is true.
func until(t *testing.T, is func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !is(); runtime.Gosched() {
		if time.Now().After(end) {
			t.Fatal("it does not come to that")
		}
	}
}

// During a long outage of the standby, a program uses only a limited number of the server's
// connections, however many writes it tries. Reads continue to work. Writes work again when the
// standby is back.
func TestAnOutageOfTheStandbyTakesNotAllConnections(t *testing.T) {
	server := dbtest.NewLone(t)
	d := dbtest.Open(t, server.URL)
	exec(t, d, newThing)
	_, most := db.Unanswered(d)
	server.Desert()
	for round := range 3 {
		var all sync.WaitGroup
		for name, write := range ways {
			for i := range most {
				all.Go(func() {
					if err := write(briefly(t), d, row("c1", fmt.Sprint(name, round, i), 1)...); err == nil {
						t.Errorf("a %s was committed without the standby", name)
					}
				})
			}
		}
		all.Wait()
	}
	if n := server.Waiting(); n == 0 || n > most {
		t.Errorf("%d COMMITs wait, of %d that may", n, most)
	}
	if got := things(t, d, "c1"); got != "[]" {
		t.Errorf("a reading shows %s", got)
	}
	server.Rejoin()
	until(t, func() bool { now, _ := db.Unanswered(d); return now == 0 })
	for name, write := range ways {
		if err := write(t.Context(), d, row("c2", name, 1)...); err != nil {
			t.Errorf("later, a %s: %v", name, err)
		}
	}
}

// A program with too many COMMITs without a reply refuses a write before it sends anything. The
// connection of the refused write stays usable.
func TestAProgramAtItsCommitLimitRefuses(t *testing.T) {
	d := dbtest.New(t, db.Postgres)
	exec(t, d, newThing)
	empty := db.Fill(d)
	for name, write := range ways {
		before := d.Doubts()
		if err := write(t.Context(), d, row("c1", name, 1)...); !fault.Is(err, fault.Unavailable) {
			t.Errorf("a %s: %v", name, err)
		}
		if got := things(t, d, "c1"); got != "[]" || d.Doubts() != before {
			t.Errorf("a %s left %s, and %d connections or unknown fates", name, got, d.Doubts()-before)
		}
	}
	empty()
	exec(t, d, insert, row("c1", "later", 1)...)
}

// relay forwards connections to a server until a test freezes them.
type relay struct {
	net.Listener
	mu     sync.Mutex
	frozen chan struct{} // when this channel is closed, the earlier connections forward nothing
	near   []net.Conn    // all connections of programs
}

func newRelay(t *testing.T, server string) *relay {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &relay{Listener: l, frozen: make(chan struct{})}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", server)
			if err != nil {
				_ = near.Close()
				continue
			}
			r.mu.Lock()
			frozen := r.frozen
			r.near = append(r.near, near)
			r.mu.Unlock()
			go carry(near, far, frozen)
			go carry(far, near, frozen)
		}
	}()
	return r
}

// carry forwards all bytes and then the end of the connection. If the relay is frozen, carry does
// not forward the end.
func carry(to, from net.Conn, frozen chan struct{}) {
	_, _ = io.Copy(to, from)
	select {
	case <-frozen:
	default:
		_ = to.Close()
	}
}

func (r *relay) freeze() {
	r.mu.Lock()
	defer r.mu.Unlock()
	close(r.frozen)
	r.frozen = make(chan struct{})
}

// cut ends all connections of programs.
func (r *relay) cut() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.near {
		_ = c.Close()
	}
	r.near = nil
}

// A connection that breaks during a COMMIT leaves the outcome unknown, however the COMMIT was sent. The server, which
// waits for its standby, commits later.
func TestACommitWhoseConnectionBreaksIsUnknown(t *testing.T) {
	server := dbtest.NewLone(t)
	u, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	r := newRelay(t, u.Host)
	u.Host = r.Addr().String()
	d := dbtest.Open(t, u.String())
	exec(t, d, newThing)
	server.Desert()
	waiting := int64(0)
	for name, write := range ways {
		told := make(chan error, 1)
		go func() { told <- write(t.Context(), d, row("c1", name, 1)...) }()
		waiting++
		until(t, func() bool { return server.Waiting() == waiting })
		r.cut()
		if err := <-told; !errors.Is(err, db.ErrUncommitted) || !fault.Is(err, fault.Unknown) {
			t.Errorf("a %s: %v", name, err)
		}
	}
	server.Rejoin()
	until(t, func() bool { return things(t, d, "c1") == "[pipeline=1 statement=1 transaction=1]" })
}

// A server that disappears from the network never ends a connection. The program then asks the
// server that is reachable now, which does not have this connection. From then on the connection's
// COMMIT no longer counts as unanswered.
func TestALostConnectionCountsNoMore(t *testing.T) {
	server := dbtest.NewLone(t)
	u, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	r := newRelay(t, u.Host)
	u.Host = r.Addr().String()
	d := dbtest.Open(t, u.String())
	db.AskSoon(d)
	exec(t, d, newThing)
	server.Desert()
	if _, err := d.Exec(briefly(t), insert, row("c1", "a", 1)...); !fault.Is(err, fault.Unknown) {
		t.Errorf("told %v", err)
	}
	r.freeze()
	if now, _ := db.Unanswered(d); now != 1 {
		t.Errorf("%d COMMITs have no answer", now)
	}
	server.EndWaits() // the relay is frozen, so this program does not notice the end
	until(t, func() bool { now, _ := db.Unanswered(d); return now == 0 })
	server.Rejoin()
}
