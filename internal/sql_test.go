package internal_test

import (
	"errors"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
)

// overCompanies are the SQL statements that read the rows of all companies on purpose, with
// the reason. Each key names the package and the declaration that contain the SQL statement.
var overCompanies = map[string]string{
	"operation.CasesAfter":        "operators list cases of all companies",
	"operator.doneCounts":         "the state of proposals about several companies follows from their acts",
	"settlement.AdjustmentsAfter": "operators list the adjustments of all companies",
	"operator.auditSearches":      "operators read the lines of all companies",
	"job.planned":                 "the search for jobs that a clock ahead has planned goes through all companies",
	"job.queues":                  "the worker's scan: it reads which queues have work that is due, and takes nothing", "job.queuesInParts": "as job.queues, where tables are divided",

	"operation.AttemptOwner": "a biller that tells of a purchase names only its reference",
	"vtu.owner":              "as operation.AttemptOwner",

	"job.turns":              "the worker's scan: it reads which companies have work that is due",
	"job.due":                "the worker's scan: it reads who has work that is due, and takes nothing",
	"job.failing":            "an operator knows a failing job by its id alone",
	"operation.FindCase":     "an operator's case is found by its id alone",
	"operation.Cases":        "operators work across companies",
	"operation.OpenBreaks":   "operators work across companies",
	"operation.pendingAfter": "the walk that restores lost jobs goes through all companies",
	"ledger.Clearing":        "the search for lost jobs begins with the companies that have money on its way",
	"operation.OpenOf":       "a credit of the statement that is nobody's may be any company's",
	"company.count":          "operators work across companies",
	"company.page":           "operators work across companies",
	"company.changed":        "what a program keeps in memory is of all companies",

	"erasure.opened": "kobo erase completes the erasures of all companies",

	"customer.CompanyOf": "an operator erases a customer who is known by the id alone",

	"operator.findDone":      "an operator knows a proposal by its id alone",
	"operator.findProposal":  "an operator knows a proposal by its id alone, and its state follows from its acts",
	"operator.pageProposals": "operators work across companies, and a proposal's state follows from its acts",

	"settlement.findAdjustment": "the approving operator knows the adjustment by its id alone",
	"settlement.Adjustments":    "operators work across companies",

	"crypto.fromBlock": "blocks that may be gone from the chain held what was of many companies",
	"crypto.inBlocks":  "a block that is gone from the chain held what was of many companies",

	"settlement.holders": "a credit names only the account: the directory says whose it is",
	"settlement.Numbers": "the credit poll compares our accounts at a bank, of all companies, with the bank's list",

	"report.customersByID": "an operator searches over all companies", "report.companiesByName": "an operator searches over all companies",
	"report.byPhone": "an operator searches over all companies", "report.purchasesForPhone": "an operator searches over all companies",
	"report.byMeter": "an operator searches over all companies", "report.collectionsByAccount": "an operator searches over all companies",
	"report.payoutsTo": "an operator searches over all companies", "report.byOwnReference": "an operator searches over all companies",
	"report.byProviderReference": "an operator searches over all companies", "report.customersByName": "an operator searches over all companies",
	"report.ofAmount":    "an operator searches over all companies",
	"report.creditsFrom": "an operator searches over all companies", "report.byRequest": "an operator searches over all companies",
	"report.requestPlaces": "an operator looks for a reference over all companies",
	"report.casesAbout":    "an operator looks for a bank's reference over all companies",
	"report.mostReveals":   "Prometheus is told of the operator who reveals the most",

	"report.payoutPlaces":      "an operator looks for a payout by its reference alone",
	"report.paymentSources":    "operators work across companies",
	"report.pendingOperations": "operators work across companies",
	"payout.owner":             "a bank that tells of a payout names only its reference",

	"webhook.idleQueues":       "the sender's scan: it reads which endpoints have something to be sent, and takes nothing",
	"webhook.recoverRetries":   "the sender looks once a minute for retries that were forgotten",
	"webhook.endpointsWaiting": "the sender looks once a minute for what waits too long",
	"webhook.removeQueues":     "an hourly job removes what deleted webhooks have left, of all companies",
	"webhook.All":              "operators work across companies",

	"report.openCases":      "Prometheus is told of all cases together",
	"report.allQueues":      "Prometheus is told of all jobs together",
	"report.dueJobs":        "Prometheus is told of all jobs together",
	"report.waitingJobs":    "Prometheus is told of all notifications together",
	"report.moneyInFlight":  "Prometheus is told of all companies' money together",
	"report.closedAccounts": "Prometheus is told of all closed accounts together",
	"report.walkFindingsOf": "Prometheus is told of all findings together",

	"webhook.positions":       "Prometheus is told of all endpoints together",
	"webhook.waitingRetries":  "Prometheus is told of all retries together",
	"event.NextCompany":       "kobo archive goes from company to company",
	"idempotency.nextCompany": "old responses are removed company by company",

	"webhook.endpointsAfter": "old deliveries are removed endpoint by endpoint, of all companies",

	"report.read":    "all companies share one account at the bank: its statement is held against all of them",
	"report.Overdue": "operators work across companies",

	"keyring.dependents":  "kobo key status counts what depends on a master key, of all companies",
	"keyring.countTokens": "kobo key status counts what depends on a master key, of all companies",
	"keyring.companiesOf": "the companies that depend on an older master key are told",
	"keyring.counts":      "kobo rekey shows its progress over all companies",

	"report.jobQueues":          "operators see the work of all companies",
	"report.failingJobs":        "operators see the work of all companies",
	"report.failingSum":         "the overview covers all companies",
	"report.casesByReason":      "the overview covers all companies",
	"report.companyCount":       "the overview covers all companies",
	"report.pendingAdjustments": "the overview covers all companies",

	"report.uncounted": "one job counts the events of all companies",

	"report.dueWalks": "one walk at a time goes through all ledgers",

	"report.Heads":     "the integrity of the whole book is a round of all companies",
	"report.Companies": "a company whose head row is gone is found by its other rows",
}

