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

// line is the state of one connection. If the connection breaks or times out during a
// COMMIT, pgx asks the server to cancel the statement. A server that waits for its
// standby would then commit without the standby. So this program sends no such request.
type line struct {
	committing atomic.Bool // from before a COMMIT is sent until its answer has come
	warned     bool        // the answer came with a warning
	left       atomic.Bool // pgx has given up the connection during a COMMIT
}

// wire is the network connection. pgx gives a server fifteen seconds to end a connection
// that pgx has given up. A COMMIT that waits for a standby may take longer. Only the
// open connection shows when the server has finished.
type wire struct {
	net.Conn
	line *line
}

// SetDeadline sets no deadline after pgx has given up the connection.
func (w wire) SetDeadline(t time.Time) error {
	if w.line.left.Load() {
		t = time.Time{}
	}
	return w.Conn.SetDeadline(t)
}

const lineKey = "kobo.line"

var (
	errCrowded  = errors.New("db: too many COMMITs have no answer yet")
	errNoCancel = errors.New("db: a COMMIT is never cancelled")
	errWarned   = errors.New("db: the server committed with a warning: perhaps without its standby")
)

// attend adds a line to the configuration of a new connection.
func attend(_ context.Context, c *pgx.ConnConfig) error {
	l := &line{}
	dial, watcher := c.DialFunc, c.BuildContextWatcherHandler
	c.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		if l.committing.Load() {
			l.left.Store(true) // pgx gives up and asks for a cancellation
			return nil, errNoCancel
		}
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return wire{conn, l}, nil
	}
	// With SQLSTATE 01000 the server says that it no longer waits for its standby.
	c.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) {
		l.warned = l.warned || l.committing.Load() && n.Code == "01000"
	}
	c.BuildContextWatcherHandler = func(conn *pgconn.PgConn) ctxwatch.Handler {
		conn.CustomData()[lineKey] = l
		return watcher(conn)
	}
	return nil
}

// committing sends a batch that ends with COMMIT. Its error is ErrUncommitted if the
// server gave no definite answer. If too many other COMMITs have no answer yet,
// committing sends nothing and returns errCrowded.
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

// refusedCommit reports whether the server definitely refused a COMMIT that was sent
// alone: by a SQLSTATE of class 23 or 40, or by pgx's "rolled back instead".
func refusedCommit(err error) bool {
	var pg *pgconn.PgError
	return errors.Is(err, pgx.ErrTxCommitRollback) || errors.As(err, &pg) && (pg.Code[:2] == "23" || pg.Code[:2] == "40")
}

// refusedStatement reports whether the server refused a statement before the COMMIT, so
// that the COMMIT did not run. An error of the server itself may have come at the
// COMMIT, and leaves the outcome open.
func refusedStatement(err error) bool {
	var pg *pgconn.PgError
	if !errors.As(err, &pg) || pg.SeverityUnlocalized == "FATAL" || pg.SeverityUnlocalized == "PANIC" {
		return false
	}
	switch pg.Code[:2] {
	case "08", "53", "58", "XX":
		return false
	}
	return pg.Code[:2] != "57" || pg.Code == "57014" // a cancelled statement was not the COMMIT
}

// release gives a connection back to the pool. A connection that was closed during a
// COMMIT leaves the pool, so that it takes no reader's place. The server still works on
// it, so its COMMIT counts as unanswered until the server has finished.
func (p *postgres) release(conn *pgxpool.Conn) {
	raw := conn.Conn()
	if !raw.IsClosed() || !raw.PgConn().CustomData()[lineKey].(*line).committing.Load() {
		conn.Release()
		return
	}
	p.leaving.Add(1) // before Hijack, since close first waits for the pool
	left := conn.Hijack().PgConn()
	go func() {
		defer p.leaving.Done()
		defer p.unanswered.Add(-1)
		defer p.doubt.Add(1) // its rows may be visible from now on
		p.attendEnd(left)
	}()
}

// attendEnd returns when the server has ended a connection, or when this program ends.
// A server that is lost with its network ends no connection. So attendEnd also asks the
// present server whether it knows the connection.
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

// knows reports whether the server has a connection with this process number, or does not
// answer. A pooler has numbers of its own, so behind a pooler a connection counts only
// until the first question.
func (p *postgres) knows(pid uint32) bool {
	ctx, cancel := context.WithTimeout(p.ended, 5*time.Second)
	defer cancel()
	known := true
	err := p.pool.QueryRow(ctx, "SELECT count(*) > 0 FROM pg_stat_activity WHERE pid = $1", int64(pid)).Scan(&known)
	return err != nil || known
}
