package admin_test

import (
	"context"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/settlement"
)

// A payment whose outcome nobody ever learns becomes a case, and an operator's
// finding moves the money, once.
func TestACaseIsResolvedByAnOperator(t *testing.T) {
	each(t, func(t *testing.T, d *door) {
		ctx := t.Context()
		d.operations.Handle("test", operation.Kind{
			Route: func(o operation.Operation) operation.Route {
				return operation.Route{
					Settlement: settlement.LedgerAccount(o.SettlementID), Clearing: settlement.ClearingAccount("test"), Provider: "provider/test",
				}
			},
			Requery: func(context.Context, operation.Operation) provider.Answer { return provider.Answer{Code: "silence"} },
			Paper: func(context.Context, operation.Operation) (operation.Paper, error) {
				return operation.Paper{}, nil
			},
		})
		made, _, err := d.companies.Create(ctx, operator.Local("test"), "Acme")
		if err != nil {
			t.Fatal(err)
		}
		a, err := d.settlements.Create(ctx, operator.Local("test"), made.Reference, "Main")
		if err != nil {
			t.Fatal(err)
		}
		if err := d.settlements.Fund(ctx, operator.Local("test"), made.Reference, a.ID, 5000, "safehaven", "seed"); err != nil {
			t.Fatal(err)
		}
		o := d.operations.Start(operation.Operation{Company: made.Reference, Kind: "test", SettlementID: a.ID, Amount: 2000})
		if err := d.book.Commit(ctx, d.operations.Unit(o, 0, "a test")); err != nil {
			t.Fatal(err)
		}
		d.clock.Advance(80 * time.Hour)
		for next := d.clock.Now(); !next.IsZero(); {
			if next, err = d.operations.Resolve(ctx, job.Job{Company: made.Reference, Subject: o.ID}); err != nil {
				t.Fatal(err)
			}
		}

		rows := d.ok(d.ada, "GET", "/admin/v1/cases", "")["data"].([]any)
		if len(rows) != 1 {
			t.Fatalf("cases: %v", rows)
		}
		row := rows[0].(map[string]any)
		if row["company"] != made.Reference || row["subject"] != o.ID || row["status"] != "OPEN" || row["outcome"] != nil {
			t.Errorf("the case: %v", row)
		}
		path := "/admin/v1/cases/" + row["id"].(string) + "/resolve"
		d.no(d.ada, "POST", path, `{"outcome":"maybe","note":"asked the bank"}`, 400, "must be confirmed, rejected or dismissed")
		d.no(d.ada, "POST", path, `{"outcome":"rejected"}`, 400, `"note" is required`)
		if row := d.ok(d.ada, "POST", path, `{"outcome":"rejected","note":"asked the bank"}`); row["status"] != "RESOLVED" || row["resolvedBy"] != "ada" {
			t.Errorf("resolved: %v", row)
		}
		d.no(d.bob, "POST", path, `{"outcome":"confirmed","note":"asked the bank"}`, 400, "")
		if got := d.balance("/admin/v1/companies/" + made.Reference); got != 50.0 {
			t.Errorf("the money is not back: %v", got)
		}
		if left := d.ok(d.ada, "GET", "/admin/v1/cases", "")["data"].([]any); len(left) != 0 {
			t.Errorf("still open: %v", left)
		}
		if closed := d.ok(d.ada, "GET", "/admin/v1/cases?status=RESOLVED", "")["data"].([]any); len(closed) != 1 {
			t.Errorf("resolved: %v", closed)
		}
		d.audited([]string{"local:test company.create", "local:test settlement.create", "local:test settlement.fund", "ada case.resolve"}, made.Reference)
	})
}
