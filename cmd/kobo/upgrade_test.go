package main

import (
	"bytes"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/kobo-waas/kobo/internal/apptest"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/secret"
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

// Kobo adopt signs the rows of an earlier program once. Until then kobo verify counts them. Without the
// evidence key, kobo verify says that it has checked no MAC.
func TestTheRowsOfAnEarlierProgramAreSignedOnce(t *testing.T) {
	key := filepath.Join(t.TempDir(), "evidence.key")
	if err := secret.Create(key); err != nil {
		t.Fatal(err)
	}
	for _, dialect := range dbtest.Dialects {
		t.Run(string(dialect), func(t *testing.T) {
			h := apptest.Filled(t, dialect, apptest.FilledSchemas(t, dialect)[0])
			says := func(command, want string) {
				t.Helper()
				if said, err := typed(t, command, "--database", h.Database); err != nil || !regexp.MustCompile(want).MatchString(said) {
					t.Errorf("%s: %q, %v", command, said, err)
				}
			}
			says("migrate", "^the schema is current\n$")
			if _, err := typed(t, "adopt", "--database", h.Database); err == nil {
				t.Error("rows were signed without the evidence key")
			}
			says("verify", "^kobo: the trees are not checked: .*\nno MAC was checked: .*\n.*adds up\n$")
			t.Setenv("KOBO_EVIDENCE_KEY_FILE", key)
			says("verify", `^[1-9]\d+ rows of earlier programs are not signed yet: kobo adopt signs them\n.*adds up\n$`)
			says("adopt", `^[1-9]\d* companies, [1-9]\d+ rows signed\n$`)
			says("verify", `^\d+ companies, .*adds up\n$`)
			says("adopt", `^[1-9]\d* companies, 0 rows signed\n$`)
		})
	}
}

var addsUp = regexp.MustCompile(`[1-9]\d{2,} entries, [1-9].*: everything adds up\n$`)

// For each earlier release there is a stored database with rows in every table. It can be migrated
// to the current schema, and then its ledger adds up.
func TestEveryFilledDatabaseIsMigrated(t *testing.T) {
	t.Setenv("KOBO_MODE", "sandbox") // the homes are of kobo dev
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
