package dbtest

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/kobo-waas/kobo/internal/db"
)

// recorder forwards connections to a server and notes the SQL statements that it forwards.
type recorder struct {
	mu   sync.Mutex
	list []string
}

// Recorded returns a new PostgreSQL database that records the SQL statements which it gets. The
// function since returns the statements since its last call.
func Recorded(t testing.TB, pools db.Pools) (d *db.DB, since func() []string) {
	t.Helper()
	address := URL(t, db.Postgres)
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal("dbtest: not a URL")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("dbtest: %v", err)
	}
	t.Cleanup(func() { _ = l.Close() }) // ignored, because nothing was written
	r := &recorder{}
	go r.serve(l, u.Host)
	q := u.Query()
	q.Set("default_query_exec_mode", "cache_describe") // each execution carries the text of its statement
	u.Host, u.RawQuery = l.Addr().String(), q.Encode()
	return OpenWith(t, u.String(), pools), r.since
}

func (r *recorder) since() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := r.list
	r.list = nil
	return list
}

func (r *recorder) serve(l net.Listener, server string) {
	for {
		near, err := l.Accept()
		if err != nil {
			return // the test has ended
		}
		far, err := net.Dial("tcp", server)
		if err != nil {
			_ = near.Close()
			continue
		}
		go func() {
			_, _ = io.Copy(near, far)
			_ = near.Close()
		}()
		go func() {
			r.forward(far, near)
			_ = far.Close()
		}()
	}
}

// forward forwards the messages of a program until the connection ends.
func (r *recorder) forward(far io.Writer, near io.Reader) {
	for begun := false; ; begun = true {
		head := make([]byte, 5)
		if !begun {
			head = head[:4] // the first message has no type
		}
		if _, err := io.ReadFull(near, head); err != nil {
			return
		}
		message := append(head, make([]byte, binary.BigEndian.Uint32(head[len(head)-4:])-4)...)
		if _, err := io.ReadFull(near, message[len(head):]); err != nil {
			return
		}
		if begun {
			r.note(message[0], message[5:])
		}
		if _, err := far.Write(message); err != nil {
			return
		}
	}
}

// note notes the SQL statement of a Parse or a Query message.
func (r *recorder) note(kind byte, body []byte) {
	parts := bytes.SplitN(body, []byte{0}, 3)
	at := strings.IndexByte("QP", kind) // a Parse message has the name of the statement before its text
	if at < 0 || at >= len(parts) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list = append(r.list, strings.TrimSpace(string(parts[at])))
}

// FanOuts returns a function that returns those of the statements of a database that read or write
// the rows of a company without the company by value.
func FanOuts(t testing.TB, isTenant func(table string) bool) func(statements []string) []string {
	t.Helper()
	unrouted := Unrouted(t, URL(t, db.Postgres), isTenant)
	return func(statements []string) (found []string) {
		for _, s := range statements {
			if word, _, _ := strings.Cut(strings.ToUpper(s), " "); word == "SELECT" || word == "UPDATE" || word == "DELETE" || word == "WITH" {
				if len(unrouted(s)) > 0 {
					found = append(found, s)
				}
			}
		}
		return found
	}
}
