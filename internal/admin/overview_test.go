package admin_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/admin"
	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/keyring"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/report"
)

// The overview adds up what waits in all companies, and shows each bank beside the ledger. It is read again
// after five seconds.
func TestOperatorsSeeTheOverview(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, base *db.DB) {
		var clk clock.Clock
		d := open(t, base, func(c *admin.Config) {
			clk = c.Clock
			c.FourEyes = true
			c.Program.Roles = map[string][]string{"vtpass": {"biller"}, "main": {"bank"}, "spare": {"bank"}}
			c.Program.Wallets = func() map[string]provider.Reading {
				return map[string]provider.Reading{"main": {Balance: 740_00, At: clk.Now()}, "vtpass": {Balance: 1}}
			}
		})
		d.plantUnknowns()
		now := d.clock.Now()
		ago := func(age time.Duration) int64 { return clock.Micros(now.Add(-age)) }
		d.write(`INSERT INTO report_hour VALUES ('house', $1, 'payout', 'main', 'paid', 3, 4500)`, ago(4*time.Minute+5*time.Second))
		d.write(`INSERT INTO report_hour VALUES ('house', $1, 'payout', 'spare', 'paid', 1, 500)`, ago(4*time.Minute+5*time.Second))
		d.write(`INSERT INTO report_hour VALUES ('house', $1, 'payout', 'main', 'failed', 1, 100)`, ago(10*time.Hour+4*time.Minute+5*time.Second))
		d.write(`INSERT INTO report_hour VALUES ('house', $1, 'payout', 'main', 'paid', 9, 9900)`, ago(7*24*time.Hour+4*time.Minute+5*time.Second))
		d.write(`INSERT INTO report_hour VALUES ('house', $1, 'payout', 'main', 'paid', 8, 9900)`, ago(24*time.Hour+4*time.Minute+5*time.Second))
		d.write(`INSERT INTO ledger_account VALUES ('acme', 'suspense/inbound', -9999999, 0, 7000, 0, 0, '', 0)`)
		d.write(`INSERT INTO job VALUES ('house', 'inbox.work', 'n1', 'j1', $1, 0, 0, 3, 'told off', $1, 'main')`, ago(time.Minute))
		d.write(`INSERT INTO operator_proposal (id, company, acts, state, proposed_by, decided_by, note, created_at, expires_at, decided_at, act_count) VALUES ('p1', '', '[]', 'PROPOSED', 'ada', '', '', $1, $2, 0, 1)`, ago(time.Hour), ago(-time.Hour))
		d.write(`INSERT INTO operator_proposal (id, company, acts, state, proposed_by, decided_by, note, created_at, expires_at, decided_at, act_count) VALUES ('p2', '', '[]', 'PROPOSED', 'ada', '', '', $1, $2, 0, 1)`, ago(30*time.Hour), ago(6*time.Hour))
		viewer := d.as("vera", operator.Viewer)
		o := d.ok(viewer, "GET", "/admin/v1/overview", "")
		for name, want := range map[string]string{
			"at": `"2030-01-02T03:04:05.000Z"`, "fourEyes": `true`, "suspense": `70`,
			"cases":       `[{"name":"UNRESOLVED","count":1,"amount":200,"oldest":null}]`,
			"proposals":   `{"count":1,"amount":0,"oldest":"2030-01-02T02:04:05.000Z"}`,
			"adjustments": `{"count":0,"amount":0,"oldest":null}`,
			"unknown":     `[{"name":"vtpass","count":4,"amount":112.5,"oldest":"2030-01-02T01:04:05.000Z"}]`,
			"inbox":       `[{"name":"main","count":1,"amount":0,"oldest":"2030-01-02T03:03:05.000Z"}]`,
			"failingJobs": `{"count":1,"amount":0,"oldest":"2030-01-02T03:03:05.000Z"}`,
			"owed":        `{"amount":9.99,"companies":2,"accounts":1}`,
			"banks": `[{"provider":"main","balance":740,"readAt":"2030-01-02T03:04:05.000Z","ledger":750,"difference":-10},
				{"provider":"spare","balance":null,"readAt":null,"ledger":0,"difference":null}]`,
			"clearing": `[{"age":"1m","count":1,"amount":999.5,"oldest":"2030-01-02T03:04:04.000Z"},
				{"age":"10m","count":3,"amount":7.5,"oldest":"2030-01-02T02:58:05.000Z"},
				{"age":"2h","count":0,"amount":0,"oldest":null},
				{"age":"72h","count":1,"amount":105,"oldest":"2030-01-02T01:04:05.000Z"},
				{"age":"older","count":1,"amount":200,"oldest":"2029-12-29T19:04:05.000Z"}]`,
			"today": `[{"kind":"payout","outcome":"paid","count":4,"amount":50}]`,
			"hours": `[{"hour":"2030-01-01T17:00:00.000Z","kind":"payout","provider":"main","outcome":"failed","count":1,"amount":1},
				{"hour":"2030-01-02T03:00:00.000Z","kind":"payout","provider":"main","outcome":"paid","count":3,"amount":45},
				{"hour":"2030-01-02T03:00:00.000Z","kind":"payout","provider":"spare","outcome":"paid","count":1,"amount":5}]`,
			"lastWeek":       `[{"hour":"2029-12-26T03:00:00.000Z","kind":"payout","provider":"main","outcome":"paid","count":9,"amount":99}]`,
			"closedAccounts": `0`, "differences": `0`, "endpoints": `[]`, "reconciliations": `[]`,
			"door": `{"closed":false,"reason":null,"since":null,"byKobo":false,"fourEyes":true}`,
		} {
			t.Run(name, func(t *testing.T) { d.t = t; d.told(o[name], want) })
		}
		d.t = t
		d.write(`UPDATE operation_case SET state = 'RESOLVED'`)
		d.clock.Advance(5*time.Second - time.Microsecond)
		d.told(d.ok(viewer, "GET", "/admin/v1/overview", "")["cases"], `[{"name":"UNRESOLVED","count":1,"amount":200,"oldest":null}]`)
		d.clock.Advance(time.Microsecond)
		d.told(d.ok(viewer, "GET", "/admin/v1/overview", "")["cases"], `[]`)
		d.no(viewer, "GET", "/admin/v1/overview?page=1", "", 400, `"page" is not allowed`)
	})
}

