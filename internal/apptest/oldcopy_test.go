package apptest_test

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kobo-waas/kobo/internal/app"
	"github.com/kobo-waas/kobo/internal/apptest"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/job"
)

// copied copies a home's database file without kobo backup, as an operator might do. It returns a
// function that puts this copy in the place of the database.
func copied(t *testing.T, h apptest.Home) (putBack func() apptest.Home) {
	t.Helper()
	path, lite := db.SQLitePath(h.Database)
	if !lite {
		dump := dbtest.Dump(t, h.Database)
		return func() apptest.Home { return apptest.Home{Data: h.Data, Database: dbtest.Load(t, dump)} }
	}
	file := filepath.Join(t.TempDir(), "copy")
	if err := db.CopySQLite(t.Context(), path, file); err != nil {
		t.Fatal(err)
	}
	return func() apptest.Home {
		for _, rest := range []string{"-wal", "-shm"} {
			if err := os.Remove(path + rest); err != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Fatal(err)
			}
		}
		if err := os.Rename(file, path); err != nil {
			t.Fatal(err)
		}
		return h
	}
}

// A program that starts on an old copy of its database closes API access and logs the reason. API
// access stays closed after a restart, until an operator opens it. Then it stays open.
func TestAnOldCopyStaysClosedUntilAnOperatorOpensIt(t *testing.T) {
	each(t, func(t *testing.T, dialect db.Dialect) {
		home := apptest.NewHome(t, dialect)
		file, options := filepath.Join(t.TempDir(), "epoch"), []apptest.Option(nil)
		if path, lite := db.SQLitePath(home.Database); lite {
			file = path + ".epoch"
		} else {
			options = append(options, apptest.EpochFile(file))
		}
		text := func() string {
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			return string(b)
		}
		p := home.Start(t, options...)
		p.Buy(p.Order(p.Bundle(), "first", "10")).Want(t, http.StatusOK)
		earlier := "" // why API access was closed when the copy was made; "" if it was open
		if dialect == db.Postgres {
			earlier = "; before that: maintenance"
			if err := p.App.Operators.CloseAccess(t.Context(), tester, "maintenance"); err != nil {
				t.Fatal(err)
			}
		}
		putBack := copied(t, home)
		if dialect == db.Postgres {
			if err := p.App.Operators.OpenAccess(t.Context(), tester); err != nil {
				t.Fatal(err)
			}
		}
		before := text()
		apptest.Eventually(t, func() string { // the epoch, which rises while a program serves, must exceed the epoch in the copy
			if now := text(); now == before {
				return "the epoch stands at " + now
			}
			return ""
		})
		p.Stop()
		p = home.Start(t, options...) // API access stays open, because the database was not restored
		p.Buy(p.Order(p.Bundle(), "second", "10")).Want(t, http.StatusOK)
		p.Stop()
		last := text()

		old := putBack()
		for range 2 {
			q := old.Start(t, options...)
			d, err := q.App.Operators.Access(t.Context())
			if err != nil || !d.Closed || !strings.HasPrefix(d.Reason, "this database is an old copy") || !strings.Contains(d.Reason, file) ||
				!strings.HasSuffix(d.Reason, earlier) {
				t.Errorf("%+v %v", d, err)
			}
			a, err := q.Raw(t.Context(), http.MethodPost, "/api/v1/auth/generate-token/"+q.Reference, nil, "x-api-key", q.APIKey)
			if err != nil || a.Status != http.StatusServiceUnavailable {
				t.Errorf("a company is let in: %s %v", a, err)
			}
			q.Stop()
		}
		q := old.Start(t, options...)
		opened(t, q)
		var was, now int64
		var name string
		for text, n := range map[string]*int64{last: &was, text(): &now} {
			if _, err := fmt.Sscan(text, &name, n); err != nil || now > 0 && now <= was {
				t.Errorf("the epoch went from %s to %s: %v", last, text, err)
			}
		}
		q.Stop()
		q = old.Start(t, options...)
		q.Buy(q.Order(q.Bundle(), "third", "10")).Want(t, http.StatusOK)
		if found, err := q.App.Reports.Integrity(t.Context(), q.Reference); err != nil || !found.Intact() {
			t.Errorf("%v %v", found.Wrongs, err)
		}
	})
}

// A command that only reads a database does not raise the database's epoch. A start of kobo dev
// with the option fresh also removes the epoch file of the earlier database.
func TestOnlyAServingProgramRaisesTheEpoch(t *testing.T) {
	t.Parallel()
	cfg := app.DevConfig(t.TempDir(), "")
	cfg.Listen = "127.0.0.1:0"
	log := slog.New(slog.DiscardHandler)
	open := func(fresh bool) *app.App {
		t.Helper()
		a, _, err := app.OpenDev(t.Context(), cfg, fresh, log)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	open(false).Close()
	file := filepath.Join(cfg.Data, "kobo.db.epoch")
	if _, err := os.Stat(file); err == nil {
		t.Error("a program that does not serve wrote the epoch")
	}
	if err := os.WriteFile(file, []byte("forgotten 900\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	open(true).Close()
	if _, err := os.Stat(file); err == nil {
		t.Error("the file of a forgotten database is still there")
	}
}

// A program without an epoch file finds an old copy of its database by the checkpoints in the second
// place. kobo verify finds it too.
func TestAnOldCopyContradictsTheSecondPlace(t *testing.T) {
	each(t, func(t *testing.T, dialect db.Dialect) {
		home, folder := apptest.NewHome(t, dialect), t.TempDir()
		sign := func(p *apptest.Program) {
			t.Helper()
			if _, err := p.App.Evidence.Sign(t.Context(), job.Job{}); err != nil {
				t.Fatal(err)
			}
		}
		p := home.Start(t, apptest.Checkpoints(folder))
		p.Buy(p.Order(p.Bundle(), "first", "10")).Want(t, http.StatusOK)
		sign(p)
		putBack := copied(t, home)
		p.Buy(p.Order(p.Bundle(), "second", "10")).Want(t, http.StatusOK)
		sign(p)
		p.Sound(t)
		p.Stop()
		home = putBack()
		if path, lite := db.SQLitePath(home.Database); lite {
			if err := os.Remove(path + ".epoch"); err != nil {
				t.Fatal(err)
			}
		}
		p = home.Start(t, apptest.Checkpoints(folder))
		closed, err := p.App.Operators.Access(t.Context())
		if err != nil || !closed.Closed || !strings.Contains(closed.Reason, "this database was rolled back: it has ") {
			t.Errorf("%+v %v", closed, err)
		}
		wrongs, explained, err := p.App.Evidence.VerifyPlace(t.Context(), p.App.DB)
		if err != nil || len(wrongs) > 0 || len(explained) != 1 || !strings.Contains(explained[0], "a restore has undone") {
			t.Errorf("%q %q %v", wrongs, explained, err)
		}
		if err := p.App.Operators.OpenAccess(t.Context(), tester); err != nil {
			t.Fatal(err)
		}
		p.Stop()
		p = home.Start(t, apptest.Checkpoints(folder))
		p.Buy(p.Order(p.Bundle(), "third", "10")).Want(t, http.StatusOK)
	})
}
