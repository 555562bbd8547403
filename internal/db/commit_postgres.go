package db

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"
	"github.com/jackc/pgx/v5/pgxpool"
)

// line is what we note of one connection. While a COMMIT is on its way the
// connection may break or run out of time, and pgx then asks the server to cancel
// what runs there. A server that waits for its standby would take that as leave to
// commit alone. So no such request leaves this program.
type line struct {
	committing atomic.Bool // from before a COMMIT is sent until its answer is here
	warned     bool        // the answer came with a warning
	left       atomic.Bool // pgx has given the connection up over a COMMIT
}

// wire is the connection itself. pgx gives a server fifteen seconds to end a
// connection that pgx has given up. A COMMIT that waits for a standby takes as long
// as it takes, and only the open connection tells when the server is through.
type wire struct {
	net.Conn
	line *line
}

// SetDeadline sets none once the connection was left to the server.
func (w wire) SetDeadline(t time.Time) error {
	if w.line.left.Load() {
		t = time.Time{}
	}
	return w.Conn.SetDeadline(t)
}

const lineKey = "kobo.line"

var (
	errCrowded  = errors.New("db: as many COMMITs as there may be have no answer yet")
	errNoCancel = errors.New("db: a COMMIT is never cancelled")
	errWarned   = errors.New("db: the server committed with a warning: perhaps without its standby")
)

// attend gives a new connection its line.
func attend(_ context.Context, c *pgx.ConnConfig) error {
	l := &line{}
	dial, watcher := c.DialFunc, c.BuildContextWatcherHandler
	c.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		if l.committing.Load() {
			l.left.Store(true) // pgx asks for a cancel as it gives up
			return nil, errNoCancel
		}
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return wire{conn, l}, nil
	}
	// SQLSTATE 01000 is how the server says that it no longer waits for its standby.
	c.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) {
		l.warned = l.warned || l.committing.Load() && n.Code == "01000"
	}
	c.BuildContextWatcherHandler = func(conn *pgconn.PgConn) ctxwatch.Handler {
		conn.CustomData()[lineKey] = l
		return watcher(conn)
	}
	return nil
}

// committing sends what ends in a COMMIT. Its error is ErrUncommitted when the
// server did not say for certain what became of it. When too many others wait for
// an answer committing sends nothing, and its error is errCrowded.
func (p *postgres) committing(conn *pgxpool.Conn, send func(*pgx.Conn) error, certain func(error) bool) error {
	if p.unanswered.Add(1) > p.most {
		p.unanswered.Add(-1)
		return errCrowded
	}
	raw := conn.Conn()
	l := raw.PgConn().CustomData()[lineKey].(*line)
	l.warned = false
	l.committing.Store(true)
	err := send(raw)
	if err == nil && l.warned {
		err = errWarned
	}
	if !raw.IsClosed() {
		l.committing.Store(false)
		p.unanswered.Add(-1)
	}
	if err == nil || pgconn.SafeToRetry(err) || certain(err) {
		return err
	}
	p.doubt.Add(1)
	return fmt.Errorf("%w: %w", ErrUncommitted, err)
}

// refusedCommit: a COMMIT that was sent alone was refused. The server's own word
// about the transaction (a SQLSTATE of class 23 or 40, or pgx's "rolled back
// instead") is definite.
func refusedCommit(err error) bool {
	var pg *pgconn.PgError
	return errors.Is(err, pgx.ErrTxCommitRollback) || errors.As(err, &pg) && (pg.Code[:2] == "23" || pg.Code[:2] == "40")
}

// refusedStatement: a statement was refused that had its COMMIT behind it or in
// itself, so the COMMIT was not run. A server that is in trouble may say so at
// the COMMIT as well, and then the answer is open.
func refusedStatement(err error) bool {
	var pg *pgconn.PgError
	if !errors.As(err, &pg) || pg.SeverityUnlocalized == "FATAL" || pg.SeverityUnlocalized == "PANIC" {
		return false
	}
	switch pg.Code[:2] {
	case "08", "53", "58", "XX":
		return false
	}
	return pg.Code[:2] != "57" || pg.Code == "57014" // a cancelled statement is no COMMIT
}

// release gives a connection back to the pool. One that was closed over a COMMIT
// is left to the server, and leaves the pool: it takes no reader's place. At the
// server it still has its place, so it counts until the server is through.
func (p *postgres) release(conn *pgxpool.Conn) {
	raw := conn.Conn()
	if !raw.IsClosed() || !raw.PgConn().CustomData()[lineKey].(*line).committing.Load() {
		conn.Release()
		return
	}
	p.leaving.Add(1) // before the pool forgets it: close waits for the pool first
	left := conn.Hijack().PgConn()
	go func() {
		defer p.leaving.Done()
		defer p.unanswered.Add(-1)
		defer p.doubt.Add(1) // its rows may be shown from here on
		p.attendEnd(left)
	}()
}

// attendEnd returns when the server has ended a connection, or when this program
// ends. A server that is lost with its network ends none: so attendEnd also asks
// the server that answers now whether it knows the connection.
func (p *postgres) attendEnd(left *pgconn.PgConn) {
	question := time.NewTicker(p.question)
	defer question.Stop()
	for known := true; known; {
		select {
		case <-left.CleanupDone():
			return
		case <-p.ended.Done():
			known = false
		case <-question.C:
			known = p.knows(left.PID())
		}
	}
	_ = left.Conn().Close() // it may be closed already
	<-left.CleanupDone()
}

// knows tells whether the server has a connection of that number. It is true as well
// when no server answers. A pooler between has numbers of its own: behind one a
// connection counts until the first question only.
func (p *postgres) knows(pid uint32) bool {
	ctx, cancel := context.WithTimeout(p.ended, 5*time.Second)
	defer cancel()
	known := true
	err := p.pool.QueryRow(ctx, "SELECT count(*) > 0 FROM pg_stat_activity WHERE pid = $1", int64(pid)).Scan(&known)
	return err != nil || known
}