// A comparison is kept with its differences, and a failed one with its reason.
func TestReconciliationsAreKept(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, base *db.DB) {
		d := open(t, base)
		reports := report.New(base, d.clock)
		now := d.clock.Now()
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		must(reports.NotReconciled(t.Context(), "main", errors.New("the account 0123456789 did not answer")))
		d.clock.Advance(time.Hour)
		must(reports.Reconciled(t.Context(), report.Reconciliation{
			Bank: "main", From: now.Add(-72 * time.Hour), To: now, Lines: 5, Payments: 3, Receipts: 2, Breaks: []report.Break{
				{Reason: operation.UnbookedCharge, Company: "house", Subject: "main/2030-01-01", Bank: 1075, Detail: "charges", At: now, Case: operation.Case{ID: "c1", State: operation.Open}},
				{Reason: operation.UnknownDebit, Company: "acme", Subject: "main/s1", Book: 500, Detail: "a debit", Case: operation.Case{ID: "c2", State: operation.Resolved}},
			},
		}))
		must(reports.Reconciled(t.Context(), report.Reconciliation{Bank: "spare", From: now, To: now}))
		list := d.ok(d.ada, "GET", "/admin/v1/reconciliations?provider=main", "")
		all, _ := list["data"].([]any)
		if len(all) != 2 {
			t.Fatalf("%v", list)
		}
		last, _ := all[0].(map[string]any)
		number, _ := last["id"].(string)
		const head = `"provider":"main","at":"2030-01-02T04:04:05.000Z","from":"2029-12-30T03:04:05.000Z","to":"2030-01-02T03:04:05.000Z","lines":5,"payments":3,"credits":2,"breaks":2,"undecided":1,"trouble":null`
		d.told(last, `{"id":"`+number+`",`+head+`}`)
		if first, _ := all[1].(map[string]any); first["trouble"] != "the account ******6789 did not answer" || first["from"] != nil {
			t.Errorf("the failed one: %v", first)
		}
		d.told(d.ok(d.ada, "GET", "/admin/v1/reconciliations/"+number, ""), `{"id":"`+number+`",`+head+`,"findings":[
			{"reason":"UNBOOKED_CHARGE","company":"house","subject":"main/2030-01-01","bank":10.75,"ledger":0,"difference":10.75,"detail":"charges","at":"2030-01-02T03:04:05.000Z","case":"c1"},
			{"reason":"UNKNOWN_DEBIT","company":"acme","subject":"main/s1","bank":0,"ledger":5,"difference":-5,"detail":"a debit","at":null,"case":"c2"}]}`)
		d.no(d.ada, "GET", "/admin/v1/reconciliations/nobody", "", 404, "Reconciliation not found")
		if rows, _ := d.ok(d.ada, "GET", "/admin/v1/reconciliations", "")["data"].([]any); len(rows) != 3 {
			t.Errorf("of all banks: %v", rows)
		}
		o := d.ok(d.ada, "GET", "/admin/v1/overview", "")
		if rows, _ := o["reconciliations"].([]any); len(rows) != 2 || !strings.Contains(fmt.Sprint(rows), "undecided:1") {
			t.Errorf("the last of each bank: %v", rows)
		}
		for id, company := range map[string]string{"c1": "house", "c2": "acme"} {
			d.write(`INSERT INTO operation_case (company_id, id, subject, reason, turn, detail, amount_kobo, state, outcome, note, target_company, target_settlement, proposed_by, resolved_by, proposed_at, happened_at, created_at, updated_at)
				VALUES ($1, $2, $2, 'UNBOOKED_CHARGE', 0, 'charges', 1075, 'RESOLVED', 'booked', 'known', '', 0, 'ada', 'bob', $3, 0, $3, $3)`, company, id, clock.Micros(now))
		}
		d.clock.Advance(time.Minute)
		o = d.ok(d.ada, "GET", "/admin/v1/overview", "")
		if text := fmt.Sprint(o["reconciliations"]); strings.Contains(text, "undecided:1") {
			t.Errorf("a decided difference is undecided: %s", text)
		}
		if last := d.ok(d.ada, "GET", "/admin/v1/reconciliations/"+number, ""); last["undecided"] != 1.0 {
			t.Errorf("the comparison itself has changed: %v", last)
		}
	})
}

