package deployment_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/deployment"
)

// place is a database with the folder of its epoch file.
type place struct {
	t     *testing.T
	db    *db.DB
	file  string
	log   bytes.Buffer
	clock *clock.Manual
	why   []string // the reasons with which API access was closed
	stuck error    // the error that closing API access returns
}

func each(t *testing.T, f func(t *testing.T, p *place)) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		f(t, &place{t: t, db: d, file: filepath.Join(t.TempDir(), "epoch"), clock: clock.At(time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC))})
	})
}

func (p *place) program() *deployment.Service {
	return deployment.New(p.db, p.clock, slog.New(slog.NewTextHandler(&p.log, nil)), p.file)
}

func (p *place) shut(_ context.Context, _ db.Querier, reason string) error {
	p.why = append(p.why, reason)
	return p.stuck
}

// begins starts a program and returns its service.
func (p *place) begins() *deployment.Service {
	p.t.Helper()
	s := p.program()
	must(p.t, s.Begin(p.t.Context(), p.shut))
	return s
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// says checks the epoch in the database and the epoch in the file.
func (p *place) says(epoch, file int64) {
	p.t.Helper()
	row, err := db.One(p.t.Context(), p.db, func(r db.Scanner) (m deployment.Mark, err error) {
		return m, r.Scan(&m.Name, &m.Epoch)
	}, `SELECT name, epoch FROM deployment`)
	must(p.t, err)
	text, err := os.ReadFile(p.file)
	must(p.t, err)
	if want := fmt.Sprintf("%s %d\n", row.Name, file); row.Epoch != epoch || string(text) != want {
		p.t.Errorf("the epoch is %d and the file %q; want %d and %q", row.Epoch, text, epoch, want)
	}
}

// set changes the database so that it looks like an old copy, or like a different database.
func (p *place) set(query string, args ...any) {
	p.t.Helper()
	_, err := p.db.Exec(p.t.Context(), query, args...)
	must(p.t, err)
}

func TestTheEpochIsRaisedAndThenWritten(t *testing.T) {
	each(t, func(t *testing.T, p *place) {
		one := p.begins()
		p.says(1, 1)
		two := p.begins() // both programs share the database and the file
		p.clock.Advance(time.Second)
		for range 3 {
			must(t, one.Raise(t.Context()))
			must(t, two.Raise(t.Context()))
		}
		p.says(8, 8)
		if !one.Raised().Equal(p.clock.Now()) {
			t.Errorf("raised at %s", one.Raised())
		}
		at, err := os.Stat(p.file)
		if rest, _ := filepath.Glob(p.file + ".*"); err != nil || at.Mode().Perm() != 0o600 || len(rest) > 0 {
			t.Errorf("%v %v %v", at.Mode(), rest, err)
		}
		if len(p.why) > 0 || p.log.Len() > 0 {
			t.Errorf("%q %s", p.why, p.log.String())
		}
	})
}

// The folder is synced after the file has its new mark, and not before. If the sync fails, the raise says so.
func TestTheFolderOfTheEpochFileIsSynced(t *testing.T) {
	each(t, func(t *testing.T, p *place) {
		s := p.begins()
		full, synced := error(nil), []string(nil)
		s.SyncWith(func(folder string) error {
			text, err := os.ReadFile(p.file)
			synced = append(synced, folder+" "+string(text[bytes.IndexByte(text, ' ')+1:]))
			return errors.Join(err, full)
		})
		must(t, s.Raise(t.Context()))
		if want := []string{filepath.Dir(p.file) + " 2\n"}; !slices.Equal(synced, want) {
			t.Errorf("synced %q, want %q", synced, want)
		}
		full = errors.New("the disk is broken")
		if err := s.Raise(t.Context()); !errors.Is(err, full) || !strings.Contains(err.Error(), "epoch_file") {
			t.Errorf("the sync failed: %v", err)
		}
		full = nil
		must(t, s.Raise(t.Context()))
		p.says(4, 4)
	})
}

// The commit that closes API access also raises the epoch, so the next start does not close API
// access again. The epoch in the file never falls.
func TestAnOldCopyIsDetectedOnce(t *testing.T) {
	each(t, func(t *testing.T, p *place) {
		s := p.begins()
		for range 9 {
			must(t, s.Raise(t.Context()))
		}
		p.set(`UPDATE deployment SET epoch = 4`)
		p.stuck = errors.New("the database went away")
		if err := p.program().Begin(t.Context(), p.shut); !errors.Is(err, p.stuck) {
			t.Errorf("begun on a copy: %v", err)
		}
		p.says(4, 10)
		p.stuck, p.why = nil, nil
		p.begins()
		p.says(11, 11)
		if len(p.why) != 1 || !strings.Contains(p.why[0], "old copy: its epoch is 4, and "+p.file+" says 10") || !strings.Contains(p.log.String(), "old copy") {
			t.Errorf("%q\n%s", p.why, p.log.String())
		}
		must(t, p.begins().Raise(t.Context()))
		if p.says(13, 13); len(p.why) != 1 {
			t.Errorf("noticed again: %q", p.why)
		}
	})
}

// A database is not an old copy if its epoch is equal to or higher than the epoch in the file. Its
// epoch may be higher, because the program may have died between the commit and the write of the
// file.
func TestACompleteDatabaseIsNoOldCopy(t *testing.T) {
	each(t, func(t *testing.T, p *place) {
		p.begins()
		p.begins()
		p.says(2, 2)
		p.set(`UPDATE deployment SET epoch = 7`)
		p.begins()
		p.says(8, 8)
		must(t, os.Remove(p.file))
		p.begins() // the log warns that this start could not notice an old copy
		if p.says(9, 9); len(p.why) > 0 || !strings.Contains(p.log.String(), "the epoch file was not there") {
			t.Errorf("%q\n%s", p.why, p.log.String())
		}
	})
}

func TestTheFileOfAnotherDatabaseClosesAPIAccess(t *testing.T) {
	each(t, func(t *testing.T, p *place) {
		must(t, os.WriteFile(p.file, []byte("another 500\n"), 0o600))
		s := p.begins()
		if len(p.why) != 1 || !strings.Contains(p.why[0], "is of another database") {
			t.Errorf("%q", p.why)
		}
		p.says(501, 501)
		p.begins()
		if p.says(502, 502); len(p.why) != 1 {
			t.Errorf("noticed again: %q", p.why)
		}
		const theirs = "another 700\n"
		must(t, os.WriteFile(p.file, []byte(theirs), 0o600))
		if err := s.Raise(t.Context()); err == nil || !strings.Contains(err.Error(), "another database writes") {
			t.Errorf("raised beside another database: %v", err)
		}
		if text, err := os.ReadFile(p.file); string(text) != theirs {
			t.Errorf("their file became %q %v", text, err)
		}
	})
}

// A program does not start if it cannot read or write its epoch file. Without reading the file it
// does not know the last epoch. Without writing it, it could not detect a restored old copy later.
func TestABadFileStopsTheStart(t *testing.T) {
	each(t, func(t *testing.T, p *place) {
		for _, text := range []string{"", "\n", "name", "name ", " 5", "name -1", "name 0", "name 5 5", "name 5\nmore", "12"} {
			must(t, os.WriteFile(p.file, []byte(text), 0o600))
			if err := p.program().Begin(t.Context(), p.shut); err == nil || !strings.Contains(err.Error(), "holds no epoch") {
				t.Errorf("%q: %v", text, err)
			}
		}
		p.file = t.TempDir()
		if err := p.program().Begin(t.Context(), p.shut); err == nil || !strings.Contains(err.Error(), "epoch_file") {
			t.Errorf("a folder: %v", err)
		}
		p.file = filepath.Join(t.TempDir(), "missing", "epoch")
		if err := p.program().Begin(t.Context(), p.shut); err == nil || !strings.Contains(err.Error(), "epoch_file") {
			t.Errorf("no folder: %v", err)
		}
	})
}

func TestTheEpochIsRaisedWithoutAFile(t *testing.T) {
	each(t, func(t *testing.T, p *place) {
		file := p.file
		p.file = ""
		s := p.begins()
		must(t, s.Raise(t.Context()))
		if !strings.Contains(p.log.String(), "epoch_file is not set") {
			t.Error(p.log.String())
		}
		p.file = file
		p.begins()
		p.says(3, 3)
	})
}

// A failed raise changes neither the database nor the file. If an old copy replaces the database
// while a program runs, the program closes API access once, and raises the epoch above the last one.
func TestAFailedRaise(t *testing.T) {
	each(t, func(t *testing.T, p *place) {
		s := p.begins()
		before := s.Raised()
		p.clock.Advance(time.Minute)
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if err := s.Raise(gone); err == nil || !s.Raised().Equal(before) {
			t.Errorf("%v, raised at %s", err, s.Raised())
		}
		p.says(1, 1)
		for range 4 {
			must(t, s.Raise(t.Context()))
		}
		p.set(`UPDATE deployment SET epoch = 2`)
		p.stuck = errors.New("stuck")
		if err := s.Raise(t.Context()); !errors.Is(err, p.stuck) {
			t.Errorf("%v", err)
		}
		p.says(2, 5) // nothing was committed, and the next raise tries again
		p.stuck, p.why = nil, nil
		for range 2 {
			must(t, s.Raise(t.Context()))
			if len(p.why) != 1 || !strings.Contains(p.why[0], "went back from epoch 5 to 2 while a program ran") {
				t.Errorf("%q", p.why)
			}
		}
		p.says(7, 7)
		p.set(`DELETE FROM deployment`)
		if err := s.Raise(t.Context()); err == nil {
			t.Error("raised what is not there")
		}
	})
}

// The hold of moves stays in the database until it is ended. A change that is none is reported as such.
func TestTheHoldOfMovesStays(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		must := func(want bool, got bool, err error) {
			t.Helper()
			if err != nil || got != want {
				t.Fatalf("%t, want %t: %v", got, want, err)
			}
		}
		held := func(want bool) {
			t.Helper()
			got, err := deployment.MovesHeld(t.Context(), d)
			must(want, got, err)
		}
		held(false)
		for _, to := range []bool{true, false} { // no row keeps the hold yet
			if _, err := deployment.HoldMoves(t.Context(), d, to); err == nil || !strings.Contains(err.Error(), "no name") {
				t.Errorf("a hold of a database without a name: %v", err)
			}
		}
		held(false)
		if err := deployment.New(d, clock.System{}, slog.New(slog.DiscardHandler), "").Claim(t.Context(), deployment.Dev); err != nil {
			t.Fatal(err)
		}
		for _, step := range []struct{ to, changes bool }{{true, true}, {true, false}, {false, true}, {false, false}} {
			got, err := deployment.HoldMoves(t.Context(), d, step.to)
			must(step.changes, got, err)
			held(step.to)
		}
	})
}
