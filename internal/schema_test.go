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

// scans are the indexes that do not begin with the company on purpose, with the reason for each
// index.
var scans = map[string]string{
	"job_due":                        "the scan for due work of programs of schema 32",
	"job_lane":                       "the worker's scan for due work (job.lanes, job.due)",
	"company_changed":                "what has just changed about any company, for the programs' memory (company.changed)",
	"job_turn":                       "the worker's scan for the companies in turn (job.turns)",
	"card_anywhere":                  "an operator looks for a reference over all companies",
	"collection_anywhere":            "an operator looks for a reference over all companies",
	"company_approval_anywhere":      "an operator looks for a reference over all companies",
	"crypto_transaction_anywhere":    "an operator looks for a reference over all companies",
	"customer_transaction_anywhere":  "an operator looks for a reference over all companies",
	"operation_case_anywhere":        "an operator looks for a reference over all companies",
	"operation_case_subject":         "an operator looks for a bank's reference over all companies (report.casesAbout)",
	"operation_case_newest":          "the operators' list of cases (operation.CasesAfter)",
	"payout_bulk_anywhere":           "an operator looks for a reference over all companies",
	"settlement_adjustment_anywhere": "an operator looks for a reference over all companies",
	"settlement_credit_anywhere":     "an operator looks for a reference over all companies",
	"settlement_transfer_anywhere":   "an operator looks for a reference over all companies",
	"operation_anywhere":             "an operator looks for a reference over all companies",
	"idempotency_key_anywhere":       "an operator looks for a key over all companies (report.byIdempotencyKey)",
	"operation_key_anywhere":         "an operator looks for a key over all companies (report.byIdempotencyKey)",
	"payout_reference":               "whose a payout is, for a bank that names only its reference (payout.owner), or for an operator (report.payoutPlaces)",
	"crypto_transaction_block":       "what was in a block that is gone (crypto.inBlocks)",
	"customer_id":                    "whose a customer is, for an operator who erases them (customer.CompanyOf)",
	"customer_account_name_match":    "the operators' list of compared names (customer.Checked)",
	"operator_audit_newest":          "the audit log of all companies, the newest first",
	"operator_audit_time":            "a period of the audit log of all companies",
	"operator_audit_operator":        "the lines of an operator, about all companies",
	"operator_audit_action":          "the lines of an act, about all companies",
	"evidence_checkpoint_leaf":       "the checkpoint of each leaf of the deployment's tree (evidence.lost, evidence.withLeaf)",
	"collection_own":                 "an operator searches over all companies (report.byOwnReference)",
	"collection_search":              "an operator searches over all companies (report.collectionsByAccount)",
	"customer_last_name":             "an operator searches over all companies (report.customersByName)",
	"customer_phone":                 "an operator searches over all companies (report.byPhone)",
	"customer_search":                "an operator searches over all companies (report.customersByName)",
	"customer_account_search":        "an operator searches over all companies (report.customersByAccount)",
	"customer_email_address":         "an operator searches over all companies (report.byEmail)",
	"operation_other_reference":      "an operator searches over all companies (report.byProviderReference)",
	"operation_label_own":            "an operator searches over all companies (report.byOwnReference)",
	"payout_verification_search":     "an operator searches over all companies (report.payoutsTo)",
	"vtu_purchase_meter":             "an operator searches over all companies (report.byMeter)",
	"vtu_purchase_phone":             "an operator searches over all companies (report.purchasesForPhone)",
	"vtu_purchase_smartcard":         "an operator searches over all companies (report.byMeter)",
	"settlement_credit_sender":       "an operator searches over all companies (report.creditsFrom)",
	"request_log_request":            "an operator searches over all companies (report.byRequest)",
	"operator_act_proposal":          "which acts of a proposal are done (operator.Done)",
	"operation_newest":               "the operators' list of payments (report.Payments)",
	"settlement_credit_newest":       "the same, of credits",
	"settlement_adjustment_newest":   "the same, of adjustments",
	"settlement_adjustment_state":    "the operators' list of adjustments in a state (settlement.AdjustmentsAfter)",
	"company_newest":                 "the operators' list of companies (company.After)",
	"settlement_transfer_newest":     "the same, of transfers",
	"crypto_transaction_newest":      "the operators' list of deposits on chains (report.ListDeposits)",
	"job_failing":                    "the failing jobs of all companies, which an operator knows by their ids (job.failing, report.failingJobs)",
}

