package db_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/fault"
)

// forger is a relay that can replace the server's reply to a statement that has committed.
type forger struct {
	net.Listener
	code atomic.Value // the SQLSTATE of the next reply; "" leaves the reply as it is
}

func newForger(t *testing.T, server string) *forger {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f := &forger{Listener: l}
	f.code.Store("")
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
			go carry(far, near, make(chan struct{}))
			go f.replies(near, far)
		}
	}()
	return f
}

// replies forwards the messages of the server, and replaces one reply.
func (f *forger) replies(near, far net.Conn) {
	defer func() { _ = near.Close() }()
	held := []byte(nil) // the reply to an INSERT, until it is known whether a COMMIT follows
	for {
		head := make([]byte, 5)
		if _, err := io.ReadFull(far, head); err != nil {
			return
		}
		message := append(head, make([]byte, binary.BigEndian.Uint32(head[1:])-4)...)
		if _, err := io.ReadFull(far, message[5:]); err != nil {
			return
		}
		tag := ""
		if message[0] == 'C' {
			tag = strings.TrimRight(string(message[5:]), "\x00")
		}
		code := f.code.Load().(string)
		switch {
		case code != "" && strings.HasPrefix(tag, "INSERT"):
			held = message
			continue
		case code != "" && tag == "COMMIT":
			message = append(held, failure(code)...)
			held = nil
			f.code.Store("")
		case held != nil && message[0] == 'Z' && message[5] == 'I': // the INSERT was a transaction of its own
			message = append(failure(code), message...)
			held = nil
			f.code.Store("")
		case held != nil && (message[0] == 'Z' || message[0] == 'E'):
			message = append(held, message...)
			held = nil
		case held != nil:
			held = append(held, message...)
			continue
		}
		if _, err := near.Write(message); err != nil {
			return
		}
	}
}

// failure returns an ErrorResponse with a SQLSTATE.
func failure(code string) []byte {
	fields := "SERROR\x00VERROR\x00C" + code + "\x00Mforged\x00\x00"
	message := binary.BigEndian.AppendUint32([]byte{'E'}, uint32(len(fields)+4))
	return append(message, fields...)
}

// A worker of a distributed database that dies at a COMMIT gives XX000 or 08006, and the COMMIT may
// have been carried out. So the outcome is unknown, however the COMMIT was sent.
func TestACommitThatFailsInsideTheServerIsUnknown(t *testing.T) {
	server := dbtest.NewLone(t)
	u, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	f := newForger(t, u.Host)
	u.Host = f.Addr().String()
	exec(t, dbtest.Open(t, u.String()), newThing)
	eachForm(t, u.String(), func(form string, d *db.DB) {
		for _, code := range []string{"XX000", "08006"} {
			for name, write := range ways {
				before := d.Doubts()
				f.code.Store(code)
				if err := write(t.Context(), d, row(code+form, name, 1)...); !errors.Is(err, db.ErrUncommitted) || !fault.Is(err, fault.Unknown) {
					t.Errorf("%s, a %s: %v", code, name, err)
				}
				if f.code.Load() != "" || d.Doubts() == before {
					t.Errorf("%s, a %s: no reply was replaced, or no doubt was counted", code, name)
				}
			}
			if got := things(t, d, code+form); got != "[pipeline=1 statement=1 transaction=1]" {
				t.Errorf("%s: the COMMITs were carried out, and the table has %s", code, got)
			}
		}
	})
}

// eachForm calls the function use with both forms of the SQL statements of batches.
func eachForm(t *testing.T, url string, use func(form string, d *db.DB)) {
	t.Helper()
	for form, routed := range map[string]bool{"": false, " routed": true} {
		use(form, dbtest.OpenWith(t, url, db.Pools{Routed: routed}))
	}
}

// fails makes the server end transactions that insert a thing with a SQLSTATE, as often as times
// says, either in the INSERT or in the COMMIT.
func fails(t *testing.T, d *db.DB, code, when string, times int) {
	t.Helper()
	exec(t, d, `DROP SEQUENCE IF EXISTS runs`)
	exec(t, d, `CREATE SEQUENCE runs`) // a sequence counts also the transactions that are rolled back
	exec(t, d, fmt.Sprintf(`CREATE OR REPLACE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS
		'BEGIN IF nextval(''runs'') <= %d THEN RAISE EXCEPTION USING ERRCODE = ''%s'', MESSAGE = ''failed by the test''; END IF; RETURN NEW; END'`, times, code))
	exec(t, d, `DROP TRIGGER IF EXISTS failing ON db_thing`)
	exec(t, d, `CREATE CONSTRAINT TRIGGER failing AFTER INSERT ON db_thing DEFERRABLE INITIALLY `+when+` FOR EACH ROW EXECUTE FUNCTION fail()`)
}

const (
	inStatement = "IMMEDIATE"
	inCommit    = "DEFERRED"
)

// After 40001 or 40P01 nothing was committed, in a statement and in a COMMIT. The transaction is
// repeated, so a caller sees nothing of it.
func TestAnAbortedTransactionIsRepeated(t *testing.T) {
	url := dbtest.URL(t, db.Postgres)
	exec(t, dbtest.Open(t, url), newThing)
	eachForm(t, url, func(form string, d *db.DB) {
		for _, code := range []string{"40001", "40P01"} {
			for _, when := range []string{inStatement, inCommit} {
				for name, write := range ways {
					company := code + when + name + form
					fails(t, d, code, when, 2)
					before := d.Doubts()
					if err := write(t.Context(), d, row(company, "a", 1)...); err != nil {
						t.Errorf("%s in %s, a %s: %v", code, when, name, err)
					}
					runs, err := db.One(t.Context(), d, db.Value[int64], `SELECT last_value FROM runs`)
					if got := things(t, d, company); got != "[a=1]" || runs != 3 || err != nil || d.Doubts() != before {
						t.Errorf("%s in %s, a %s: %s after %d runs, %d doubts, %v", code, when, name, got, runs, d.Doubts()-before, err)
					}
					fails(t, d, code, when, 100)
					if err := write(t.Context(), d, row(company, "b", 1)...); !fault.Is(err, fault.Unavailable) || errors.Is(err, db.ErrUncommitted) {
						t.Errorf("%s in %s, a %s that always fails: %v", code, when, name, err)
					}
				}
			}
		}
	})
}

// XX000 and 08006 are unknown in a COMMIT, although this server has not carried it out. A
// transaction that sends its COMMIT apart knows that an earlier statement has failed. So does a
// routed batch.
func TestAnInternalErrorIsUnknownOnlyAtTheCommit(t *testing.T) {
	url := dbtest.URL(t, db.Postgres)
	exec(t, dbtest.Open(t, url), newThing)
	eachForm(t, url, func(form string, d *db.DB) {
		for _, code := range []string{"XX000", "08006"} {
			for _, when := range []string{inStatement, inCommit} {
				for name, write := range ways {
					fails(t, d, code, when, 1)
					err := write(t.Context(), d, row(code, name, 1)...)
					if want := when == inCommit || name != "transaction" && name+form != "pipeline routed"; errors.Is(err, db.ErrUncommitted) != want || err == nil {
						t.Errorf("%s in %s, a %s: %v", code, when, name, err)
					}
					if runs, err := db.One(t.Context(), d, db.Value[int64], `SELECT last_value FROM runs`); runs != 1 || err != nil {
						t.Errorf("%s in %s, a %s ran %d times, %v", code, when, name, runs, err)
					}
				}
			}
			if got := things(t, d, code); got != "[]" {
				t.Errorf("%s: the table has %s", code, got)
			}
		}
	})
}
