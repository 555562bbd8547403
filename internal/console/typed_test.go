package console_test

import (
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/console"
	who "github.com/kobo-waas/kobo/internal/person"
)

// unsent is the sentence above a form that was typed before a sign-in.
const unsent = "You typed this before you signed in again. It was not sent."

// late sends a form after the session has ended. It returns the address of the sign-in page, and the name under which the form is kept.
func (p *person) late(path string, form url.Values) (signIn, name string) {
	p.t.Helper()
	g := p.sendOnly(path, form)
	at, err := url.Parse(g.location)
	if err != nil || g.status != http.StatusSeeOther || !strings.HasSuffix(at.Path, "/sign-in") {
		p.t.Fatalf("POST %s after the session has ended: %d to %q", path, g.status, g.location)
	}
	return g.location, at.Query().Get("typed")
}

// A form that comes after the session has ended is shown again to the same person, and to nobody else. Nothing is sent by itself.
func TestWhatAPersonTypedSurvivesTheSignIn(t *testing.T) {
	each(t, func(w *world) {
		t := w.t
		dev := w.signIn("dev")
		form := dev.form("/console/people", map[string]string{"name": "grace", "role": "finance"})
		w.later(31 * time.Minute)
		dev.from = w.url + "/console/people"
		at, name := dev.late("/console/people/invite", form)
		if text := dev.read(at); name == "" || !strings.Contains(text, "Nothing was sent.") || !strings.Contains(text, "Then you see what you typed.") {
			w.t.Fatalf("%q, %s", name, text)
		}
		enter := func(as, key string) (*person, string) {
			p := &person{world: w, name: as, key: key}
			return p, p.submit(at, "/console/sign-in", map[string]string{"proof-key": key, "to": "/console/people", "typed": name}).location
		}
		other, to := enter("dev2", w.company.SecondAdminKey)
		if g := other.get("/console/typed/" + name); to != "/console/people" || g.status != http.StatusNotFound || strings.Contains(g.text, "grace") {
			t.Errorf("another person goes to %s, and reads %d, %s", to, g.status, g.text)
		}
		dev, to = enter("dev", w.company.AdminKey)
		for range 2 {
			text := dev.read(to)
			if !strings.Contains(text, unsent) || !strings.Contains(text, `value="grace"`) || strings.Contains(text, "Nothing was changed.") {
				w.t.Fatalf("%s: %s", to, text)
			}
		}
		if text := other.read("/console/waiting"); strings.Contains(text, "/console/proposals/") {
			t.Error("the form was sent by itself")
		}
		dev.submit(to, "/console/people/invite", map[string]string{"name": "grace", "role": "finance"})
		if text := other.read("/console/waiting"); !strings.Contains(text, "/console/proposals/") {
			t.Error("the form could not be sent")
		}
		w.later(29 * time.Minute)
		dev, _ = enter("dev", w.company.AdminKey)
		if g := dev.get("/console/typed/" + name); g.status != http.StatusOK {
			t.Errorf("after 29 minutes: %d", g.status)
		}
		w.later(time.Minute)
		if g := dev.get("/console/typed/" + name); g.status != http.StatusNotFound || strings.Contains(g.text, "grace") {
			t.Errorf("after half an hour: %d, %s", g.status, g.text)
		}
	})
}

