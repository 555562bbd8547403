package console_test

import (
	"net/http"
	"strings"
	"testing"

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
