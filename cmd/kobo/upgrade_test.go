package main

import (
	"bytes"
	"regexp"
	"testing"

	"github.com/kobo-waas/kobo/internal/apptest"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
)

// typed runs kobo with these arguments and returns the output.
func typed(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	c := root()
	c.SetOut(&out)
	c.SetErr(&out)
	c.SetArgs(args)
	err := c.ExecuteContext(t.Context())
	return out.String(), err
}

var addsUp = regexp.MustCompile(`[1-9]\d{2,} entries, [1-9].*: everything adds up\n$`)

// For each earlier release there is a stored database with rows in every table. It can be migrated
// to the current schema, and then its ledger adds up.
func TestEveryFilledDatabaseIsMigrated(t *testing.T) {
	for _, dialect := range dbtest.Dialects {
		t.Run(string(dialect), func(t *testing.T) {
			for _, schema := range apptest.FilledSchemas(t, dialect) {
				h := apptest.Filled(t, dialect, schema)
				if have, _, err := dbtest.Open(t, h.Database).Migrated(t.Context()); err != nil || have != schema {
					t.Errorf("the home of schema %d has schema %d, %v", schema, have, err)
				}
				if said, err := typed(t, "migrate", "--database", h.Database); err != nil || said != "the schema is current\n" {
					t.Errorf("schema %d: %q, %v", schema, said, err)
				}
				if said, err := typed(t, "verify", "--database", h.Database); err != nil || !addsUp.MatchString(said) {
					t.Errorf("schema %d: %q, %v", schema, said, err)
				}
			}
		})
	}
}