// tenantless are the tables that belong to no company, with the reason for each table.
var tenantless = map[string]string{
	"vtu_service":  "the catalogue is the same for all companies",
	"vtu_category": "the catalogue is the same for all companies",
	"vtu_product":  "the catalogue is the same for all companies",
	"vtu_sync":     "the catalogue is the same for all companies",
	"vtu_lookup":   "the billers are the same for all companies",

	"vtu_product_pair": "the catalogue is the same for all companies",

	"payout_bank": "the banks are the same for all companies",
	"payout_sync": "the banks are the same for all companies",

	"crypto_owner":     "whose an extended public key is: one key is one company's",
	"crypto_number":    "the last chain below each of the house's keys, and the ids of older programs",
	"crypto_directory": "whose an address is, for a movement that names only the address",
	"crypto_cursor":    "how far a chain was read is the same for all companies",

	"card_directory": "whose a card is, for a notice that names only the issuer's card",

	"db_schema": "the schema is the same for all companies",

	"keyring":          "the master keys are the same for all companies",
	"keyring_program":  "the master keys are the same for all companies",
	"keyring_line":     "the master keys are the same for all companies",
	"keyring_progress": "kobo rekey goes through all companies",

	"operator_key":         "operators belong to no company",
	"operator_proposal":    "an operator knows a proposal by its id alone, and it may concern no company",
	"person":               "operators too are people, of no company; a sign-in finds its rows before a company is known",
	"person_credential":    "as person",
	"person_link":          "as person",
	"person_session":       "as person",
	"person_setting":       "as person",
	"operator_keyring":     "the master keys are the same for all companies",
	"operator_door":        "the door is the same for all companies",
	"settlement_number":    "the allocator of account numbers of older programs",
	"deployment":           "how far the whole database has come",
	"settlement_directory": "whose a bank account is, for a credit that names only the account",
	"settlement_session":   "whose a bank's credit is, decided once for all companies",
}

// written are the tables whose rows are never changed and never removed, because the rows
// record what happened.
var written = []string{"ledger_transfer", "ledger_entry", "event", "operator_audit"}

// archived are the SQL statements that remove rows of the tables in written, with the reason.
var archived = map[string]string{
	"event.Remove": "kobo archive has moved these events into files, and has read the files again",
}

// sqlHomes are the packages that may have SQL in any file, not only in store.go.
var sqlHomes = []string{
	"internal/ledger", "internal/job", "internal/event", "internal/report", "internal/db", "internal/db/dbtest", "internal/db/cluster", "internal/db/bulk", "internal/provider/sandbox/books",
}

// foreignTables are the packages whose SQL may name tables of other packages.
var foreignTables = map[string]string{
	"internal/report":  "it reads across the businesses",
	"internal/keyring": "it counts and replaces what a master key made, in every table",
	"internal/db/bulk": "it copies a purchase in all tables, for benchmarks",
}