// A failing job runs early if an operator asks for it, and the audit log says who. Jobs that wait for their
// time, and jobs that run, are refused, and nothing changes.
func TestOperatorsRunAFailingJob(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, base *db.DB) {
		d := open(t, base)
		at := func(in time.Duration) int64 { return clock.Micros(d.clock.Now().Add(in)) }
		const insert = `INSERT INTO job (company_id, kind, subject, id, run_at, lease_until, fence, attempts, last_error, created_at, provider) VALUES ('acme', 'operation.resolve', $1, $2, $3, $4, 1, 4, $5, $6, 'main')`
		d.write(insert, "op1", "j1", at(4*time.Minute), 0, "no answer about 0123456789", at(-time.Hour))
		d.write(insert, "op2", "j2", at(4*time.Minute), 0, "", at(-time.Hour))
		d.write(insert, "op3", "j3", at(-time.Minute), at(time.Minute), "again", at(-time.Hour))
		d.write(insert, "op4", "j4", at(-2*time.Minute), 0, "", at(-time.Hour))
		support, viewer := d.as("sam", operator.Support), d.as("vera", operator.Viewer)
		jobs := d.ok(viewer, "GET", "/admin/v1/jobs", "")
		d.told(jobs["queues"], `[{"kind":"operation.resolve","provider":"main","waiting":4,"due":1,"dueSince":"2030-01-02T03:02:05.000Z","nextAt":"2030-01-02T03:02:05.000Z"}]`)
		const one = `{"id":"j1","company":"acme","kind":"operation.resolve","provider":"main","subject":"op1","attempts":4,"trouble":"no answer about ******6789",
			"running":false,"nextAt":"2030-01-02T03:08:05.000Z","createdAt":"2030-01-02T02:04:05.000Z"}`
		d.told(jobs["failing"], `[`+one+`,{"id":"j3","company":"acme","kind":"operation.resolve","provider":"main","subject":"op3","attempts":4,"trouble":"again",
			"running":true,"nextAt":"2030-01-02T03:03:05.000Z","createdAt":"2030-01-02T02:04:05.000Z"}]`)
		d.no(viewer, "POST", "/admin/v1/jobs/j1/run", "", 403, "")
		d.no(support, "POST", "/admin/v1/jobs/j2/run", "", 404, "No failing job has this id")
		d.no(support, "POST", "/admin/v1/jobs/none/run", "", 404, "No failing job has this id")
		d.no(support, "POST", "/admin/v1/jobs/j3/run", "", 409, "The job is running")
		times := func() map[string]int64 {
			out, err := db.Map[string, int64](t.Context(), base, `SELECT id, run_at FROM job`)
			if err != nil {
				t.Fatal(err)
			}
			return out
		}
		if got := times(); got["j1"] != at(4*time.Minute) || got["j2"] != at(4*time.Minute) || got["j3"] != at(-time.Minute) {
			t.Fatalf("a refused run changed a job: %v", got)
		}
		d.told(d.ok(support, "POST", "/admin/v1/jobs/j1/run", ""), strings.Replace(one, "03:08:05", "03:04:05", 1))
		if got := times(); got["j1"] != at(0) || got["j2"] != at(4*time.Minute) {
			t.Errorf("after the run: %v", got)
		}
		if l := d.lastLine(); l["action"] != "job.run" || l["subject"] != "j1" || l["operator"] != "sam" {
			t.Errorf("the audit log: %v", l)
		}
	})
}

