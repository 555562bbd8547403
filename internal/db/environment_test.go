package db_test

import (
	"testing"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
)

// Programs before schema 69 recorded accounts at banks only in live mode. So the migration knows that
// a database with such an account is live. Every other database has no environment yet.
func TestTheMigrationDerivesTheEnvironment(t *testing.T) {
	t.Parallel()
	for _, dialect := range dbtest.Dialects {
		for fill, want := range map[string]string{
			"": "", "INSERT INTO inbox_bank (company_id, mark, provider) VALUES ('house', 'm', 'safehaven')": "live",
		} {
			d := dbtest.Open(t, dbtest.EmptyURL(t, dialect))
			err := db.MigrateTo(t.Context(), d, 63)
			for _, statement := range []string{"INSERT INTO deployment (id, name, epoch) VALUES (1, 'n', 5)", fill} {
				if err == nil && statement != "" {
					_, err = d.Exec(t.Context(), statement)
				}
			}
			if err == nil {
				err = db.MigrateTo(t.Context(), d, 69)
			}
			if err != nil {
				t.Fatal(err)
			}
			of, err := db.One(t.Context(), d, db.Value[string], "SELECT environment FROM deployment WHERE id = 1 AND epoch = 5")
			if of != want || err != nil {
				t.Errorf("%s, %q: the environment is %q, %v; want %q", dialect, fill, of, err, want)
			}
		}
	}
}
