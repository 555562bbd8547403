package console_test

import (
	"html"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	who "github.com/kobo-waas/kobo/internal/person"
)

// A list of payments begins with the last seven days of Lagos, and says so. An open payment and a reference are found however old
// they are. The files have what the list has.
func TestAListBeginsWithTheLastSevenDays(t *testing.T) {
	each(t, func(w *world) {
		bola, dev := w.seat(w.company.Reference, "bola", who.Finance), w.signIn("dev")
		fields := map[string]string{"bank_code": "000013", "account_number": "0123456710", "amount": "100", "fromSettlementId": "1", "pin": w.company.PIN, "externalReference": "OLD-1"}
		to := bola.submit("/app/payouts/new", "/app/payouts/check", fields).location
		paid := strings.TrimPrefix(bola.submit(to, to, nil).location, "/app/p/")
		open := w.payout("0123456708", 200) // the bank accepts it, and never says more
		bola.says("/app/payouts", paid, open, "The last 7 days.", `href="/app/payouts?period=all"`, "Download all, the last 7 days (CSV)")
		w.advance(5*24*time.Hour + time.Minute) // within the seven days
		bola.says("/app/payouts", paid)
		w.advance(2 * 24 * time.Hour)
		recent := w.payout("0123456710", 300)

		for _, list := range []string{"/app/payouts", "/app/payouts?status=SUCCESS", "/app/money/ledger", "/console/payments", "/console/payments?kind=payout"} {
			p := bola
			if strings.HasPrefix(list, "/console") {
				p = dev
			}
			and := "?"
			if strings.Contains(list, "?") {
				and = "&"
			}
			p.says(list, recent, "The last 7 days.", "Show all")
			p.lacks(list, paid, open)
			text := p.says(list+and+"period=all", recent, paid, "All time.", "Show the last 7 days")
			if strings.Contains(text, "Show all") {
				t.Errorf("%s leads to itself", list)
			}
		}
		bola.says("/app/payouts?externalReference=OLD-1", paid, "this looks for one thing")
		bola.says("/app/payouts?status=PENDING", open, "All time, because an open payment can be old.")
		for _, state := range []string{"open", "unknown", "unconfirmed"} {
			dev.says("/console/payments?state="+state, "All time, because an open payment can be old.")
		}
		for _, list := range []string{"/app/payouts", "/console/payments"} {
			p := bola
			if strings.HasPrefix(list, "/console") {
				p = dev
			}
			p.says(list+"?from=2029-03-02&to=2029-03-01", "The first day, Fri 2 Mar 2029, is after the last one, Thu 1 Mar 2029, so nothing can be here.")
			p.lacks(list+"?from=2029-03-01&to=2029-03-01", "so nothing can be here")
		}
		today := time.Now()
		for _, a := range []struct {
			path string
			rows int
		}{{"/app/payouts.csv", 1}, {"/app/payouts.csv?period=all", 3}, {"/app/payouts.csv?status=PENDING", 1}, {"/app/payouts.csv?to=2020-01-01", 0}} {
			if rows := bola.rowsOf(a.path); len(rows) != a.rows {
				t.Errorf("%s: %v", a.path, rows)
			}
		}
		named := func(p *person, path string) string { return p.get(path).header.Get("Content-Disposition") }
		lagos := today.Add(7*24*time.Hour + time.Hour).UTC()
		for path, want := range map[string]string{
			"/app/payouts.csv":                          "payouts-" + lagos.AddDate(0, 0, -6).Format(time.DateOnly) + "-to-" + lagos.Format(time.DateOnly) + ".csv",
			"/app/payouts.xlsx?period=all":              "payouts-all-to-" + lagos.Format(time.DateOnly) + ".xlsx",
			"/app/money.csv?from=2030-01-02":            "credits-2030-01-02-to-" + lagos.Format(time.DateOnly) + ".csv",
			"/app/services/purchases.csv?to=2029-12-31": "purchases-all-to-2029-12-31.csv",
		} {
			if name := named(bola, path); !strings.Contains(name, want) {
				t.Errorf("%s: %s, want %s", path, name, want)
			}
		}
		for _, list := range []string{"/app/money", "/app/services/purchases", "/app/services/crypto"} {
			bola.says(list, "Nothing in the last 7 days.", "Show all")
			if text := html.UnescapeString(bola.read(list + "?period=all")); strings.Contains(text, "in the last 7 days.") || strings.Contains(text, "Nothing matches") {
				t.Errorf("%s: %s", list, text)
			}
		}
		bola.says("/app/developers/requests", "The last 7 days.")
		dev.says("/console/payments/crypto?state=pending", "All time, because an open payment can be old.")
		bola.lacks("/app/customers", "The last 7 days.")
		if g := bola.get("/app/payouts?period=year"); g.status != http.StatusBadRequest {
			t.Errorf("%d", g.status)
		}
	})
}

