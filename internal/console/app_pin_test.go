package console_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/kobo-waas/kobo/internal/company"
	"github.com/kobo-waas/kobo/internal/operator"
	who "github.com/kobo-waas/kobo/internal/person"
)

// An owner sets the first PIN, and one that nobody knows, with a token of the operators.
func TestAnOwnerSetsThePINWithAToken(t *testing.T) {
	each(t, func(w *world) {
		by := operator.Local("test")
		c, _, err := w.app.Companies.Create(w.t.Context(), by, "Ada Foods")
		for _, to := range []company.KYB{company.InProgress, company.Submitted, company.Approved} {
			if err == nil {
				_, err = w.app.Companies.SetKYB(w.t.Context(), by, c.Reference, to, "test")
			}
		}
		if err == nil {
			_, err = w.app.Companies.SetLive(w.t.Context(), by, c.Reference, true)
		}
		if err != nil {
			w.t.Fatal(err)
		}
		ada := w.seat(c.Reference, "ada", who.Owner)
		const pin, byToken = "/app/settings/pin", "/app/settings/pin/token"
		if text := ada.read("/app/home"); !strings.Contains(text, "has no transaction PIN yet") || strings.Contains(text, "Nothing needs anybody") {
			w.t.Error(text)
		}
		if text := ada.read(pin); !strings.Contains(text, "has no PIN yet") || strings.Contains(text, `name="currentPin"`) {
			w.t.Error(text)
		}
		token := func() string {
			issued, err := w.app.Companies.IssuePINToken(w.t.Context(), by, c.Reference)
			if err != nil {
				w.t.Fatal(err)
			}
			return issued.Text.Reveal()
		}
		first := token()
		for name, fields := range map[string]map[string]string{
			"a wrong token": {"pinToken": "kobo_pintoken_none", "pin": "4321", "again": "4321"}, "two PINs": {"pinToken": first, "pin": "4321", "again": "4322"}, "letters": {"pinToken": first, "pin": "abcd", "again": "abcd"},
		} {
			g := ada.send(byToken, ada.form(pin, fields))
			if g.status < 400 || strings.Contains(g.text, first) || strings.Contains(g.text, "4321") {
				w.t.Errorf("%s: %d %s", name, g.status, g.text)
			}
		}
		for _, next := range []string{"4321", "8765"} {
			ada.submit(pin, byToken, map[string]string{"pinToken": first, "pin": next, "again": next})
			if err := w.app.Companies.CheckPIN(w.t.Context(), c.Reference, next); err != nil {
				w.t.Errorf("the PIN %s: %v", next, err)
			}
			if g := ada.send(byToken, ada.form(pin, map[string]string{"pinToken": first, "pin": "1111", "again": "1111"})); g.status < 400 {
				w.t.Errorf("a token is used twice: %d", g.status)
			}
			first = token()
		}
		if text := ada.read(pin); !strings.Contains(text, `name="currentPin"`) || !strings.Contains(text, `name="pinToken"`) {
			w.t.Error(text)
		}
		viewer := w.seat(c.Reference, "vera", who.Viewer)
		if g := viewer.send(byToken, viewer.form("/app/home", map[string]string{"pinToken": first, "pin": "1111", "again": "1111"})); g.status != http.StatusForbidden {
			w.t.Errorf("a viewer sets the PIN: %d", g.status)
		}
	})
}

// An account that operators have switched off is marked, and no form offers it.
func TestPeopleSeeThatAnAccountIsSwitchedOff(t *testing.T) {
	each(t, func(w *world) {
		p, ada := w.signIn("dev"), w.seat(w.company.Reference, "ada", who.Owner)
		forms := []string{"/app/payouts/new", "/app/payouts/bulk/new"}
		for _, form := range append(forms, "/app/home") {
			if text := ada.read(form); strings.Contains(text, "witched off") {
				w.t.Errorf("%s: %s", form, text)
			}
		}
		account := "/console/companies/" + w.company.Reference + "/accounts/1"
		p.submit(account, account, map[string]string{"status": "INACTIVE", "reason": "court order 12"})
		for _, form := range forms {
			if text := ada.read(form); !strings.Contains(text, `disabled>Main account: switched off by Kobo’s operator</option>`) {
				w.t.Errorf("%s: %s", form, text)
			}
		}
		if text := ada.read("/app/home"); !strings.Contains(text, "neither pays nor takes money") || strings.Contains(text, "Nothing needs anybody") {
			w.t.Errorf("the home page: %s", text)
		}
	})
}
