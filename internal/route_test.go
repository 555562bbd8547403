package internal_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
)

// fanOut are the statements that read a table of the companies without one company by value, with
// the reason. Each key names the package, the declaration and the table. The statements of
// overCompanies are not repeated here. A database that divides its tables by company asks all its
// nodes for these rows, so no request of a company and no commit may need one of them.
var fanOut = map[string]string{
	"ledger.LastEvents ledger_head": "the poll of long reads and of webhooks, over all companies that wait",
	"ledger.Heads ledger_head":      "kobo verify and backups go from company to company",
	"job.Providers job":             "the start of a program",
	"job.planned job":               "as job.Providers, and once an hour",
	"job.turnsInParts job":          "the worker's scan, as job.turns",

	"operation.AttemptOwner operation_attempt": "a biller that tells of a purchase names only its reference",
	"vtu.owner vtu_purchase":                   "as operation.AttemptOwner",

	"request.companyAfter request_log": "old entries are removed company by company",

	"evidence.sizes evidence_tree":          "the job that signs checkpoints goes through all companies",
	"evidence.untold evidence_checkpoint":   "as evidence.sizes",
	"evidence.withLeaf evidence_checkpoint": "the deployment's tree has the checkpoints of all companies",
	"evidence.lost evidence_checkpoint":     "as evidence.withLeaf",

	"keyring.sealedRows identity_session":   "kobo rekey goes through the rows of all companies",
	"keyring.sealedRows erasure":            "as keyring.sealedRows identity_session",
	"keyring.sealedRows webhook_endpoint":   "as keyring.sealedRows identity_session",
	"keyring.sealedRows idempotency_key":    "as keyring.sealedRows identity_session",
	"keyring.sealedRows inbox_notification": "as keyring.sealedRows identity_session",

	"company.After company":                             "operators list all companies",
	"settlement.AdjustmentsAfter settlement_adjustment": "operators list the adjustments of all companies",
	"operator.doneCounts operator_act":                  "operators list proposals about several companies",

	"customer.Checked customer_account":       "operators list the compared names of all companies",
	"customer.Checked customer":               "as customer.Checked customer_account",
	"operation.CasesAfter operation_case":     "operators list the cases of all companies",
	"operation.DoubtsAnywhere operation_case": "operators list payments of several companies",
	"operation.DoubtsAnywhere operation":      "as operation.DoubtsAnywhere operation_case",
	"operator.auditSearches operator_audit":   "operators read the lines of all companies",
	"operator.accessLines operator_audit":     "the lines of no company",
	"payout.FeesOf payout_fee":                "operators list the fees of fifty companies",

	"report.caseStates operation_case":         "operators read a day of a bank, over all companies",
	"report.depositsNewest crypto_transaction": "operators list the deposits on chains of all companies",
	"report.companyNames company":              "operators see names beside the rows of several companies",
	"report.besides payout_verification":       "operators list payments of several companies",
	"report.besides vtu_purchase":              "as report.besides payout_verification",
	"report.besides operation_label":           "as report.besides payout_verification",
	"report.besides operation":                 "as report.besides payout_verification",
	"report.besides settlement_credit":         "as report.besides payout_verification",
	"report.openSubjects operation_case":       "as report.besides payout_verification",
	"report.operationsNamed operation":         "operators list cases of several companies, with the payment of each",
	"report.unknownOperations operation_case":  "operators list operations of all companies",
	"report.unknownOperations job":             "as report.unknownOperations operation_case",
	"report.openByAge operation_case":          "the overview covers all companies",
	"report.openByAge job":                     "as report.openByAge operation_case",
	"report.failingEndpoints webhook_endpoint": "the overview covers all companies",
	"report.accountSums ledger_account":        "the overview covers all companies",
	"report.heldIn ledger_account":             "operators see the money at a provider, of all companies",
	"report.unsignedSince ledger_head":         "Prometheus is told of all companies together",
	"report.unsignedSince company":             "as report.unsignedSince ledger_head",
	"report.movedCompanies report_progress":    "one walk at a time goes through all ledgers",
	"report.revenueWaits ledger_account":       "one job adds up the fees of all companies",
	"report.revenueByCompany report_revenue":   "operators compare the revenue of all companies",

	"report.cardsByID card":                       "an operator looks for a reference over all companies",
	"report.byEmail customer_email":               "an operator searches over all companies",
	"report.byEmail customer":                     "an operator searches over all companies",
	"report.bankAccounts settlement_bank_account": "an operator searches over all companies",
	"report.customersByAccount customer_account":  "an operator searches over all companies",
	"report.customersByAccount customer":          "an operator searches over all companies",
	"report.byHash crypto_transaction":            "an operator searches over all companies",
	"report.sessionPlaces settlement_credit":      "an operator looks for a reference over all companies",
	"report.sessionPlaces inbox_sweep":            "an operator looks for a reference over all companies",
	"report.casePlaces operation_case":            "an operator looks for a reference over all companies",
	"report.eventPlaces event":                    "an operator looks for a reference over all companies",
	"report.byIdempotencyKey operation":           "an operator looks for a reference over all companies",
	"report.byIdempotencyKey idempotency_key":     "an operator looks for a reference over all companies",
	"report.waitingPlaces company_approval":       "an operator looks for a reference over all companies",
	"report.waitingPlaces payout_bulk":            "an operator looks for a reference over all companies",
	"report.payoutsOfBulk payout_bulk_line":       "an operator looks for a reference over all companies",
	"report.moneyPlaces operation":                "an operator looks for a reference over all companies",
	"report.openByAge operation":                  "the overview is over all companies; the join says the company, and the plan finds the row by its id",
	"report.unknownOperations operation":          "as report.openByAge operation",
	"report.moneyPlaces settlement_credit":        "an operator looks for a reference over all companies",
	"report.moneyPlaces collection":               "an operator looks for a reference over all companies",
	"report.moneyPlaces settlement_adjustment":    "an operator looks for a reference over all companies",
	"report.moneyPlaces settlement_transfer":      "an operator looks for a reference over all companies",
	"report.moneyPlaces customer_transaction":     "an operator looks for a reference over all companies",
}

