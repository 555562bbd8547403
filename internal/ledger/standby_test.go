package ledger

import (
	"context"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/fault"
)

// While no standby answers, a COMMIT waits, and so does everybody who asks what
// became of it. In the end nobody knows, and nobody says that it happened.
func TestACommitThatWaitsForItsStandbyIsUnknown(t *testing.T) {
	server := dbtest.NewLone(t)
	d := dbtest.Open(t, server.URL)
	b := open(t, d)
	found(t, b, "c1")
	fund(t, b, "c1", 100)
	b.patience = 500 * time.Millisecond
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

// A row that the primary shows is no proof: the standby may not have it. Its caller
// is told yes only after a later commit that the standby has.
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
		server.Cancel() // the server commits alone, and says so
		return told
	}
	told := tell("a")
	server.AwaitWaiting() // the one who looks it up waits in its turn
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

	b.patience = 500 * time.Millisecond
	if err := <-tell("b"); !fault.Is(err, fault.Unknown) {
		t.Errorf("without the standby: %v", err)
	}
	server.Rejoin()
	audit(t, d, "c1")
}
