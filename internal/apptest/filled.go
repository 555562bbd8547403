package apptest

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
)

// kept contains homes of earlier releases. Each home has a database that the release with that
// schema filled. The keys in these homes are only test values.
//
//go:embed testdata/filled/*.tar.gz
var kept embed.FS

// These are the names of the files in a kept home.
const (
	keptLite    = "kobo.db"
	keptDump    = "kobo.sql"
	keptBooks   = "sandbox.db"
	keptMaster  = "master.key"
	keptCompany = "dev.json"
)

// FilledSchemas returns the schemas for which a home of this database engine is kept.
func FilledSchemas(t testing.TB, dialect db.Dialect) (schemas []int64) {
	t.Helper()
	if dialect == dbtest.Citus {
		t.Skip("NOT RUN on Citus: no filled home of one is kept")
	}
	names, err := fs.Glob(kept, "testdata/filled/*-"+string(dialect)+".tar.gz")
	if err != nil || len(names) == 0 {
		t.Fatalf("apptest: no filled home is kept: %v", err)
	}
	for _, name := range names {
		var schema int64
		if _, err := fmt.Sscanf(path.Base(name), "%d-", &schema); err != nil {
			t.Fatal(err)
		}
		schemas = append(schemas, schema)
	}
	return schemas
}

// Filled returns a copy of the kept home of a schema. The copy's database still has that schema.
func Filled(t testing.TB, dialect db.Dialect, schema int64) Home {
	t.Helper()
	packed, err := kept.ReadFile(fmt.Sprintf("testdata/filled/%d-%s.tar.gz", schema, dialect))
	h := Home{Data: t.TempDir()}
	if err == nil {
		err = unpack(packed, h.Data)
	}
	if err != nil {
		t.Fatalf("apptest: %v", err)
	}
	h.Database = "sqlite:" + filepath.Join(h.Data, keptLite)
	if dialect == db.Postgres {
		h.Database = dbtest.Load(t, filepath.Join(h.Data, keptDump))
	}
	return h
}

// Keep packs a home into a file. No program may use the home meanwhile.
func (h Home) Keep(t testing.TB, file string) {
	t.Helper()
	dir := t.TempDir()
	names := map[string]string{
		keptBooks:   filepath.Join(dir, keptBooks),
		keptMaster:  filepath.Join(h.Data, keptMaster),
		keptCompany: filepath.Join(h.Data, keptCompany),
	}
	err := db.CopySQLite(t.Context(), filepath.Join(h.Data, keptBooks), names[keptBooks])
	if from, lite := db.SQLitePath(h.Database); lite {
		names[keptLite] = filepath.Join(dir, keptLite)
		err = errors.Join(err, db.CopySQLite(t.Context(), from, names[keptLite]))
	} else {
		names[keptDump] = dbtest.Dump(t, h.Database)
	}
	var packed []byte
	if err == nil {
		packed, err = pack(names)
	}
	if err == nil {
		err = os.WriteFile(file, packed, 0o644)
	}
	if err != nil {
		t.Fatalf("apptest: %v", err)
	}
}

// restricted matches lines of pg_dump that only the newest psql understands.
var restricted = regexp.MustCompile(`(?m)^\\(un)?restrict .*\n`)

func pack(names map[string]string) ([]byte, error) {
	var out bytes.Buffer
	zip, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	w := tar.NewWriter(zip)
	for _, name := range []string{keptLite, keptDump, keptBooks, keptMaster, keptCompany} {
		if names[name] == "" {
			continue
		}
		content, err := os.ReadFile(names[name])
		if name == keptDump {
			content = restricted.ReplaceAll(content, nil)
		}
		if err == nil {
			err = w.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: int64(len(content))})
		}
		if err == nil {
			_, err = w.Write(content)
		}
		if err != nil {
			return nil, err
		}
	}
	err = errors.Join(w.Close(), zip.Close())
	return out.Bytes(), err
}

func unpack(packed []byte, dir string) error {
	zip, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return err
	}
	for r := tar.NewReader(zip); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		var content []byte
		if err == nil {
			content, err = io.ReadAll(r)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, filepath.Base(header.Name)), content, 0o600)
		}
		if err != nil {
			return err
		}
	}
}
