package db

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/exaring/otelpgx"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/sdk/trace"
)

// postgres is a PostgreSQL database with connection pools of pgx.
type postgres struct {
	pool      *pgxpool.Pool          // for all that writes, and for lanes without a separate pool
	apart     map[lane]*pgxpool.Pool // the separate pools
	replica   *replica               // nil for none
	hosts     *hosts                 // nil for a URL with one host
	replan    time.Duration          // how long a connection reuses the plans of batches
	locks     lockTimeout            // the lock timeout of a migration
	idle      time.Duration          // how long a transaction that writes may wait for this program
	undivided bool                   // a database that divides its tables is refused
	routed    bool                   // batches always use the SQL statements of pipeline_routed.go
	nodes     nodes                  // the servers of a database that divides its tables
	address   string                 // the URL
	sizes     map[lane]int32         // the number of connections of each lane, to each server
	doubt     atomic.Uint64
	leaving   sync.WaitGroup

	unanswered atomic.Int64  // the number of COMMITs that were sent and may still be running
	most       int64         // the largest value of unanswered
	question   time.Duration // the time between two queries of attendEnd

	opened atomic.Bool // all pools exist

	ended context.Context // the context that ends when the pool is closed
	end   context.CancelFunc
}

var errUnreadable = errors.New("db: the PostgreSQL URL cannot be read")

func openPostgres(ctx context.Context, address string, pools Pools) (*postgres, error) {
	most, said, err := maxConns(address)
	if err != nil {
		return nil, err
	}
	cfg, err := poolConfig(address)
	if err != nil {
		return nil, err
	}
	cfg.MaxConns = max(cfg.MaxConns, usualConns)
	if said {
		cfg.MaxConns = most
	}
	sizes, err := pools.sizes(cfg.MaxConns)
	if err != nil {
		return nil, err
	}
	p := &postgres{
		apart: map[lane]*pgxpool.Pool{}, replan: 5 * time.Second, locks: usualLockTimeout, idle: usualIdle,
		most: int64(cfg.MaxConns), question: 15 * time.Second, routed: pools.Routed, undivided: pools.Undivided, address: address, sizes: sizes,
		nodes: nodes{stale: make(chan struct{}, 1), named: map[string]*node{}},
	}
	p.doubt.Store(1) // the server may have restarted before this program started (DB.Doubts)
	p.ended, p.end = context.WithCancel(context.Background())
	cfg.BeforeConnect = func(_ context.Context, c *pgx.ConnConfig) error { return p.attend(c, p.hosts, nil) }
	if p.hosts = hostsOf(address, cfg.ConnConfig, p.reset); p.hosts != nil {
		p.hosts.watch(p.ended)
	}
	for l, size := range sizes {
		pool, err := p.pooled(cfg, l, size, p.brokeOff)
		if err != nil {
			p.close()
			return nil, fmt.Errorf("db: %w", err)
		}
		if p.apart[l] = pool; l == working {
			p.pool = pool
		}
	}
	if pools.Replica != "" {
		if p.replica, err = p.openReplica(ctx, pools.Replica); err != nil {
			p.close()
			return nil, err
		}
	}
	p.opened.Store(true)
	return p, nil
}

// poolConfig returns the configuration of a pool of connections to a URL.
func poolConfig(address string) (*pgxpool.Config, error) {
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
	return cfg, nil
}

// pooled makes the pool of a lane. It calls the function left before it closes a connection.
func (p *postgres) pooled(cfg *pgxpool.Config, l lane, size int32, left func(*pgx.Conn)) (*pgxpool.Pool, error) {
	of := cfg.Copy()
	of.MaxConns, of.MinConns, of.MinIdleConns = size, min(of.MinConns, size), min(of.MinIdleConns, size)
	of.AfterConnect = func(ctx context.Context, c *pgx.Conn) error {
		if l == working {
			p.doubt.Add(1)
		}
		if _, err := c.Exec(ctx, planByKeys+"; "+endIdle(p.idle)); err != nil { // not startup parameters, which a pooler may refuse
			return err
		}
		return p.recognise(ctx, c)
	}
	of.PrepareConn = p.refresh
	of.BeforeClose = left
	return pgxpool.NewWithConfig(p.ended, of)
}

// brokeOff closes all idle connections if a connection is closed that is broken already. The server has
// probably restarted. Otherwise each idle connection would fail one more request.
func (p *postgres) brokeOff(c *pgx.Conn) {
	if !c.IsClosed() {
		return
	}
	p.reset()
	if p.hosts != nil {
		p.hosts.suspect()
	}
}

// reset closes all idle connections, and each other one when it becomes idle.
func (p *postgres) reset() {
	if !p.opened.Load() {
		return
	}
	for _, pool := range p.apart {
		pool.Reset()
	}
}

// in returns the pool of a lane. With few connections, all lanes share one pool.
func (p *postgres) in(l lane) *pgxpool.Pool {
	if pool := p.apart[l]; pool != nil {
		return pool
	}
	return p.pool
}

