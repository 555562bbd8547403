package console_test

import (
	"encoding/csv"
	"fmt"
	"html"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/operator"
	who "github.com/kobo-waas/kobo/internal/person"
	"github.com/kobo-waas/kobo/internal/provider"
)

// ofMoney are the pages about money and the system.
var ofMoney = []string{
	"/console/overview", "/console/money", "/console/money/runs", "/console/money/adjustments", "/console/money/revenue", "/console/money/fees", "/console/money/days", "/console/system", "/console/system/jobs",
	"/console/payments/crypto", "/console/system/providers/safehaven", "/console/system/audit", "/console/system/settings",
}

// plant writes a row, or changes rows.
func (w *world) plant(statement string, args ...any) {
	w.t.Helper()
	if n, err := w.app.DB.Exec(w.t.Context(), statement, args...); err != nil || n == 0 {
		w.t.Fatal(n, err)
	}
}

var inlined = regexp.MustCompile(`(?i)<script>|<style|\sstyle=|\son[a-z]+=|(src|href|action)="https?://`)

// Every operator reads these pages. None has an inline script or style, or another origin.
func TestEveryOperatorReadsTheSystem(t *testing.T) {
	each(t, func(w *world) {
		stranger := &person{world: w, name: "a stranger"}
		for role, p := range map[operator.Role]*person{operator.Viewer: w.add("vera", operator.Viewer), operator.Admin: w.signIn("dev")} {
			for _, path := range ofMoney {
				text := p.read(path)
				if found := inlined.FindString(text); found != "" {
					t.Errorf("%s as %s has %q", path, role, found)
				}
			}
		}
		for _, path := range append([]string{"/console/system/audit.csv", "/console/money/revenue.csv", "/console/money/days.csv"}, ofMoney...) {
			if g := stranger.get(path); g.status != http.StatusSeeOther || strings.Contains(g.text, "operator.key.issue") {
				t.Errorf("a stranger reads %s: %d", path, g.status)
			}
		}
		vera := w.signIn("vera")
		for path, status := range map[string]int{
			"/console/overview?state=x": http.StatusBadRequest, "/console/system/providers/nobody": http.StatusNotFound, "/console/money/runs/none": http.StatusNotFound,
			"/console/system/audit?from=yesterday": http.StatusBadRequest, "/console/money/adjustments?status=LOST": http.StatusBadRequest,
		} {
			if g := vera.get(path); g.status != status {
				t.Errorf("%s: %d, want %d", path, g.status, status)
			}
		}
	})
}

// The overview begins with what needs a person, the worst first, and each line leads to where it is settled.
func TestTheOverviewBeginsWithWhatNeedsAPerson(t *testing.T) {
	each(t, func(w *world) {
		p := w.signIn("dev")
		if text := p.read("/console/overview"); !strings.Contains(text, "Nothing needs a person.") || !strings.Contains(text, "₦1,000,000.00") {
			w.t.Fatal("a new book:", text)
		}
		w.plant(`INSERT INTO operation_case VALUES ('house', 'c1', 's1', 'UNKNOWN_DEBIT', 0, '', -41200000, 'OPEN', '', '', '', 0, '', '', 0, 0, 1, 0, '')`)
		now := w.app.Clock.Now().UnixMicro()
		w.plant(`INSERT INTO report_run VALUES ('house', 'zz', 'safehaven', $1, $1, 3, 0, 0, 0, 0, '[]', 'the bank does not answer', $1)`, now)
		w.plant(`UPDATE job SET last_error = '<b>no</b> answer about 0123456789' WHERE kind = 'report.walk'`)
		w.plant(`INSERT INTO report_hour VALUES ('house', $1, 'payout', 'safehaven', 'paid', 4, 123456)`, w.app.Clock.Now().UnixMicro()/3600e6*3600e6)
		w.plant(`INSERT INTO report_hour VALUES ('house', $1, 'payout', 'safehaven', 'failed', 1, 100)`, w.app.Clock.Now().UnixMicro()/3600e6*3600e6)
		w.plant(`INSERT INTO report_hour VALUES ('house', $1, 'payout', 'safehaven', 'reversed', 1, 100)`, w.app.Clock.Now().UnixMicro()/3600e6*3600e6)
		later(t, func() string {
			text := p.read("/console/overview")
			first, second := strings.Index(text, "/console/cases?reason=UNKNOWN_DEBIT"), strings.Index(text, `href="/console/system/jobs"`)
			for _, want := range []string{
				"₦412,000.00", "₦1,234.56", "66.6% of the decided were paid", "1 failed and 0 unknown",
				"<strong>Safe Haven:</strong> its statement could not be compared", "<strong>Unknown debit:</strong> a debit that nothing of ours asked for, ",
			} {
				if !strings.Contains(text, want) {
					return "lacks " + want
				}
			}
			if first < 0 || second < first {
				return "the order is wrong"
			}
			return ""
		})
	})
}

