package console_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/operator"
)

// The page of revenue shows the sums of the period with the margin of each day, by service and by company, and
// the file has the same rows.
func TestFinanceSeesWhatADayEarned(t *testing.T) {
	each(t, func(w *world) {
		company := w.company.Reference
		w.plant(`INSERT INTO report_revenue VALUES ($1, 21915, 'payout', 'safehaven', 12345600, 50, 2000000, 48)`, company)
		w.plant(`INSERT INTO report_revenue VALUES ('house', 21915, '', 'safehaven', 0, 0, 50000, 1)`)
		w.plant(`INSERT INTO report_revenue_total VALUES ('house', 21915, 'payout', 'safehaven', 12345600, 50, 2000000, 48)`)
		w.plant(`INSERT INTO report_revenue_total VALUES ('house', 21915, '', 'safehaven', 0, 0, 50000, 1)`)
		p := w.add("vera", operator.Viewer)
		text := p.read("/console/money/revenue?from=2030-01-01&to=2030-01-02")
		for _, want := range []string{
			"₦123,456.00", "₦20,500.00", "<h2>Margin ₦102,956.00</h2>", "Tue 1 Jan", "Payouts", "Other bookings", "−₦500.00", "No company",
			`href="/console/money/revenue?company=` + company, `href="/console/money/revenue.csv?from=2030-01-01&amp;to=2030-01-02"`,
		} {
			if !strings.Contains(text, want) {
				t.Errorf("lacks %s: %s", want, text)
			}
		}
		text = p.read("/console/money/revenue?from=2030-01-01&to=2030-01-02&company=" + company)
		if strings.Contains(text, "By company") || !strings.Contains(text, "<h2>Margin ₦103,456.00</h2>") {
			t.Error("of one company:", text)
		}
		g := p.get("/console/money/revenue.csv?from=2030-01-01&to=2030-01-02")
		for _, want := range []string{"Day (Lagos),Company,", "2030-01-01," + company + ",", ",payout,safehaven,123456.00,50,20000.00,48,103456.00\n", "2030-01-01,house,,none,safehaven,0.00,0,500.00,1,-500.00\n"} {
			if !strings.Contains(g.text, want) {
				t.Errorf("the file lacks %q: %s", want, g.text)
			}
		}
		for path, status := range map[string]int{
			"/console/money/revenue?from=x": http.StatusBadRequest, "/console/money/revenue?from=2030-01-02&to=2030-01-01": http.StatusBadRequest,
			"/console/money/revenue?company=nobody": http.StatusNotFound, "/console/money/revenue.csv?company=nobody": http.StatusNotFound,
		} {
			if g := p.get(path); g.status != status {
				t.Errorf("%s: %d, want %d", path, g.status, status)
			}
		}
	})
}

// The days of a bank say what differs and what to do about it, with the present state of the case, and the
// file has the same figures.
func TestFinanceSeesWhatADayLacks(t *testing.T) {
	each(t, func(w *world) {
		w.plant(`INSERT INTO operation_case VALUES ('house', 'c1', 'safehaven/x', 'UNKNOWN_DEBIT', 0, '', 10000, 'RESOLVED', 'dismissed', '', '', 0, 'a', 'b', 0, 0, 1, 0, '')`)
		w.plant(`INSERT INTO report_bank_day VALUES ('house', 'safehaven', 21915, 'r1', 12, 50000, 70000, -11075, 2, 0,
			'[{"Reason":"UNKNOWN_DEBIT","Company":"house","Subject":"safehaven/x","Bank":100,"Book":0,"Detail":"a debit of ₦5000.00 at safehaven <b>debit</b>","At":"2030-01-01T10:00:00Z","Case":"c1","Effect":-100},
			{"Reason":"UNBOOKED_CHARGE","Company":"house","Subject":"safehaven/2030-01-01","Bank":10.75,"Book":0,"Detail":"charges","At":"2029-12-31T23:00:00Z","Case":"c2","Effect":-10.75}]', 1893452645000000)`)
		w.plant(`INSERT INTO operation_case VALUES ('house', 'c3', 'safehaven/2030-01-02', 'UNBOOKED_CHARGE', 0, '', 400, 'RESOLVED', 'booked', '', '', 0, 'a', 'b', 0, 0, 1, 0, '')`)
		w.plant(`INSERT INTO report_bank_day VALUES ('house', 'safehaven', 21916, 'r1', 2, 0, 2050, -2050, 1, 1,
			'[{"Reason":"UNBOOKED_CHARGE","Company":"house","Subject":"safehaven/2030-01-02","Bank":20.5,"Book":0,"Detail":"charges","At":"2030-01-01T23:00:00Z","Case":"c3","Effect":-20.5}]', 1893452645000000)`)
		p := w.add("vera", operator.Viewer)
		address := "/console/money/days?from=2030-01-01&to=2030-01-02"
		text := p.read(address)
		for _, want := range []string{
			"Tue 1 Jan", "−₦200.00", "−₦89.25", "<strong>−₦110.75</strong>", "−₦10.75 not explained", "1 difference", "A debit of ₦5,000.00 at Safe Haven &lt;b&gt;debit", "Tue 1 Jan 2030 to Wed 2 Jan 2030",
			"Two people have decided: dismissed.", "−₦16.50 not explained", "The decision was about −₦4.00.", "two people decide “booked”", `href="/console/cases/c2"`, `href="/console/money/runs/r1"`,
			`href="/console/money/days.csv?from=2030-01-01&amp;to=2030-01-02"`,
		} {
			if !strings.Contains(text, want) {
				t.Errorf("lacks %s: %s", want, text)
			}
		}
		if strings.Contains(text, "All explained") || strings.Count(text, "To explain") != 2 {
			t.Error("a part of a difference counts as the whole:", text)
		}
		if text := p.read(address + "&provider=other"); !strings.Contains(text, "Nothing matches.") {
			t.Error("of another bank:", text)
		}
		if g := p.get("/console/money/days.csv?from=2030-01-01&to=2030-01-02"); !strings.Contains(g.text, "2030-01-01,safehaven,DAY,-200.00,-89.25,-110.75,-100.00,") || !strings.Contains(g.text, ",UNBOOKED_CHARGE,10.75,0.00,-10.75,") {
			t.Error("the file:", g.text)
		}
		for _, path := range []string{"/console/money/days?from=x", "/console/money/days?from=2029-01-01&to=2030-01-01", "/console/money/days.csv?to=x"} {
			if g := p.get(path); g.status != http.StatusBadRequest {
				t.Errorf("%s: %d", path, g.status)
			}
		}
	})
}

