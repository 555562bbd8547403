package internal_test

import (
	"strings"
	"testing"

	"github.com/kobo-waas/kobo/internal/db/dbtest"
)

// notOnCitus are the declarations with an SQL statement that Citus refuses, with the statement that the program sends there.
var notOnCitus = map[string]string{
	"job.queues": "routedQueues", "job.turns": "routedTurns", "report.jobQueues": "allJobQueues",
	"report.allQueues": "its other statement", "report.dueJobs": "its other statement",
	"operation.AttemptOwner": "routedAttemptOwner", "vtu.owner": "routedOwner",
}

// Citus has a plan for each SQL statement of the program. It refuses some forms that PostgreSQL allows, such as a join
// of rows of different companies.
func TestCitusPlansEachStatement(t *testing.T) {
	refused := dbtest.Refused(t, dbtest.CitusURL(t))
	used := map[string]bool{}
	for _, s := range statements(house(t), schemaOf(files(t))) {
		if hasOwnSchema(s.dir) || s.built || strings.HasPrefix(s.dir, "internal/db") {
			continue
		}
		if err := refused(s.text); err != nil {
			if used[s.owner] = true; notOnCitus[s.owner] == "" {
				t.Error(s.complain("%v", err))
			}
		}
	}
	for owner := range notOnCitus {
		if !used[owner] {
			t.Errorf("%s is not refused any more", owner)
		}
	}
}
