package dbtest

import (
	"context"
	"os"
	"path/filepath"
	"sync"

	"github.com/kobo-waas/kobo/internal/db"
)

func sqliteURL(path string) string { return "sqlite:" + path }

// copySQLite copies the migrated file to the path in the URL.
func copySQLite(ctx context.Context, url string) error {
	content, err := migratedFile(ctx)
	if err != nil {
		return err
	}
	path, _ := db.SQLitePath(url) // cannot fail, because sqliteURL has made the URL
	return os.WriteFile(path, content, 0o600)
}

var migrated struct {
	sync.Mutex
	content []byte
}

// migratedFile returns the content of a SQLite file with the current schema. Each process makes it
// only once.
func migratedFile(ctx context.Context) ([]byte, error) {
	migrated.Lock()
	defer migrated.Unlock()
	if migrated.content != nil {
		return migrated.content, nil
	}
	dir, err := os.MkdirTemp("", "kobo-schema-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "kobo.db")
	// The last Close of a SQLite database moves the write-ahead log into the file. So this one file
	// contains all data.
	if err := migrate(ctx, sqliteURL(path)); err != nil {
		return nil, err
	}
	migrated.content, err = os.ReadFile(path)
	return migrated.content, err
}

func migrate(ctx context.Context, url string) error {
	d, err := db.Open(ctx, url)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Migrate(ctx)
}