// The settings in force have no secret, and keys only their ids.
func TestOperatorsSeeTheSettings(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, base *db.DB) {
		d := open(t, base, func(c *admin.Config) {
			c.InForce = admin.InForce{
				Version: "1.2.3", Schema: 124, Environment: "live", Settings: []admin.Setting{{Name: "listen", Value: ":8080"}},
				Keys: func(context.Context) ([]admin.KeysOf, error) {
					return []admin.KeysOf{{
						Ring: "master", Lines: []keyring.Line{{ID: "k1", FirstAt: c.Clock.Now()}, {ID: "k2", FirstAt: c.Clock.Now(), RemovedAt: c.Clock.Now()}},
						Programs: []keyring.Program{{Name: "test", Writes: "k1"}},
					}}, nil
				},
			}
		})
		d.told(d.ok(d.as("vera", operator.Viewer), "GET", "/admin/v1/settings", ""), `{"version":"1.2.3","schema":124,"environment":"live","program":"test","programs":["other","test"],
			"keyrings":[{"name":"master","keys":[
				{"id":"k1","firstAt":"2030-01-02T03:04:05.000Z","lastAt":null,"revokedAt":null,"removedAt":null,"writes":1,"holds":0},
				{"id":"k2","firstAt":"2030-01-02T03:04:05.000Z","lastAt":null,"revokedAt":null,"removedAt":"2030-01-02T03:04:05.000Z","writes":0,"holds":0}]}],
			"settings":[{"name":"listen","value":":8080"}]}`)
	})
}
