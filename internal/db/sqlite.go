package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"sync"

	driver "modernc.org/sqlite" // registers itself as "sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// lite is one SQLite file: a single connection writes, a few read beside it
// (WAL).
type lite struct {
	write, read *sql.DB
	lock        *sql.DB  // see lockShared; nil when the file is only looked at
	prepared    sync.Map // query → *sql.Stmt, for the readers
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

// close ends the readers first, so that the writer is last to leave and folds
// the write-ahead log back into the file. The lock goes last.
func (s *lite) close() {
	_ = s.read.Close()
	_ = s.write.Close()
	if s.lock != nil {
		_ = s.lock.Close()
	}
}

// ping proves that a write could begin: a full or read-only disk is "away" too.
func (s *lite) doubts() uint64 { return 0 }

func (s *lite) ping(ctx context.Context) error {
	t, err := s.write.BeginTx(ctx, nil)
	if err != nil {
		return explain(err)
	}
	return explain(t.Rollback())
}

// statement prepares a reader's query once.
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

// snapshot returns a reader's deferred transaction: in WAL mode its first statement
// fixes what it sees.
func (s *lite) snapshot(ctx context.Context) (tx, error) {
	t, err := s.read.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	return &liteTx{s: s, tx: t}, nil
}

type liteRows struct{ *sql.Rows }

func (r liteRows) Close()     { _ = r.Rows.Close() } // Err has said all there is to say
func (r liteRows) Err() error { return explain(r.Rows.Err()) }

type liteTx struct {
	s  *lite
	tx *sql.Tx
}

// The statements go to the driver's transaction by text: the write pool has one
// connection, which this transaction holds, so preparing on the pool would wait
// for itself.
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

// liteCommitError: a refused COMMIT is definite unless the disk itself failed
// half-way; then the frames of the transaction may or may not be found again
// after a crash.
func liteCommitError(err error) error {
	var e *driver.Error
	if errors.As(err, &e) && e.Code()&0xff == sqlite3.SQLITE_IOERR {
		return fmt.Errorf("%w: %w", ErrUncommitted, err)
	}
	return err
}

func (t *liteTx) rollback(context.Context) { _ = t.tx.Rollback() } // nothing is open any more when it fails
