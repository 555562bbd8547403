// Package migration holds the schema: one numbered file a noun, the same text
// for SQLite and PostgreSQL, applied in order and never edited after a release.
//
// A migration declares the oldest schema whose program runs on its result, with
// the line "-- kobo: serves 32". A migration without the line serves only
// programs of its own schema.
package migration

import (
	"embed"
	"fmt"
	"io/fs"
	"regexp"
	"strconv"
	"sync"
)

// Files are the migrations.
//
//go:embed *.sql
var Files embed.FS

var (
	numbered = regexp.MustCompile(`^(\d+)_`)
	declared = regexp.MustCompile(`(?m)^-- kobo: serves (\d+)$`)
)

// serving is, for each migration, the oldest schema that it serves.
var serving = sync.OnceValue(func() map[int64]int64 {
	out, err := read()
	if err != nil {
		panic(err) // the files are part of the program
	}
	return out
})

func read() (map[int64]int64, error) {
	names, err := fs.Glob(Files, "*.sql")
	if err != nil {
		return nil, err
	}
	out := map[int64]int64{}
	for _, name := range names {
		text, err := Files.ReadFile(name)
		if err != nil {
			return nil, err
		}
		number, err := numberIn(numbered, []byte(name))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		out[number] = number
		if !declared.Match(text) {
			continue
		}
		if out[number], err = numberIn(declared, text); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return out, nil
}

func numberIn(pattern *regexp.Regexp, text []byte) (int64, error) {
	found := pattern.FindSubmatch(text)
	if found == nil {
		return 0, fmt.Errorf("nothing matches %s", pattern)
	}
	return strconv.ParseInt(string(found[1]), 10, 64)
}

// Latest is the schema of this program: the number of its newest migration.
func Latest() (latest int64) {
	for number := range serving() {
		latest = max(latest, number)
	}
	return latest
}

// Serves is the oldest schema whose program runs after all migrations above a
// schema have been made.
func Serves(above int64) (oldest int64) {
	for number, serves := range serving() {
		if number > above {
			oldest = max(oldest, serves)
		}
	}
	return oldest
}
