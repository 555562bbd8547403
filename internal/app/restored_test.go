package app

import (
	"context"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/operator"
)

// A restored database serves no company, and holds the moves of purchases, as a database does that a start notices as an old
// copy. Opening API access does not end the hold.
func TestARestoreHoldsMoves(t *testing.T) {
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	ctx, by := context.WithoutCancel(t.Context()), operator.Local("test")
	a, _, err := OpenDev(ctx, DevConfig(t.TempDir(), ""), false, slog.New(slog.DiscardHandler))
	must(err)
	defer a.Close()
	ahead := a.Clock.(*clock.Movable) // the clock of operators' commands is behind that of a sandbox
	ahead.MoveTo(100 * time.Hour)
	must(a.meetDatabase(ctx))
	if a.movesHeld.Load() {
		t.Error("a new database holds moves")
	}
	c := Copying{Mode: Sandbox, Database: a.cfg.Database, File: filepath.Join(t.TempDir(), "backup.db"), By: by, Signer: a.DB.Signer()}
	_, err = Backup(ctx, c)
	must(err)
	must(c.prepare(ctx, c.File))
	restored, err := db.Open(ctx, "sqlite:"+c.File)
	must(err)
	defer restored.Close()
	operators := operator.New(restored, nil, clock.System{})
	access, err := operators.Access(ctx)
	if err != nil || !access.Closed || access.Reason != "restored from a backup: see docs/operating.md before opening it" {
		t.Errorf("after a restore: %+v, %v", access, err)
	}
	h, err := operators.Moves(ctx)
	if err != nil || !h.Held || h.Since.IsZero() || h.By != by.Name || h.Reason != "restored from a backup" {
		t.Errorf("after a restore: %+v, %v", h, err)
	}
	must(a.DB.Tx(ctx, func(q db.Querier) error { return a.shutRestored(ctx, q, "an old copy") }))
	must(a.Operators.OpenAccess(ctx, by))
	must(a.readAccess(ctx))
	if a.closed.Load() || !a.movesHeld.Load() {
		t.Errorf("closed %t, moves held %t", a.closed.Load(), a.movesHeld.Load())
	}
	if h, err = a.Operators.Moves(ctx); err != nil || h.By != operator.Itself().Name || h.Reason != "an old copy" {
		t.Errorf("after an old copy: %+v, %v", h, err)
	}
	must(a.DB.Tx(ctx, func(q db.Querier) error { return a.Operators.HoldMoves(ctx, q, by, false, "") }))
	before := operation.Operation{CreatedAt: a.Clock.Now()}
	if !a.Operations.MayRepeat(before) {
		t.Error("during the hold, an operation repeats nothing of the lost time")
	}
	must(a.readAccess(ctx))
	if a.movesHeld.Load() {
		t.Error("the hold did not end")
	}
	after := operation.Operation{CreatedAt: a.Clock.Now().Add(time.Minute)}
	if !a.Operations.MayRepeat(before) || a.Operations.MayRepeat(after) {
		t.Errorf("after the hold: before %t, after %t", a.Operations.MayRepeat(before), a.Operations.MayRepeat(after))
	}
	a.restoredUntil.Store(0)
	a.holdsEndRead.Store(false) // as after a start
	must(a.readAccess(ctx))
	allowed, err := a.Operators.MovesAllowedAt(ctx)
	must(err)
	for at, want := range map[time.Time]bool{allowed: true, allowed.Add(time.Hour): false} {
		if a.Operations.MayRepeat(operation.Operation{CreatedAt: at}) != want {
			t.Errorf("after a start, an operation of %s, and the hold ended at %s: not %t", at, allowed, want)
		}
	}
}
