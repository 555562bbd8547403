package console_test

import (
	"html"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/money"
	who "github.com/kobo-waas/kobo/internal/person"
)

// feesOf returns the fees of the company's payouts.
func (w *world) feesOf() int64 {
	w.t.Helper()
	n, err := db.One(w.t.Context(), w.app.DB, db.Value[int64], `SELECT COALESCE(sum(fee_kobo), 0) FROM operation WHERE company_id = $1 AND kind = 'payout'`, w.company.Reference)
	if err != nil {
		w.t.Fatal(err)
	}
	return n
}

// changed checks a refusal that has both values, and nothing was sent.
func (w *world) changed(g page, both ...string) {
	w.t.Helper()
	text := html.UnescapeString(g.text)
	for _, one := range append(both, "Nothing was sent") {
		if g.status != http.StatusConflict || !strings.Contains(text, one) {
			w.t.Errorf("%d does not say %q: %s", g.status, one, text)
		}
	}
	if w.paid() != 0 {
		w.t.Fatalf("%d payouts were sent", w.paid())
	}
}

// A person sends a payout at the fee that the page has shown, or not at all. The page of the refusal shows the new fee, and sends it.
func TestAPayoutIsSentAtTheFeeThatThePageHasShown(t *testing.T) {
	each(t, func(w *world) {
		bola := w.seat(w.company.Reference, "bola", who.Finance)
		w.costs(25 * money.Naira)
		at := bola.checks("0123456710", "1500")
		old := bola.form(at, nil)
		w.costs(50 * money.Naira)
		g := bola.send(at, old)
		w.changed(g, "the page showed ₦25.00, and it is ₦50.00 now", "₦1,550.00")
		fields := fieldsOf(g.text[strings.Index(g.text, `<form method="post" action="`+at+`"`):])
		if g := bola.send(at, fields); g.status != http.StatusSeeOther || w.paid() != 1 || w.feesOf() != int64(50*money.Naira) {
			w.t.Errorf("%d to %q, %d payouts, fees of %d: %s", g.status, g.location, w.paid(), w.feesOf(), g.text)
		}
		// Another tab shows the new fee, and the old page still sends nothing at it.
		second := bola.checks("0123456711", "1500")
		old = bola.form(second, nil)
		w.costs(75 * money.Naira)
		if text := bola.read(second); !strings.Contains(text, "₦75.00") {
			w.t.Errorf("the other tab: %s", text)
		}
		if g := bola.send(second, old); g.status != http.StatusConflict || w.paid() != 1 {
			w.t.Errorf("the old page: %d to %q, %d payouts", g.status, g.location, w.paid())
		}
	})
}

// The same for a bulk payout, with its good lines and their sum, also if it then waits for a second person.
func TestABulkPayoutIsSentAsThePageHasShownIt(t *testing.T) {
	each(t, func(w *world) {
		bola, ada := w.seat(w.company.Reference, "bola", who.Finance), w.seat(w.company.Reference, "ada", who.Owner)
		w.costs(25 * money.Naira)
		at := bola.checkedLines()
		sent := func(name, value string) page {
			form := bola.form(at, map[string]string{"pin": w.company.PIN})
			if name != "" {
				form.Set(name, value)
			}
			return bola.send(at+"/send", form)
		}
		const shows = "2 good lines for ₦150.00 and fees of ₦50.00"
		w.changed(sent("seenLines", "3"), "the page showed 3 good lines for ₦150.00 and fees of ₦50.00, and it has "+shows+" now")
		w.changed(sent("seenAmount", "149.00"), "the page showed 2 good lines for ₦149.00", shows)
		old := bola.form(at, map[string]string{"pin": w.company.PIN})
		w.costs(50 * money.Naira)
		w.changed(bola.send(at+"/send", old), "the page showed "+shows, "2 good lines for ₦150.00 and fees of ₦100.00 now")
		ada.require("100")
		old = bola.form(at, map[string]string{"pin": w.company.PIN})
		w.costs(75 * money.Naira)
		w.changed(bola.send(at+"/send", old), "fees of ₦100.00", "fees of ₦150.00 now")
		if text := ada.read("/app/approvals"); strings.Contains(text, `href="/app/approvals/`) {
			w.t.Errorf("something waits: %s", text)
		}
		if g := sent("", ""); g.status != http.StatusSeeOther {
			w.t.Errorf("what the page shows: %d, %s", g.status, g.text)
		}
	})
}

// A page that asks a second person sends nothing at once, when the rule about two people has ended since. The page of the
// refusal sends at once, and says so.
func TestARequestToASecondPersonIsNotSentAtOnce(t *testing.T) {
	each(t, func(w *world) {
		bola, ada, ngozi := w.seat(w.company.Reference, "bola", who.Finance), w.seat(w.company.Reference, "ada", who.Owner), w.seat(w.company.Reference, "ngozi", who.Owner)
		w.costs(25 * money.Naira)
		one, bulk, pin := bola.checks("0123456710", "1500"), bola.checkedLines(), map[string]string{"pin": w.company.PIN}
		ada.require("100")
		first, second := bola.form(one, nil), bola.form(bulk, pin)
		ada.submit("/app/approvals", "/app/settings/payout-approval", map[string]string{"end": "true"})
		end := found(w.t, regexp.MustCompile(`href="(/app/approvals/[0-9a-f-]{36})"`), ngozi.read("/app/approvals"))
		ngozi.submit(end, end+"/approve", nil)
		const says = "no second person has to approve this any more"
		w.changed(bola.send(one, first), says, "Send ₦1,500.00")
		w.changed(bola.send(bulk+"/send", second), says, "Send ₦150.00")
		if g := bola.send(one, bola.form(one, nil)); !strings.HasPrefix(g.location, "/app/p/") {
			w.t.Errorf("one payout: %d to %q, %s", g.status, g.location, g.text)
		}
		if g := bola.send(bulk+"/send", bola.form(bulk, pin)); g.status != http.StatusSeeOther || w.paid() != 3 {
			w.t.Errorf("the bulk payout: %d to %q, %d payouts", g.status, g.location, w.paid())
		}
	})
}
