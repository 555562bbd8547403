package console_test

import (
	"html"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/kobo-waas/kobo/internal/db"
	who "github.com/kobo-waas/kobo/internal/person"
)

// A line that cannot be read comes back in a field of its own, and nothing else is changed. The lines of a checked bulk payout can
// be mended: the new bulk payout replaces the old one, unless that was sent.
func TestMendedLinesReplaceABulkPayout(t *testing.T) {
	each(t, func(w *world) {
		bola := w.seat(w.company.Reference, "bola", who.Finance)
		const path = "/app/payouts/bulk/new"
		fields := func(more map[string]string) map[string]string {
			out := map[string]string{"fromSettlementId": "1", "pin": w.company.PIN}
			for name, value := range more {
				out[name] = value
			}
			return out
		}
		ruined := "000013,0123456710,100,Rent,rent-1\n000013,123456720,200\n000013,0123456799,300"
		g := bola.send(path, bola.form(path, fields(map[string]string{"lines": ruined})))
		text := html.UnescapeString(g.text)
		if g.status != http.StatusUnprocessableEntity || !strings.Contains(text, `id="line-2"`) || strings.Contains(text, `id="line-1"`) || !strings.Contains(text, ">"+ruined+"</textarea>") {
			w.t.Fatalf("%d: %s", g.status, text)
		}
		mended := map[string]string{"lines": ruined, "line-2": "000013,0123456720,200", "was-line-2": "000013,123456720,200"}
		first := bola.submit(path, path, fields(mended)).location
		checked := func(at, good string) {
			t.Helper()
			later(t, func() string {
				if text := bola.read(at); !strings.Contains(text, "Waits for you") || !strings.Contains(text, good) {
					return text
				}
				return ""
			})
		}
		checked(first, "Send the 2 good lines")
		id := first[strings.LastIndex(first, "/")+1:]
		form := html.UnescapeString(bola.read(path + "?instead=" + id))
		lines := regexp.MustCompile(`(?s)<textarea[^>]*>(.*?)</textarea>`).FindStringSubmatch(form)
		if lines == nil || lines[1] != "000013,0123456710,100.00,Rent,rent-1\n000013,0123456720,200.00\n000013,0123456799,300.00" || !strings.Contains(form, `id="line-3"`) {
			w.t.Fatalf("%q in %s", lines, form)
		}
		eve := w.seat(w.another(), "eve", who.Owner)
		if g := eve.get(path + "?instead=" + id); g.status != http.StatusNotFound {
			t.Errorf("another company: %d", g.status)
		}
		second := bola.submit(path, path, fields(map[string]string{"instead": id, "lines": lines[1], "line-3": "", "was-line-3": "000013,0123456799,300.00"})).location
		checked(second, "Send the 2 good lines")
		if text := bola.read(first); !strings.Contains(text, "Cancelled") {
			t.Error(text)
		}

		bola.submit(second, second+"/send", map[string]string{"pin": w.company.PIN})
		late := bola.send(path, bola.form(path, fields(map[string]string{"instead": second[strings.LastIndex(second, "/")+1:], "lines": "000013,0123456710,100"})))
		if late.status != http.StatusConflict || !strings.Contains(late.text, "Bulk payout: ") || !strings.Contains(late.text, "The new one was cancelled.") {
			t.Errorf("a bulk payout that was sent: %d to %q, %s", late.status, late.location, late.text)
		}
		if n := w.waitingBulks(); n != 0 {
			t.Errorf("%d bulk payouts wait", n)
		}
	})
}

// waitingBulks returns the number of bulk payouts that somebody may still send.
func (w *world) waitingBulks() int64 {
	w.t.Helper()
	n, err := db.One(w.t.Context(), w.app.DB, db.Value[int64], `SELECT count(*) FROM payout_bulk WHERE company_id = $1 AND state IN ('CHECKING', 'CHECKED')`, w.company.Reference)
	if err != nil {
		w.t.Fatal(err)
	}
	return n
}

// The old bulk payout goes only when the new one is there. If the API refuses the new one, the old one waits as before. After a crash
// between the two, the same form finds the new one, and cancels the old one.
func TestABulkPayoutGoesWhenItsSuccessorIsThere(t *testing.T) {
	each(t, func(w *world) {
		bola, ada := w.seat(w.company.Reference, "bola", who.Finance), w.seat(w.company.Reference, "ada", who.Owner)
		const path = "/app/payouts/bulk/new"
		old := bola.checkedLines()
		fields := map[string]string{"fromSettlementId": "1", "lines": "000013,0123456710,100", "instead": old[strings.LastIndex(old, "/")+1:], "pin": "0000"}
		if g := bola.send(path, bola.form(path, fields)); g.status < 400 || !strings.Contains(g.text, "Nothing was changed") {
			t.Errorf("a wrong PIN: %d to %q", g.status, g.location)
		}
		bola.says(old, "Send ₦150.00")
		if n := w.waitingBulks(); n != 1 {
			t.Errorf("%d bulk payouts wait", n)
		}
		fields["pin"] = w.company.PIN
		form := ada.form(path, fields)
		form.Del("instead")
		crashed := bola.send(path, form) // so far the form had come before the crash
		if crashed.status != http.StatusSeeOther || w.waitingBulks() != 2 {
			w.t.Fatalf("%d, %s", crashed.status, crashed.text)
		}
		form.Set("instead", fields["instead"])
		if again := ada.send(path, form); again.location != crashed.location || w.waitingBulks() != 1 {
			t.Errorf("%d to %q and not to %q, %d wait: %s", again.status, again.location, crashed.location, w.waitingBulks(), again.text)
		}
		bola.says(old, "Cancelled")
	})
}

