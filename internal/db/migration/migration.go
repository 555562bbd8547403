// Package migration holds the schema as numbered files, applied in order. SQLite and
// PostgreSQL share their text. A released file never changes.
//
// With the line "-- kobo: serves 32" a migration declares the oldest schema whose
// programs run on its result. A migration without the line serves only programs of its
// own schema.
package migration

import (
	"embed"
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

// must panics on an error, since the files are part of the program.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func numberIn(pattern *regexp.Regexp, text []byte) int64 {
	return must(strconv.ParseInt(string(pattern.FindSubmatch(text)[1]), 10, 64))
}

// Latest returns the schema of this program: the number of its newest migration.
func Latest() (latest int64) {
	for number := range serving() {
		latest = max(latest, number)
	}
	return latest
}

// Serves returns the oldest schema whose programs run on the result of all migrations above
// another schema.
func Serves(above int64) (oldest int64) {
	for number, serves := range serving() {
		if number > above {
			oldest = max(oldest, serves)
		}
	}
	return oldest
}
