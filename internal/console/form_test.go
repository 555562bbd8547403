package console_test

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	who "github.com/kobo-waas/kobo/internal/person"
)

// The form of a bulk payout takes the 1,000 lines that it promises. A larger form gets a page that says what to do.
func TestAFormHasABoundOfItsOwn(t *testing.T) {
	w := open(t)
	ada := w.seat(w.company.Reference, "ada", who.Owner)
	const to = "/app/payouts/bulk/new"
	var lines strings.Builder
	for n := range 1000 {
		fmt.Fprintf(&lines, "000013,%010d,%d.50,\"salary of the month, line %d\",salary-2026-11-%d\n", 123450000+n, 100+n, n, n)
	}
	g := ada.submit(to, to, map[string]string{"fromSettlementId": "1", "pin": w.company.PIN, "lines": lines.String()})
	if text := ada.read(g.location); !strings.Contains(text, "1,000") && !strings.Contains(text, "1000") {
		t.Error(text)
	}
	large, small := ada.form(to, map[string]string{"lines": strings.Repeat(lines.String(), 20)}), ada.form(to, map[string]string{"lines": lines.String()})
	nobody := &person{world: w}
	for name, send := range map[string]func() page{
		"an owner": func() page { return ada.send(to, large) }, "nobody": func() page { return nobody.send("/app/sign-in", small) },
	} {
		g := send()
		if g.status != http.StatusRequestEntityTooLarge || !strings.HasPrefix(g.header.Get("Content-Type"), "text/html") || !strings.Contains(g.text, "The form is too large") {
			t.Errorf("%s: %d %s", name, g.status, g.text)
		}
	}
	if g := nobody.do(http.MethodPost, "/api/v1/settlement/send-payout", small.Encode()); g.status != http.StatusRequestEntityTooLarge || !strings.Contains(g.text, "64 KiB") {
		t.Errorf("the API: %d %s", g.status, g.text)
	}
}

// A bulk payout that cannot be sent any more says its state in words.
func TestARefusedBulkPayoutSaysItsStateInWords(t *testing.T) {
	w := open(t)
	ada := w.seat(w.company.Reference, "ada", who.Owner)
	at := ada.submit("/app/payouts/bulk/new", "/app/payouts/bulk/new", map[string]string{"fromSettlementId": "1", "pin": w.company.PIN, "lines": "000013,0123456710,100"}).location
	ada.submit(at, at+"/cancel", nil)
	g := ada.send(at+"/send", url.Values{"form": {number.FindStringSubmatch(ada.read("/app/me"))[1]}, "pin": {w.company.PIN}})
	if g.status < http.StatusBadRequest || strings.Contains(g.text, "CANCELLED") || !strings.Contains(g.text, "Bulk payout: cancelled") {
		t.Errorf("%d %s", g.status, g.text)
	}
}

// A stream without its beginning is refused as a whole, so that the browser does not ask again.
func TestAStreamWithoutItsBeginningIsRefused(t *testing.T) {
	w := open(t)
	ada, dev := w.seat(w.company.Reference, "ada", who.Owner), w.signIn("dev")
	for _, g := range []page{ada.get("/app/live/x"), ada.get("/app/live/x?from=today"), dev.get("/console/live/" + w.company.Reference + "/x")} {
		if g.status != http.StatusBadRequest || strings.Contains(g.header.Get("Content-Type"), "event-stream") {
			t.Errorf("%d %s", g.status, g.text)
		}
	}
}

// The story of a proposal has no time as the API writes it. Such times stand in the attributes only.
func TestAStoryHasTimesOfLagosOnly(t *testing.T) {
	w := open(t)
	text := w.signIn("dev2").read("/console/p/" + propose(w))
	if raw := regexp.MustCompile(`>[^<]*[0-9]T[0-9]{2}:[0-9]{2}[^<]*<`).FindString(text); raw != "" || !strings.Contains(text, "until ") {
		t.Errorf("%q in %s", raw, text)
	}
}