// The failed lines of a bulk payout may be repeated while another line is not known, and that one may not.
func TestFailedLinesAreRepeatedWithoutTheUnknownOne(t *testing.T) {
	each(t, func(w *world) {
		bola := w.seat(w.company.Reference, "bola", who.Finance)
		at := bola.submit("/app/payouts/bulk/new", "/app/payouts/bulk/new", map[string]string{
			"fromSettlementId": "1", "pin": w.company.PIN, "lines": "000013,0123456701,100\n000013,0123456708,200",
		}).location
		later(t, func() string {
			if text := bola.read(at); !strings.Contains(text, "Waits for you") {
				return text
			}
			return ""
		})
		bola.submit(at, at+"/send", map[string]string{"pin": w.company.PIN})
		later(t, func() string {
			text := bola.read(at)
			lines := regexp.MustCompile(`(?s)<textarea[^>]*>(.*?)</textarea>`).FindStringSubmatch(text)
			if !strings.Contains(text, "Under way") || lines == nil || !strings.Contains(lines[1], "0123456701") || strings.Contains(lines[1], "0123456708") {
				return text
			}
			return ""
		})
	})
}

// The lines of a bulk payout keep the numbers of the file, also after the check and in the form that mends them. Heads of columns and empty lines make the numbers differ from those within the bulk payout.
func TestLinesKeepTheNumbersOfTheirFile(t *testing.T) {
	each(t, func(w *world) {
		bola := w.seat(w.company.Reference, "bola", who.Finance)
		const path = "/app/payouts/bulk/new"
		file := "Bank,Account,Amount\r\n\r\n000013,0123456701,100\r\n000013,0123456710,200\r\n\r\n000013,0123456710,200\r\n000013,0123456799,300\r\n"
		fields := map[string]string{"fromSettlementId": "1", "pin": w.company.PIN, "lines": file}
		at := bola.submit(path, path, fields).location
		numbers := regexp.MustCompile(`data-label="Line" class="number">([0-9]+)<`)
		expect := func(address, state, want string) string {
			t.Helper()
			var text string
			later(t, func() string {
				if text = html.UnescapeString(bola.read(address)); !strings.Contains(text, state) {
					return text
				}
				return ""
			})
			var got []string
			for _, m := range numbers.FindAllStringSubmatch(text, -1) {
				got = append(got, m[1])
			}
			if strings.Join(got, " ") != want {
				w.t.Fatalf("%s: the lines %s, want %s, in %s", address, got, want, text)
			}
			return text
		}
		text := expect(at, "Waits for you", "3 4 6 7")
		if !strings.Contains(text, "the same account and amount as line 4<") || !strings.Contains(text, "The numbers are those of the file") {
			t.Error(text)
		}
		expect(at+"?show=bad", "Waits for you", "7")
		if csv := bola.read(at + "/bad.csv"); !strings.Contains(csv, ",7,") {
			t.Error(csv)
		}
		form := html.UnescapeString(bola.read(path + "?instead=" + at[strings.LastIndex(at, "/")+1:]))
		if !strings.Contains(form, ">\n\n\n000013,0123456701,100.00\n000013,0123456710,200.00\n\n000013,0123456710,200.00\n000013,0123456799,300.00</textarea>") || !strings.Contains(form, `id="line-7"`) {
			t.Error(form)
		}

		bola.submit(at, at+"/send", map[string]string{"pin": w.company.PIN})
		text = expect(at+"?show=failed", "Completed, 1 failed and refunded", "3")
		lines := regexp.MustCompile(`(?s)<textarea[^>]*>(.*?)</textarea>`).FindStringSubmatch(text)
		failed := regexp.MustCompile(`href="(/app/p/[^"]+)"`).FindStringSubmatch(text)
		if failed == nil {
			w.t.Fatal(text)
		}
		bola.says(failed[1], "Line 3 of a bulk payout", at, "Settlement account 1")
		if lines == nil || lines[1] != "000013,0123456701,100.00" {
			w.t.Fatalf("%q in %s", lines, text)
		}
		fields["lines"] = lines[1]
		expect(bola.submit(at, path, fields).location, "Waits for you", "1")
	})
}

// A bulk payout without a good line offers nothing to send.
func TestABulkPayoutWithoutAGoodLineIsNotSent(t *testing.T) {
	w := open(t)
	ada := w.seat(w.company.Reference, "ada", who.Owner)
	at := ada.submit("/app/payouts/bulk/new", "/app/payouts/bulk/new", map[string]string{"fromSettlementId": "1", "pin": w.company.PIN, "lines": "000013,0123456799,100"}).location
	later(t, func() string {
		if text := ada.read(at); !strings.Contains(text, "No line is good") || strings.Contains(text, at+"/send") || !strings.Contains(text, at+"/cancel") {
			return text
		}
		return ""
	})
}
