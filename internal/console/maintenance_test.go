package console_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/kobo-waas/kobo/internal/operator"
	who "github.com/kobo-waas/kobo/internal/person"
)

func TestAPersonClosesAndOpensTheAPI(t *testing.T) {
	each(t, func(w *world) {
		p := w.signIn("dev")
		const page = "/console/system/maintenance"
		var door struct {
			Closed bool
			Reason *string
		}
		if g := p.send(page, p.form(page, map[string]string{"closed": "true", "reason": " "})); g.status != http.StatusUnprocessableEntity {
			w.t.Errorf("without a reason: %d", g.status)
		}
		p.submit(page, page, map[string]string{"closed": "true", "reason": "the bank is away"})
		if w.ask("GET", "door", "", &door); !door.Closed || door.Reason == nil || *door.Reason != "the bank is away" {
			w.t.Errorf("%+v", door)
		}
		if text := p.read(page); !strings.Contains(text, "<dd>dev</dd>") || !strings.Contains(text, "Maintenance mode: ") {
			w.t.Error(text)
		}
		if text := p.read(page); !strings.Contains(text, "the bank is away") || !strings.Contains(text, "Open the API") || inline.MatchString(text) {
			w.t.Error(text)
		}
		viewer := w.add("vera", operator.Viewer)
		if text := viewer.read(page); strings.Contains(text, "Open the API") {
			w.t.Error("a viewer gets the form")
		}
		if g := viewer.send(page, viewer.form(page, map[string]string{"closed": "false"})); g.status != http.StatusForbidden {
			w.t.Errorf("a viewer opens the API: %d", g.status)
		}
		p.submit(page, page, map[string]string{"closed": "false"})
		if w.ask("GET", "door", "", &door); door.Closed {
			w.t.Error("the API is still closed")
		}
	})
}

// People of a company read all of their pages while the API is closed. A form is refused before anything is sent, says so, and
// keeps what was typed.
func TestPeopleReadWhileTheAPIIsClosed(t *testing.T) {
	each(t, func(w *world) {
		bola := w.seat(w.company.Reference, "bola", who.Owner)
		payout := bola.form("/app/payouts/new", map[string]string{"bank_code": "000013", "account_number": "0123456710", "amount": "1500", "fromSettlementId": "1", "pin": w.company.PIN})
		invitation := bola.form("/app/settings/people", map[string]string{"name": "late", "role": "viewer"})
		w.ask("POST", "door", `{"closed":true,"reason":"the bank is away"}`, nil)
		later(t, func() string {
			if text := bola.read("/app/home"); !strings.Contains(text, "Kobo is closed for maintenance: nothing new is sent.") {
				return text
			}
			return ""
		})
		for _, path := range appPages {
			bola.read(path)
		}
		for path, form := range map[string]url.Values{"/app/payouts/check": payout, "/app/settings/people/invite": invitation} {
			g := bola.send(path, form)
			if g.status != http.StatusServiceUnavailable || !strings.Contains(g.text, "so this was not sent") || !strings.Contains(g.text, "Nothing was changed.") || strings.Contains(g.text, "We do not know whether") {
				t.Errorf("%s: %d %s", path, g.status, g.text)
			}
		}
		if text := bola.read("/app/settings/people"); strings.Contains(text, "late") {
			t.Error("somebody was invited while Kobo was closed")
		}
	})
}
