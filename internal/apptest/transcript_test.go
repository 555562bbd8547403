package apptest_test

import (
	"io/fs"
	"maps"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/kobo-waas/kobo/internal/api/apitest"
	"github.com/kobo-waas/kobo/internal/app"
	"github.com/kobo-waas/kobo/internal/apptest"
	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/ledger"
)

// The whole program, with its sandbox, must respond as the transcripts of the API contract show. A
// test of package api plays the same transcripts with a simulated biller. They are played on a Citus too, if there is
// one.
func TestTheWholeProgramPlaysTheTranscripts(t *testing.T) {
	files := os.DirFS("../api/testdata")
	names, err := fs.Glob(files, "*.txt")
	if err != nil || len(names) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	t.Parallel()
	for _, dialect := range dbtest.Servers() {
		t.Run(string(dialect), func(t *testing.T) {
			t.Parallel()
			for _, name := range names {
				if name == "catalogue.txt" {
					continue // the list of required transcripts
				}
				t.Run(strings.TrimSuffix(name, ".txt"), func(t *testing.T) {
					t.Parallel()
					playTranscript(t, dialect, name)
				})
			}
		})
	}
}

// A program with name_match: refuse plays the transcripts about refused names.
func TestTheWholeProgramRefusesNames(t *testing.T) {
	each(t, func(t *testing.T, dialect db.Dialect) {
		playTranscript(t, dialect, "refuse/customer_name.txt", func(c *app.Config) { c.NameMatch = "refuse" })
	})
}

// playTranscript plays a transcript of the API contract against a new program.
func playTranscript(t *testing.T, dialect db.Dialect, name string, options ...apptest.Option) {
	t.Helper()
	p := apptest.Start(t, dialect, options...)
	stage := apitest.Stage{Companies: p.App.Companies, Settlements: p.App.Settlements, Clock: p.App.Clock, Raise: raise(p.App.DB)}
	apitest.New(t, p.BaseURL, func(t testing.TB) map[string]string {
		v := map[string]string{
			"base_url": p.BaseURL, "reference": p.Reference, "api_key": p.APIKey,
			"settlement_id": strconv.FormatInt(p.SettlementID, 10), "pin": p.PIN,
		}
		maps.Copy(v, stage.Cast(t, p.Reference))
		return v
	}).Play(t, os.DirFS("../api/testdata"), name)
}

// raise returns a function that changes the number of a company's first settlement account to
// apitest.Raised, which the transcripts contain.
func raise(d *db.DB) func(testing.TB, string) {
	return func(t testing.TB, company string) {
		t.Helper()
		for _, query := range []string{
			`UPDATE settlement_account SET id = $2 WHERE company_id = $1 AND id = 1`,
			`UPDATE ledger_account SET id = 'settlement/' || CAST($2 AS BIGINT) WHERE company_id = $1 AND id = 'settlement/1'`,
			`UPDATE operator_audit SET subject = 'settlement/' || CAST($2 AS BIGINT) WHERE company_id = $1 AND subject = 'settlement/1'`,
		} {
			if n, err := d.Exec(t.Context(), query, company, apitest.Raised); err != nil || n != 1 {
				t.Fatal(n, err)
			}
		}
		apptest.Resign(t, d, "operator_audit", company)
		if err := ledger.New(d, clock.System{}).AdoptRights(t.Context(), company, func(int) {}); err != nil {
			t.Fatal(err)
		}
	}
}