// ownSchema are the packages whose SQL is not about the project's schema, or is built only
// while the program runs. Tests in those packages run the SQL.
var ownSchema = map[string]string{
	"internal/db/cluster": "it asks servers about themselves",
	"internal/db":         "it makes statements from the descriptions of tables",
	"internal/db/dbtest":  "it makes databases",
	"internal/bench":      "it makes databases, and reads the statistics of a server",
	"internal/db/bulk":    "it copies rows of any schema, for benchmarks",
	"internal/torture":    "it makes databases, and ends the connections to them",
}

// hasOwnSchema reports whether a package is exempt from the rules for the project's SQL. The
// simulated providers are exempt, because their tables are in a separate file, under names that
// begin with sandbox_.
func hasOwnSchema(dir string) bool {
	return ownSchema[dir] != "" || strings.HasPrefix(dir, "internal/provider/sandbox/")
}

// statement is one place in the code that uses a constant text with SQL.
type statement struct {
	source
	pos    token.Pos
	owner  string // the package and the declaration that contain the SQL, such as job.due
	text   string
	built  bool     // the program adds a text that is not constant to the SQL
	tables []string // the tables of the schema that the SQL names
}

func (s statement) complain(format string, args ...any) string {
	return s.at(s.pos, "%s: "+format, append([]any{s.owner}, args...)...)
}

var (
	looksLikeSQL = regexp.MustCompile(`(?is)^\s*(SELECT\s.+\sFROM\s|INSERT\s+INTO\s|UPDATE\s+\w+\s+(AS\s+\w+\s+)?SET\s|DELETE\s+FROM\s|WITH\s+\w+.*\sAS\s*\()`)
	namesTable   = regexp.MustCompile(`(?i)\b(?:FROM|INTO|UPDATE|JOIN)\s+([a-z_][a-z0-9_]*)`)
	isInsert     = regexp.MustCompile(`(?i)^\s*INSERT\b`)
	afterwards   = regexp.MustCompile(`(?is)\b(ORDER BY|GROUP BY|RETURNING)\b.*$`)
	condition    = regexp.MustCompile(`(?i)\b(WHERE|ON|USING)\b`)
	changesTable = regexp.MustCompile(`(?i)\b(?:UPDATE|DELETE\s+FROM)\s+([a-z_]+)\b`)
	createsTable = regexp.MustCompile(`(?m)^CREATE TABLE (\w+)`)
	companyID    = regexp.MustCompile(`\bcompany_id\b`)
)

// statements returns the SQL of the program. The package go/types computes constants, so SQL that
// is joined from several constants is checked as a whole.
func statements(sources []source, schema []string) (found []statement) {
	f := folder{sources: sources, packages: map[string]*types.Package{}, values: map[ast.Expr]types.TypeAndValue{}}
	for _, s := range sources {
		if s.test {
			continue
		}
		_, _ = f.Import(module + s.dir) // an import that cannot be resolved does not stop the computation of constants
		for _, d := range s.file.Decls {
			owner := path.Base(s.dir) + "." + declared(d)
			f.texts(d, func(e ast.Expr, text string, built bool) {
				if looksLikeSQL.MatchString(text) {
					found = append(found, statement{s, e.Pos(), owner, text, built, tablesOf(text, schema)})
				}
			})
		}
	}
	return found
}

// declared returns the name of a declared function, or the first name in a group of variables or
// constants.
func declared(d ast.Decl) string {
	switch d := d.(type) {
	case *ast.FuncDecl:
		return d.Name.Name
	case *ast.GenDecl:
		if v, ok := d.Specs[0].(*ast.ValueSpec); ok {
			return v.Names[0].Name
		}
	}
	return ""
}

func tablesOf(text string, schema []string) (tables []string) {
	for _, m := range namesTable.FindAllStringSubmatch(text, -1) {
		if slices.Contains(schema, m[1]) && !slices.Contains(tables, m[1]) {
			tables = append(tables, m[1])
		}
	}
	return tables
}

// schemaOf returns the names of the tables that the migrations create.
func schemaOf(texts map[string]string) (tables []string) {
	for name, text := range texts {
		if path.Ext(name) == ".sql" {
			for _, m := range createsTable.FindAllStringSubmatch(text, -1) {
				tables = append(tables, m[1])
			}
		}
	}
	return tables
}

// folder computes the values of constants. It type-checks the project's packages from their
// sources. It does not read other packages, because the project's SQL uses none of their constants.
type folder struct {
	sources  []source
	packages map[string]*types.Package
	values   map[ast.Expr]types.TypeAndValue
}

