package main

import (
	"bytes"
	"path/filepath"
	"regexp"
	"strings"
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
	for _, dialect := range dbtest.Servers() {
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
			fails := func(want, why string) {
				t.Helper()
				if said, err := typed(t, "verify", "--database", h.Database); err == nil || err.Error() != why || !regexp.MustCompile(want).MatchString(said) {
					t.Errorf("verify: %q, %v", said, err)
				}
			}
			const keyless = "^kobo: the trees are not checked: .*\nno MAC was checked: .*\n.*adds up\n"
			fails(keyless, "neither MACs nor trees were checked: set evidence_key_file, or give --without-key")
			if said, err := typed(t, "verify", "--without-key", "--database", h.Database); err != nil || !regexp.MustCompile(keyless).MatchString(said) {
				t.Errorf("verify --without-key: %q, %v", said, err)
			}
			t.Setenv("KOBO_EVIDENCE_KEY_FILE", key)
			fails(`^[1-9]\d+ rows are not signed: .* kobo adopt signs .*\n.*adds up\n`, "rows are not signed, so they may be forged")
			says("adopt", `^[1-9]\d* companies, [1-9]\d+ rows signed\n$`)
			says("verify", `^\d+ companies, .*adds up\n$`)
			says("adopt", `^[1-9]\d* companies, 0 rows signed\n$`)
			for _, company := range []string{"", "house", "ghost"} {
				if _, err := dbtest.Open(t, h.Database).Exec(t.Context(), `INSERT INTO operator_audit (company_id, id, operator, action, subject, details, created_at)
					VALUES ($1, '00', 'local:eve', 'company.kyb', '', '{}', 1)`, company); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := dbtest.Open(t, h.Database).Exec(t.Context(), `INSERT INTO event (company_id, sequence, id, kind, data, created_at)
				VALUES ('', 1, 'x', 'payout.success', '{}', 1)`); err != nil {
				t.Fatal(err)
			}
			says("adopt", `^[1-9]\d* companies, 0 rows signed\n$`)
			said, err := typed(t, "verify", "--database", h.Database)
			for _, company := range []string{"", "house", "ghost"} {
				if want := "\n" + company + ": evidence: operator_audit 00: expected a row with a number and a MAC"; err == nil || !strings.Contains("\n"+said, want) {
					t.Errorf("a forged line of %q: %q, %v", company, said, err)
				}
			}
			if !strings.Contains(said, ": evidence: event x: expected the company of the row, found none") {
				t.Errorf("a forged event of no company: %q", said)
			}
		})
	}
}

var addsUp = regexp.MustCompile(`[1-9]\d{2,} entries, [1-9].*: everything adds up\n$`)

// For each earlier release there is a stored database with rows in every table. It can be migrated
// to the current schema, and then its ledger adds up.
func TestEveryFilledDatabaseIsMigrated(t *testing.T) {
	t.Setenv("KOBO_MODE", "sandbox") // the homes are of kobo dev
	for _, dialect := range dbtest.Servers() {
		t.Run(string(dialect), func(t *testing.T) {
			for _, schema := range apptest.FilledSchemas(t, dialect) {
				h := apptest.Filled(t, dialect, schema)
				if have, _, err := dbtest.Open(t, h.Database).Migrated(t.Context()); err != nil || have != schema {
					t.Errorf("the home of schema %d has schema %d, %v", schema, have, err)
				}
				if said, err := typed(t, "migrate", "--database", h.Database); err != nil || said != "the schema is current\n" {
					t.Errorf("schema %d: %q, %v", schema, said, err)
				}
				if said, err := typed(t, "verify", "--without-key", "--database", h.Database); err != nil || !addsUp.MatchString(said) {
					t.Errorf("schema %d: %q, %v", schema, said, err)
				}
			}
		})
	}
}
