package console_test

import (
	"fmt"
	"html"
	"strings"
	"testing"

	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operation"
	who "github.com/kobo-waas/kobo/internal/person"
)

// The second person of a company sees the first five lines of a bulk payout, what all its lines cost, and a link to the others. A bad
// line is not sent, so it is not among them.
func TestAnApprovalShowsTheFirstLinesOfABulkPayout(t *testing.T) {
	each(t, func(w *world) {
		ada, fola := w.seat(w.company.Reference, "ada", who.Owner), w.seat(w.company.Reference, "fola", who.Finance)
		w.costs(25 * money.Naira)
		if g := ada.require("150"); g.location != "/app/approvals" {
			w.t.Fatal(g.text)
		}
		approves := func(lines []string, good string) string {
			t.Helper()
			at := fola.submit("/app/payouts/bulk/new", "/app/payouts/bulk/new", map[string]string{
				"fromSettlementId": "1", "pin": w.company.PIN, "lines": strings.Join(lines, "\n"),
			}).location
			later(t, func() string {
				if text := html.UnescapeString(fola.read(at)); !strings.Contains(text, "Ask a second person to approve "+good) {
					return text
				}
				return ""
			})
			waits := fola.submit(at, at+"/send", map[string]string{"pin": w.company.PIN}).approval(t)
			text := ada.says(waits, `<a href="`+at+`">Read the `, "Who is paid")
			_, table, _ := strings.Cut(text, "Who is paid")
			table, decide, _ := strings.Cut(table, "</section>")
			if !strings.Contains(decide, "Approve and send") {
				t.Errorf("the lines stand behind the decision: %s", text)
			}
			return table
		}
		lines := []string{"999999,0123456701,5"} // no bank has the code
		for n := range 6 {
			lines = append(lines, fmt.Sprintf("000013,012345671%d,10%d", n, n))
		}
		table := approves(lines, "₦615.00")
		for _, want := range []string{
			"The first 5 of 6 lines", "6 lines: ₦615.00 in all, and ₦150.00 of fees.", ">0123456710<", ">0123456714<", "₦104.00", `data-label="Bank">Guaranty Trust Bank<`,
		} {
			if !strings.Contains(table, want) {
				t.Errorf("no %q in %s", want, table)
			}
		}
		if strings.Contains(table, "0123456715") || strings.Contains(table, "0123456701") || strings.Count(table, "<tr data-row>") != 5 {
			t.Error(table)
		}
		if table := approves([]string{"000013,0123456717,170"}, "₦170.00"); !strings.Contains(table, "All that is sent") || !strings.Contains(table, "1 line: ₦170.00 in all") {
			t.Error(table)
		}
	})
}

// While a bulk payout waits for the second person, its lines may be paid otherwise, or an earlier payout may come into doubt. The page of
// the approval looks again.
func TestAnApprovalOfABulkPayoutWarnsOfWhatCameLater(t *testing.T) {
	each(t, func(w *world) {
		ada, fola := w.seat(w.company.Reference, "ada", who.Owner), w.seat(w.company.Reference, "fola", who.Finance)
		refunded := strings.TrimPrefix(fola.sends("0123456701", "100").location, "/app/p/")
		if g := ada.require("150"); g.location != "/app/approvals" {
			w.t.Fatal(g.text)
		}
		at := fola.submit("/app/payouts/bulk/new", "/app/payouts/bulk/new", map[string]string{
			"fromSettlementId": "1", "pin": w.company.PIN, "lines": "000013,0123456701,100\n000013,0123456710,90",
		}).location
		later(t, func() string {
			if text := html.UnescapeString(fola.read(at)); !strings.Contains(text, "Ask a second person to approve ₦190.00") {
				return text
			}
			return ""
		})
		waits := fola.submit(at, at+"/send", map[string]string{"pin": w.company.PIN}).approval(t)
		ada.lacks(waits, "May be paid twice", "May be paid already")
		fola.sends("0123456710", "90")
		ada.says(waits, "May be paid twice", ">1 line</a>")
		ada.lacks(waits, "May be paid already")
		w.caseAbout(w.company.Reference, refunded, operation.Contradiction)
		ada.says(waits, "May be paid twice", ">2 lines</a>", "May be paid already", "1 line of these, of a payout whose outcome is in doubt")
		ada.says(at, "whose outcome is in doubt: it may have been paid already")
	})
}
