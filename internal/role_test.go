package internal_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
)

// ofOwner are the packages whose SQL statements only commands of the database's owner run, with the
// reason.
var ofOwner = map[string]string{
	"event.Remove": "kobo archive runs as the owner",
	"archive":      "kobo archive runs as the owner",
}

// The role of kobo serve may run each SQL statement of the program, except for those of the owner's
// commands. The planner checks the rights of an SQL statement, so no statement has to run.
func TestTheServingRoleMayRunEveryStatement(t *testing.T) {
	owner := dbtest.URL(t, db.Postgres)
	role, serving := dbtest.Role(t, owner)
	if err := dbtest.Open(t, owner).Grant(t.Context(), db.Roles{Serve: role}); err != nil {
		t.Fatal(err)
	}
	explain := dbtest.Scans(t, serving)
	asked := 0
	for _, s := range statements(house(t), schemaOf(files(t))) {
		pkg, _, _ := strings.Cut(s.owner, ".")
		if hasOwnSchema(s.dir) || s.built || ofOwner[s.owner] != "" || ofOwner[pkg] != "" {
			continue
		}
		asked++
		explain(s.text) // fails the test if the role lacks a right
	}
	if asked < 100 {
		t.Errorf("%d statements: the search is broken", asked)
	}
}

// The tables whose rows never change are the same for this package's rule and for the rights.
func TestTheRightsKnowTheHistory(t *testing.T) {
	for _, table := range written {
		if !slices.Contains(db.WrittenOnce, table) {
			t.Errorf("kobo serve has the right to change %s", table)
		}
	}
}