var (
	inserting   = regexp.MustCompile(`(?is)^\s*INSERT\s+INTO\s+([a-z_]+)\s*\(([^)]*)\)\s*(VALUES\s*\(|SELECT\s)(.*)$`)
	endOfSelect = regexp.MustCompile(`(?is)^FROM\b`)
	byValue     = regexp.MustCompile(`(?i)^(\$\d+|'[^']*'|([a-z_]+\.)?company_id)$`)
)

func isTenantTable(table string) bool { return tenantless[table] == "" && !isForeign(table) }

// insertsByValue reports whether an SQL statement names the company of the rows that it inserts by
// a parameter, a constant, or the company of a row that it reads.
func insertsByValue(text string) bool {
	m := inserting.FindStringSubmatch(text)
	if m == nil {
		return false
	}
	at := -1
	for i, column := range strings.Split(m[2], ",") {
		if strings.TrimSpace(column) == "company_id" {
			at = i
		}
	}
	values := listed(m[4])
	return at >= 0 && at < len(values) && byValue.MatchString(values[at])
}

// listed splits a list of expressions at its commas. The list ends with FROM or with a closing
// parenthesis.
func listed(text string) (list []string) {
	depth, from := 0, 0
	for i, c := range text {
		switch {
		case c == '(':
			depth++
		case depth == 0 && (c == ',' || c == ')' || endOfSelect.MatchString(text[i:])):
			list = append(list, strings.TrimSpace(text[from:i]))
			if from = i + 1; c != ',' {
				return list
			}
		case c == ')':
			depth--
		}
	}
	return append(list, strings.TrimSpace(text[from:]))
}

// notRoutable returns the tenant tables that a statement reads or writes without one company by
// value.
func notRoutable(text string, unrouted func(statement string) []string) (tables []string) {
	tables = unrouted(text)
	if m := namesTable.FindStringSubmatch(text); isInsert.MatchString(text) && isTenantTable(m[1]) && !insertsByValue(text) {
		tables = append(tables, m[1])
	}
	slices.Sort(tables)
	return slices.Compact(tables)
}