func (f *folder) Import(name string) (*types.Package, error) {
	if p, known := f.packages[name]; known {
		return p, nil
	}
	var files []*ast.File
	var fset *token.FileSet
	for _, s := range f.sources {
		if module+s.dir == name && !s.test {
			files, fset = append(files, s.file), s.fset
		}
	}
	if len(files) == 0 {
		return nil, errors.New("not ours")
	}
	f.packages[name] = types.NewPackage(name, path.Base(name)) // ends the recursion if imports form a cycle
	c := types.Config{Importer: f, Error: func(error) {}}
	p, err := c.Check(name, fset, files, &types.Info{Types: f.values})
	f.packages[name] = p
	return p, err
}

// texts calls yield for each constant text in the syntax tree below n. It yields a constant
// expression only as a whole. The declaration of a constant is not a use, so it is left out.
func (f *folder) texts(n ast.Node, yield func(e ast.Expr, text string, built bool)) {
	built := map[ast.Expr]bool{}
	ast.Inspect(n, func(n ast.Node) bool {
		if d, ok := n.(*ast.GenDecl); ok && (d.Tok == token.CONST || d.Tok == token.IMPORT) {
			return false
		}
		e, ok := n.(ast.Expr)
		if !ok {
			return true
		}
		if v := f.values[e].Value; v != nil && v.Kind() == constant.String {
			yield(e, constant.StringVal(v), built[e])
			return false
		}
		if sum, ok := e.(*ast.BinaryExpr); ok && sum.Op == token.ADD {
			built[sum.X], built[sum.Y] = true, true
		}
		return true
	})
}

func sqlLivesInStores(found []statement) (complaints []string) {
	for _, s := range found {
		if path.Base(s.path) != "store.go" && !slices.Contains(sqlHomes, s.dir) {
			complaints = append(complaints, s.complain("SQL lives in store.go"))
		}
	}
	return complaints
}

func sqlIsConstant(found []statement) (complaints []string) {
	for _, s := range found {
		if !hasOwnSchema(s.dir) && (s.built || strings.Contains(s.text, "%s")) {
			complaints = append(complaints, s.complain("a statement is one constant text, so that it can be checked; for an optional condition say (created_at >= $2 OR $2 = 0), the column first, which gives PostgreSQL the parameter's type"))
		}
	}
	return complaints
}

func tablesAreOfThePackage(found []statement) (complaints []string) {
	for _, s := range found {
		own := path.Base(s.dir)
		for _, table := range s.tables {
			if table != own && !strings.HasPrefix(table, own+"_") && foreignTables[s.dir] == "" {
				complaints = append(complaints, s.complain("the table %s belongs to another package: ask that one", table))
			}
		}
	}
	return complaints
}

// tenantsAreNamed complains about SQL that reads or writes a company's rows without naming
// company_id. An INSERT must name company_id among its columns, and other SQL must name it in its
// condition.
func tenantsAreNamed(found []statement) (complaints []string) {
	for _, s := range found {
		tenant := slices.ContainsFunc(s.tables, func(table string) bool { return tenantless[table] == "" })
		where := s.text
		if !isInsert.MatchString(s.text) {
			at := condition.FindStringIndex(s.text)
			if at == nil {
				at = []int{len(s.text), 0}
			}
			where = afterwards.ReplaceAllString(s.text[at[0]:], "")
		}
		if tenant && !companyID.MatchString(where) && overCompanies[s.owner] == "" {
			complaints = append(complaints, s.complain("a statement on a company's rows says which company: company_id = $1"))
		}
	}
	return complaints
}

func historyStays(found []statement) (complaints []string) {
	for _, s := range found {
		if m := changesTable.FindStringSubmatch(s.text); m != nil && slices.Contains(written, strings.ToLower(m[1])) && archived[s.owner] == "" {
			complaints = append(complaints, s.complain("rows of %s are written once: append another one", m[1]))
		}
	}
	return complaints
}

func TestStatementsKeepTheRules(t *testing.T) {
	schema := schemaOf(files(t))
	found := statements(house(t), schema)
	for _, rule := range []func([]statement) []string{sqlLivesInStores, sqlIsConstant, tablesAreOfThePackage, tenantsAreNamed, historyStays} {
		for _, complaint := range rule(found) {
			t.Error(complaint)
		}
	}
	for owner := range overCompanies {
		if !slices.ContainsFunc(found, func(s statement) bool { return s.owner == owner }) {
			t.Errorf("%s is on the list of statements over all companies, and has none", owner)
		}
	}
}

