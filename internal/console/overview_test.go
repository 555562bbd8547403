package console_test

import (
	"encoding/csv"
	"fmt"
	"html"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/kobo-waas/kobo/internal/operator"
	who "github.com/kobo-waas/kobo/internal/person"
)

// ofMoney are the pages about money and the system.
var ofMoney = []string{
	"/console/overview", "/console/money", "/console/money/runs", "/console/money/adjustments", "/console/money/revenue", "/console/money/fees", "/console/money/days", "/console/system", "/console/system/jobs",
	"/console/system/providers/safehaven", "/console/system/audit", "/console/system/settings",
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
			t.Fatal("a new book:", text)
		}
		w.plant(`INSERT INTO operation_case VALUES ('house', 'c1', 's1', 'UNKNOWN_DEBIT', 0, '', -41200000, 'OPEN', '', '', '', 0, '', '', 0, 0, 1, 0, '')`)
		w.plant(`UPDATE job SET last_error = '<b>no</b> answer about 0123456789' WHERE kind = 'report.walk'`)
		w.plant(`INSERT INTO report_hour VALUES ('house', $1, 'payout', 'safehaven', 'paid', 4, 123456)`, w.app.Clock.Now().UnixMicro()/3600e6*3600e6)
		w.plant(`INSERT INTO report_hour VALUES ('house', $1, 'payout', 'safehaven', 'failed', 1, 100)`, w.app.Clock.Now().UnixMicro()/3600e6*3600e6)
		later(t, func() string {
			text := p.read("/console/overview")
			first, second := strings.Index(text, "/console/cases?reason=UNKNOWN_DEBIT"), strings.Index(text, `href="/console/system/jobs"`)
			for _, want := range []string{"₦412,000.00", "₦1,234.56", "80.0% of the decided were paid", "1 failed and 0 unknown"} {
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
		if strings.Contains(text, "0123456789") || strings.Contains(text, "<b>no") || !strings.Contains(text, "Evidence sign") || strings.Contains(text, "/run\"") {
			t.Error("as a viewer:", text)
		}
		to := regexp.MustCompile(`/console/system/jobs/[^/"]+/run`).FindString(support.read("/console/system/jobs"))
		if to == "" {
			t.Fatal("no form for the role support")
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
		lines, err := csv.NewReader(strings.NewReader(viewerExport(w))).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		runs := 0
		for _, l := range lines {
			if l[3] == "job.run" && l[1] == "sam" {
				runs++
			}
		}
		if runs != 1 {
			t.Errorf("%d lines about the run", runs)
		}
	})
}

func viewerExport(w *world) string {
	w.t.Helper()
	p := w.signIn("vera")
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
