package admin_test

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/settlement"
	"github.com/kobo-waas/kobo/internal/webhook"
)

// A payment whose outcome stays unknown becomes a case. One operator cannot move the money. When a
// second operator agrees that the payment was rejected, the company gets its money back once.
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
			Effects: func(context.Context, operation.Operation, *ledger.Unit) error { return nil },
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
		if row["company"] != made.Reference || row["subject"] != o.ID || row["status"] != "OPEN" || row["outcome"] != nil || row["companyName"] != made.Name {
			t.Errorf("the case: %v", row)
		}
		payment, _ := row["payment"].(map[string]any)
		if payment["reference"] != o.ID || payment["amount"] != 20.0 || payment["word"] != "case" {
			t.Errorf("the payment of the case: %v", payment)
		}
		for query, want := range map[string]int{
			"?company=" + row["company"].(string) + "&reason=" + row["reason"].(string) + "&subject=" + url.QueryEscape(row["subject"].(string)): len(rows),
			"?company=nobody": 0, "?subject=nothing": 0,
		} {
			if found := d.ok(d.ada, "GET", "/admin/v1/cases"+query, "")["data"].([]any); len(found) != want {
				t.Errorf("%s: %v", query, found)
			}
		}
		for _, reference := range []string{o.ID, row["id"].(string)} {
			story := d.ok(d.ada, "GET", "/admin/v1/timeline/"+reference, "")
			if story["kind"] != "test" || story["reference"] != o.ID || story["word"] != "case" || story["company"] != made.Reference ||
				len(story["steps"].([]any)) < 4 || len(story["cases"].([]any)) != 1 || story["clock"].(map[string]any)["nextAt"] != nil {
				t.Errorf("the timeline of %s: %v", reference, story)
			}
		}
		for query, want := range map[string]int{"": 1, "?word=case": 1, "?word=paid": 0, "?company=nobody": 0, "?most=1": 0, "?from=2031-01-01": 0, "?kind=credit": 0} {
			if page := d.ok(d.ada, "GET", "/admin/v1/payments"+query, ""); len(page["payments"].([]any)) != want {
				t.Errorf("payments%s: %v", query, page)
			}
		}
		for query, why := range map[string]string{
			"?word=PENDING": "must be one of", "?from=now": "must be in ISO 8601 date format", "?least=much": "must be an amount in naira", "?after=x": "is not a cursor", "?color=red": "is not allowed",
		} {
			d.no(d.ada, "GET", "/admin/v1/payments"+query, "", 400, why)
		}
		ask := "/admin/v1/outcomes/" + o.ID + "/ask"
		d.no(d.ada, "POST", ask, "", 429, "asked less than 30 seconds ago")
		d.clock.Advance(31 * time.Second)
		if story := d.ok(d.ada, "POST", ask, ""); story["word"] != "case" || story["status"] != "PENDING" {
			t.Errorf("asked now: %v", story)
		}
		d.no(d.ada, "POST", ask, "", 429, "asked less than 30 seconds ago")
		d.no(d.ada, "POST", "/admin/v1/outcomes/nothing/ask", "", 404, "Nothing has this reference")
		d.no(d.ada, "GET", "/admin/v1/timeline/nothing", "", 404, "Nothing has this reference")
		path := "/admin/v1/cases/" + row["id"].(string) + "/resolve"
		d.no(d.ada, "POST", path, `{"outcome":"maybe","note":"asked the bank"}`, 400, "must be confirmed, rejected, assigned, booked, accepted or dismissed")
		d.no(d.ada, "POST", path, `{"outcome":"rejected"}`, 400, `"note" is required`)
		said := d.ok(d.ada, "POST", path, `{"outcome":"rejected","note":"asked the bank"}`)
		proposal, _ := said["proposal"].(map[string]any)
		if said["status"] != "OPEN" || said["outcome"] != nil || proposal["outcome"] != "rejected" || proposal["by"] != "ada" {
			t.Errorf("proposed: %v", said)
		}
		approve := strings.Replace(path, "/resolve", "/approve", 1)
		agreed := `{"outcome":"rejected"}`
		d.no(d.ada, "POST", approve, agreed, 400, "by a second operator")
		d.no(d.bob, "POST", approve, "", 400, `"outcome" is required`)
		d.no(d.bob, "POST", approve, `{"outcome":"confirmed"}`, 400, "Another outcome is proposed by now")
		if row := d.ok(d.ada, "POST", path, `{"outcome":"rejected","note":"still"}`); row["status"] != "OPEN" {
			t.Errorf("ada alone: %v", row)
		}
		if got := d.balance("/admin/v1/companies/" + made.Reference); got != 30.0 {
			t.Errorf("one operator moved money: %v", got)
		}
		// On PostgreSQL, Bob sends the same finding as Ada. On SQLite, he approves her proposal.
		second, body := path, `{"outcome":"rejected","note":"so did I"}`
		if strings.HasSuffix(t.Name(), "sqlite") {
			second, body = approve, agreed
		}
		if row := d.ok(d.bob, "POST", second, body); row["status"] != "RESOLVED" ||
			row["proposedBy"] != "ada" || row["resolvedBy"] != "bob" || row["outcome"] != "rejected" || row["proposal"] != nil {
			t.Errorf("resolved: %v", row)
		}
		d.no(d.bob, "POST", path, `{"outcome":"confirmed","note":"asked the bank"}`, 400, "resolved already")
		d.no(d.bob, "POST", approve, agreed, 400, "resolved already")
		d.story(row["id"].(string))
		if got := d.balance("/admin/v1/companies/" + made.Reference); got != 50.0 {
			t.Errorf("the money is not back: %v", got)
		}
		if left := d.ok(d.ada, "GET", "/admin/v1/cases", "")["data"].([]any); len(left) != 0 {
			t.Errorf("still open: %v", left)
		}
		if closed := d.ok(d.ada, "GET", "/admin/v1/cases?status=RESOLVED", "")["data"].([]any); len(closed) != 1 {
			t.Errorf("resolved: %v", closed)
		}
		d.audited([]string{"local:test company.create", "local:test settlement.create", "local:test settlement.fund", "ada read.listCases", "ada case.propose", "ada case.propose", "bob case.resolve"}, made.Reference)
	})
}

