package admin_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/admin"
	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/provider"
)

const (
	noCalls   = `{"calls":0,"successes":0,"refusals":0,"notSent":0,"unknowns":0,"p50Ms":0,"p99Ms":0}`
	someWords = `"name":"one (process 7)","since":"2030-01-02T03:04:05.000Z"`
)

// A viewer sees what the database knows about each provider, and below program what only the program
// that answers has seen. Amounts are kobo.
func TestOperatorsSeeTheProviders(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, base *db.DB) {
		figures := provider.NewFigures()
		var clk clock.Clock
		d := open(t, base, func(c *admin.Config) {
			clk = c.Clock
			figures.Follow(clk)
			c.Program = admin.Program{
				Name: "one (process 7)", Running: func(context.Context) ([]string, error) { return []string{"one (process 7)", "two (process 8)"}, nil },
				Roles: map[string][]string{"vtpass": {"biller"}, "main": {"bank", "biller"}}, Calls: figures,
				Wallets: func() map[string]provider.Reading {
					return map[string]provider.Reading{"vtpass": {Balance: 1_234_567, At: clk.Now(), Low: 50_000_00}, "main": {Balance: 5, At: clk.Now()}}
				},
			}
		})
		d.plantUnknowns()
		for _, result := range []string{"ok", "denied"} {
			figures.Of("vtpass").Count("POST /pay", time.Now().Add(-time.Hour), result) // each took an hour
		}
		figures.Replied("vtpass", "vtu", "first", provider.Unknown, time.Now().Add(-time.Hour))
		viewer := d.as("vera", operator.Viewer)

		const tally = `{"calls":2,"successes":1,"refusals":1,"notSent":0,"unknowns":0,"p50Ms":3600000,"p99Ms":3600000}`
		const failed = `"lastSuccessAt":"2030-01-02T03:04:05.000Z","lastFailureAt":"2030-01-02T03:04:05.000Z","lastFailure":"denied"`
		const wallet = `{"balanceKobo":1234567,"readAt":"2030-01-02T03:04:05.000Z","lowKobo":5000000}`
		const never = `"lastSuccessAt":null,"lastFailureAt":null,"lastFailure":null`
		list := d.ok(viewer, "GET", "/admin/v1/providers", "")
		d.told(rounded(list), `{"programs":["one (process 7)","two (process 8)"],"providers":[
			{"name":"main","roles":["bank","biller"],"program":{`+someWords+`,"last15Minutes":`+noCalls+`,`+never+`,
				"wallet":{"balanceKobo":5,"readAt":"2030-01-02T03:04:05.000Z","lowKobo":null}},
				"unknown":{"count":0,"amountKobo":0},"ledgerKobo":75000,"readAt":"2030-01-02T03:00:05.000Z"},
			{"name":"node:base","roles":[],"program":{`+someWords+`,"last15Minutes":`+noCalls+`,`+never+`,"wallet":null},
				"unknown":{"count":0,"amountKobo":0},"ledgerKobo":0,"readAt":"2030-01-02T03:02:05.000Z"},
			{"name":"vtpass","roles":["biller"],"program":{`+someWords+`,"last15Minutes":`+tally+`,`+failed+`,"wallet":`+wallet+`},
				"unknown":{"count":4,"amountKobo":11250},"ledgerKobo":-20000,"readAt":null}]}`)

		one := d.ok(viewer, "GET", "/admin/v1/providers/vtpass", "")
		d.told(rounded(one), `{"name":"vtpass","roles":["biller"],"programs":["one (process 7)","two (process 8)"],
			"program":{`+someWords+`,
				"calls":[{"call":"POST /pay",`+failed+`,"last15Minutes":`+tally+`,"last24Hours":`+tally+`}],
				"operations":[{"call":"vtu first","lastSuccessAt":null,"lastFailureAt":"2030-01-02T03:04:05.000Z","lastFailure":"unknown",
					"last15Minutes":{"calls":1,"successes":0,"refusals":0,"notSent":0,"unknowns":1,"p50Ms":3600000,"p99Ms":3600000},
					"last24Hours":{"calls":1,"successes":0,"refusals":0,"notSent":0,"unknowns":1,"p50Ms":3600000,"p99Ms":3600000}}],
				"wallet":`+wallet+`},
			"unknown":{"count":4,"amountKobo":11250,"ages":[{"age":"5m","count":2,"amountKobo":300},{"age":"1h","count":1,"amountKobo":450},
				{"age":"24h","count":1,"amountKobo":10500},{"age":"older","count":0,"amountKobo":0}]},
			"ledgerKobo":-20000,"creditsReadAt":null,"statementComparedAt":null,"chainReadAt":null,"creditAccounts":null}`)
		d.told(d.ok(viewer, "GET", "/admin/v1/providers/node:base", "")["chainReadAt"], `"2030-01-02T03:02:05.000Z"`)
		d.no(viewer, "GET", "/admin/v1/providers/nobody", "", 404, "Provider not found")
		d.no(viewer, "GET", "/admin/v1/providers?name=vtpass", "", 400, `"name" is not allowed`)
		d.no("", "GET", "/admin/v1/providers", "", 401, "Admin key is missing")
	})
}

