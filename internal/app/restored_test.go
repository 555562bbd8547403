package app

import (
	"context"
	"log/slog"
	"path/filepath"
	"testing"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/deployment"
	"github.com/kobo-waas/kobo/internal/operator"
)

// A restored database holds the moves of purchases, as a database does that a start notices as an old
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
	if held, err := deployment.MovesHeld(ctx, restored); err != nil || !held {
		t.Errorf("after a restore: moves held %t, %v", held, err)
	}
	must(a.DB.Tx(ctx, func(q db.Querier) error { return a.shutRestored(ctx, q, "an old copy") }))
	must(a.Operators.OpenAccess(ctx, by))
	must(a.readAccess(ctx))
	if a.closed.Load() || !a.movesHeld.Load() {
		t.Errorf("closed %t, moves held %t", a.closed.Load(), a.movesHeld.Load())
	}
	_, err = deployment.HoldMoves(ctx, a.DB, false)
	must(err)
	must(a.readAccess(ctx))
	if a.movesHeld.Load() {
		t.Error("the hold did not end")
	}
}
