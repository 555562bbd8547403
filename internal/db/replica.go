package db

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// replica is a standby that answers the snapshots of requests that only read, and the heavy reads.
//
// Such a read asks the primary for its position, and waits until the replica has replayed it. So it sees
// every row that was committed before it began, whichever program has committed the row. The primary
// answers if the replica is not there in time, has become a primary itself, follows another history,
// or ends the read because of a conflict with the replay.
type replica struct {
	pool     *pgxpool.Pool
	patience time.Duration // how long a read waits for the position
	rest     atomic.Int64  // in Unix microseconds: until when no read asks a replica that did not respond, or was behind

	answered, missed atomic.Int64
}

const (
	replicaPatience = 250 * time.Millisecond
	replicaBegin    = time.Second          // how long the replica may take to connect, to reach the position and to begin
	replicaLook     = 5 * time.Millisecond // between two looks at the position of the replica
	replicaRest     = 5 * time.Second
	replicaLag      = time.Second // the rest of a replica that was behind, so that not each read waits for it
	replicaConns    = 4           // if the URL has no pool_max_conns
)

var (
	errBehind   = errors.New("db: the replica has not replayed the position of the primary")
	errPromoted = errors.New("db: the replica has become a primary")
)

// The timeline of a primary is in the name of its present WAL file. A standby knows the timeline of
// its last restart point, which is never newer than what it replays.
const (
	primaryAt = `SELECT pg_current_wal_flush_lsn()::text, substr(pg_walfile_name(pg_current_wal_flush_lsn()), 1, 8)`
	replicaAt = `SELECT pg_is_in_recovery(), pg_is_in_recovery() AND pg_last_wal_replay_lsn() >= $1::pg_lsn
		AND lpad(upper(to_hex((SELECT timeline_id FROM pg_control_checkpoint()))), 8, '0') = $2`
)

// openReplica makes the pool of a replica. It does not connect.
func (p *postgres) openReplica(ctx context.Context, address string) (*replica, error) {
	most, said, err := maxConns(address)
	if err != nil {
		return nil, err
	}
	cfg, err := pgxpool.ParseConfig(address)
	if err != nil {
		return nil, errUnreadable
	}
	if cfg.MaxConns = replicaConns; said {
		cfg.MaxConns = most
	}
	cfg.ConnConfig.ConnectTimeout = time.Second
	cfg.ConnConfig.RuntimeParams["application_name"] = applicationName()
	cfg.AfterConnect = func(ctx context.Context, c *pgx.Conn) error {
		_, err := c.Exec(ctx, planByKeys)
		return err
	}
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("db: the replica: %w", err)
	}
	return &replica{pool: pool, patience: replicaPatience}, nil
}

// begin begins a snapshot on the replica, which sees what the primary has committed by now. A replica that hangs takes only
// a part of the time that the request may wait, so that the primary can answer. When the replica has become a primary, its
// connections end: the URL may name another standby.
func (r *replica) begin(ctx context.Context, primary *pgxpool.Pool, begin string) (tx, error) {
	var position, timeline string
	if err := primary.QueryRow(ctx, primaryAt).Scan(&position, &timeline); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, replicaBegin)
	defer cancel()
	conn, err := r.pool.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	if err = r.await(ctx, conn, position, timeline); errors.Is(err, errPromoted) {
		r.pool.Reset()
	}
	if err == nil {
		var t pgx.Tx
		if t, err = conn.BeginTx(ctx, pgx.TxOptions{BeginQuery: begin}); err == nil {
			return &replicaTx{conn, t}, nil
		}
	}
	conn.Release()
	return nil, err
}

// await waits until the replica has replayed a position. The snapshot begins after it, because the first
// SQL statement of a transaction fixes what the transaction sees.
func (r *replica) await(ctx context.Context, conn *pgxpool.Conn, position, timeline string) error {
	over := time.NewTimer(r.patience)
	defer over.Stop()
	look := time.NewTicker(replicaLook)
	defer look.Stop()
	for {
		var standby, there bool
		if err := conn.QueryRow(ctx, replicaAt, position, timeline).Scan(&standby, &there); err != nil || there {
			return err
		}
		if !standby {
			return errPromoted
		}
		select {
		case <-look.C:
		case <-over.C:
			return errBehind
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// resting reports whether the replica did not respond a moment ago.
func (r *replica) resting(now time.Time) bool { return now.UnixMicro() < r.rest.Load() }

// fromReplica runs fn in a snapshot of the replica. It reports whether that is done: if not, the primary must answer.
func (d *DB) fromReplica(ctx context.Context, l lane, begin string, fn func(t *watchedTx) error) (done bool, err error) {
	p, ok := d.engine.(*postgres)
	if !ok || p.replica == nil || p.nodes.divided.Load() || p.replica.resting(time.Now()) {
		return false, nil
	}
	r, begun := p.replica, false
	err = d.inSnapshot(ctx, func(ctx context.Context) (tx, error) { return r.begin(ctx, p.in(l), begin) }, func(t *watchedTx) error {
		begun = true
		return fn(t)
	})
	switch trouble := Classify(err); {
	case ctx.Err() != nil:
		return true, explain(err) // the caller gave up, so the replica is not to blame
	case !begun && errors.Is(err, errBehind):
		r.rest.Store(time.Now().Add(replicaLag).UnixMicro())
	case begun && trouble == Transient: // a conflict with the replay
	case !begun, trouble == Away, errors.Is(err, errSilent):
		r.rest.Store(time.Now().Add(replicaRest).UnixMicro())
	default:
		r.answered.Add(1)
		return true, explain(err)
	}
	r.missed.Add(1)
	return false, nil
}

// replicaTx is a snapshot on the replica. It has nothing to commit.
type replicaTx struct {
	conn *pgxpool.Conn
	tx   pgx.Tx
}

func (t *replicaTx) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	tag, err := t.tx.Exec(ctx, query, args...)
	return tag.RowsAffected(), err
}

func (t *replicaTx) Query(ctx context.Context, query string, args ...any) (Rows, error) {
	return t.tx.Query(ctx, query, args...)
}

func (t *replicaTx) commit(ctx context.Context) error {
	defer t.conn.Release()
	return t.tx.Commit(ctx)
}

// The error of ROLLBACK is ignored. If ROLLBACK fails, pgx closes the connection.
func (t *replicaTx) rollback(ctx context.Context) {
	defer t.conn.Release()
	_ = t.tx.Rollback(ctx)
}