// An operator sees which accounts the credit poll of a bank does not read any more, the newest first, and how
// many there are. The accounts of another bank are not among them.
func TestOperatorsSeeRetiredAccounts(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, base *db.DB) {
		d := open(t, base, func(c *admin.Config) {
			c.Program = admin.Program{
				Name: "one", Running: func(context.Context) ([]string, error) { return []string{"one"}, nil }, Calls: provider.NewFigures(),
				Roles: map[string][]string{"main": {"bank"}, "spare": {"bank"}, "vtpass": {"biller"}}, Wallets: func() map[string]provider.Reading { return nil },
			}
		})
		put := func(statement string, args ...any) {
			t.Helper()
			if n, err := base.Exec(t.Context(), statement, args...); err != nil || n != 1 {
				t.Fatal(n, err)
			}
		}
		viewer := d.as("vera", operator.Viewer)
		for _, bank := range []string{"main", "spare"} {
			put(`INSERT INTO inbox_sweep (company_id, provider, done_until, round_at, page, next_until, finished_at, unlisted) VALUES ('house', $1, 0, 0, 0, 0, 1, 3)`, bank)
		}
		d.told(d.ok(viewer, "GET", "/admin/v1/providers/main", "")["creditAccounts"], `{"read":0,"failing":0,"unlisted":3,"retired":0,"newestRetired":[]}`)
		for i := range 105 {
			at := clock.Micros(d.clock.Now().Add(time.Duration(i-200) * time.Hour))
			put(`INSERT INTO inbox_account (company_id, provider, account, account_number, main, done_until, round_at, page, next_until, due_at, polled_at, failures, retired_at)
				VALUES ('house', 'main', $1, '', 0, 0, 0, 0, 0, 0, 0, 1, $2)`, fmt.Sprintf("gone-%03d", i), at)
		}
		for bank, account := range map[string]string{"main": "read", "spare": "fails"} {
			put(`INSERT INTO inbox_account (company_id, provider, account, account_number, main, done_until, round_at, page, next_until, due_at, polled_at, failures)
				VALUES ('house', $1, $2, '', 0, 0, 0, 0, 0, 0, 0, $3)`, bank, account, db.Flag(account == "fails"))
		}
		d.told(d.ok(viewer, "GET", "/admin/v1/providers/spare", "")["creditAccounts"], `{"read":0,"failing":1,"unlisted":3,"retired":0,"newestRetired":[]}`)
		d.told(d.ok(viewer, "GET", "/admin/v1/providers/vtpass", "")["creditAccounts"], `null`)
		seen := d.ok(viewer, "GET", "/admin/v1/providers/main", "")["creditAccounts"].(map[string]any)
		newest := seen["newestRetired"].([]any)
		d.told(newest[0], `{"account":"gone-104","retiredAt":"`+clock.Text(d.clock.Now().Add(-96*time.Hour))+`"}`)
		if seen["newestRetired"] = nil; len(newest) != 100 {
			t.Errorf("%d retired accounts are shown", len(newest))
		}
		d.told(seen, `{"read":1,"failing":0,"unlisted":3,"retired":105,"newestRetired":null}`)
	})
}