// notAmounts are the columns whose names sound like amounts of money, with their real meaning.
var notAmounts = map[string]string{
	"vtu_product.fixed_amount": "whether the price is fixed, and not how much it is",
}

// presets are the columns with a default, and the reason for each default. A column that is added
// to a released table needs a default, since the program of the earlier release does not write that
// column.
var presets = map[string]string{
	"report_place.next_arrival":       "programs of schema 190 begin to count a company without it",
	"request_log.subject":             "programs of schema 140 write entries without it",
	"payout_bulk_line.double_of":      "programs of schema 135 store lines without it",
	"payout_bulk_line.file_line":      "programs of schema 190 store lines without it",
	"ledger_transfer.leaf":            "programs of schema 54 book transfers without it",
	"ledger_transfer.mac":             "programs of schema 54 book transfers without it",
	"archive_month.leaves":            "programs of schema 54 archive months without it",
	"archive_month.mac":               "programs of schema 54 archive months without it",
	"event.leaf":                      "programs of schema 54 write events without it",
	"event.mac":                       "programs of schema 54 write events without it",
	"operator_audit.leaf":             "programs of schema 54 write audit lines without it",
	"operator_audit.mac":              "programs of schema 54 write audit lines without it",
	"company.mac":                     "programs of schema 54 create companies without it",
	"company_api_key.mac":             "programs of schema 54 issue keys without it",
	"company_api_key.name":            "programs of schema 113 issue keys without it",
	"company_api_key.ending":          "programs of schema 113 issue keys without it",
	"company_pin.mac":                 "programs of schema 54 set PINs without it",
	"company_token.mac":               "programs of schema 54 issue tokens without it",
	"operator_key.mac":                "programs of schema 54 issue keys without it",
	"ledger_account.mac":              "programs of schema 54 open accounts without it",
	"ledger_counter.mac":              "programs of schema 54 count without it",
	"idempotency_key.mac":             "programs of schema 54 store responses without it",
	"idempotency_key.reason":          "programs of schema 79 store responses without it",
	"operation_case.mac":              "programs of schema 54 open cases without it",
	"ledger_head.rights":              "programs of schema 54 found companies without it",
	"ledger_head.leaf":                "programs of schema 54 found companies without it",
	"ledger_account.closed_at":        "programs of schema 45 open accounts without it",
	"job.provider":                    "programs of schema 32 write jobs without it",
	"collection.missing":              "programs of schema 32 write collections without it",
	"corporate_account.provider":      "programs of schema 32 open accounts without it",
	"customer_account.name_match":     "programs of schema 79 open accounts without it",
	"customer_account.provider":       "programs of schema 32 open accounts without it",
	"identity_session.provider":       "programs of schema 32 begin sessions without it",
	"settlement_bank_account.turn":    "programs of schema 32 attach bank accounts without it",
	"customer.erased_at":              "programs of schema 66 create customers without it",
	"identity_session.customer_id":    "programs of schema 66 begin sessions without it",
	"identity_session.guessed_until":  "programs of schema 32 begin sessions without it",
	"payout_verification.credentials": "programs of schema 32 validate accounts without it",
	"vtu_purchase.settlement_id":      "programs of schema 32 buy without it",
	"payout.settlement_id":            "programs of schema 45 pay out without it",
	"vtu_product_pair.first_name":     "programs of schema 45 pair products without it",
	"vtu_product_pair.first_kobo":     "programs of schema 45 pair products without it",
	"vtu_product_pair.second_name":    "programs of schema 45 pair products without it",
	"vtu_product_pair.second_kobo":    "programs of schema 45 pair products without it",
	"collection.metadata":             "programs of schema 45 open virtual accounts without it",
	"operation.attempt":               "programs of schema 45 begin operations without it",
	"operation.meter_codes":           "programs of schema 45 begin operations without it",
	"company.requests_per_second":     "programs of schema 32 create companies without it",
	"operator_key.role":               "programs of schema 54 issue keys without it",
	"operator_key.expires_at":         "programs of schema 54 issue keys without it",
	"operator_key.used_at":            "programs of schema 54 issue keys without it",
	"operator_proposal.act_count":     "programs of schema 79 propose without it",
	"operator_act.acts":               "programs of schema 89 approve without it",
	"operator_door.automatic":         "programs of schema 54 close API access without it",
	"card_activity.currency":          "programs of schema 61 record a card's use without it",
	"card_activity.merchant":          "programs of schema 61 record a card's use without it",
	"deployment.environment":          "programs of schema 68 name databases without it",
	"deployment.moves_held":           "programs of schema 45 restore databases without it",
	"evidence_tree.lost":              "programs of schema 63 write sizes without it",
	"evidence_erased.mac":             "programs of schema 63 write hashes without it",
	"inbox_sweep.finished_at":         "programs of schema 32 begin credit polls without it",
	"inbox_sweep.listed":              "programs of schema 63 begin credit polls without it",
	"inbox_sweep.listing":             "programs of schema 98 begin credit polls without it",
	"inbox_sweep.unlisted":            "programs of schema 98 begin credit polls without it",
	"inbox_account.newest_at":         "programs of schema 98 add accounts without it",
	"inbox_account.from_at":           "programs of schema 98 add accounts without it",
	"inbox_account.failures":          "programs of schema 98 add accounts without it",
	"inbox_account.listing":           "programs of schema 98 add accounts without it",
	"inbox_account.retired_at":        "programs of schema 98 add accounts without it",
	"inbox_sweep.since_at":            "programs of schema 63 begin credit polls without it",
}

