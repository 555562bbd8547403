package db

import (
	"context"
	"errors"
	"time"

	"github.com/kobo-waas/kobo/internal/fault"
)

// How long a database may say nothing: no answer to a statement, or none to the
// question for the next row. A connection that is open and silent (a frozen
// server, a firewall that forgot it) would hold whoever asked for good. Who has
// a deadline of his own is held to that, and who has a budget to that as well.
const (
	silence        = 10 * time.Second
	patientSilence = 10 * time.Minute
)

type patientKey struct{}

// Patient is for statements that legitimately think long before the first row,
// such as those that add up a whole book.
func Patient(ctx context.Context) context.Context {
	return context.WithValue(ctx, patientKey{}, true)
}

var errSilent = errors.New("db: the database did not answer in time")

// watched ends a context when the database is silent. It listens from listen to
// heard, and not while the caller is busy with what he got.
type watched struct {
	context.Context
	cancel context.CancelCauseFunc
	timer  *time.Timer
	limit  time.Duration
	budget *budget // nil: limit alone counts
	asked  bool    // the budget is running
}

// watch returns nil if the context has a deadline of its own and no budget.
func watch(ctx context.Context) *watched {
	w := &watched{limit: silence, budget: budgetOf(ctx)}
	if _, own := ctx.Deadline(); own {
		if w.budget == nil {
			return nil
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
	w.timer.Stop()
	if w.asked {
		w.asked = false
		w.budget.end()
	}
}

func (w *watched) end() {
	w.heard()
	w.cancel(nil)
}

// explain tells a silence from other ends.
func (w *watched) explain(err error) error {
	if err != nil && errors.Is(context.Cause(w), errSilent) {
		return fault.New(fault.Unavailable, "Service temporarily unavailable").Because(errors.Join(errSilent, err))
	}
	return err
}

// attentive is a Querier whose statements are watched.
type attentive struct{ Querier }

func (a attentive) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	w := watch(ctx)
	if w == nil {
		return a.Querier.Exec(ctx, query, args...)
	}
	defer w.end()
	n, err := a.Querier.Exec(w, query, args...)
	return n, w.explain(err)
}

func (a attentive) Query(ctx context.Context, query string, args ...any) (Rows, error) {
	w := watch(ctx)
	if w == nil {
		return a.Querier.Query(ctx, query, args...)
	}
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
	r.w.listen() // what is left is read
	r.Rows.Close()
	r.w.end()
}

// Query reads; Exec writes one statement in a transaction of its own.
func (d *DB) Query(ctx context.Context, query string, args ...any) (Rows, error) {
	return attentive{d.engine}.Query(ctx, query, args...)
}

// Exec runs a statement in a transaction of its own. When no answer came nobody
// knows whether it happened.
func (d *DB) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	n, err := attentive{d.engine}.Exec(ctx, query, args...)
	if errors.Is(err, ErrUncommitted) {
		err = explain(errors.Join(ErrUncommitted, err))
	}
	return n, err
}

// watchedTx is a transaction whose statements are watched.
type watchedTx struct {
	Querier
	tx tx
	w  *watched // of its beginning; SQLite's lasts as long as that context
}

func watchTx(ctx context.Context, begin func(context.Context) (tx, error)) (*watchedTx, error) {
	w := watch(ctx)
	if w == nil {
		t, err := begin(ctx)
		return &watchedTx{Querier: attentive{t}, tx: t}, err
	}
	t, err := begin(w)
	if err != nil {
		defer w.end()
		return nil, w.explain(err)
	}
	w.heard()
	return &watchedTx{attentive{t}, t, w}, nil
}

// commit leaves it open whether a transaction happened whose COMMIT got no answer.
func (t *watchedTx) commit(ctx context.Context) error {
	w := watch(ctx)
	if w == nil {
		return t.tx.commit(ctx)
	}
	defer w.end()
	err := t.tx.commit(w)
	if errors.Is(err, ErrUncommitted) {
		return err
	}
	return w.explain(err)
}

// rollback has a context of its own: the caller's may be what ended the
// transaction. The caller's budget counts all the same.
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

func (t *watchedTx) end() {
	if t.w != nil {
		t.w.end()
	}
}