// Each figure of the overview leads to exactly the payments that it counts: money in clearing by its age, an hour of a chart,
// and a business at a provider. A bar of a chart leads where its cell of the table does.
func TestTheFiguresOfTheOverviewLeadToTheirPayments(t *testing.T) {
	each(t, func(w *world) {
		bola, p := w.seat(w.company.Reference, "bola", who.Finance), w.signIn("dev")
		for _, account := range []string{"0123456710", "0123456710", "0123456708", "0123456701"} { // paid, paid, never known, refused
			bola.sends(account, "100")
		}
		leads := func(text, pattern, words string, payments int) string {
			found := regexp.MustCompile(`<a href="(/console/payments\?[^"]*` + pattern + `[^"]*)">` + words).FindStringSubmatch(text)
			if found == nil {
				return "no link " + pattern + " " + words
			}
			list := p.read(html.UnescapeString(found[1]))
			if n := strings.Count(list, `<a href="/console/p/`); n != payments {
				return fmt.Sprintf("%s leads to %d payments, want %d: %s", found[1], n, payments, list)
			}
			return ""
		}
		later(t, func() string {
			text := p.read("/console/overview")
			for _, l := range []struct {
				pattern, words string
				payments       int
			}{
				{"state=open", "under 1 min", 1},
				{"state=unconfirmed", "1 failed and 1 unknown", 2},
				{"provider=safehaven&amp;state=unconfirmed", "2</a>", 2},
				{"kind=payout&amp;provider=safehaven[^\"]*state=paid", "2</a>", 2},
				{"kind=payout[^\"]*state=paid", `<data[^>]*>₦200.00`, 2},
			} {
				if why := leads(text, l.pattern, l.words, l.payments); why != "" {
					return why
				}
			}
			if !strings.Contains(text, "<strong>66.6%</strong>") || !strings.Contains(text, `data-draw="stack">Airtime, data, TV, power</th>`) {
				return "the share of the payouts is missing: " + text
			}
			return ""
		})
		// The list says which hour it shows, and its form keeps the hour.
		p.says("/console/payments?state=unconfirmed&from=2030-01-02T03:00:00.000Z&to=2030-01-02T03:59:59.999Z", "Wed 2 Jan 2030, 04:00:00 to Wed 2 Jan 2030, 04:59:59", `name="from" type="text" value="2030-01-02T03:00:00.000Z"`, "state: Failed or without an outcome ×")
	})
}