// A list whose whole length is known without counting ends where the last seven days end. No page leads further.
func TestALongListEndsWithTheLastSevenDays(t *testing.T) {
	w := open(t)
	bola := w.seat(w.company.Reference, "bola", who.Finance)
	at := bola.counter("Airtime")
	buy := func(times int) {
		for range times {
			sale := bola.submit(at.path, "/app/services/purchases/check", map[string]string{"settlementId": "1", "service": at.service, "category": at.category, "number": "08031234510", "amount": "50"}).location
			bola.submit(sale, sale, nil)
		}
	}
	const list = "/app/services/purchases"
	rows := func(path string) int { return strings.Count(bola.read(path), "<tr data-row>") }
	buy(52)
	w.advance(8 * 24 * time.Hour)
	bola.says(list, "Nothing in the last 7 days.")
	buy(52)
	mark := regexp.MustCompile(`<tr data-row>[\s\S]*?href="/app/p/([^"]+)"`)
	if n, all := rows(list), bola.follow(list, mark, func() {}); n != 50 || len(all) != 52 {
		t.Errorf("%d rows, and %d on all pages", n, len(all))
	}
	if all := bola.follow(list+"?period=all", mark, func() { buy(1) }); len(all) != 104 {
		t.Errorf("%d rows of all time", len(all))
	}
	if rows := bola.rowsOf(list + ".csv"); len(rows) != 54 {
		t.Errorf("%d rows in the file", len(rows))
	}
	if all := bola.follow(list+"?status=SUCCESS", mark, func() {}); len(all) != 54 {
		t.Errorf("%d rows of a state", len(all))
	}
}

// A list that begins with the last seven days leads to the payments without an outcome of all time, also if it is empty. Otherwise an old
// open payment looks as if it did not exist.
func TestAListOfSevenDaysLeadsToOlderOpenPayments(t *testing.T) {
	each(t, func(w *world) {
		bola, dev := w.seat(w.company.Reference, "bola", who.Finance), w.signIn("dev")
		open := w.payout("0123456708", 200)
		at := bola.counter("Airtime")
		sale := bola.submit(at.path, "/app/services/purchases/check", map[string]string{"settlementId": "1", "service": at.service, "category": at.category, "number": "08031234508", "amount": "50"}).location
		bought := strings.TrimPrefix(bola.submit(sale, sale, nil).location, "/app/p/")
		leads := func(p *person, list, path, reference string, links int) {
			link := `<a href="` + path + `">All without an outcome</a>`
			if text := html.UnescapeString(p.read(list)); strings.Count(text, link) != links {
				w.t.Errorf("%s has not %d times %s: %s", list, links, link, text)
			}
			p.says(path, reference, "All time, because an open payment can be old.")
			p.lacks(path, "All without an outcome")
		}
		for _, links := range []int{1, 2} { // an empty list has the link beside its sentence too
			leads(bola, "/app/payouts", "/app/payouts?status=PENDING", open, links)
			leads(bola, "/app/payouts?status=SUCCESS", "/app/payouts?status=PENDING", open, 2)
			leads(bola, "/app/services/purchases", "/app/services/purchases?status=PENDING", bought, links)
			leads(dev, "/console/payments", "/console/payments?state=open", open, links)
			leads(dev, "/console/payments?kind=vtu", "/console/payments?kind=vtu&state=open", bought, links)
			w.advance(4 * 24 * time.Hour)
			w.advance(4 * 24 * time.Hour)
		}
		bola.lacks("/app/money", "All without an outcome")
		dev.lacks("/console/payments/crypto", "All without an outcome")
	})
}
