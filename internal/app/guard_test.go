package app

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/deployment"
	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/secret"
)

var quiet = slog.New(slog.DiscardHandler)

// belonging returns the URL of a migrated database that belongs to an environment.
func belonging(t *testing.T, dialect db.Dialect, e deployment.Environment) string {
	t.Helper()
	url := dbtest.URL(t, dialect)
	d := dbtest.Open(t, url)
	defer d.Close() // a restore needs the database for itself
	if err := deployment.New(d, clock.System{}, quiet, "").Claim(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	return url
}

// isOther reports whether an error names the environments of a database and of a program.
func isOther(err error, database, program deployment.Environment) bool {
	var other *deployment.OtherError
	return errors.As(err, &other) && *other == deployment.OtherError{Database: database, Program: program}
}

// A program, a migration and a fresh start refuse a database of a different environment, and change
// nothing in it.
func TestADatabaseOfAnotherEnvironmentIsRefused(t *testing.T) {
	for _, dialect := range dbtest.Servers() {
		t.Run(string(dialect), func(t *testing.T) {
			ctx := context.WithoutCancel(t.Context())
			for _, of := range []Mode{Sandbox, Staging, Live} {
				url := belonging(t, dialect, of.Environment())
				for _, m := range []Mode{Sandbox, Staging, Live} {
					cfg := whole(t, m)
					cfg.Database, cfg.Data = url, t.TempDir()
					a, err := Open(ctx, cfg, quiet)
					if err == nil {
						a.Close()
					}
					migrated := cfg.Migrate(ctx, false)
					forced := cfg.Migrate(ctx, true)
					for what, err := range map[string]error{"open": err, "migrate": migrated, "migrate --force": forced} {
						if m == of && err != nil || m != of && !isOther(err, of.Environment(), m.Environment()) {
							t.Errorf("%s of a database of %s in %s mode: %v", what, of, m, err)
						}
					}
				}
				if of == Sandbox {
					continue
				}
				data := t.TempDir()
				kept := filepath.Join(data, "master.key")
				if err := secret.Create(kept); err != nil {
					t.Fatal(err)
				}
				dev := DevConfig(data, url)
				dev.ExperimentalCitus = dbtest.HasCitus()
				_, _, err := OpenDev(ctx, dev, true, quiet)
				if _, gone := os.Stat(kept); !isOther(err, of.Environment(), deployment.Dev) || gone != nil {
					t.Errorf("kobo dev --fresh on a database of %s: %v, %v", of, err, gone)
				}
				if is, err := deployment.EnvironmentOf(ctx, dbtest.Open(t, url)); is != of.Environment() || err != nil {
					t.Errorf("the database of %s belongs to %q, %v", of, is, err)
				}
			}
		})
	}
}

// A database that was open in a program of a different environment is refused at the start of
// serving too, because another program may have claimed the database in the meantime.
func TestAProgramDoesNotServeWhatAnotherHasClaimed(t *testing.T) {
	ctx := context.WithoutCancel(t.Context())
	a, _, err := OpenDev(ctx, DevConfig(t.TempDir(), ""), false, quiet)
	if err != nil {
		t.Fatal(err)
	}
	if err := deployment.New(a.DB, clock.System{}, quiet, "").Claim(ctx, deployment.Live); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := func() { t.Error("the program serves") }
	if err := a.Run(ctx, l, served); !isOther(err, deployment.Live, deployment.Dev) {
		t.Error(err)
	}
}

// A restore refuses a backup of a different environment, and it refuses to replace a database of a
// different environment. A backup carries its environment.
func TestARestoreChecksTheEnvironment(t *testing.T) {
	ctx := t.Context()
	staging, live := belonging(t, db.SQLite, deployment.Staging), belonging(t, db.SQLite, deployment.Live)
	fresh := dbtest.URL(t, db.SQLite) // no program has served with it
	keep := func(url string) string {
		t.Helper()
		file := filepath.Join(t.TempDir(), "backup")
		held, err := Backup(ctx, Copying{Database: url, File: file})
		if err != nil || url == staging && held.Environment != deployment.Staging || url == fresh && held.Environment != "" {
			t.Fatalf("%+v, %v", held, err)
		}
		return file
	}
	ofStaging, ofLive, ofFresh := keep(staging), keep(live), keep(fresh)
	nowhere := func() string { return "sqlite:" + filepath.Join(t.TempDir(), "kobo.db") }
	for name, c := range map[string]struct {
		file, onto        string
		mode              Mode
		database, program deployment.Environment // of the expected error; empty if the restore succeeds
	}{
		"of staging, in staging":            {ofStaging, staging, Staging, "", ""},
		"of staging, in live":               {ofStaging, nowhere(), Live, deployment.Staging, deployment.Live},
		"of live, in sandbox":               {ofLive, nowhere(), Sandbox, deployment.Live, deployment.Dev},
		"of live, in live":                  {ofLive, nowhere(), Live, "", ""},
		"of none, in staging":               {ofFresh, nowhere(), Staging, "", ""},
		"of staging, over live":             {ofStaging, live, Staging, deployment.Live, deployment.Staging},
		"of none, over live, in staging":    {ofFresh, live, Staging, deployment.Live, deployment.Staging},
		"of none, over staging, as staging": {ofFresh, staging, Staging, "", ""},
	} {
		path, _ := db.SQLitePath(c.onto)
		before, _ := os.Stat(path)
		_, _, err := Restore(ctx, Copying{Database: c.onto, File: c.file, Mode: c.mode, By: operator.Local("test"), Signer: dbtest.Evidence})
		if c.database == "" && err != nil || c.database != "" && !isOther(err, c.database, c.program) {
			t.Errorf("a backup %s: %v", name, err)
		}
		after, _ := os.Stat(path)
		if c.database != "" && (before == nil) != (after == nil) || c.database != "" && before != nil && !os.SameFile(before, after) {
			t.Errorf("a backup %s: a refused restore has changed the database", name)
		}
	}
	if _, _, err := Restore(ctx, Copying{Database: nowhere(), File: ofStaging, By: operator.Local("test"), Signer: dbtest.Evidence}); err == nil ||
		!strings.Contains(err.Error(), "mode must be") {
		t.Errorf("without a mode: %v", err)
	}
}

// A hosted sandbox is kobo serve in sandbox mode. It serves on both databases, it says that it is a
// development environment, and its controls need the token.
func TestAHostedSandboxServes(t *testing.T) {
	for _, dialect := range dbtest.Servers() {
		t.Run(string(dialect), func(t *testing.T) {
			cfg := whole(t, Sandbox)
			cfg.Database, cfg.Data, cfg.SandboxToken, cfg.Serve.Drain = dbtest.URL(t, dialect), t.TempDir(), secret.NewText("t-o-k-e-n"), 0
			ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
			a, err := Open(ctx, cfg, quiet)
			if err != nil {
				t.Fatal(err)
			}
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			ready, ended := make(chan struct{}), make(chan error, 1)
			go func() { ended <- a.Run(ctx, l, func() { close(ready) }) }()
			select {
			case <-ready:
			case err := <-ended:
				t.Fatal(err)
			}
			get := func(path, token string) (status int, body map[string]any) {
				t.Helper()
				r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+l.Addr().String()+path, nil)
				if err != nil {
					t.Fatal(err)
				}
				r.Header.Set("Authorization", token)
				w, err := http.DefaultClient.Do(r)
				if err != nil {
					t.Fatal(err)
				}
				defer w.Body.Close()
				text, err := io.ReadAll(w.Body)
				if err = errors.Join(err, json.Unmarshal(text, &body)); err != nil {
					t.Fatalf("%s: %s, %v", path, text, err)
				}
				return w.StatusCode, body
			}
			for _, path := range []string{"/healthz", "/readyz"} {
				if _, said := get(path, ""); said["environment"] != "dev" { // /readyz may still wait for the workers
					t.Errorf("%s: %v", path, said)
				}
			}
			for token, want := range map[string]int{"": 401, "Bearer t-o-k-e": 401, "Bearer t-o-k-e-n": 200} {
				if status, said := get("/sandbox/clock", token); status != want {
					t.Errorf("/sandbox/clock with %q: %d %v", token, status, said)
				}
			}
			stop()
			if err := <-ended; err != nil {
				t.Error(err)
			}
			if is, err := deployment.EnvironmentOf(t.Context(), dbtest.Open(t, cfg.Database)); is != deployment.Dev || err != nil {
				t.Errorf("the database belongs to %q, %v", is, err)
			}
			other := whole(t, Staging)
			other.Database = cfg.Database
			if _, err := Open(t.Context(), other, quiet); !isOther(err, deployment.Dev, deployment.Staging) {
				t.Errorf("staging on the database of a sandbox: %v", err)
			}
		})
	}
}
