package db

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync/atomic"

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
}

const lineKey = "kobo.line"

var (
	errNoCancel = errors.New("db: a COMMIT is never cancelled")
	errWarned   = errors.New("db: the server committed with a warning: perhaps without its standby")
)

// attend gives a new connection its line.
func attend(_ context.Context, c *pgx.ConnConfig) error {
	l := &line{}
	dial, watcher := c.DialFunc, c.BuildContextWatcherHandler
	c.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		if l.committing.Load() {
			return nil, errNoCancel
		}
		return dial(ctx, network, address)
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
// server did not say for certain what became of it.
func (p *postgres) committing(conn *pgxpool.Conn, send func(*pgx.Conn) error, certain func(error) bool) error {
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
// is left to end by itself: pgx gives it fifteen seconds to say its last word.
// Meanwhile it takes nobody's place.
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
		defer p.doubt.Add(1) // its rows may be shown from here on
		select {
		case <-left.CleanupDone():
		case <-p.ended.Done():
			_ = left.Conn().Close() // it may be closed already
			<-left.CleanupDone()
		}
	}()
}