// Each statement about a company's rows says by value which company it means, or is on a list with
// the reason. So a database that divides its tables by company answers it on one node.
func TestEveryStatementIsRoutable(t *testing.T) {
	found := statements(house(t), schemaOf(files(t)))
	unrouted := dbtest.Unrouted(t, dbtest.URL(t, db.Postgres), isTenantTable)
	used := map[string]bool{}
	asked := 0
	for _, s := range found {
		if hasOwnSchema(s.dir) || s.built {
			continue
		}
		asked++
		for _, table := range notRoutable(s.text, unrouted) {
			key := s.owner + " " + table
			if used[key] = true; overCompanies[s.owner] == "" && fanOut[key] == "" {
				t.Error(s.complain("the company of %s is not said by value: company_id = $1", table))
			}
		}
	}
	if asked < 100 {
		t.Errorf("%d statements: the search is broken", asked)
	}
	for key := range fanOut {
		if !used[key] {
			t.Errorf("%s may fan out, and does not", key)
		}
	}
}

func TestUnroutableStatementsAreFound(t *testing.T) {
	unrouted := dbtest.Unrouted(t, dbtest.URL(t, db.Postgres), isTenantTable)
	for text, want := range map[string][]string{
		`SELECT id FROM vtu_purchase WHERE company_id = $1 AND id = $2`:                                           nil,
		`SELECT id FROM vtu_purchase WHERE company_id = 'house'`:                                                  nil,
		`SELECT id FROM vtu_purchase WHERE id = $1`:                                                               {"vtu_purchase"},
		`SELECT id FROM vtu_purchase WHERE company_id = ANY($1)`:                                                  {"vtu_purchase"},
		`SELECT id FROM vtu_purchase WHERE company_id > $1`:                                                       {"vtu_purchase"},
		`SELECT id FROM vtu_purchase WHERE company_id = $1 OR id = $2`:                                            {"vtu_purchase"},
		`SELECT id FROM vtu_purchase WHERE company_id || '' = $1`:                                                 {"vtu_purchase"},
		`UPDATE vtu_purchase SET meter_number = $2 WHERE id = $1`:                                                 {"vtu_purchase"},
		`DELETE FROM job WHERE subject = $1`:                                                                      {"job"},
		`SELECT b.id FROM card_directory AS d JOIN card AS b ON b.company_id = d.company_id WHERE d.card_id = $1`: {"card"},
		`SELECT id FROM vtu_service WHERE id = $1`:                                                                nil,
		`INSERT INTO job (subject, company_id) VALUES (coalesce($1, ''), $2)`:                                     nil,
		`INSERT INTO job (subject, company_id) VALUES ($2, lower($1))`:                                            {"job"},
		`INSERT INTO job (subject) VALUES ($1)`:                                                                   {"job"},
		`INSERT INTO job (company_id, subject) SELECT company_id, id FROM vtu_purchase`:                           {"vtu_purchase"},
		`INSERT INTO job (company_id, subject) SELECT id, id FROM card WHERE company_id = $1`:                     {"job"},
		`SELECT o.id FROM operation AS o JOIN operation_case AS c ON c.company_id = o.company_id AND c.subject = o.id
			WHERE o.company_id = $1`: nil,
		`SELECT o.id FROM operation AS o JOIN operation_case AS c ON c.subject = o.id WHERE o.company_id = $1`: {"operation_case"},
		`SELECT id FROM operation AS o WHERE company_id = $1
			AND NOT EXISTS (SELECT 1 FROM job AS j WHERE j.company_id = o.company_id AND j.subject = o.id)`: nil,
		`SELECT id FROM operation AS o WHERE company_id = $1 AND EXISTS (SELECT 1 FROM job AS j WHERE j.subject = o.id)`: {"job"},
	} {
		if got := notRoutable(text, unrouted); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
