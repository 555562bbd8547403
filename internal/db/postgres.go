package db

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/exaring/otelpgx"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/sdk/trace"
)

// postgres is a PostgreSQL database with a connection pool of pgx.
type postgres struct {
	pool    *pgxpool.Pool
	replan  time.Duration // how long a connection reuses the plans of batches
	locks   lockTimeout   // the lock timeout of a migration
	doubt   atomic.Uint64
	leaving sync.WaitGroup

	unanswered atomic.Int64  // the number of COMMITs that were sent and may still be running
	most       int64         // the largest value of unanswered
	question   time.Duration // the time between two queries of attendEnd

	ended context.Context // the context that ends when the pool is closed
	end   context.CancelFunc
}

var errUnreadable = errors.New("db: the PostgreSQL URL cannot be read")

func openPostgres(ctx context.Context, address string) (*postgres, error) {
	most, said, err := maxConns(address)
	if err != nil {
		return nil, err
	}
	cfg, err := pgxpool.ParseConfig(address)
	if err != nil {
		// The error of pgx would show the URL with its password.
		return nil, errUnreadable
	}
	cfg.ConnConfig.ConnectTimeout = 5 * time.Second
	cfg.ConnConfig.RuntimeParams["application_name"] = applicationName() // replaces the name in the URL
	// Without a collector, the tracer would cost time in each query and record nothing.
	if _, traced := otel.GetTracerProvider().(*trace.TracerProvider); traced {
		cfg.ConnConfig.Tracer = otelpgx.NewTracer()
	}
	cfg.HealthCheckPeriod = 5 * time.Second
	cfg.MaxConns = max(cfg.MaxConns, usualConns)
	if said {
		cfg.MaxConns = most
	}
	cfg.BeforeConnect = attend
	p := &postgres{replan: 5 * time.Second, locks: usualLockTimeout, most: int64(cfg.MaxConns), question: 15 * time.Second}
	p.doubt.Store(1) // the server may have restarted before this program started (DB.Doubts)
	cfg.AfterConnect = func(context.Context, *pgx.Conn) error {
		p.doubt.Add(1)
		return nil
	}
	if p.pool, err = pgxpool.NewWithConfig(ctx, cfg); err != nil {
		return nil, fmt.Errorf("db: %w", err)
	}
	p.ended, p.end = context.WithCancel(context.Background())
	return p, nil
}

func (p *postgres) doubts() uint64 { return p.doubt.Load() }

// usualConns is the smallest limit of connections if the URL has no pool_max_conns.
const usualConns = 12

// maxConns returns the number of connections that a URL sets, and whether the URL sets a number. A
// single connection is enough, because no holder of a connection waits for a second one.
func maxConns(address string) (most int32, said bool, err error) {
	u, err := url.Parse(address)
	if err != nil {
		return 0, false, errUnreadable
	}
	text := u.Query().Get("pool_max_conns")
	if text == "" {
		return 0, false, nil
	}
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil || n < 1 {
		return 0, false, errors.New("db: pool_max_conns of the PostgreSQL URL must be a number of at least 1")
	}
	return int32(n), true, nil
}

func (p *postgres) close() {
	p.pool.Close()
	p.end()
	p.leaving.Wait()
}

func (p *postgres) ping(ctx context.Context) error { return explain(p.pool.Ping(ctx)) }

func (p *postgres) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	conn, err := p.pool.Acquire(ctx)
	if err != nil {
		return 0, explain(err)
	}
	defer p.release(conn)
	var tag pgconn.CommandTag
	err = p.committing(conn, func(c *pgx.Conn) (err error) {
		tag, err = c.Exec(ctx, query, args...)
		return err
	}, refusedStatement)
	return tag.RowsAffected(), explain(err)
}

func (p *postgres) Query(ctx context.Context, query string, args ...any) (Rows, error) {
	rows, err := p.pool.Query(ctx, query, args...)
	if err != nil {
		return nil, explain(err)
	}
	return pgRows{rows}, nil
}

func (p *postgres) prepare(ctx context.Context, query string) error {
	conn, err := p.pool.Acquire(ctx)
	if err != nil {
		return explain(err)
	}
	defer conn.Release()
	_, err = conn.Conn().Prepare(ctx, "", query)
	return err
}

func (p *postgres) begin(ctx context.Context) (tx, error) { return p.beginAs(ctx, pgx.TxOptions{}) }

func (p *postgres) snapshot(ctx context.Context) (tx, error) {
	return p.beginAs(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
}

func (p *postgres) beginAs(ctx context.Context, o pgx.TxOptions) (tx, error) {
	conn, err := p.pool.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	t, err := conn.BeginTx(ctx, o)
	if err != nil {
		conn.Release()
		return nil, err
	}
	return &postgresTx{p, conn, t}, nil
}

// pgRows turns the errors of pgx.Rows into faults.
type pgRows struct{ pgx.Rows }

func (r pgRows) Err() error { return explain(r.Rows.Err()) }

type postgresTx struct {
	p    *postgres
	conn *pgxpool.Conn
	tx   pgx.Tx
}

// Inside a transaction, errors are not turned into faults. Tx needs the original error to decide
// whether to run the transaction again, and turns only the last error into a fault.
func (t *postgresTx) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	tag, err := t.tx.Exec(ctx, query, args...)
	return tag.RowsAffected(), err
}

func (t *postgresTx) Query(ctx context.Context, query string, args ...any) (Rows, error) {
	return t.tx.Query(ctx, query, args...)
}

func (t *postgresTx) commit(ctx context.Context) error {
	defer t.p.release(t.conn)
	err := t.p.committing(t.conn, func(*pgx.Conn) error { return t.tx.Commit(ctx) }, refusedCommit)
	if errors.Is(err, errCrowded) {
		_ = t.tx.Rollback(ctx)
	}
	return err
}

// The error of ROLLBACK is ignored. If ROLLBACK fails, pgx closes the connection, and the server
// rolls the transaction back.
func (t *postgresTx) rollback(ctx context.Context) {
	defer t.p.release(t.conn)
	_ = t.tx.Rollback(ctx)
}
