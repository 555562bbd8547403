package internal_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/kobo-waas/kobo/internal/db/dbtest"
)

// mayScan are the SQL statements that may read a whole table, or all rows of a company, with the
// reason. No request depends on the number of these rows.
var mayScan = map[string]string{
	"company.count": "operators list the companies", "company.page": "operators list the companies",
	"payout.FeesOf":          "a company has few fee schedules; operators list those of fifty companies",
	"payout.limits":          "operators change the limits of a company seldom",
	"operator.pageProposals": "operators list proposals", "operator.endProposalsOf": "an operator is removed",
	"report.Overdue": "the reconciliation, over the open operations",
	"report.Heads":   "kobo verify and backups go through all companies", "report.addCredits": "the integrity of the whole ledger of a company",
	"report.integrity":          "the integrity of the whole ledger of a company",
	"report.dueWalks":           "the job of the daily walk goes through all companies",
	"report.movedCompanies":     "the same job, for new rows",
	"report.movePlace":          "a company has one place",
	"report.beginArrivals":      "a company has one place",
	"ledger.Clearing":           "the start of a program, and an hourly job; a company has few ledger accounts",
	"settlement.Adjustments":    "operators list adjustments",
	"payout.BeneficiariesAfter": "a company keeps 1,000 accounts at most",
	"webhook.All":               "operators list webhooks",
	"keyring.dependents":        "kobo key status and kobo key remove, which operators run seldom", "keyring.counts": "kobo rekey shows its progress",
	"keyring.keysOf": "a company has few keys", "keyring.hasPINOf": "a company has one PIN",
	"keyring.companiesOf":        "an hourly job, and only when a revocation is due",
	"keyring.countTokens":        "kobo key status and kobo key remove, which operators run seldom",
	"operator.routedAccessLines": "only where tables are divided; the figures of a real table lead to the index of actions",
	"erasure.opened":             "kobo erase, which the owner of the database runs seldom",
	"job.queues":                 "an index scan that stops after each queue's first row",
	"report.jobQueues":           "the jobs that wait, and no history; only where tables are divided; for operators",
	"report.read":                "the reconciliation, once a day",
	"vtu.owner":                  "as operation.AttemptOwner",
	"operation.AttemptOwner":     "only where tables are divided, for a biller that names only its reference",
	"job.Providers":              "the start of a program; the rows are work that waits, and not history",
	"report.allQueues":           "an index scan that stops after each queue's first row, for the metrics",
	"report.dueJobs":             "an index scan that stops after each queue's first row, for the metrics",
	"report.moneyInFlight":       "a row of each company, and its accounts by key; an index of the open cases; for the metrics",
	"report.heldIn":              "a row of each company, and its accounts by key; operators list the providers",
	"report.moneyPlaces":         "a row of each company, and its rows by key; operators look for a reference",
	"report.waitingPlaces":       "a row of each company, and its rows by key; operators look for a reference",
	"report.payoutsOfBulk":       "a row of each company, and its rows by key; operators look for a reference",
	"report.casePlaces":          "a row of each company, and its rows by key; operators look for a reference",
	"report.byIdempotencyKey":    "a row of each company, and its rows by key; operators look for a reference",
	"report.eventPlaces":         "a row of each company, and its rows by key; operators look for a reference",
	"report.sessionPlaces":       "a row of each company and bank, and sessions by key; operators look for a reference",
	"report.companiesByName":     "a row of each company; operators look for a name",
	"report.cardsByID":           "a row of each company, and its card by key; operators look for a reference",
	"report.byHash":              "a row of each company, and its deposits by key; operators look for a hash",
	"report.walkFindingsOf":      "an index of the companies with findings, for the metrics",
	"report.closedAccounts":      "an index of the closed accounts, for the metrics",
	"report.unsignedSince":       "a row of each company and of its tree, for the metrics",
	"evidence.lost":              "the start of a program, and an hourly job",
	"report.Archived":            "kobo verify; a row for each month of a company",
	"report.failingJobs":         "an index of the failing jobs, for operators",
	"report.failingSum":          "an index of the failing jobs; for the overview, which is read once in five seconds",
	"report.openProposals":       "operators list proposals; for the overview",
	"report.failingEndpoints":    "a company has few endpoints; for the overview",
	"report.companyCount":        "a row of each company, for the overview",
	"report.accountSums":         "a row of each company, and its few accounts; for the overview",
	"webhook.idleQueues":         "the sender reads three rows of each webhook at most",
	"webhook.recoverRetries":     "three rows of each webhook at most, once a minute",
	"webhook.removeQueues":       "three rows of each webhook at most, once an hour",
	"webhook.endpointsWaiting":   "three rows of each webhook at most, and an index of the retries, once a minute",
	"webhook.positions":          "three rows of each webhook at most, for the metrics",
	"webhook.waitingRetries":     "the deliveries that wait for a retry, for the metrics",
	"webhook.Waiting":            "kobo archive, once for each company",
	"webhook.List":               "a company has few webhooks",
	"ledger.Alerts":              "a company has few ledger accounts", "report.period": "a settlement account has few bank accounts",
	"crypto.findKey": "a company has few keys", "company.revokedKeys": "a company has few keys", "company.findNumbered": "a company has few tokens",
	"customer.matches":    "a search for a part of a name reads the company's customers",
	"crypto.Transactions": "any filter may be left out, and the exact count reads the company's transactions",
}