type (
	table struct {
		columns []column
		indexes []index
		foreign [][]string // the columns of each foreign key
	}
	column  struct{ name, kind, preset string }
	index   struct{ name, kind, columns string } // kind is primary, unique or plain
	catalog struct {
		tables   map[string]table
		machines []string // the names of triggers and sequences
	}
)

// catalogueOf has the SQL queries that read the schema of each engine. Their results are:
//   - columns: table, name, type, whether NULL is allowed, default
//   - indexes: table, name, kind, the index's columns in order
//   - foreign: table, the foreign key's columns in order
//   - machines: the name of each trigger, sequence or counter
var catalogueOf = map[db.Dialect]struct{ columns, indexes, foreign, machines string }{
	db.Postgres: {
		`SELECT table_name::text, column_name::text, data_type::text, is_nullable::text, coalesce(column_default, '')::text
		 FROM information_schema.columns WHERE table_schema = 'public' ORDER BY table_name, ordinal_position`,
		`SELECT t.relname::text, i.relname::text,
		        CASE WHEN x.indisprimary THEN 'primary' WHEN x.indisunique THEN 'unique' ELSE 'plain' END,
		        string_agg(coalesce(a.attname, '(expression)'), ' ' ORDER BY k.n)::text
		 FROM pg_index x JOIN pg_class t ON t.oid = x.indrelid JOIN pg_class i ON i.oid = x.indexrelid
		 CROSS JOIN unnest(x.indkey) WITH ORDINALITY k(attnum, n)
		 LEFT JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = k.attnum AND k.attnum > 0
		 WHERE t.relnamespace = 'public'::regnamespace
		 GROUP BY t.relname, i.relname, x.indisprimary, x.indisunique ORDER BY 1, 2`,
		`SELECT c.conrelid::regclass::text, string_agg(a.attname, ' ' ORDER BY k.n)::text
		 FROM pg_constraint c CROSS JOIN unnest(c.conkey) WITH ORDINALITY k(attnum, n)
		 JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = k.attnum
		 WHERE c.contype = 'f' GROUP BY c.oid, c.conrelid ORDER BY 1, 2`,
		`SELECT 'the trigger ' || tgname::text FROM pg_trigger WHERE NOT tgisinternal
		 UNION ALL SELECT 'the sequence ' || relname::text FROM pg_class WHERE relkind = 'S' AND relname NOT LIKE 'goose_%'`,
	},
	db.SQLite: {
		`SELECT m.name, c.name, lower(c.type), CASE c."notnull" WHEN 1 THEN 'NO' ELSE 'YES' END, coalesce(c.dflt_value, '')
		 FROM sqlite_schema m JOIN pragma_table_info(m.name) c WHERE m.type = 'table' ORDER BY m.name, c.cid`,
		`SELECT m.name, l.name, CASE WHEN l.origin = 'pk' THEN 'primary' WHEN l."unique" THEN 'unique' ELSE 'plain' END,
		        (SELECT group_concat(coalesce(i.name, '(expression)'), ' ') FROM (SELECT * FROM pragma_index_info(l.name) ORDER BY seqno) i)
		 FROM sqlite_schema m JOIN pragma_index_list(m.name) l WHERE m.type = 'table' ORDER BY m.name, l.name`,
		`SELECT m.name, (SELECT group_concat(f."from", ' ') FROM (SELECT * FROM pragma_foreign_key_list(m.name) WHERE id = k.id ORDER BY seq) f)
		 FROM sqlite_schema m JOIN pragma_foreign_key_list(m.name) k WHERE m.type = 'table' AND k.seq = 0 ORDER BY 1, 2`,
		`SELECT 'the trigger ' || name FROM sqlite_schema WHERE type = 'trigger'
		 UNION ALL SELECT 'the counter of ' || name FROM sqlite_schema
		 WHERE type = 'table' AND sql LIKE '%AUTOINCREMENT%' AND name NOT LIKE 'goose_%'`,
	},
}