// A difference was decided for less than it is. The page promises the next comparison for a day that it will cover, and otherwise names the
// command that compares the day.
func TestTheRestOfAnOldDayIsComparedByACommand(t *testing.T) {
	each(t, func(w *world) {
		p := w.add("vera", operator.Viewer)
		today := (time.Now().Unix() + 60*60) / (24 * 60 * 60) // in Lagos
		for age, want := range map[int64]string{
			2: "The next comparison opens another case.", 29: "The next comparison opens another case.",
			30: "The command “kobo reconcile --days 31” compares it again", 40: "The command “kobo reconcile --days 41” compares it again",
		} {
			day, id := time.Unix((today-age)*24*60*60, 0).UTC().Format(time.DateOnly), fmt.Sprint("old", age)
			w.plant(`INSERT INTO operation_case VALUES ('house', $1, $1, 'UNBOOKED_CHARGE', 0, '', 400, 'RESOLVED', 'booked', '', '', 0, 'a', 'b', 0, 0, 1, 0, '')`, id)
			w.plant(`INSERT INTO report_bank_day VALUES ('house', 'safehaven', $1, 'r1', 2, 0, 2050, -2050, 1, 1, $2, 0)`, today-age, fmt.Sprintf(
				`[{"Reason":"UNBOOKED_CHARGE","Company":"house","Subject":"s","Bank":20.5,"Book":0,"Detail":"charges","At":"2030-01-01T23:00:00Z","Case":%q,"Effect":-20.5}]`, id))
			text := p.read("/console/money/days?from=" + day + "&to=" + day)
			if !strings.Contains(text, "The decision was about −₦4.00.") || !strings.Contains(text, want) || strings.Contains(text, "The next comparison") != (age < 30) {
				t.Errorf("after %d days: %s", age, text)
			}
		}
	})
}

// The page of fees shows the schedule in force of each company, and leads to its change or to the proposal that
// waits for a second person.
func TestFinanceSeesTheFeesOfEachCompany(t *testing.T) {
	each(t, func(w *world) {
		fee := func(version string, from, flat, points, most int64) {
			w.plant(`INSERT INTO payout_fee (company_id, version, from_kobo, flat_kobo, basis_points, cap_kobo, created_at) VALUES ($1, $2, $3, $4, $5, $6, 1893452645000000)`,
				w.company.Reference, version, from, flat, points, most)
		}
		fee("v1", 0, 99_00, 0, 0)
		fee("v2", 0, 10_00, 0, 0)
		fee("v2", 5000_00, 25_00, 10, 2000_00)
		path := "/console/companies/" + w.company.Reference
		text := w.add("fay", operator.Finance).read("/console/money/fees")
		for _, want := range []string{"from ₦0.00: ", "from ₦5,000.00: ", "₦25.00 + 0.10 %, at most ₦2,000.00", `href="` + path + `/change/fees"`, `href="` + path + `/terms"`} {
			if !strings.Contains(text, want) {
				t.Errorf("lacks %s: %s", want, text)
			}
		}
		vera := w.add("vera", operator.Viewer)
		if text = vera.read("/console/money/fees"); strings.Contains(text, "/change/fees") || strings.Contains(text, "₦99.00") || !strings.Contains(text, "the role finance changes fees") {
			t.Error("as a viewer:", text)
		}
		w.plant(`INSERT INTO operator_proposal (id, company, acts, state, proposed_by, decided_by, note, created_at, expires_at, decided_at, act_count)
			VALUES ('p1', $1, '[{"Operation":"setFees"}]', 'PROPOSED', 'fay', '', '', $2, $3, 0, 1)`,
			w.company.Reference, w.app.Clock.Now().UnixMicro(), w.app.Clock.Now().UnixMicro()+3600e6)
		if text = vera.read("/console/money/fees"); !strings.Contains(text, `href="/console/proposals/p1"`) {
			t.Error("with a proposal:", text)
		}
	})
}