// The same for people of a company. The PIN and the BVN are not kept.
func TestAPersonOfACompanySeesWhatWasTyped(t *testing.T) {
	each(t, func(w *world) {
		t := w.t
		bola, ada := w.seat(w.company.Reference, "bola", who.Finance), w.seat(w.company.Reference, "ada", who.Owner)
		bola.makePasskey()
		pay := bola.form("/app/payouts/new", map[string]string{"bank_code": "000013", "account_number": "0123456710", "amount": "1,500.50", "narration": "Rent", "fromSettlementId": "1", "pin": w.company.PIN})
		customer := bola.form("/app/customers/new", map[string]string{"firstName": "Ngozi", "bvn": "22123456789", "phoneNumber": "08031234567"})
		columns := bola.form("/app/payouts", map[string]string{"list": "/app/payouts", "to": "/app/payouts?period=all", "column": "narration"})
		signOut := ada.form("/app/me", nil)
		w.later(61 * time.Minute)
		at, name := bola.late("/app/payouts/check", pay)
		_, second := bola.late("/app/customers/new", customer)
		_, third := bola.late("/app/columns", columns)
		if _, none := bola.late("/app/search", url.Values{"form": pay["form"], "q": {"08031234567"}}); name == "" || second == "" || none != "" {
			w.t.Fatalf("kept are %q, %q and %q", name, second, none)
		}
		if g := ada.sendOnly("/app/sign-out", signOut); strings.Contains(g.location, "typed") {
			t.Errorf("a sign-out is kept: %s", g.location)
		}
		page := bola.read(at)
		fields := map[string]string{"proof-state": html.UnescapeString(found(t, proofStateOf, page)), "typed": name, "ended": "yes"}
		fields["proof-response"] = bola.device.Sign(t, []byte(html.UnescapeString(found(t, optionsOf, page))), consoleOrigin)
		to := bola.submit(at, "/app/sign-in", fields).location
		text := bola.read(to)
		for _, want := range []string{unsent, `value="0123456710"`, `value="1,500.50"`, `value="Rent"`} {
			if !strings.Contains(text, want) {
				t.Errorf("%s lacks %q: %s", to, want, text)
			}
		}
		if strings.Contains(text, `value="`+w.company.PIN+`"`) {
			t.Error("the page has the PIN")
		}
		text = bola.read("/app/typed/" + second)
		if !strings.Contains(text, `value="Ngozi"`) || !strings.Contains(text, `value="08031234567"`) || strings.Contains(text, "22123456789") {
			t.Errorf("the customer: %s", text)
		}
		text = bola.read("/app/typed/" + third)
		if !strings.Contains(text, "<h1>Payouts</h1>") || !strings.Contains(text, unsent) || !strings.Contains(text, `value="narration" checked`) {
			t.Errorf("the columns: %s", text)
		}
		if w.paid() != 0 {
			t.Error("something was sent")
		}
	})
}

var passwordField = regexp.MustCompile(`<input[^>]*(?:type="password"|autocomplete="one-time-code")[^>]*>`)

// No secret waits in memory: no field that browsers hide, no one-time code, no BVN and no number of a card. No form of nobody
// waits either, and no more than a thousand forms.
func TestNoSecretIsKeptOverASignIn(t *testing.T) {
	w := open(t)
	readers := map[*person][]string{w.signIn("dev"): {"/console/me", "/console/people"}, w.seat(w.company.Reference, "ada", who.Owner): append(appPages, "/app/sign-in")}
	seen := 0
	for p, pages := range readers {
		for _, path := range pages {
			for _, tag := range passwordField.FindAllString(p.read(path), -1) {
				seen++
				name := found(t, regexp.MustCompile(` name="([^"]+)"`), tag)
				if got := console.Kept(url.Values{name: {"1234"}}); len(got) > 0 {
					t.Errorf("%s keeps the field %s", path, name)
				}
			}
		}
	}
	if seen < 10 {
		t.Errorf("%d fields were seen", seen)
	}
	for value, isKept := range map[string]bool{"22123456789": false, "2212 345 6789": false, "5061 2345 6789 0123": false, "4111111111111111": false, "0123456710": true, "08031234567": true, "1,500.50": true, "": false} {
		if got := console.Kept(url.Values{"number": {value}}); len(got) > 0 != isKept {
			t.Errorf("%q: %v", value, got)
		}
	}
	stranger := &person{world: w, name: "a stranger", cookie: "__Host-kobo_operator=made.up"}
	if _, name := stranger.late("/console/people/invite", url.Values{"form": {"x"}, "name": {"grace"}}); name != "" {
		t.Error("the form of a stranger is kept")
	}
	if n, first, last := console.TypedForms(1_001); n != 1_000 || first || !last {
		t.Errorf("%d forms are kept, the first %t, the last %t", n, first, last)
	}
}
