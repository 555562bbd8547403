package torture

import (
	"errors"
	"os"
	"slices"
	"testing"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/cluster"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
)

// folder returns a folder that the user of a PostgreSQL server may enter too.
func folder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "kobo-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// lostCommits returns how many COMMITs a run has lost by a kind of break.
func (h *History) lostCommits(kind string) (n int) {
	for _, b := range h.Breaks {
		if b.Kind == kind {
			n += b.Commits
		}
	}
	return n
}

// COMMITs are lost on their way to the server and on their way back, and nothing is lost with them.
func TestAShortRunThatLosesCommits(t *testing.T) {
	dbtest.URL(t, db.Postgres) // skips without PostgreSQL
	h, text := brief(t, Options{Seed: seedWith(t, 2, lostAfter, lostBefore), Programs: 2, Postgres: Own, Only: []string{lostBefore, lostAfter}})
	t.Log(text)
	if h.lostCommits(lostBefore)+h.lostCommits(lostAfter) == 0 {
		t.Errorf("no COMMIT was lost: %+v", h.Breaks)
	}
}

// The server is killed, and its disk is full, so that it ends by itself.
func TestAShortRunWhoseServerDies(t *testing.T) {
	dbtest.URL(t, db.Postgres) // skips without PostgreSQL
	only := []string{databaseKill}
	if canFillServer() {
		only = append(only, fullDisk)
	}
	h, text := brief(t, Options{Seed: seedWith(t, 1, only[len(only)-1]), Programs: 1, Postgres: Own, Only: only})
	t.Log(text)
	if !h.brokeBy(only...) {
		t.Errorf("the server has not died: %+v", h.Breaks)
	}
}

// The database is backed up and put back under load: by Kobo's commands, and by somebody who forgets them.
func TestAShortRunWithARestore(t *testing.T) {
	for _, kind := range []string{restore, oldCopy} {
		t.Run(kind, func(t *testing.T) {
			h, text := brief(t, Options{Seed: 3, Programs: 2, Only: []string{kind}})
			t.Log(text)
			if len(h.lost()) == 0 {
				t.Errorf("nothing was restored: %+v", h.Breaks)
			}
		})
	}
}

// A dump is put back into a server of the run's own.
func TestAShortRunWithARestoreOfPostgreSQL(t *testing.T) {
	dbtest.URL(t, db.Postgres) // skips without PostgreSQL
	h, text := brief(t, Options{Seed: 3, Programs: 1, Postgres: Own, Only: []string{restore, oldCopy}})
	t.Log(text)
	if len(h.lost()) == 0 {
		t.Errorf("nothing was restored: %+v", h.Breaks)
	}
}

// seedWith returns a seed whose first breaks of these kinds are each there once.
func seedWith(t *testing.T, first int, kinds ...string) uint64 {
	t.Helper()
	const most = 1000
	for seed := range uint64(most) {
		b := &breaker{programs: make([]*program, 1), server: &server{}, base: &servers{}, only: kinds}
		r, seen := scheduleOf(seed), []string{}
		for range first {
			p, err := b.chosen(r)
			if err != nil {
				t.Fatal(err)
			}
			if seen = append(seen, p.kind); p.after > 1e9 {
				seen = nil
				break
			}
		}
		if !slices.ContainsFunc(kinds, func(k string) bool { return !slices.Contains(seen, k) }) {
			return seed
		}
	}
	t.Fatal("no seed has these breaks early")
	return 0
}

// A run that is limited to breaks that it cannot do says so.
func TestUnknownBreaksAreRefused(t *testing.T) {
	b := &breaker{programs: make([]*program, 1), only: []string{databaseKill}}
	if _, err := b.chosen(scheduleOf(1)); !errors.Is(err, ErrOptions) {
		t.Errorf("a database kill on SQLite: %v", err)
	}
}

// Each kind of break is drawn by a run that can do it.
func TestEachBreakIsDrawn(t *testing.T) {
	all := []string{killing, freezing, clockJump, latePayment, cutting, databaseKill, databaseFreeze, silence, lostBefore, lostAfter, backup, restore, oldCopy, failoverKill, failoverFreeze, failoverCut}
	if canFillServer() {
		all = append(all, fullDisk)
	}
	b := &breaker{programs: make([]*program, 1), server: &server{}, base: &servers{trio: &cluster.Trio{}}, copier: &copier{}}
	for _, kind := range all {
		b.only = []string{kind}
		if p, err := b.chosen(scheduleOf(1)); err != nil || p.length < 0 || p.kind != kind {
			t.Errorf("%s: %+v, %v", kind, p, err)
		}
	}
}