// story checks the timeline of a payment that two operators resolved as rejected.
func (d *door) story(caseID string) {
	d.t.Helper()
	var what []string
	for _, step := range d.ok(d.ada, "GET", "/admin/v1/cases/"+caseID, "")["timeline"].([]any) {
		s := step.(map[string]any)
		if n := len(what); n == 0 || what[n-1] != s["what"] {
			what = append(what, s["what"].(string))
		}
	}
	got := strings.Join(what, " ")
	for _, part := range []string{"intent", "transfer", "answer", "case", "audit", "state"} {
		if !strings.Contains(got, part) {
			d.t.Errorf("the timeline %q has no %s", got, part)
		}
	}
	end := " audit"
	if d.base.IsDivided() {
		end = " audit transfer" // each batch there moves the company's instant, and the clock of the test stands still
	}
	if !strings.HasPrefix(got, "intent transfer ") || !strings.HasSuffix(got, end) {
		d.t.Errorf("the timeline: %s", got)
	}
	d.no(d.ada, "GET", "/admin/v1/cases/nothing", "", 404, "Case not found")
}

// Operators can list the webhook endpoints that fail. Secrets in their URLs are hidden.
func TestFailingWebhooksAreListed(t *testing.T) {
	each(t, func(t *testing.T, d *door) {
		made, _, err := d.companies.Create(t.Context(), operator.Local("test"), "Acme")
		if err != nil {
			t.Fatal(err)
		}
		url := "http://127.0.0.1:9/hook?token=hush"
		if _, err := d.webhooks.Create(t.Context(), made.Reference, webhook.Draft{URL: &url}, nil); err != nil {
			t.Fatal(err)
		}
		rows := d.ok(d.ada, "GET", "/admin/v1/webhooks?status=ACTIVE", "")["data"].([]any)
		if len(rows) != 1 || rows[0].(map[string]any)["company"] != made.Reference || rows[0].(map[string]any)["url"] != "http://127.0.0.1:9/hook?…" {
			t.Errorf("%v", rows)
		}
		log := fmt.Sprint(d.ok(d.ada, "GET", "/admin/v1/audit?company="+made.Reference, "")["data"])
		if !strings.Contains(log, "webhook.create") || !strings.Contains(log, "company:"+made.Reference) || strings.Contains(log, "hush") {
			t.Error(log)
		}
		if rows := d.ok(d.ada, "GET", "/admin/v1/webhooks?status=FAILING", "")["data"].([]any); len(rows) != 0 {
			t.Errorf("%v", rows)
		}
		d.no(d.ada, "GET", "/admin/v1/webhooks?status=LOST", "", 400, "must be one of")
	})
}
