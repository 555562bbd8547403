// Package migration holds the schema: one numbered file a noun, the same text
// for SQLite and PostgreSQL, applied in order and never edited after a release.
package migration

import "embed"

// Files are the migrations.
//
//go:embed *.sql
var Files embed.FS
