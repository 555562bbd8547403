package db

import (
	"context"
	"errors"
	"time"

	"github.com/kobo-waas/kobo/internal/fault"
)

// A database is silent while it responds neither to an SQL statement nor to the request for the
// next row. The server may be frozen, or a firewall may have forgotten the connection. Without a
// time limit, such a connection would block the caller without end. A context's deadline or budget
// may end the wait earlier.
const (
	silence     = 10 * time.Second
	longSilence = 10 * time.Minute
)

type longTimeout struct{}

// WithLongTimeout returns a context for SQL statements that need a long time before their
// first row, such as sums over the whole ledger.
func WithLongTimeout(ctx context.Context) context.Context {
	return context.WithValue(ctx, longTimeout{}, true)
}

var errSilent = errors.New("db: the database did not answer in time")

// watched is a context that ends when the database is silent. It measures the time from a call of
// listen to the next call of heard. The time that the caller needs to process the rows does not
// count.
type watched struct {
	context.Context
	cancel context.CancelCauseFunc
	timer  *time.Timer // nil if the context has a deadline but no budget
	limit  time.Duration
	budget *budget // if nil, only limit counts
	asked  bool    // true while a wait counts against the budget
}

func watch(ctx context.Context) *watched {
	w := &watched{Context: ctx, limit: silence, budget: budgetOf(ctx)}
	if _, own := ctx.Deadline(); own {
		if w.budget == nil {
			return w
		}
		w.limit = longSilence
	}
	if ctx.Value(longTimeout{}) != nil {
		w.limit = longSilence
	}
	if limit, ok := ctx.Value(limitKey{}).(time.Duration); ok {
		w.limit = limit
	}
	w.Context, w.cancel = context.WithCancelCause(ctx)
	w.timer = time.AfterFunc(w.limit, func() { w.cancel(errSilent) })
	w.listen()
	return w
}

func (w *watched) listen() {
	if w.timer == nil {
		return
	}
	limit := w.limit
	if w.budget != nil && !w.asked {
		w.asked = true
		limit = min(limit, w.budget.begin())
	}
	if limit <= 0 {
		w.cancel(errSilent) // so that nothing is sent to the database
		return
	}
	w.timer.Reset(limit)
}

func (w *watched) heard() {
	if w.timer == nil {
		return
	}
	w.timer.Stop()
	if w.asked {
		w.asked = false
		w.budget.end()
	}
}

func (w *watched) end() {
	w.heard()
	if w.timer != nil {
		w.cancel(nil)
	}
}

// explain replaces the error if the database was silent. A COMMIT without a reply keeps its error,
// because its outcome is unknown.
func (w *watched) explain(err error) error {
	if err != nil && !errors.Is(err, ErrUncommitted) && errors.Is(context.Cause(w), errSilent) {
		return fault.New(fault.Unavailable, "Service temporarily unavailable").Because(errors.Join(errSilent, err))
	}
	return err
}

// attentive is a Querier that ends SQL statements when the database is silent.
type attentive struct {
	Querier
	limit time.Duration // how long the database may be silent; 0 means the usual time
}

type limitKey struct{}

func (a attentive) watch(ctx context.Context) *watched {
	if a.limit > 0 {
		ctx = context.WithValue(ctx, limitKey{}, a.limit)
	}
	return watch(ctx)
}

func (a attentive) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	w := a.watch(ctx)
	defer w.end()
	n, err := a.Querier.Exec(w, query, args...)
	return n, w.explain(err)
}

func (a attentive) Query(ctx context.Context, query string, args ...any) (Rows, error) {
	w := a.watch(ctx)
	rows, err := a.Querier.Query(w, query, args...)
	if err != nil {
		defer w.end()
		return nil, w.explain(err)
	}
	w.heard()
	return &watchedRows{rows, w}, nil
}

type watchedRows struct {
	Rows
	w *watched
}

func (r *watchedRows) Next() bool {
	r.w.listen()
	defer r.w.heard()
	return r.Rows.Next()
}

func (r *watchedRows) Err() error { return r.w.explain(r.Rows.Err()) }

func (r *watchedRows) Close() {
	r.w.listen() // watches the database again, because Close reads the remaining rows
	r.Rows.Close()
	r.w.end()
}

// Query runs an SQL statement that only reads.
func (d *DB) Query(ctx context.Context, query string, args ...any) (Rows, error) {
	return attentive{Querier: d.engine}.Query(ctx, query, args...)
}

// Exec runs an SQL statement in a separate transaction. If the database does not respond, the
// outcome of the SQL statement is unknown.
func (d *DB) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	return attentive{Querier: d.engine}.Exec(ctx, query, args...)
}

// watchedTx is a transaction that ends when the database is silent.
type watchedTx struct {
	Querier
	tx tx
	w  *watched // the context of BEGIN; a transaction of SQLite ends when this context ends
}

func watchTx(ctx context.Context, begin func(context.Context) (tx, error)) (*watchedTx, error) {
	w := watch(ctx)
	t, err := begin(w)
	if err != nil {
		defer w.end()
		return nil, w.explain(err)
	}
	w.heard()
	return &watchedTx{attentive{Querier: t}, t, w}, nil
}

func (t *watchedTx) commit(ctx context.Context) error {
	w := watch(ctx)
	defer w.end()
	return w.explain(t.tx.commit(w))
}

// rollback uses a new context, because the caller's context may have ended and so caused the
// rollback. The caller's budget still limits the rollback.
func (t *watchedTx) rollback(ctx context.Context) {
	limit := 5 * time.Second
	if b := budgetOf(ctx); b != nil {
		limit = min(limit, b.begin())
		defer b.end()
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	defer cancel()
	t.tx.rollback(ctx)
}
