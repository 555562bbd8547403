package app

import (
	"context"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/secret"
)

// Only the owner can access the files that Kobo creates, with any umask.
func TestWhatKoboMakesIsForItsOwner(t *testing.T) {
	before := syscall.Umask(0)
	defer syscall.Umask(before)
	root := t.TempDir()
	data := filepath.Join(root, "of", "kobo")
	ctx := context.WithoutCancel(t.Context())
	a, c, err := OpenDev(ctx, DevConfig(data, ""), false, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if err := a.meetDatabase(ctx); err != nil { // this writes the epoch file
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(data, "credentials.json.tmp"), nil, 0o666); err != nil { // a leftover file
		t.Fatal(err)
	}
	if err := c.Write(filepath.Join(data, "credentials.json")); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(data, "credentials.json.tmp")); err != nil {
		t.Fatal(err)
	}
	_, err = Backup(ctx, Copying{Database: a.cfg.Database, File: filepath.Join(data, "backup.db"), By: operator.Local("test")})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	err = filepath.WalkDir(filepath.Join(root, "of"), func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		want := fs.FileMode(0o600)
		if entry.IsDir() {
			want = 0o700
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%s has the mode %o, want %o", path, got, want)
		}
		seen[entry.Name()] = true
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{
		"kobo", "kobo.db", "kobo.db-wal", "kobo.db-shm", "kobo.db-lock", "kobo.db.epoch", "sandbox.db", "sandbox.db-wal", "master.key", "evidence.key",
		"dev.json", "credentials.json", "backup.db",
	} {
		if !seen[name] {
			t.Errorf("%s was not made", name)
		}
	}
}

// Kobo refuses a master key file that other users can write, because these users could replace the
// key.
func TestAMasterKeyThatOthersCanWriteIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "master.key")
	if err := secret.Create(path); err != nil {
		t.Fatal(err)
	}
	cfg := Defaults()
	cfg.MasterKeyFile = path
	for mode, refused := range map[fs.FileMode]bool{
		0o600: false, 0o400: false, 0o440: false, 0o644: false, 0o620: true, 0o602: true, 0o666: true,
	} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		_, err := cfg.keyring()
		if (err != nil) != refused || refused && !strings.Contains(err.Error(), "others than its owner can write it") {
			t.Errorf("mode %o: %v", mode, err)
		}
		var out strings.Builder
		a := &App{cfg: cfg, log: slog.New(slog.NewTextHandler(&out, nil))}
		a.warnFileModes()
		if warned := strings.Contains(out.String(), "can read the master key"); warned != (mode&0o044 != 0 || refused) {
			t.Errorf("mode %o: logged %q", mode, out.String())
		}
	}
}

// An existing file that other users can read keeps its mode, and the log warns about it.
func TestAWideFileIsWarnedOf(t *testing.T) {
	var out strings.Builder
	path := filepath.Join(t.TempDir(), "kobo.db")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	cfg := Defaults()
	cfg.Database = "sqlite:" + path
	a := &App{cfg: cfg, log: slog.New(slog.NewTextHandler(&out, nil))}
	if a.warnFileModes(); out.Len() > 0 {
		t.Errorf("logged of a private file: %s", out.String())
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	a.warnFileModes()
	if s := out.String(); strings.Count(s, "level=WARN") != 1 || !strings.Contains(s, path) || !strings.Contains(s, "mode=0644") {
		t.Errorf("logged: %s", s)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("it was changed: %v %v", info, err)
	}
}
