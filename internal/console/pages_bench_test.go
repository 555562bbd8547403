package console_test

import (
	"context"
	"fmt"
	"html"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/apptest"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/bulk"
	"github.com/kobo-waas/kobo/internal/fault"
	who "github.com/kobo-waas/kobo/internal/person"
)

// BenchmarkPages reads one page of each kind, also with each filter that a link has, on a big PostgreSQL database.
// KOBO_TEST_FILL is the number of entries in the ledger, and KOBO_TEST_COMPANIES the number of companies. One company
// has nearly all entries. Each other one has the rows of the development company: payouts, a credit, a purchase, a
// customer. Each company has two open cases about altered rows.
//
//	KOBO_TEST_FILL=10000000 KOBO_TEST_COMPANIES=10000 go test -run '^$' -bench Pages -benchtime 200x -timeout 3h ./internal/console
func BenchmarkPages(b *testing.B) {
	entries, companies := setting(b, "KOBO_TEST_FILL", 4_000), setting(b, "KOBO_TEST_COMPANIES", 20)
	w := openOn(b, apptest.NewHome(b, db.Postgres))
	w.trade(b)
	id := w.buy(b, "pages-fill")
	w.clone(b, companies-1)
	w.alter(b)
	began := time.Now()
	t := bulk.Template{Company: w.company.Reference, Operation: id, Key: "pages-fill"}
	if err := bulk.Purchases(context.Background(), w.app.DB, t, entries/4, func(done int) {
		fmt.Fprintf(os.Stderr, "\r%d copies after %s ", done, time.Since(began).Round(time.Second))
	}); err != nil {
		b.Fatal(err)
	}
	// Kobo checks a ledger each day, so the page of the proof finds few new entries.
	for {
		_, err := w.app.Reports.Integrity(context.Background(), w.company.Reference)
		if err == nil {
			break
		}
		if !fault.Is(err, fault.Unavailable) {
			b.Fatal(err)
		}
	}
	sides := []struct {
		below  string
		person *person
		first  []string
	}{
		{"/console/", w.signIn("dev"), []string{"/console/overview", "/console/p/" + id, "/console/companies/" + w.company.Reference}},
		{"/app/", w.seat(w.company.Reference, "ada", who.Owner), append([]string{"/app/p/" + id}, appPages...)},
	}
	for _, side := range sides {
		for _, path := range side.person.crawl(side.below, side.first) {
			b.Run(strings.Trim(path, "/"), func(b *testing.B) {
				timed(b, http.StatusOK, func() func() page { return func() page { return side.person.get(path) } })
			})
		}
	}
	ops := sides[0].person
	for _, text := range []string{id, "0803 123 4567", "ngozi okaf", "demo", "08031234510", "8000000012", "nothing-has-this-id"} {
		b.Run("search/"+text, func(b *testing.B) {
			timed(b, http.StatusSeeOther, func() func() page {
				form := ops.form("/console/me", map[string]string{"q": text})
				return func() page { return ops.send("/console/search", form) }
			})
		})
	}
}

// setting returns a number of the environment.
func setting(b *testing.B, name string, otherwise int) int {
	b.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		b.Fatalf("%s is %q", name, text)
	}
	return n
}

var (
	links  = regexp.MustCompile(`<a [^>]*href="([^"]+)"[^>]*>`)
	valued = regexp.MustCompile(`=[^&]*`)
	named  = regexp.MustCompile(`/[^/]*[0-9][^/]*`)
)

// crawl returns the pages to which links lead from the first ones, one of each kind.
func (p *person) crawl(below string, paths []string) []string {
	p.t.Helper()
	kind := func(path string) string {
		bare, query, _ := strings.Cut(path, "?")
		return named.ReplaceAllString(bare, "/*") + valued.ReplaceAllString(query, "=")
	}
	seen := map[string]bool{}
	for _, path := range paths {
		seen[kind(path)] = true
	}
	for n := 0; n < len(paths); n++ {
		for _, found := range links.FindAllStringSubmatch(p.read(paths[n]), -1) {
			link := html.UnescapeString(found[1])
			if strings.HasPrefix(link, below) && link != below && !strings.Contains(found[0], "download") && !seen[kind(link)] {
				seen[kind(link)] = true
				paths = append(paths, link)
			}
		}
	}
	return paths
}

// timed reports the median and the 99th percentile of a request in milliseconds. The first request does not count.
func timed(b *testing.B, status int, prepare func() (ask func() page)) {
	b.Helper()
	prepare()()
	var took []time.Duration
	for b.Loop() {
		ask := prepare()
		began := time.Now()
		g := ask()
		took = append(took, time.Since(began))
		if g.status != status {
			b.Fatalf("%d: %s", g.status, g.text)
		}
	}
	slices.Sort(took)
	for percent, unit := range map[int]string{50: "p50-ms", 99: "p99-ms"} {
		b.ReportMetric(float64(took[(len(took)*percent-1)/100].Microseconds())/1000, unit)
	}
}

