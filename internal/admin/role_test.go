package admin_test

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/kobo-waas/kobo/internal/admin"
	"github.com/kobo-waas/kobo/internal/operator"
)

// as returns the key of a new operator with a role.
func (d *door) as(name string, role operator.Role) string {
	d.t.Helper()
	key, digest := operator.NewKey()
	if _, err := d.operators.Add(d.t.Context(), operator.Local("test"), name, role, digest); err != nil {
		d.t.Fatal(err)
	}
	return key.Reveal()
}

// Every operation of the admin API names a role. An operator with a lesser role gets a 403, and any
// other operator does not.
func TestEveryOperationHasARole(t *testing.T) {
	operations, err := admin.Operations()
	if err != nil {
		t.Fatal(err)
	}
	each(t, func(t *testing.T, d *door) {
		keys := map[operator.Role]string{}
		for _, role := range operator.Roles() {
			keys[role] = d.as("one-"+string(role), role)
		}
		for route, op := range operations {
			least := operator.Role(op.Role)
			if !operator.Admin.Covers(least) {
				t.Errorf("%s: the role is %q", route, op.Role)
			}
			method, path, _ := strings.Cut(route, " ")
			path = strings.NewReplacer("{reference}", "cnobody0000000000000000000", "{id}", "nothing").Replace(path)
			if strings.HasPrefix(op.ID, "export") {
				path += "?from=x" // the refusal of this filter is JSON, and an export is not
			}
			for role, key := range keys {
				status, said, _ := d.send(key, method, path, "{}")
				if refused := status == 403; refused == role.Covers(least) {
					t.Errorf("%s as %s: %d %v", route, role, status, said)
				}
				if status == 403 && d.lastLine()["action"] != "operator.forbidden" {
					t.Errorf("%s as %s: no line of the refusal", route, role)
				}
			}
		}
	})
}

// The page about operators has a row for each operation, with its role and its need of a second
// operator. With KOBO_TEST_KEEP=1 the test writes these rows.
func TestThePageAboutOperatorsIsTrue(t *testing.T) {
	const page, from, to = "../../docs/operating/operators.md", "<!-- roles -->\n", "<!-- end of roles -->\n"
	operations, err := admin.Operations()
	if err != nil {
		t.Fatal(err)
	}
	rows := []string{"| Operation | Path | Least role | Two operators |", "|---|---|---|---|"}
	for _, route := range slices.SortedFunc(maps.Keys(operations), func(a, b string) int {
		return cmp.Or(cmp.Compare(operations[a].Path, operations[b].Path), cmp.Compare(a, b))
	}) {
		op := operations[route]
		rows = append(rows, fmt.Sprintf("| %s | `%s` | %s | %s |", op.ID, route, op.Role, op.FourEyes))
	}
	want := strings.Join(rows, "\n") + "\n"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, _ := strings.Cut(string(text), from)
	table, after, ended := strings.Cut(rest, to)
	if !ended {
		t.Fatalf("%s has no place for the table", page)
	}
	if os.Getenv("KOBO_TEST_KEEP") != "" {
		if err := os.WriteFile(page, []byte(before+from+want+to+after), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if table != want {
		t.Errorf("%s: write the table with KOBO_TEST_KEEP=1 go test -run TestThePageAboutOperatorsIsTrue ./internal/admin", page)
	}
}