// Credits and deposits on chains are businesses of the overview too. Each of their figures leads to the list that it counts.
func TestTheFiguresOfMoneyInLeadToTheirLists(t *testing.T) {
	each(t, func(w *world) {
		p, ctx, now := w.signIn("dev"), w.t.Context(), w.app.Clock.Now()
		own, err := db.One(ctx, w.app.DB, db.Value[string], `SELECT account_number FROM settlement_bank_account WHERE company_id = $1 ORDER BY account_number LIMIT 1`, w.company.Reference)
		if err != nil {
			w.t.Fatal(err)
		}
		for i, account := range []string{own, own, "0999999999"} {
			in := provider.Inbound{SessionID: fmt.Sprintf("%030d", i), CreditAccount: account, Amount: 150_00, Outcome: provider.Confirmed, At: now, SenderName: "Ada"}
			if err := w.app.Settlements.Receive(ctx, "safehaven", in); err != nil {
				w.t.Fatal(err)
			}
		}
		for i, state := range []string{"completed", "completed", "pending", "failed"} {
			w.plant(`INSERT INTO crypto_transaction (company_id, id, seen, attempt, kind, state, network_id, asset, contract, decimals, units, address, counter, tx_hash, block_number,
				block_hash, custody, misses, lost_at, raw, created_at, updated_at)
				VALUES ($1, $2, $3, 1, 'deposit', $4, 'ethereum', 'USDT', '', 6, '1250000', '0xabc', '', $3, 0, '', '', 0, 0, '{}', $5, $5)`,
				w.company.Reference, 900+i, fmt.Sprintf("0x%064d", i), state, now.UnixMicro())
			outcome := map[string]string{"completed": "paid", "pending": "unknown", "failed": "failed"}[state]
			w.plant(`INSERT INTO report_coin VALUES ('house', $1, 'ethereum', 'USDT', 6, $2, 1, '1250000')
				ON CONFLICT (company_id, hour_at, network_id, asset, decimals, outcome) DO UPDATE SET deposits = 2, units = '2500000'`, now.UnixMicro()/3600e6*3600e6, outcome)
		}
		later(t, func() string {
			text := p.read("/console/overview")
			for _, l := range []struct {
				pattern string
				count   int
			}{
				{`/console/payments\?[^"]*kind=credit[^"]*provider=safehaven&amp;state=received[^"]*`, 2},
				{`/console/payments\?[^"]*kind=credit[^"]*provider=safehaven&amp;state=ownerless[^"]*`, 1},
				{`/console/payments/crypto\?asset=USDT[^"]*network=ethereum&amp;state=completed[^"]*`, 2},
				{`/console/payments/crypto\?asset=USDT[^"]*network=ethereum&amp;state=unconfirmed[^"]*`, 2},
			} {
				found := regexp.MustCompile(`<a href="(` + l.pattern + `)">` + strconv.Itoa(l.count) + `</a>`).FindStringSubmatch(text)
				if found == nil {
					return "no link " + l.pattern
				}
				list := p.read(html.UnescapeString(found[1]))
				if n := strings.Count(list, `<a href="/console/p/`); n != l.count {
					return fmt.Sprintf("%s leads to %d rows, want %d: %s", found[1], n, l.count, list)
				}
			}
			for _, want := range []string{"2.5 USDT", "₦300.00", "66.6%"} {
				if !strings.Contains(text, want) {
					return "lacks " + want
				}
			}
			return ""
		})
		p.says("/console/payments/crypto", "Waits for blocks", "Confirmed", "Not on the chain", "1.25 USDT", w.company.Reference+"-902")
		p.says("/console/payments/crypto?network=tron", "Nothing matches")
		if g := p.get("/console/payments/crypto?state=lost"); g.status != http.StatusBadRequest {
			t.Error(g.status)
		}
	})
}

// later repeats a check until it returns "", because the overview may be five seconds old.
func later(t testing.TB, check func() string) {
	t.Helper()
	why := ""
	for range 200 {
		if why = check(); why == "" {
			return
		}
		<-tick(t)
	}
	t.Fatal(why)
}

// A failing job shows its trouble without numbers and without markup. The role support runs it once, and the
// audit log says who.
func TestSupportRunsAFailingJob(t *testing.T) {
	each(t, func(w *world) {
		w.plant(`UPDATE job SET last_error = '<b>no</b> answer about 0123456789', run_at = $1 WHERE kind = 'evidence.sign'`, w.app.Clock.Now().UnixMicro()+240e6)
		viewer, support := w.add("vera", operator.Viewer), w.add("sam", operator.Support)
		text := viewer.read("/console/system/jobs")
		if strings.Contains(text, "0123456789") || strings.Contains(text, "<b>no") || !strings.Contains(text, "Sign the proof") || strings.Contains(text, "/run\"") {
			t.Error("as a viewer:", text)
		}
		to := regexp.MustCompile(`/console/system/jobs/[^/"]+/run`).FindString(support.read("/console/system/jobs"))
		if to == "" {
			w.t.Fatal("no form for the role support")
		}
		form := viewer.form("/console/cases", nil)
		if g := viewer.send(to, form); g.status != http.StatusForbidden {
			t.Errorf("as a viewer: %d", g.status)
		}
		form = support.form("/console/system/jobs", nil)
		for range 2 { // a double click
			if g := support.send(to, form); g.status != http.StatusSeeOther {
				t.Errorf("%d, %s", g.status, g.text)
			}
		}
		lines, err := csv.NewReader(strings.NewReader(auditExport(w))).ReadAll()
		if err != nil {
			w.t.Fatal(err)
		}
		runs := 0
		for _, l := range lines {
			if l[4] == "job.run" && l[2] == "sam" {
				runs++
			}
		}
		if runs != 1 {
			t.Errorf("%d lines about the run", runs)
		}
	})
}

