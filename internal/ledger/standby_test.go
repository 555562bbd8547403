package ledger

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/fault"
)

// While no standby responds, a COMMIT waits, and the look-up of that COMMIT waits too. When the
// time is over, the outcome is unknown, and no caller receives a success.
func TestACommitThatWaitsForItsStandbyIsUnknown(t *testing.T) {
	server := dbtest.NewLone(t)
	d := dbtest.Open(t, server.URL)
	b := open(t, d)
	found(t, b, "c1")
	fund(t, b, "c1", 100)
	b.timeout = 500 * time.Millisecond
	server.Desert()
	if err := b.Commit(t.Context(), buying("a", "key", 30)); !fault.Is(err, fault.Unknown) {
		t.Errorf("told %v", err)
	}
	if n := server.Waiting(); n != 1 {
		t.Errorf("%d COMMITs wait", n)
	}
	if got := balance(t, b, "c1", settlement); got != 100 {
		t.Errorf("balance %d without the standby", got)
	}
	server.Rejoin()
	if err := b.Commit(t.Context(), buying("b", "key", 30)); !Is(err, Exists, thingTable) {
		t.Errorf("again: %v", err)
	}
	audit(t, d, "c1")
}

// A row that the primary shows does not prove a commit, because the standby may not have the row.
// The caller gets a success only after a later commit that the standby has.
func TestARowWithoutItsStandbyIsNoProof(t *testing.T) {
	server := dbtest.NewLone(t)
	d := dbtest.Open(t, server.URL)
	b := open(t, d)
	found(t, b, "c1")
	fund(t, b, "c1", 100)
	tell := func(id string) chan error {
		told := make(chan error, 1)
		server.Desert()
		go func() { told <- b.Commit(context.Background(), buying(id, id, 30)) }()
		server.Cancel() // the server commits without its standby and warns about it
		return told
	}
	told := tell("a")
	server.AwaitWaiting() // the commit of the look-up waits for the standby too
	if got := balance(t, b, "c1", settlement); got != 70 {
		t.Errorf("balance %d: the row is not to be seen", got)
	}
	select {
	case err := <-told:
		t.Errorf("told %v before the standby was there", err)
	default:
	}
	server.Rejoin()
	if err := <-told; err != nil {
		t.Errorf("in the end: %v", err)
	}

	b.timeout = 500 * time.Millisecond
	if err := <-tell("b"); !fault.Is(err, fault.Unknown) {
		t.Errorf("without the standby: %v", err)
	}
	server.Rejoin()
	audit(t, d, "c1")
}

// A primary that no longer waits for its standby shows rows that no standby has. So a refusal
// because of such a row waits for the standby, and so does Book.Prove. A program that has just
// started waits too.
func TestARefusalFromARowWithoutItsStandbyIsNotGiven(t *testing.T) {
	server := dbtest.NewLone(t)
	d := dbtest.Open(t, server.URL)
	b := open(t, d)
	found(t, b, "c1")
	fund(t, b, "c1", 100)
	must(t, b.Commit(t.Context(), buying("old", "old key", 10)))
	b.timeout = 500 * time.Millisecond
	server.Desert()
	if err := b.Commit(t.Context(), buying("again", "old key", 10)); !Is(err, Exists, thingTable) {
		t.Errorf("without a doubt: %v", err)
	}
	must(t, b.Prove(t.Context(), "c1"))

	if err := b.Commit(t.Context(), buying("a", "key", 30)); !fault.Is(err, fault.Unknown) {
		t.Errorf("told %v", err)
	}
	server.EndWaits()
	if got := balance(t, b, "c1", settlement); got != 60 {
		t.Errorf("balance %d: the row is not to be seen", got)
	}
	started := New(dbtest.Open(t, server.URL), b.clock)
	started.timeout = b.timeout
	for name, book := range map[string]*Book{"this program": b, "one that starts": started} {
		if err := book.Commit(t.Context(), buying("b", "key", 30)); !fault.Is(err, fault.Unavailable) {
			t.Errorf("%s: refused without the standby: %v", name, err)
		}
		if err := book.Prove(t.Context(), "c1"); !fault.Is(err, fault.Unavailable) {
			t.Errorf("%s: proven without the standby: %v", name, err)
		}
	}
	server.Rejoin()
	for name, book := range map[string]*Book{"this program": b, "the other": started} {
		must(t, book.Prove(t.Context(), "c1"))
		if err := book.Commit(t.Context(), buying("b", "key", 30)); !Is(err, Exists, thingTable) {
			t.Errorf("%s, in the end: %v", name, err)
		}
	}
	audit(t, d, "c1")
}

// Book.Prove writes the company's lock row with unchanged values, and only once.
func TestAProofChangesNothing(t *testing.T) {
	dbtest.EachForm(t, func(t *testing.T, d *db.DB) {
		found(t, open(t, d), "c1")
		b := New(d, clock.At(time.Date(2040, 1, 1, 0, 0, 0, 0, time.UTC)))
		lockRow := func() string {
			v, err := db.Map[int64, int64](t.Context(), d, `SELECT event_sequence, dated_at FROM ledger_head WHERE company_id = $1`, "c1")
			must(t, err)
			return fmt.Sprint(v)
		}
		commits := 0
		b.run = func(ctx context.Context, strokes func(db.Pipeline) error) error {
			return d.Run(ctx, func(p db.Pipeline) error { return strokes(stopped{p, func() {}, func() { commits++ }}) })
		}
		before := lockRow()
		for range 3 {
			must(t, b.Prove(t.Context(), "c1"))
		}
		if want := map[db.Dialect]int{db.SQLite: 0, db.Postgres: 1}[d.Dialect()]; commits != want {
			t.Errorf("%d commits, want %d", commits, want)
		}
		if after := lockRow(); after != before && !d.IsDivided() { // there each batch changes the instant
			t.Errorf("the lock row was %s and is %s", before, after)
		}
	})
}
