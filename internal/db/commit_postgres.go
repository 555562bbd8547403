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

// line is the state of one connection. If a connection breaks or times out during a COMMIT, pgx
// requests the server to cancel the COMMIT. A server that waits for its standby would then commit
// without the standby. So Kobo never sends this request.
type line struct {
	committing atomic.Bool // true from before a COMMIT is sent until its reply has arrived
	sent       atomic.Bool // bytes were written since committing was set
	warned     bool        // the reply to the COMMIT came with a warning
	left       atomic.Bool // pgx has given up the connection during a COMMIT
	sender     *sender     // nil before the first batch
	server     int         // the primary among hosts when the connection was made
	cut        atomic.Bool // another server has become the primary
	node       *node       // nil for the server to which the database's URL leads
}

// wire is the network connection to the server. After giving up a connection, pgx waits at most
// fifteen seconds for the server to end it. A COMMIT that waits for a standby may take longer. So
// Kobo keeps the connection open, because a closed connection would not show when the server has
// finished.
type wire struct {
	net.Conn
	line  *line
	hosts *hosts // nil for a URL with one host
}

// SetDeadline sets the deadline of the connection. After pgx has given up the connection,
// SetDeadline removes the deadline instead.
func (w *wire) SetDeadline(t time.Time) error {
	if w.line.left.Load() {
		t = time.Time{}
	}
	return w.Conn.SetDeadline(t)
}

// Write sends bytes to the server. After it, a COMMIT may have reached the server.
func (w *wire) Write(b []byte) (int, error) {
	w.line.sent.Store(true)
	return w.Conn.Write(b)
}

const lineKey = "kobo.line"

var (
	errCrowded  = errors.New("db: too many COMMITs have no answer yet")
	errNoCancel = errors.New("db: a COMMIT is never cancelled")
	errWarned   = errors.New("db: the server committed with a warning: perhaps without its standby")
)

// attend attaches a line to the configuration of a new connection. The line records the state of
// the connection. The parameters hosts and to say where the connection leads.
func (p *postgres) attend(c *pgx.ConnConfig, hosts *hosts, to *node) error {
	l := &line{node: to}
	if hosts != nil {
		l.server = hosts.direct(c)
	}
	dial, watcher := c.DialFunc, c.BuildContextWatcherHandler
	c.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		if l.committing.Load() {
			l.left.Store(true) // pgx has given up and dials to send a request for cancellation
			return nil, errNoCancel
		}
		if l.cut.Load() { // the former primary may not respond, and pgx would wait for it
			return nil, errFormer
		}
		if hosts != nil {
			return hosts.dial(ctx, l, func(ctx context.Context) (net.Conn, error) { return dial(ctx, network, address) })
		}
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &wire{Conn: conn, line: l}, nil
	}
	// The warning with SQLSTATE 01000 means that the server no longer waits for its standby.
	c.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) {
		l.warned = l.warned || l.committing.Load() && n.Code == "01000"
	}
	c.BuildContextWatcherHandler = func(conn *pgconn.PgConn) ctxwatch.Handler {
		conn.CustomData()[lineKey] = l
		return watcher(conn)
	}
	return nil
}

// committing sends a batch of SQL statements that ends with COMMIT. If the server gave no definite
// reply, the error is ErrUncommitted. If too many other COMMITs are still without a reply,
// committing sends nothing and returns errCrowded.
func (p *postgres) committing(conn *pgxpool.Conn, send func(*pgx.Conn) error, certain func(error) bool) error {
	if p.unanswered.Add(1) > p.most {
		p.unanswered.Add(-1)
		return errCrowded
	}
	raw := conn.Conn()
	l := raw.PgConn().CustomData()[lineKey].(*line)
	l.warned = false
	l.sent.Store(false)
	l.committing.Store(true)
	err := send(raw)
	if err == nil && l.warned {
		err = errWarned
	}
	if !raw.IsClosed() {
		l.committing.Store(false)
		p.unanswered.Add(-1)
	}
	// If a connection breaks after a COMMIT, pgx 5.12.0 may say that it was closed before, and that a retry is safe.
	broke := l.sent.Load() && errors.Is(err, pgconn.ErrConnClosed)
	if err == nil || pgconn.SafeToRetry(err) && !broke || certain(err) {
		return err
	}
	p.doubt.Add(1)
	return fmt.Errorf("%w: %w", ErrUncommitted, err)
}

// refusedCommit reports whether the server definitely refused a COMMIT that was sent separately. An
// error is such a refusal if it has a SQLSTATE of class 23 or 40, or is pgx's error "rolled back
// instead".
func refusedCommit(err error) bool {
	var pg *pgconn.PgError
	return errors.Is(err, pgx.ErrTxCommitRollback) || errors.As(err, &pg) && (pg.Code[:2] == "23" || pg.Code[:2] == "40")
}

// refusedStatement reports whether the server refused an SQL statement before the COMMIT, so that
// the COMMIT did not run. After an internal error of the server the outcome is unknown, because the
// error may have occurred during the COMMIT.
func refusedStatement(err error) bool {
	var pg *pgconn.PgError
	if !errors.As(err, &pg) || pg.SeverityUnlocalized == "FATAL" || pg.SeverityUnlocalized == "PANIC" {
		return false
	}
	switch pg.Code[:2] {
	case "08", "53", "58", "XX":
		return false
	}
	return pg.Code[:2] != "57" || pg.Code == "57014" // 57014 is a cancelled SQL statement, and Kobo never cancels a COMMIT
}

// release returns a connection to the pool. A connection that was closed during a COMMIT leaves the
// pool, so that a new connection can take its place. The server may still be working on that
// COMMIT, so the COMMIT counts as unanswered until the server has finished.
func (p *postgres) release(conn *pgxpool.Conn) {
	raw := conn.Conn()
	if !raw.IsClosed() || !raw.PgConn().CustomData()[lineKey].(*line).committing.Load() {
		conn.Release()
		return
	}
	p.leaving.Add(1) // called before Hijack, because close waits first for the pool and then for leaving
	left := conn.Hijack().PgConn()
	at := left.CustomData()[lineKey].(*line).node
	go func() {
		defer p.leaving.Done()
		defer p.unanswered.Add(-1)
		defer p.doubt.Add(1) // the rows of the COMMIT may be visible from now on
		p.attendEnd(left, at)
	}()
}

// attendEnd waits until the server has ended a connection, or until this program ends. A server
// that disappears from the network never ends the connection. So attendEnd also checks regularly
// whether the present server still has this connection.
func (p *postgres) attendEnd(left *pgconn.PgConn, at *node) {
	question := time.NewTicker(p.question)
	defer question.Stop()
	for known := true; known; {
		select {
		case <-left.CleanupDone():
			return
		case <-p.ended.Done():
			known = false
		case <-question.C:
			known = p.knows(left.PID(), at)
		}
	}
	_ = left.Conn().Close() // the error is ignored, because the connection may be closed already
	<-left.CleanupDone()
}

// knows reports whether the server has a connection with this process ID. It also returns true if
// the server does not respond. A pooler assigns different process IDs. So behind a pooler, knows
// returns false at the first call, even if the connection has not ended.
func (p *postgres) knows(pid uint32, at *node) bool {
	ctx, cancel := context.WithTimeout(p.ended, 5*time.Second)
	defer cancel()
	known := true
	err := p.probe(at).QueryRow(ctx, "SELECT count(*) > 0 FROM pg_stat_activity WHERE pid = $1", int64(pid)).Scan(&known)
	return err != nil || known
}