func TestStatementRulesBite(t *testing.T) {
	schema := []string{"vtu_purchase", "event"}
	for _, c := range []struct {
		name string
		rule func([]statement) []string
		path string
		text string
	}{
		{"SQL beside the store", sqlLivesInStores, "internal/vtu/purchase.go", "f(`SELECT id FROM vtu_purchase WHERE company_id = $1`) // BREAKS"},
		{"SQL in the store", sqlLivesInStores, "internal/vtu/store.go", "f(`SELECT id FROM vtu_purchase WHERE company_id = $1`)"},
		{"prose", sqlLivesInStores, "internal/vtu/a.go", "f(`Select a service`); f(`Update the PIN from the console`)"},
		{"built", sqlIsConstant, "internal/vtu/store.go", "f(`SELECT id FROM vtu_purchase ` + where()) // BREAKS"},
		{"formatted", sqlIsConstant, "internal/vtu/store.go", "f(`SELECT %s FROM vtu_purchase`) // BREAKS"},
		{"folded", sqlIsConstant, "internal/vtu/store.go", "const c = `SELECT id `; const d = c + `FROM vtu_purchase `; f(d + `WHERE id = $1`)"},
		{"a table of another", tablesAreOfThePackage, "internal/vtu/store.go", "f(`SELECT p.id FROM vtu_purchase p JOIN event e`) // BREAKS"},
		{"own tables", tablesAreOfThePackage, "internal/vtu/store.go", "f(`SELECT id FROM vtu_purchase`)"},
		{"no company", tenantsAreNamed, "internal/vtu/store.go", "f(`SELECT company_id FROM vtu_purchase WHERE id = $1`) // BREAKS"},
		{"sorted by it", tenantsAreNamed, "internal/vtu/store.go", "f(`SELECT id FROM vtu_purchase WHERE id = $1 ORDER BY company_id`) // BREAKS"},
		{"no condition", tenantsAreNamed, "internal/vtu/store.go", "f(`SELECT company_id FROM vtu_purchase`) // BREAKS"},
		{"no company in a folded text", tenantsAreNamed, "internal/vtu/store.go", "const c = `DELETE FROM vtu_purchase `; f(c + `WHERE id = $1`) // BREAKS"},
		{"a company", tenantsAreNamed, "internal/vtu/store.go", "f(`UPDATE vtu_purchase SET id = $2 WHERE company_id = $1`)"},
		{"a changed event", historyStays, "internal/event/store.go", "f(`UPDATE event SET id = $2 WHERE company_id = $1`) // BREAKS"},
		{"a removed event", historyStays, "internal/event/store.go", "f(`DELETE FROM event WHERE company_id = $1`) // BREAKS"},
		{"a changed purchase", historyStays, "internal/vtu/store.go", "f(`UPDATE vtu_purchase SET id = $2 WHERE company_id = $1`)"},
		{"an insert", tenantsAreNamed, "internal/vtu/store.go", "f(`INSERT INTO vtu_purchase (company_id) VALUES ($1)`)"},
		{"an exception", tenantsAreNamed, "internal/job/store.go", "}\nfunc due() { f(`SELECT id FROM event WHERE run_at < $1`)"},
	} {
		texts := map[string]string{c.path: "package a\nfunc f(string) {}\nfunc where() string { return `` }\nfunc g() {\n" + c.text + "\n}"}
		got := c.rule(statements(parse(t, texts), schema))
		if want := strings.Contains(c.text, "BREAKS"); want != (len(got) > 0) {
			t.Errorf("%s: %q", c.name, got)
		}
	}
}

// Both engines accept every SQL statement of the project with the current schema. So a
// misspelt column fails in this test, and not when the SQL first runs in production.
func TestEveryStatementPreparesOnBothDatabases(t *testing.T) {
	found := statements(house(t), schemaOf(files(t)))
	if len(found) == 0 {
		t.Fatal("no statement found: the search is broken")
	}
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		for _, s := range found {
			if hasOwnSchema(s.dir) || s.built {
				continue
			}
			if err := d.Prepare(t.Context(), s.text); err != nil {
				t.Error(s.complain("%v", err))
			}
		}
		if err := d.Prepare(t.Context(), "SELECT nothing FROM nowhere"); err == nil {
			t.Error("Prepare accepts everything")
		}
	})
}