// isForeign reports whether a table belongs to goose or to SQLite, and not to our schema.
func isForeign(table string) bool {
	return strings.HasPrefix(table, "goose_") || strings.HasPrefix(table, "sqlite_")
}

func readCatalog(t *testing.T, d *db.DB) catalog {
	t.Helper()
	c := catalog{tables: map[string]table{}}
	q := catalogueOf[d.Dialect()]
	for _, r := range texts(t, d, q.columns, 5) {
		kind := r[2]
		if r[3] != "NO" {
			kind += " that may be NULL"
		}
		at := c.tables[r[0]]
		at.columns = append(at.columns, column{r[1], kind, strings.TrimSuffix(r[4], "::text")})
		c.tables[r[0]] = at
	}
	for _, r := range texts(t, d, q.indexes, 4) {
		at := c.tables[r[0]]
		at.indexes = append(at.indexes, index{r[1], r[2], r[3]})
		c.tables[r[0]] = at
	}
	for _, r := range texts(t, d, q.foreign, 2) {
		at := c.tables[r[0]]
		at.foreign = append(at.foreign, strings.Fields(r[1]))
		c.tables[r[0]] = at
	}
	for _, r := range texts(t, d, q.machines, 1) {
		c.machines = append(c.machines, r[0])
	}
	for name := range c.tables {
		if isForeign(name) {
			delete(c.tables, name)
		}
	}
	return c
}

// texts runs a SQL query and returns its rows, each with n texts.
func texts(t *testing.T, d *db.DB, query string, n int) [][]string {
	t.Helper()
	rows, err := db.All(t.Context(), d, func(s db.Scanner) ([]string, error) {
		row, into := make([]string, n), make([]any, n)
		for i := range row {
			into[i] = &row[i]
		}
		return row, s.Scan(into...)
	}, query)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

var (
	isAmount  = regexp.MustCompile(`(^|_)(amount|balance|price|fee|floor|cost|total)$`)
	isInstant = regexp.MustCompile(`_(time|date|on|since|till)$`)
)

// complaints returns a complaint for each place where the schema breaks the project's rules. The
// rules make sure that the schema also works with a PostgreSQL that is spread over many machines.
func (c catalog) complaints() (out []string) {
	for _, m := range c.machines {
		out = append(out, m+": the schema has no triggers, sequences or counters; small integers come from one allocator")
	}
	for name, t := range c.tables {
		for _, col := range t.columns {
			out = append(out, columnComplaints(name, col)...)
		}
		if tenantless[name] == "" {
			out = append(out, tenantComplaints(name, t)...)
		} else if slices.ContainsFunc(t.foreign, func(f []string) bool { return f[0] == "company_id" }) {
			out = append(out, name+": a table of no company has no foreign key into a company's rows")
		}
		if !slices.ContainsFunc(t.indexes, func(i index) bool { return i.kind == "primary" }) {
			out = append(out, name+": no primary key")
		}
	}
	slices.Sort(out)
	return out
}

func columnComplaints(name string, c column) (out []string) {
	complain := func(format string, args ...any) {
		out = append(out, fmt.Sprintf("%s.%s: ", name, c.name)+fmt.Sprintf(format, args...))
	}
	isNumber := strings.HasSuffix(c.name, "_kobo") || strings.HasSuffix(c.name, "_at") || strings.HasSuffix(c.name, "_until")
	switch {
	case c.kind != "text" && c.kind != "bigint":
		complain("a column is TEXT NOT NULL or BIGINT NOT NULL, not %s", c.kind)
	case isNumber && c.kind != "bigint":
		complain("amounts and instants are BIGINT, not %s", c.kind)
	case isAmount.MatchString(c.name) && c.kind == "bigint" && notAmounts[name+"."+c.name] == "":
		complain("an amount is named after its unit: …_kobo")
	case isInstant.MatchString(c.name) && c.kind == "bigint":
		complain("an instant is named …_at or …_until")
	}
	if c.preset != "" && presets[name+"."+c.name] == "" {
		complain("no defaults: the program says every value")
	}
	return out
}

func tenantComplaints(name string, t table) (out []string) {
	begins := func(columns string) bool { return strings.HasPrefix(columns+" ", "company_id ") }
	for _, i := range t.indexes {
		if !begins(i.columns) && (i.kind != "plain" || scans[i.name] == "") {
			out = append(out, fmt.Sprintf("%s: the %s index %s (%s) does not begin with company_id", name, i.kind, i.name, i.columns))
		}
	}
	for _, f := range t.foreign {
		if !begins(strings.Join(f, " ")) {
			out = append(out, fmt.Sprintf("%s: the foreign key (%s) does not begin with company_id", name, strings.Join(f, " ")))
		}
	}
	return out
}

func TestTheSchemaKeepsTheRules(t *testing.T) {
	seen := map[db.Dialect]catalog{}
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		c := readCatalog(t, d)
		if len(c.tables) == 0 {
			t.Fatal("no tables found: the search is broken")
		}
		for _, complaint := range c.complaints() {
			t.Error(complaint)
		}
		for name := range tenantless {
			if _, exists := c.tables[name]; !exists {
				t.Errorf("%s is on the list of tables without a company, and is not in the schema", name)
			}
		}
		seen[d.Dialect()] = c
	})
	if len(seen) == 2 {
		sameSchema(t, seen[db.SQLite], seen[db.Postgres])
	}
}

