package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kobo-waas/kobo/internal/apptest"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
)

// An operator on the host finds two equal products on the billers' lists, pairs them, and ends the
// pair. Each change is in the audit log, under the operator's name.
func TestProductsArePairedOnTheHost(t *testing.T) {
	for _, dialect := range dbtest.Dialects {
		t.Run(string(dialect), func(t *testing.T) {
			p := apptest.Start(t, dialect)
			if err := p.App.Shop.SyncDue(t.Context()); err != nil {
				t.Fatal(err)
			}
			run := func(args ...string) []string {
				t.Helper()
				var out strings.Builder
				c := root()
				c.SetArgs(append(args, "--data", p.Home.Data, "--database", p.Home.Database))
				c.SetOut(&out)
				if err := c.ExecuteContext(t.Context()); err != nil {
					t.Fatalf("%q: %v", args, err)
				}
				return strings.Split(strings.TrimSpace(out.String()), "\n")
			}
			var ids [2]string
			for i, biller := range []string{"safehaven", "vtpass"} {
				rows := run("product", "list", "--kind", "DATA", "--vendor", "MTN", "--biller", biller)
				if len(rows) < 2 || strings.Fields(rows[1])[1] != biller {
					t.Fatalf("%q", rows)
				}
				ids[i] = strings.Fields(rows[1])[0]
			}
			id := run("product", "pair", ids[0], ids[1])[0]
			if rows := run("product", "pairs"); len(rows) != 2 || !strings.HasPrefix(rows[1], id) || !strings.Contains(rows[1], local().Name) {
				t.Errorf("%q", rows)
			}
			run("product", "unpair", id)
			if rows := run("product", "pairs"); len(rows) != 1 {
				t.Errorf("%q", rows)
			}
			log := fmt.Sprint(run("audit"))
			for _, action := range []string{"product_pair.create", "product_pair.delete"} {
				if !slices.Contains(strings.Fields(log), action) {
					t.Errorf("the audit log lacks %s: %s", action, log)
				}
			}
		})
	}
}
