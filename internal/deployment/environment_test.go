package deployment_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/deployment"
)

// belongs checks the environment of the database.
func (p *place) belongs(want deployment.Environment) {
	p.t.Helper()
	if of, err := deployment.EnvironmentOf(p.t.Context(), p.db); of != want || err != nil {
		p.t.Errorf("the database belongs to %q, %v; want %q", of, err, want)
	}
}

// A database keeps the environment of its first start. Every other environment is refused, and the
// error names both.
func TestADatabaseKeepsTheEnvironmentOfItsFirstStart(t *testing.T) {
	each(t, func(t *testing.T, p *place) {
		all := []deployment.Environment{deployment.Dev, deployment.Staging, deployment.Live}
		p.belongs("")
		for _, e := range all {
			must(t, deployment.Match(t.Context(), p.db, e))
		}
		p.begins() // the name of a database does not decide about its environment
		p.belongs("")
		for range 2 {
			must(t, p.program().Claim(t.Context(), deployment.Staging))
			p.belongs(deployment.Staging)
		}
		must(t, deployment.Match(t.Context(), p.db, deployment.Staging))
		for _, e := range []deployment.Environment{deployment.Dev, deployment.Live} {
			for what, err := range map[string]error{
				"match": deployment.Match(t.Context(), p.db, e), "claim": p.program().Claim(t.Context(), e),
			} {
				var other *deployment.OtherError
				if !errors.As(err, &other) || other.Database != deployment.Staging || other.Program != e ||
					!strings.Contains(err.Error(), "belongs to the environment staging, and this program is configured for "+string(e)) {
					t.Errorf("%s %s: %v", what, e, err)
				}
			}
		}
		p.belongs(deployment.Staging)
		p.begins()
		p.says(2, 2) // a claim changes no epoch
	})
}

// If programs of several environments start on a new database at the same time, one of them wins,
// and the others get an error.
func TestOneOfManyFirstStartsWins(t *testing.T) {
	each(t, func(t *testing.T, p *place) {
		all := []deployment.Environment{deployment.Dev, deployment.Staging, deployment.Live}
		said := make(chan error, len(all))
		for _, e := range all {
			go func() { said <- p.program().Claim(t.Context(), e) }()
		}
		refused := 0
		for range all {
			var other *deployment.OtherError
			if err := <-said; errors.As(err, &other) {
				refused++
			} else if err != nil {
				t.Error(err)
			}
		}
		of, err := deployment.EnvironmentOf(t.Context(), p.db)
		if refused != len(all)-1 || of == "" || err != nil {
			t.Errorf("%d refused, and the database belongs to %q, %v", refused, of, err)
		}
	})
}

// A database without a schema belongs to no environment.
func TestAnEmptyDatabaseMatchesEveryEnvironment(t *testing.T) {
	for _, dialect := range dbtest.Servers() {
		t.Run(string(dialect), func(t *testing.T) {
			d := dbtest.Open(t, dbtest.EmptyURL(t, dialect))
			must(t, deployment.Match(t.Context(), d, deployment.Live))
			if of, err := deployment.EnvironmentOf(t.Context(), d); of != "" || err != nil {
				t.Errorf("%q, %v", of, err)
			}
		})
	}
}
