// Package migration contains the schema as numbered files, which are applied in order. SQLite and
// PostgreSQL use the same files. A released file never changes.
//
// With the line "-- kobo: serves 32" a migration declares that programs of schema 32 and later run
// on its result. A migration without this line serves only programs of the schema that it creates.
package migration

import (
	"embed"
	"io/fs"
	"regexp"
	"strconv"
	"sync"
)

// Files contains the files of the migrations.
//
//go:embed *.sql
var Files embed.FS

var (
	numbered = regexp.MustCompile(`^(\d+)_`)
	declared = regexp.MustCompile(`(?m)^-- kobo: serves (\d+)$`)
)

// serving returns, for each migration, the oldest schema whose programs can run on the migration's
// result.
var serving = sync.OnceValue(func() map[int64]int64 {
	out := map[int64]int64{}
	for _, name := range must(fs.Glob(Files, "*.sql")) {
		number := numberIn(numbered, []byte(name))
		out[number] = number
		if text := must(Files.ReadFile(name)); declared.Match(text) {
			out[number] = numberIn(declared, text)
		}
	}
	return out
})

// must returns the value v. It panics on an error, because the files are part of the program and
// cannot be missing.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func numberIn(pattern *regexp.Regexp, text []byte) int64 {
	return must(strconv.ParseInt(string(pattern.FindSubmatch(text)[1]), 10, 64))
}

// Latest returns the schema of this program, which is the number of its newest migration.
func Latest() (latest int64) {
	for number := range serving() {
		latest = max(latest, number)
	}
	return latest
}

// Serves returns the oldest schema whose programs can run on a database to which all migrations
// above the given schema are applied.
func Serves(above int64) (oldest int64) {
	for number, serves := range serving() {
		if number > above {
			oldest = max(oldest, serves)
		}
	}
	return oldest
}
