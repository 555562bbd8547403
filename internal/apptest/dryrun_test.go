package apptest_test

import (
	"fmt"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kobo-waas/kobo/internal/apptest"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/payout"
	"github.com/kobo-waas/kobo/internal/report"
)

// columns selects the names of all tables and columns, for each database engine.
var columns = map[db.Dialect]string{
	db.Postgres: `SELECT table_name::text, column_name::text FROM information_schema.columns WHERE table_schema = 'public' ORDER BY 1, 2`,
	db.SQLite:   `SELECT m.name, c.name FROM sqlite_schema m JOIN pragma_table_info(m.name) c WHERE m.type = 'table' ORDER BY 1, 2`,
}

// rows returns the whole content of a database, grouped by table.
func rows(t *testing.T, d *db.DB) map[string][]string {
	t.Helper()
	tables := map[string][]string{}
	_, err := db.All(t.Context(), d, func(s db.Scanner) (struct{}, error) {
		var table, column string
		err := s.Scan(&table, &column)
		tables[table] = append(tables[table], `coalesce(CAST(`+column+` AS TEXT), '')`)
		return struct{}{}, err
	}, columns[d.Dialect()])
	if err != nil || len(tables) < 5 {
		t.Fatalf("%d tables, %v", len(tables), err)
	}
	for table := range tables {
		if strings.HasPrefix(table, "citus_") || strings.HasPrefix(table, "pg_") {
			delete(tables, table) // the database's own, which change with its size
		}
	}
	delete(tables, "deployment")  // its epoch rises every second
	delete(tables, "request_log") // it has each request, a dry run too, some seconds later
	for _, table := range []string{"keyring", "keyring_program", "keyring_line"} {
		delete(tables, table) // the program says every few seconds that it holds its keys
	}
	out := map[string][]string{}
	for table, of := range tables {
		out[table], err = db.All(t.Context(), d, db.Value[string], `SELECT `+strings.Join(of, ` || ' | ' || `)+` FROM `+table+` ORDER BY 1`)
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// trial is an order that is sent as a dry run, with the price and the refusal that the response
// must show.
type trial struct {
	name, path string
	body       any
	cost       money.Kobo
	refusal    string
}

// tried sends the order as a dry run and compares the response with the expected price and refusal.
func (x trial) tried(t *testing.T, c *apptest.Client, headers ...string) {
	t.Helper()
	var got struct {
		Data struct {
			DryRun, WouldSucceed         bool
			Refusal                      *string
			Total, Balance, BalanceAfter any
		}
	}
	a := c.Do(http.MethodPost, x.path+"?dry_run=true", x.body, headers...).Want(t, http.StatusOK)
	a.Into(t, &got)
	naira := func(v any) string {
		if s, text := v.(string); text {
			return s
		}
		return fmt.Sprintf("%.2f", v)
	}
	d, want := got.Data, apptest.DevFloat-x.cost
	if x.refusal != "" {
		want = apptest.DevFloat
	}
	said := ""
	if d.Refusal != nil {
		said = *d.Refusal
	}
	if !d.DryRun || d.WouldSucceed != (x.refusal == "") || said != x.refusal || naira(d.Total) != x.cost.Decimal() ||
		naira(d.Balance) != money.Kobo(apptest.DevFloat).Decimal() || naira(d.BalanceAfter) != want.Decimal() || a.Header.Get("Idempotent-Replayed") != "" {
		t.Errorf("%s: %s; want %s after, refused with %q", x.name, a, want, x.refusal)
	}
}

// cardOf creates a card for a customer of the company.
func cardOf(t *testing.T, c *apptest.Client) string {
	t.Helper()
	var made struct{ Data struct{ ID, CardID string } }
	ask := func(path string, body map[string]any) {
		t.Helper()
		c.Do(http.MethodPost, path, body).Want(t, http.StatusOK).Into(t, &made)
	}
	ask("/api/v1/customer/create", map[string]any{
		"firstName": "Ada", "lastName": "Tester", "email": "ada@example.com", "phoneNumber": "08012345678", "bvn": "22212345678",
		"address": map[string]string{"line1": "1 Marina", "city": "Lagos", "state": "Lagos"},
	})
	ask("/api/v1/customer/generate-account", map[string]any{"customerId": made.Data.ID, "otp": "123456"})
	ask("/api/v1/card/generate-card", map[string]any{"customerId": made.Data.ID, "type": "virtual"})
	return made.Data.CardID
}

// trials returns one valid order of each kind, and orders that would be refused.
func trials(t *testing.T, c *apptest.Client) []trial {
	t.Helper()
	const bill, payouts, fund = "/api/v1/vtu/purchase-", "/api/v1/settlement/send-payout", "/api/v1/card/fund-card"
	bundle, cardID, verifyID := c.Bundle(), cardOf(t, c), verify(t, c, "10")
	tv := c.Categories("Cable TV")[0].ServiceCategoryID
	power := c.Categories("Utility")[0].ServiceCategoryID
	network := c.Categories("Airtime")[0].ServiceCategoryID
	padi := c.Product(tv, "DStv Padi")
	smartcard, meter := c.Verify(t, tv, "7012345678"), c.Verify(t, power, "45012345678")
	send := func(naira int) map[string]any { return map[string]any{"verify_id": verifyID, "amount": naira} }
	load := func(naira int) map[string]any { return map[string]any{"cardId": cardID, "amount": naira} }
	const short = "Insufficient balance"
	return []trial{
		{"data", bill + "data", c.Order(bundle, "k-data", "10"), bundle.Price, ""},
		{"airtime", bill + "airtime", c.Airtime(network, "k-air", "08012345678", 200*money.Naira).Body, 200 * money.Naira, ""},
		{"too much airtime", bill + "airtime", c.Airtime(network, "k-air", "08012345678", apptest.DevFloat).Body, apptest.DevFloat, short},
		{"TV", bill + "cable-tv", c.TV(smartcard, padi.Product, "k-tv", "7012345678").Body, padi.Price, ""},
		{"power", bill + "utility", c.Power(meter, "k-power", 2000*money.Naira).Body, 2000 * money.Naira, ""},
		{"a payout", payouts, send(1000), 1020 * money.Naira, ""},
		{"a payout above the limit", payouts, send(5000), 5060 * money.Naira, "Daily payout limit reached"},
		{"a card", fund, load(700), 700 * money.Naira, ""},
		{"too much for a card", fund, load(1_000_001), 1_000_001 * money.Naira, short},
	}
}

// steady returns the rows without those that a program writes by itself every few seconds: the figures of the
// console, the jobs that write these, and when an API key was last used.
func steady(tables map[string][]string) map[string][]string {
	maps.DeleteFunc(tables, func(table string, _ []string) bool {
		return strings.HasPrefix(table, "report_") || table == "request_key_use"
	})
	tables["job"] = slices.DeleteFunc(tables["job"], func(row string) bool {
		return strings.Contains(row, " | "+report.HoursJob+" | ") || strings.Contains(row, " | "+report.RevenueJob+" | ")
	})
	return tables
}

// A dry run shows what an order would do. It writes no row and sends no request to a provider. It
// does not use up its Idempotency-Key, and its response is never a stored response.
func TestADryRunChangesNothing(t *testing.T) {
	each(t, func(t *testing.T, dialect db.Dialect) {
		p := apptest.Start(t, dialect)
		charge(t, p)
		limit := payout.Limit{Amount: 4000 * money.Naira}
		if err := p.App.Payouts.SetLimit(t.Context(), operator.Local("test"), p.Reference, 0, limit); err != nil {
			t.Fatal(err)
		}
		all := trials(t, p.Client)
		providers := dbtest.Open(t, "sqlite:"+filepath.Join(p.Home.Data, "sandbox.db"))
		ours, theirs := steady(rows(t, p.App.DB)), rows(t, providers)
		for i, x := range all {
			x.tried(t, p.Client)
			x.tried(t, p.Client, "Idempotency-Key", fmt.Sprint("key-", i))
		}
		unchanged(t, "Kobo", ours, steady(rows(t, p.App.DB)))
		unchanged(t, "the providers", theirs, rows(t, providers))

		// The real order can use the same Idempotency-Key. A later dry run under this key does not replay
		// the stored response of the real order.
		x := all[0]
		a := p.Do(http.MethodPost, x.path, x.body, "Idempotency-Key", "key-0").Want(t, http.StatusOK)
		if a.Header.Get("Idempotent-Replayed") != "" {
			t.Errorf("the key was used up: %s", a)
		}
		again := p.Do(http.MethodPost, x.path+"?dry_run=true", x.body, "Idempotency-Key", "key-0").Want(t, http.StatusOK)
		if again.Body == a.Body || !strings.Contains(again.Body, `"dryRun":true`) {
			t.Errorf("the key answered: %s", again)
		}
		if replay := p.Do(http.MethodPost, x.path, x.body, "Idempotency-Key", "key-0"); replay.Body != a.Body {
			t.Errorf("replayed %s", replay)
		}
		if _, err := p.App.Companies.SetLive(t.Context(), operator.Local("test"), p.Reference, false); err != nil {
			t.Fatal(err)
		}
		for _, x := range all {
			p.Do(http.MethodPost, x.path+"?dry_run=true", x.body).Want(t, http.StatusForbidden)
		}
	})
}

// unchanged fails the test unless two snapshots of a database are equal.
func unchanged(t *testing.T, whose string, before, after map[string][]string) {
	t.Helper()
	for table := range after {
		if !slices.Equal(before[table], after[table]) {
			t.Errorf("%s: %s changed, from %d rows to %d:\n%s\n%s", whose, table, len(before[table]), len(after[table]),
				strings.Join(before[table], "\n"), strings.Join(after[table], "\n"))
		}
	}
}
