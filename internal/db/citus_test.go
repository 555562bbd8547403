package db_test

import (
	"testing"

	"github.com/kobo-waas/kobo/internal/db/dbtest"
)

// Each table of the schema is where it belongs after kobo migrate.
func TestCitusHasEachTableInItsPlace(t *testing.T) {
	d := dbtest.NewCitus(t)
	wrong, err := d.Misplaced(t.Context())
	if err != nil || len(wrong) > 0 {
		t.Errorf("%v %v", wrong, err)
	}
}
