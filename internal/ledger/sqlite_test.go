package ledger

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/fault"
)

// disk is a SQLite database in a folder, and its ledger.
type disk struct {
	t    *testing.T
	path string
	book *Book
}

func newDisk(t *testing.T) *disk {
	url := dbtest.URL(t, db.SQLite)
	path, _ := db.SQLitePath(url)
	k := &disk{t: t, path: path, book: open(t, dbtest.Open(t, url))}
	found(t, k.book, "c1")
	fund(t, k.book, "c1", 100)
	return k
}

// killed returns the database as a start after a kill of the program finds it.
func (k *disk) killed() *disk {
	k.t.Helper()
	to := &disk{t: k.t, path: filepath.Join(k.t.TempDir(), "kobo.db")}
	for _, file := range []string{"", "-wal"} {
		content, err := os.ReadFile(k.path + file)
		must(k.t, err)
		must(k.t, os.WriteFile(to.path+file, content, 0o600))
	}
	to.book = New(dbtest.Open(k.t, "sqlite:"+to.path), clock.System{})
	return to
}

// log returns the content of the write-ahead log.
func (k *disk) log() []byte {
	k.t.Helper()
	content, err := os.ReadFile(k.path + "-wal")
	must(k.t, err)
	return content
}

// unsynced is a transaction whose COMMIT writes all of it to the write-ahead log, and whose fsync fails. SQLite then
// does not show it. The disk stays broken for as many further COMMITs as broken says.
type unsynced struct {
	db.Pipeline
	disk   *disk
	tail   []byte // what the COMMIT writes; nil after it
	broken *int
}

func (u unsynced) Commit(ctx context.Context, writes ...db.Write) error {
	if u.tail != nil {
		u.Rollback()
		u.disk.append(u.tail)
		return db.ErrUncommitted
	}
	if *u.broken > 0 {
		*u.broken--
		u.Rollback()
		return db.ErrUncommitted
	}
	return u.Pipeline.Commit(ctx, writes...)
}

// append writes to the end of the write-ahead log, and tells SQLite nothing.
func (k *disk) append(tail []byte) {
	k.t.Helper()
	f, err := os.OpenFile(k.path+"-wal", os.O_WRONLY|os.O_APPEND, 0)
	must(k.t, err)
	_, err = f.Write(tail)
	must(k.t, errors.Join(err, f.Close()))
}

// loses commits a unit whose COMMIT is whole in the write-ahead log and has failed. The disk then refuses further COMMITs.
func (k *disk) loses(u Unit, broken int) error {
	k.t.Helper()
	copied, before := k.killed(), k.log()
	must(k.t, copied.book.Commit(k.t.Context(), u))
	tail := copied.log()[len(before):]
	if len(tail) == 0 {
		k.t.Fatal("the commit is not at the end of the log")
	}
	k.book.run = func(ctx context.Context, strokes func(db.Pipeline) error) error {
		now := tail
		tail = nil
		return k.book.db.Run(ctx, func(p db.Pipeline) error { return strokes(unsynced{p, k, now, &broken}) })
	}
	defer func() { k.book.run = k.book.db.Run }()
	return k.book.Commit(k.t.Context(), u)
}

// A failed fsync may leave a whole transaction in the write-ahead log. A caller who is told that nothing happened is
// told the truth also after a kill of the program.
func TestWhatDidNotHappenOnSQLiteNeverHappens(t *testing.T) {
	k := newDisk(t)
	if err := k.loses(buying("a", "key", 30), 3); !fault.Is(err, fault.Unavailable) {
		t.Errorf("told %v", err)
	}
	if got := balance(t, k.book, "c1", settlement); got != 100 {
		t.Errorf("balance %d", got)
	}
	if again := k.killed(); state(t, again.book, "a") != "" || balance(t, again.book, "c1", settlement) != 100 {
		t.Error("it happened after the kill")
	}
	must(t, k.book.Commit(t.Context(), buying("b", "key", 30)))
	audit(t, k.book.db, "c1")
}

// While the disk refuses every COMMIT, the fate of the first one is unknown. After a kill it may happen.
func TestWhatMayHappenOnSQLiteIsUnknown(t *testing.T) {
	k := newDisk(t)
	began := time.Now()
	if err := k.loses(buying("a", "key", 30), 1_000); !fault.Is(err, fault.Unknown) {
		t.Errorf("told %v", err)
	}
	if took := time.Since(began); took > k.book.timeout/2 {
		t.Errorf("the other companies waited for %s", took)
	}
	if again := k.killed(); state(t, again.book, "a") != "NEW" || balance(t, again.book, "c1", settlement) != 70 {
		t.Error("the test tries nothing: the log does not have the transaction")
	}
}
