package dbtest

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
)

// byCompany matches a condition that says by value which company's rows are meant. The value is a
// parameter, a constant, or the company of a row that the plan has read before.
var byCompany = regexp.MustCompile(`\b(?:(\w+)\.)?company_id = (?:\$\d+|'[^']*'::text|(\w+)\.company_id)\)`)

// Unrouted returns a function that asks PostgreSQL for the plan of an SQL statement on an empty
// database. The function returns the names of the tables that the plan reads without a company by
// value. A database that divides its tables by company must ask all its nodes for such a table.
//
// PostgreSQL follows company_id = company_id through joins, as such a database does. So the plan
// shows what the text of a join does not. A table of no company is on each node, so its company_id
// says nothing about the node.
func Unrouted(t testing.TB, url string, isTenant func(table string) bool) func(statement string) []string {
	t.Helper()
	plan := planner(t, url)
	return func(statement string) []string {
		n := plan(statement)
		r := routing{isTenant: isTenant, everywhere: map[string]bool{}}
		n.each(func(n node) { r.everywhere[n.Alias] = r.everywhere[n.Alias] || n.Table != "" && !isTenant(n.Table) })
		return r.unrouted(n)
	}
}

func (n node) each(use func(node)) {
	use(n)
	for _, p := range n.Plans {
		p.each(use)
	}
}

// routing is what decides whether a plan reads the rows of one company.
type routing struct {
	isTenant   func(table string) bool
	everywhere map[string]bool // the aliases of the tables of no company
}

// unrouted returns the tenant tables that a plan reads without a company by value. Joins are the
// conditions of the joins above the node, which may compare the company of the node's table.
func (r routing) unrouted(n node, joins ...string) (found []string) {
	if strings.HasSuffix(n.Type, "Scan") && n.Table != "" && r.isTenant(n.Table) && !r.isRouted(n, joins) {
		found = append(found, n.Table)
	}
	if n.Join != "" {
		joins = append(slices.Clip(joins), n.Join)
	}
	for _, p := range n.Plans {
		found = append(found, r.unrouted(p, joins...)...)
	}
	return found
}

func (r routing) isRouted(n node, joins []string) bool {
	routes := func(cond string, own bool) bool {
		return slices.ContainsFunc(conjuncts(cond), func(one string) bool {
			return !strings.Contains(one, " OR ") && slices.ContainsFunc(byCompany.FindAllStringSubmatch("("+one+")", -1), func(m []string) bool {
				return !r.everywhere[m[1]] && !r.everywhere[m[2]] && (own || m[1] == n.Alias || m[2] == n.Alias)
			})
		})
	}
	return slices.ContainsFunc([]string{n.Cond, n.Recheck, n.Filter}, func(cond string) bool { return routes(cond, true) }) ||
		slices.ContainsFunc(joins, func(cond string) bool { return routes(cond, false) })
}

// conjuncts returns the parts of a condition that must all be true. PostgreSQL prints each in parentheses.
func conjuncts(cond string) (parts []string) {
	depth, from := 0, 0
	for i := range len(cond) {
		switch {
		case cond[i] == '(':
			depth++
		case cond[i] == ')':
			depth--
		case depth == 1 && strings.HasPrefix(cond[i:], " AND "):
			parts = append(parts, strings.TrimPrefix(cond[from:i], "("))
			from = i + len(" AND ")
		}
	}
	if len(parts) == 0 {
		return []string{cond}
	}
	return append(parts, strings.TrimSuffix(cond[from:], ")"))
}

// Refused returns a function that asks a Citus for the plan of an SQL statement. The function returns the error
// of a statement that Citus cannot divide among its nodes.
func Refused(t testing.TB, url string) func(statement string) error {
	t.Helper()
	c, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatalf("dbtest: %v", err)
	}
	t.Cleanup(func() { _ = c.Close(context.Background()) }) // ignored, because the connection ends anyway
	return func(statement string) error {
		said, err := c.Prepare(t.Context(), "", statement)
		if err != nil {
			return err
		}
		values := make([]string, len(said.ParamOIDs))
		for i, oid := range said.ParamOIDs {
			values[i] = map[uint32]string{pgtype.TextOID: "'x'", pgtype.Int8OID: "1", pgtype.Int4OID: "1", pgtype.TextArrayOID: "'{x}'", pgtype.Int8ArrayOID: "'{1}'"}[oid]
			if values[i] == "" {
				values[i] = "NULL"
			}
		}
		if err := run(t.Context(), c, "PREPARE asked AS "+statement); err != nil {
			return err
		}
		of := "EXPLAIN EXECUTE asked"
		if len(values) > 0 {
			of += "(" + strings.Join(values, ", ") + ")"
		}
		return errors.Join(run(t.Context(), c, of), run(t.Context(), c, "DEALLOCATE asked"))
	}
}