// sameSchema checks that SQLite and PostgreSQL have the same schema, except for the names of the
// indexes.
func sameSchema(t *testing.T, lite, pg catalog) {
	t.Helper()
	shape := func(c catalog) (out []string) {
		for name, t := range c.tables {
			for _, col := range t.columns {
				out = append(out, fmt.Sprint(name, " column ", col))
			}
			for _, i := range t.indexes {
				out = append(out, fmt.Sprint(name, " index ", i.kind, " ", i.columns))
			}
			for _, f := range t.foreign {
				out = append(out, fmt.Sprint(name, " foreign key ", f))
			}
		}
		return out
	}
	a, b := shape(lite), shape(pg)
	for _, line := range a {
		if !slices.Contains(b, line) {
			t.Errorf("only SQLite has %s", line)
		}
	}
	for _, line := range b {
		if !slices.Contains(a, line) {
			t.Errorf("only PostgreSQL has %s", line)
		}
	}
}

// In both engines, each rule for the schema finds the faults that it is meant to find.
func TestSchemaRulesBite(t *testing.T) {
	broken := []string{
		"CREATE TABLE a%d (id TEXT NOT NULL PRIMARY KEY)",
		"CREATE TABLE a%d (company_id TEXT NOT NULL)",
		"CREATE TABLE a%d (company_id TEXT NOT NULL PRIMARY KEY, note TEXT)",
		"CREATE TABLE a%d (company_id TEXT NOT NULL PRIMARY KEY, ratio REAL NOT NULL)",
		"CREATE TABLE a%d (company_id TEXT NOT NULL PRIMARY KEY, price BIGINT NOT NULL)",
		"CREATE TABLE a%d (company_id TEXT NOT NULL PRIMARY KEY, price_kobo TEXT NOT NULL)",
		"CREATE TABLE a%d (company_id TEXT NOT NULL PRIMARY KEY, paid_at TEXT NOT NULL)",
		"CREATE TABLE a%d (company_id TEXT NOT NULL PRIMARY KEY, paid_at BIGINT NOT NULL DEFAULT 0)",
		"CREATE TABLE a%d (company_id TEXT NOT NULL, id TEXT NOT NULL UNIQUE, PRIMARY KEY (company_id, id))",
		"CREATE INDEX a%d ON job (kind)",
		"CREATE TABLE a%d (company_id TEXT NOT NULL PRIMARY KEY, other TEXT NOT NULL REFERENCES ledger_head (company_id))",
	}
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		before := len(readCatalog(t, d).complaints())
		for i, statement := range broken {
			statement = fmt.Sprintf(statement, i)
			if _, err := d.Exec(t.Context(), statement); err != nil {
				t.Fatal(err)
			}
			after := len(readCatalog(t, d).complaints())
			if after <= before {
				t.Errorf("%s: nothing is wrong with it", statement)
			}
			before = after
		}
	})
	if got := (catalog{machines: []string{"the trigger a"}}).complaints(); len(got) != 1 {
		t.Errorf("a trigger: %q", got)
	}
}