// smallTables are the tables that stay small in every deployment, with what bounds them.
var smallTables = map[string]string{
	"vtu_service": "the billers' catalogue", "vtu_category": "the billers' catalogue", "vtu_product": "the billers' catalogue",
	"vtu_sync": "a row for each biller", "vtu_lookup": "a row for each biller and kind", "vtu_product_pair": "the billers' catalogue", "payout_sync": "a row for each bank", "payout_bank": "the banks of the country",
	"db_schema": "one row", "deployment": "one row", "operator_door": "one row",
	"operator_key": "the operators", "operator_keyring": "the master keys",
	"keyring": "a row for each keyring", "keyring_program": "the running programs", "keyring_line": "the keys", "keyring_progress": "a row for each table",
	"inbox_bank": "a row for each bank", "inbox_sweep": "a row for each bank", "crypto_cursor": "a row for each network",
	"report_reconciliation": "a row for each bank",
}

// No request reads more rows than it needs, however large the tables are. The planners' statistics
// are those of nearly empty tables, because they may be old when a table grows.
func TestNoRequestScans(t *testing.T) {
	found := statements(house(t), schemaOf(files(t)))
	used := map[string]bool{}
	for _, dialect := range dbtest.Dialects {
		t.Run(string(dialect), func(t *testing.T) {
			scans := dbtest.Scans(t, dbtest.Outgrown(t, dialect, func(table string) bool { return smallTables[table] != "" }))
			asked := 0
			for _, s := range found {
				walks := strings.HasPrefix(s.path, "internal/report/verify") || s.path == "internal/ledger/verify.go"
				if hasOwnSchema(s.dir) || s.built || walks {
					continue
				}
				asked++
				for _, scan := range slices.Compact(scans(s.text)) {
					table := scan[strings.LastIndex(scan, " ")+1:]
					if used[s.owner] = true; mayScan[s.owner] == "" && smallTables[table] == "" {
						t.Error(s.complain("%s", scan))
					}
				}
			}
			if asked < 100 {
				t.Errorf("%d statements: the search is broken", asked)
			}
			if len(scans("SELECT kind FROM event WHERE kind = $1")) == 0 {
				t.Error("a scan is not found")
			}
		})
	}
	for owner := range mayScan {
		if !used[owner] {
			t.Errorf("%s may scan, and does not", owner)
		}
	}
}