// trade lets the development company do a little of everything that the lists show.
func (w *world) trade(b *testing.B) {
	b.Helper()
	w.plantCustomer()
	w.asCompany("POST", "/sandbox/credit", "", map[string]any{"accountNumber": w.company.SettlementAccountNumber, "amount": 500_000_000, "senderName": "BOLA SAMPLE"}, nil)
	for _, story := range []string{"10", "11", "22", "02"} {
		w.payout("01234567"+story, 1_500)
	}
	w.buy(b, "pages-first")
	w.asCompany("POST", "/sandbox/clock", "", map[string]any{"advance": "8m"}, nil)
}

// buy buys airtime for ₦100, and returns the purchase's reference.
func (w *world) buy(b *testing.B, key string) string {
	b.Helper()
	var token struct{ AccessToken string }
	w.asCompany("POST", "/api/v1/auth/generate-token/"+w.company.Reference, "", nil, &token)
	category, err := db.One(b.Context(), w.app.DB, db.Value[string], `SELECT c.id FROM vtu_category AS c JOIN vtu_service AS s ON s.id = c.service_id WHERE s.name = 'Airtime' ORDER BY c.id LIMIT 1`)
	if err != nil {
		b.Fatal(err)
	}
	var bought struct {
		Data struct{ TransactionID string }
	}
	w.asCompany("POST", "/api/v1/vtu/purchase-airtime", token.AccessToken, map[string]any{
		"idempotencyKey": key, "serviceCategoryId": category, "amount": 100, "phoneNumber": "08030000010", "settlementId": w.company.SettlementID,
	}, &bought)
	return bought.Data.TransactionID
}

// clone adds companies with copies of the development company's rows. Each has references of its own.
func (w *world) clone(b *testing.B, companies int) {
	b.Helper()
	ctx := db.WithLongTimeout(b.Context())
	operations, err := db.All(ctx, w.app.DB, db.Value[string], `SELECT id FROM operation WHERE company_id = $1`, w.company.Reference)
	if err != nil {
		b.Fatal(err)
	}
	columns, err := db.All(ctx, w.app.DB, db.Fields[column], `SELECT c.table_name::text, c.column_name::text, c.data_type::text FROM information_schema.columns AS c
		JOIN information_schema.columns AS o ON o.table_schema = 'public' AND o.table_name = c.table_name AND o.column_name = 'company_id'
		WHERE c.table_schema = 'public' AND c.table_name NOT IN ('job', 'deployment', 'settlement_session') ORDER BY 1, c.ordinal_position`)
	if err != nil {
		b.Fatal(err)
	}
	names, values := map[string][]string{}, map[string][]string{}
	for _, c := range columns {
		value := "s." + c.Name
		if c.Kind == "text" {
			for _, id := range operations {
				value = fmt.Sprintf("replace(%s, '%s', substr(md5('%[2]s' || g), 1, %d))", value, id, len(id))
			}
			value = fmt.Sprintf("replace(%s, '%s', left('%[2]s', 1) || substr(md5('%[2]s' || g), 1, %d))", value, w.company.Reference, len(w.company.Reference)-1)
		}
		if c.Table == "settlement_directory" && c.Name == "account_number" {
			value = "CAST(7000000000 + g AS TEXT)"
		}
		names[c.Table], values[c.Table] = append(names[c.Table], c.Name), append(values[c.Table], value)
	}
	err = w.app.DB.Tx(ctx, func(q db.Querier) error {
		if _, err := q.Exec(ctx, `SET LOCAL session_replication_role = replica`); err != nil {
			return err
		}
		for table := range names {
			_, err := q.Exec(ctx, fmt.Sprintf(`INSERT INTO %s (%s) SELECT %s FROM %[1]s AS s CROSS JOIN generate_series(1, $2::int) AS g WHERE s.company_id = $1`,
				table, strings.Join(names[table], ", "), strings.Join(values[table], ", ")), w.company.Reference, companies)
			if err != nil {
				return fmt.Errorf("%s: %w", table, err)
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
}

// alter opens two cases for each company, as after a theft that altered rows of two accounts of each.
func (w *world) alter(b *testing.B) {
	b.Helper()
	_, err := w.app.DB.Exec(b.Context(), `INSERT INTO operation_case (company_id, id, subject, reason, detail, state, amount_kobo, outcome, note, target_company,
			target_settlement, proposed_by, proposed_at, resolved_by, turn, happened_at, created_at, updated_at)
		SELECT c.company_id, md5(c.company_id || a.id), a.id, 'BROKEN_CHAIN', 'Rows of the account were altered.', 'OPEN', 0, '', '', '', 0, '', 0, '', 0, 0, $1::bigint - a.n, $1::bigint - a.n
		FROM company AS c CROSS JOIN (VALUES ('settlement/1', 1), ('clearing/payout', 2)) AS a (id, n) ON CONFLICT DO NOTHING`, time.Now().UnixMicro())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		read, err := w.app.Reports.Overview(context.Background())
		fmt.Fprintln(os.Stderr, "open cases:", read.Cases, err)
	})
}

// column is a column of a table of companies' rows.
type column struct{ Table, Name, Kind string }