// planByKeys makes the planner find rows by their keys. A plan that was made for a small table would
// otherwise read the whole table after the table has grown. Without jit = off, PostgreSQL would compile
// each plan that has to read a small table without a key, because such a plan now seems expensive.
const planByKeys = `SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off; SET jit = off`

// planFreely begins a snapshot without planByKeys, because its SQL queries read most rows of a company. A snapshot
// locks no row, and its reader may take long for a page. So it may wait for this program without a limit.
const planFreely = `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL idle_in_transaction_session_timeout = 0;
	SET LOCAL enable_seqscan = on; SET LOCAL enable_hashjoin = on; SET LOCAL enable_mergejoin = on`

// usualIdle is longer than a batch of the ledger may take. A program that is silent for so long in the middle of a
// transaction is lost, or has stood still.
const usualIdle = 30 * time.Second

// endIdle returns SQL statements that let the server end the connections of a lost program. A machine that loses its
// power or its network ends none, and the server would keep the rows locked that its transactions have locked. The
// timeout runs only while the server waits for the program. So it never runs during a COMMIT that waits for a standby.
// The probes find a lost machine within 25 seconds, also outside a transaction. They do nothing on a socket of this machine.
func endIdle(limit time.Duration) string {
	return fmt.Sprintf("SET idle_in_transaction_session_timeout = %d; SET tcp_keepalives_idle = 10; "+
		"SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 3", limit.Milliseconds())
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
	for _, pool := range p.apart {
		pool.Close()
	}
	if p.replica != nil {
		p.replica.pool.Close()
	}
	p.end()
	p.nodes.close()
	p.leaving.Wait()
	if p.hosts != nil {
		p.hosts.looks.Wait()
	}
}

// ping tries a second time with a new connection. The first one may have been lost since the previous
// check, and only the check uses it.
func (p *postgres) ping(ctx context.Context) error {
	err := p.in(probing).Ping(ctx)
	if Classify(err) == Away {
		err = p.in(probing).Ping(ctx)
	}
	return explain(err)
}

// Exec runs an SQL statement as a transaction of its own. After a transient error nothing was
// committed, and Exec runs the SQL statement again.
func (p *postgres) Exec(ctx context.Context, query string, args ...any) (rows int64, err error) {
	err = again(ctx, func() error {
		rows, err = p.exec(ctx, query, args)
		return err
	})
	return rows, err
}

func (p *postgres) exec(ctx context.Context, query string, args []any) (int64, error) {
	conn, err := p.at(ctx, working).Acquire(ctx)
	if err != nil {
		return 0, err
	}
	defer p.release(conn)
	var tag pgconn.CommandTag
	err = p.committing(conn, func(c *pgx.Conn) (err error) {
		tag, err = c.Exec(ctx, query, args...)
		return err
	}, refusedStatement)
	return tag.RowsAffected(), err
}

func (p *postgres) Query(ctx context.Context, query string, args ...any) (Rows, error) {
	rows, err := p.at(ctx, laneOf(ctx)).Query(ctx, query, args...)
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
	described, err := conn.Conn().Prepare(ctx, "", query)
	if err == nil && slices.ContainsFunc(described.ParamOIDs, isShort) {
		return errShort
	}
	return err
}

// errShort is the error of prepare for a parameter that PostgreSQL takes for an integer of 32 bits, as in "$1 = 0".
// A larger value would fail at run time.
var errShort = errors.New("db: PostgreSQL takes a parameter for a short integer: compare it with a column first, or with CAST(0 AS BIGINT)")

func isShort(oid uint32) bool { return oid == pgtype.Int4OID || oid == pgtype.Int2OID }

func (p *postgres) begin(ctx context.Context) (tx, error) {
	return p.beginAs(ctx, p.at(ctx, working), pgx.TxOptions{})
}

func (p *postgres) snapshot(ctx context.Context) (tx, error) {
	return p.beginAs(ctx, p.at(ctx, laneOf(ctx)), pgx.TxOptions{BeginQuery: planFreely})
}

// heavy begins a snapshot whose SQL statements have a time limit. The planner knows the values of the
// filters. Its old statistics cannot make it read a whole table, and it does not compile plans.
func (p *postgres) heavy(ctx context.Context, limit time.Duration) (tx, error) {
	return p.beginAs(ctx, p.at(ctx, heavy), pgx.TxOptions{BeginQuery: beginHeavy(limit)})
}

func beginHeavy(limit time.Duration) string {
	return fmt.Sprintf("%s; SET LOCAL plan_cache_mode = force_custom_plan; SET LOCAL enable_seqscan = off; SET LOCAL statement_timeout = %d",
		planFreely, limit.Milliseconds())
}

func (p *postgres) beginAs(ctx context.Context, pool *pgxpool.Pool, o pgx.TxOptions) (tx, error) {
	conn, err := pool.Acquire(ctx)
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
	return tag.RowsAffected(), t.p.moved(err)
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
