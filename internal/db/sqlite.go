package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"sync"
	"time"

	driver "modernc.org/sqlite" // the driver registers itself as "sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// lite is one SQLite database in WAL mode. A single connection writes, and a few connections read
// in parallel.
type lite struct {
	write, read *sql.DB
	lock        *sql.DB  // the shared lock of lockShared; nil if the database was opened with Inspect
	prepared    sync.Map // the readers' prepared SQL statements, which map a query to a *sql.Stmt
	batch       liteStatements
}

func openSQLite(ctx context.Context, path string) (*lite, error) {
	pragmas := url.Values{
		"_pragma": {
			"busy_timeout(5000)",
			"journal_mode(WAL)",
			"synchronous(FULL)",
			"foreign_keys(1)",
			"cache_size(-65536)",
			"wal_autocheckpoint(4000)",
		},
		"_txlock": {"immediate"},
	}
	if err := makePrivate(path); err != nil {
		return nil, fmt.Errorf("db: cannot open the SQLite file: %w", err)
	}
	lock, err := lockShared(ctx, path)
	if err != nil {
		return nil, err
	}
	write, err := sql.Open("sqlite", fileURL(path, pragmas))
	if err != nil {
		_ = lock.Close()
		return nil, fmt.Errorf("db: %w", err)
	}
	write.SetMaxOpenConns(1)
	if err := write.PingContext(ctx); err != nil {
		_, _ = write.Close(), lock.Close()
		return nil, fmt.Errorf("db: cannot open the SQLite file: %w", err)
	}
	pragmas.Add("_pragma", "query_only(1)")
	pragmas.Add("_pragma", "cache_size(-8192)")
	pragmas.Set("_txlock", "deferred")
	read, err := sql.Open("sqlite", fileURL(path, pragmas))
	if err != nil {
		_, _ = write.Close(), lock.Close()
		return nil, fmt.Errorf("db: %w", err)
	}
	read.SetMaxOpenConns(4)
	read.SetMaxIdleConns(4)
	return &lite{write: write, read: read, lock: lock}, nil
}

// close closes the readers first and the lock last. The writer is then the last connection, and
// moves the content of the write-ahead log into the file.
func (s *lite) close() {
	_ = s.read.Close()
	_ = s.write.Close()
	if s.lock != nil {
		_ = s.lock.Close()
	}
}

// doubts returns 0, because SQLite has no standby.
func (s *lite) doubts() uint64 { return 0 }

// ping checks that a write can begin. A full or read-only disk counts as unavailable too.
func (s *lite) ping(ctx context.Context) error {
	t, err := s.write.BeginTx(ctx, nil)
	if err != nil {
		return explain(err)
	}
	return explain(t.Rollback())
}

// statement returns the prepared form of a reader's query. It prepares each query only once.
func (s *lite) statement(ctx context.Context, query string) (*sql.Stmt, error) {
	if st, ok := s.prepared.Load(query); ok {
		return st.(*sql.Stmt), nil
	}
	st, err := s.read.PrepareContext(ctx, forSQLite(query))
	if err != nil {
		return nil, err
	}
	if first, raced := s.prepared.LoadOrStore(query, st); raced {
		_ = st.Close()
		return first.(*sql.Stmt), nil
	}
	return st, nil
}

func (s *lite) prepare(ctx context.Context, query string) error {
	st, err := s.read.PrepareContext(ctx, forSQLite(query))
	if err != nil {
		return err
	}
	return st.Close()
}

func (s *lite) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	var n int64
	err := again(ctx, func() error {
		t, err := s.begin(ctx)
		if err != nil {
			return err
		}
		if n, err = t.Exec(ctx, query, args...); err != nil {
			t.rollback(ctx)
			return err
		}
		return t.commit(ctx)
	})
	return n, err
}

func (s *lite) Query(ctx context.Context, query string, args ...any) (Rows, error) {
	if laneOf(ctx) == probing {
		// Other work may use all readers. The writer is free as soon as a write can begin.
		rows, err := s.write.QueryContext(ctx, forSQLite(query), args...)
		if err != nil {
			return nil, explain(err)
		}
		return liteRows{rows}, nil
	}
	st, err := s.statement(ctx, query)
	if err != nil {
		return nil, explain(err)
	}
	if args, err = argsForSQLite(args); err != nil {
		return nil, err
	}
	rows, err := st.QueryContext(ctx, args...)
	if err != nil {
		return nil, explain(err)
	}
	return liteRows{rows}, nil
}

func (s *lite) begin(ctx context.Context) (tx, error) {
	t, err := s.write.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	return &liteTx{s: s, tx: t}, nil
}

// snapshot begins a deferred transaction of a reader. In WAL mode, its first SQL statement fixes
// the state of the database that the transaction sees.
func (s *lite) snapshot(ctx context.Context) (tx, error) {
	t, err := s.read.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	return &liteTx{s: s, tx: t}, nil
}

// heavy begins a snapshot. The caller ends an SQL statement that takes too long, and SQLite then
// interrupts it.
func (s *lite) heavy(ctx context.Context, _ time.Duration) (tx, error) { return s.snapshot(ctx) }

type liteRows struct{ *sql.Rows }

func (r liteRows) Close()     { _ = r.Rows.Close() } // the error is ignored, because Err reports the same
func (r liteRows) Err() error { return explain(r.Rows.Err()) }

type liteTx struct {
	s  *lite
	tx *sql.Tx
}

// Exec passes the text of the SQL statement to the driver's transaction, without preparing it.
// Preparing would need a second connection for writing. There is only one, which this transaction
// holds, so preparing would wait without end.
func (t *liteTx) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	args, err := argsForSQLite(args)
	if err != nil {
		return 0, err
	}
	res, err := t.tx.ExecContext(ctx, forSQLite(query), args...)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

func (t *liteTx) Query(ctx context.Context, query string, args ...any) (Rows, error) {
	args, err := argsForSQLite(args)
	if err != nil {
		return nil, err
	}
	rows, err := t.tx.QueryContext(ctx, forSQLite(query), args...)
	if err != nil {
		return nil, err
	}
	return liteRows{rows}, nil
}

func (t *liteTx) commit(ctx context.Context) error {
	err := liteCommitError(t.tx.Commit())
	if err != nil {
		t.rollback(ctx)
	}
	return err
}

// liteCommitError turns the error of a COMMIT into ErrUncommitted if the disk failed during the
// COMMIT. After a crash, such a transaction may or may not be in the database: the write-ahead log may
// have it whole, although no reader sees it now. Only a later commit, which overwrites it there, rules
// that out. After any other error the COMMIT was definitely refused.
func liteCommitError(err error) error {
	var e *driver.Error
	if errors.As(err, &e) && e.Code()&0xff == sqlite3.SQLITE_IOERR {
		return fmt.Errorf("%w: %w", ErrUncommitted, err)
	}
	return err
}

func (t *liteTx) rollback(context.Context) { _ = t.tx.Rollback() } // ignored, because after a failed ROLLBACK no transaction is open
