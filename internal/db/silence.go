package db

import (
	"context"
	"errors"
	"time"

	"github.com/kobo-waas/kobo/internal/fault"
)

// A database is silent while it answers neither a statement nor the request for the
// next row. An open connection to a frozen server, or behind a firewall that forgot the
// connection, would otherwise block the caller for ever. A context's own deadline or
// budget may end the wait earlier.
const (
	silence        = 10 * time.Second
	patientSilence = 10 * time.Minute
)

type patientKey struct{}

// Patient is for statements that need long before their first row, such as sums over
// the whole ledger.
func Patient(ctx context.Context) context.Context {
	return context.WithValue(ctx, patientKey{}, true)
}

var errSilent = errors.New("db: the database did not answer in time")

// watched ends a context when the database is silent. It measures the time from listen
// to heard, and not the time that the caller needs for the rows.
type watched struct {
	context.Context
	cancel context.CancelCauseFunc
	timer  *time.Timer // nil if the context has a deadline of its own and no budget
	limit  time.Duration
	budget *budget // nil: only limit counts
	asked  bool    // the budget is running
}

func watch(ctx context.Context) *watched {
	w := &watched{Context: ctx, limit: silence, budget: budgetOf(ctx)}
	if _, own := ctx.Deadline(); own {
		if w.budget == nil {
			return w
		}
		w.limit = patientSilence
	}
	if ctx.Value(patientKey{}) != nil {
		w.limit = patientSilence
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
		w.cancel(errSilent) // before anything is sent
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

// explain replaces the error of a silent database. A COMMIT without an answer keeps its
// error, since its outcome is open.
func (w *watched) explain(err error) error {
	if err != nil && !errors.Is(err, ErrUncommitted) && errors.Is(context.Cause(w), errSilent) {
		return fault.New(fault.Unavailable, "Service temporarily unavailable").Because(errors.Join(errSilent, err))
	}
	return err
}

// attentive is a Querier whose statements are watched.
type attentive struct{ Querier }

func (a attentive) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	w := watch(ctx)
	defer w.end()
	n, err := a.Querier.Exec(w, query, args...)
	return n, w.explain(err)
}

func (a attentive) Query(ctx context.Context, query string, args ...any) (Rows, error) {
	w := watch(ctx)
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
	r.w.listen() // Close reads the remaining rows
	r.Rows.Close()
	r.w.end()
}

// Query runs a statement that only reads.
func (d *DB) Query(ctx context.Context, query string, args ...any) (Rows, error) {
	return attentive{d.engine}.Query(ctx, query, args...)
}

// Exec runs a statement in a transaction of its own. Without an answer the outcome of
// the statement is unknown.
func (d *DB) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	return attentive{d.engine}.Exec(ctx, query, args...)
}

// watchedTx is a transaction whose statements are watched.
type watchedTx struct {
	Querier
	tx tx
	w  *watched // of its beginning; a transaction of SQLite ends with that context
}

func watchTx(ctx context.Context, begin func(context.Context) (tx, error)) (*watchedTx, error) {
	w := watch(ctx)
	t, err := begin(w)
	if err != nil {
		defer w.end()
		return nil, w.explain(err)
	}
	w.heard()
	return &watchedTx{attentive{t}, t, w}, nil
}

func (t *watchedTx) commit(ctx context.Context) error {
	w := watch(ctx)
	defer w.end()
	return w.explain(t.tx.commit(w))
}

// rollback has a context of its own, since the end of the caller's context may be the
// reason for it. The caller's budget limits the rollback all the same.
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