func auditExport(w *world) string {
	w.t.Helper()
	p := w.signIn("dev")
	g := p.get("/console/system/audit.csv?operator=sam")
	if g.status != http.StatusOK || !strings.HasPrefix(g.header.Get("Content-Disposition"), "attachment") {
		w.t.Fatalf("the export: %d, %s", g.status, g.text)
	}
	if g := p.get("/console/system/audit.csv?from=never"); g.status != http.StatusBadRequest {
		w.t.Errorf("a wrong filter: %d", g.status)
	}
	return g.text
}

// No page shows a secret of the program.
func TestTheSettingsHaveNoSecret(t *testing.T) {
	w := open(t)
	text := w.signIn("dev").read("/console/system/settings")
	for _, secret := range []string{w.company.AdminKey, w.company.APIKey, w.company.PIN + "<"} {
		if strings.Contains(text, secret) {
			t.Errorf("the settings have %q", secret)
		}
	}
	for _, name := range []string{"vtpass.secret_key", "master_key_file", "four_eyes"} {
		if !strings.Contains(text, name) {
			t.Errorf("the settings lack %s", name)
		}
	}
}

// A payment with an open case is a case, and not one more unknown payment. So a link to the unknown payments leads to as many as its figure says.
func TestAPaymentWithACaseIsNotCountedAsUnknownToo(t *testing.T) {
	each(t, func(w *world) {
		p := w.signIn("dev")
		decided, unknown := w.payout("0123456708", 200), w.payout("0123456708", 300)
		w.caseAbout(w.company.Reference, decided, operation.Unresolved)
		leads := func(text string, references []string, patterns ...string) string {
			for _, pattern := range patterns {
				found := regexp.MustCompile(pattern).FindStringSubmatch(text)
				if found == nil {
					return "no link " + pattern + ": " + text
				}
				list := p.read(html.UnescapeString(found[1]))
				for _, r := range references {
					if !strings.Contains(list, "/console/p/"+r) {
						return found[1] + " lacks " + r
					}
				}
				if n := strings.Count(list, `<a href="/console/p/`); n != len(references) {
					return fmt.Sprintf("%s leads to %d payments, want %d", found[1], n, len(references))
				}
			}
			return ""
		}
		later(t, func() string {
			text := p.read("/console/overview")
			if !strings.Contains(text, ">1 case</span>") || !strings.Contains(text, "<strong>1 payment</strong> at Safe Haven") {
				return "the case or the unknown payment is missing: " + text
			}
			if why := leads(text, []string{unknown}, `href="(/console/payments\?state=unknown&amp;provider=safehaven)"`, `<a href="(/console/payments\?state=unknown)">1 unknown</a>`); why != "" {
				return why
			}
			return leads(text, []string{decided, unknown}, `<a href="(/console/payments\?state=open)">All 2 without an outcome</a>`)
		})
		p.says("/console/system/providers/safehaven", `up to 5 min</th><td class="number">1</td>`)
		if why := leads(p.read("/console/system/providers/safehaven"), []string{unknown}, `href="(/console/payments\?state=unknown&amp;provider=safehaven)"`); why != "" {
			t.Error(why)
		}
		w.caseAbout(w.company.Reference, unknown, operation.Unresolved)
		later(t, func() string {
			text := p.read("/console/overview")
			if !strings.Contains(text, ">2 cases</span>") || !strings.Contains(text, ">0 unknown</a>") || strings.Contains(text, "state=unknown&amp;provider=") {
				return "the second payment with a case: " + text
			}
			return ""
		})
	})
}