// rounded rounds the durations of calls down to whole minutes, in place. A call of the test took an hour
// and a moment.
func rounded(v any) any {
	switch v := v.(type) {
	case []any:
		for _, one := range v {
			rounded(one)
		}
	case map[string]any:
		for name, one := range v {
			if took, is := one.(float64); is && (name == "p50Ms" || name == "p99Ms") {
				v[name] = float64(int64(took) / 60_000 * 60_000)
			}
			rounded(one)
		}
	}
	return v
}

// plantUnknowns writes open operations of all ages at vtpass, and other facts about providers.
func (d *door) plantUnknowns() {
	d.t.Helper()
	now := d.clock.Now()
	ago := func(age time.Duration) int64 { return clock.Micros(now.Add(-age)) }
	rows := func(statement string, rows ...[]any) {
		d.t.Helper()
		for _, args := range rows {
			if _, err := d.base.Exec(d.t.Context(), statement, args...); err != nil {
				d.t.Fatal(err)
			}
		}
	}
	rows(`INSERT INTO ledger_head (company_id, event_sequence, dated_at) VALUES ($1, 0, 0)`, []any{"acme"}, []any{"bolt"})
	rows(`INSERT INTO ledger_account VALUES ($1, $2, -9999999, 0, $3, 0, 0, '', 0)`,
		[]any{"acme", "provider/vtpass", 150_00}, []any{"bolt", "provider/vtpass", 50_00}, []any{"acme", "provider/main", -750_00}, []any{"acme", "settlement/1", 999})
	// The last two columns are called_until and outcome.
	rows(`INSERT INTO operation VALUES ($1, $2, 'vtu', '', $3, 'vtpass', 1, $4, 50, $6, 0, 0, 0, 0, $7, '', '', '', '', $5, 0, '', 0)`,
		[]any{"acme", "calling", "PENDING", 999_00, ago(time.Second), ago(-time.Minute), ""},
		[]any{"acme", "lost", "PENDING", 100, ago(time.Minute), ago(time.Second), ""},
		[]any{"acme", "new", "PENDING", 100, ago(4 * time.Minute), ago(-time.Minute), "unknown"},
		[]any{"bolt", "young", "PENDING", 400, ago(6 * time.Minute), ago(5 * time.Minute), "unknown"},
		[]any{"bolt", "day", "PENDING", 104_50, ago(2 * time.Hour), ago(2 * time.Hour), "unknown"},
		[]any{"bolt", "asked", "PENDING", 199_50, ago(80 * time.Hour), ago(80 * time.Hour), "unknown"},
		[]any{"bolt", "done", "SUCCESS", 500_00, ago(time.Hour), ago(time.Hour), "confirmed"})
	rows(`INSERT INTO job VALUES ($1, 'operation.resolve', $2, '', 0, 0, 0, 0, '', 0, 'vtpass')`,
		[]any{"acme", "calling"}, []any{"acme", "lost"}, []any{"acme", "new"}, []any{"bolt", "young"}, []any{"bolt", "day"}, []any{"bolt", "done"})
	rows(`INSERT INTO operation_case VALUES ('bolt', '1', $1, 'UNRESOLVED', 0, '', 0, 'OPEN', '', '', '', 0, '', '', 0, 0, 0, 0, '')`, []any{"asked"})
	rows(`INSERT INTO inbox_sweep (company_id, provider, done_until, round_at, page, next_until, finished_at) VALUES ('house', 'main', 0, 0, 0, 0, $1)`,
		[]any{ago(4 * time.Minute)})
	rows(`INSERT INTO crypto_cursor (custody, cursor, reader, lease_until, updated_at) VALUES ($1, '', '', 0, $2)`,
		[]any{"node:base", ago(2 * time.Minute)}, []any{"balances:base", ago(time.Minute)})
}
