package console_test

import (
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/console"
	who "github.com/kobo-waas/kobo/internal/person"
)

var (
	postForm  = regexp.MustCompile(`(?s)<form method="post" action="([^"]+)"[^>]*>.*?</form>`)
	inputTag  = regexp.MustCompile(`<input\b[^>]*>`)
	tagName   = regexp.MustCompile(` name="([^"]+)"`)
	tagValue  = regexp.MustCompile(` value="([^"]*)"`)
	passForm  = regexp.MustCompile(`(?s)<form [^>]*data-passkey="get".*?</form>`)
	hiddenTag = regexp.MustCompile(`type="hidden"`)
)

// fieldsOf returns the fields of a form of a page with the values that the page has for them.
func fieldsOf(form string) url.Values {
	out := url.Values{}
	for _, tag := range inputTag.FindAllString(form, -1) {
		if name := tagName.FindStringSubmatch(tag); name != nil {
			value := append(tagValue.FindStringSubmatch(tag), "", "")[1]
			out.Add(html.UnescapeString(name[1]), html.UnescapeString(value))
		}
	}
	return out
}

// checkedLines asks for the names of a bulk payout of two lines, and returns its address once it can be sent.
func (p *person) checkedLines() string {
	p.t.Helper()
	at := p.submit("/app/payouts/bulk/new", "/app/payouts/bulk/new", map[string]string{
		"fromSettlementId": "1", "pin": p.company.PIN, "lines": "000013,0123456710,100\n000013,0123456711,50",
	}).location
	later(p.t, func() string {
		if text := html.UnescapeString(p.read(at)); !strings.Contains(text, "Send ₦150.00") {
			return text
		}
		return ""
	})
	return at
}

// No page that asks for a proof has the secret of the form that needs the proof: it has an empty field for the secret, and everything
// else that was typed.
func TestNoPageThatAsksForAProofHasASecret(t *testing.T) {
	w := open(t)
	dev, ada := w.signIn("dev"), w.seat(w.company.Reference, "ada", who.Owner)
	ada.makePasskey()
	checked := ada.checkedLines()
	w.stale(dev)
	w.later(11 * time.Minute)
	forms, names := map[string]bool{}, map[string]bool{}
	for p, pages := range map[*person][]string{dev: {"/console/me", "/console/people"}, ada: append(slices.Clone(appPages), checked)} {
		for _, path := range pages {
			for _, form := range postForm.FindAllStringSubmatch(p.read(path), -1) {
				sent, secrets := fieldsOf(form[0]), map[string]string{}
				for name := range sent {
					if console.IsSecretField(name) {
						secrets[name] = fmt.Sprintf("secret-of-%d", len(name)*1000+len(secrets))
						sent.Set(name, secrets[name])
					}
				}
				if len(secrets) == 0 {
					continue
				}
				sent.Set("typed-too", "what else was typed")
				asked := p.sendOnly(html.UnescapeString(form[1]), sent)
				if !asked.asksForProof() {
					continue // a form whose act needs none
				}
				forms[strings.TrimPrefix(form[1], checked)] = true
				for name, secret := range secrets {
					names[name] = true
					if strings.Contains(asked.text, secret) {
						t.Errorf("%s, POST %s: the page that asks for a proof has the field %s", path, form[1], name)
					}
					tag := regexp.MustCompile(`<input [^>]*name="` + name + `"[^>]*>`).FindString(asked.text)
					if tag == "" || hiddenTag.MatchString(tag) || tagValue.MatchString(tag) {
						t.Errorf("%s, POST %s asks for the field %s by %q", path, form[1], name, tag)
					}
				}
				if !strings.Contains(asked.text, `value="what else was typed"`) || !strings.Contains(asked.text, `value="`+sent.Get("form")+`"`) {
					t.Errorf("%s, POST %s forgets what was typed", path, form[1])
				}
			}
		}
	}
	for _, form := range []string{"/send", "/app/payouts/check", "/app/payouts/bulk/new", "/app/developers/keys", "/app/settings/pin", "/app/settings/pin/token", "/app/me/password", "/console/me/password"} {
		if !forms[form] {
			t.Errorf("the form of %s was not looked at", form)
		}
	}
	for _, name := range []string{"pin", "currentPin", "pinToken", "again", "password", "code"} {
		if !names[name] {
			t.Errorf("no form with the field %s was looked at", name)
		}
	}
	for _, name := range console.SecretsWithoutALabel() {
		t.Errorf("the page that asks for a proof has no label for the field %s", name)
	}
}

// A person types the PIN of a bulk payout once, on the page that asks for the proof, and the form goes on from there. The PIN of a
// payout whose proof is too old is typed there again.
func TestThePINIsTypedBesideTheProof(t *testing.T) {
	each(t, func(w *world) {
		t := w.t
		bola := w.seat(w.company.Reference, "bola", who.Finance)
		bola.makePasskey()
		goesOn := func(asked page, to, pin string) page {
			t.Helper()
			held := fieldsOf(passForm.FindString(asked.text))
			if !asked.asksForProof() || held.Get("pin") != "" || !held.Has("pin") {
				t.Fatalf("POST %s: %d, %v, %s", to, asked.status, held, asked.text)
			}
			held.Set("pin", pin)
			return bola.sendOnly(to, bola.proved(asked, held))
		}
		w.later(11 * time.Minute)
		pay := bola.form("/app/payouts/new", map[string]string{"bank_code": "000013", "account_number": "0123456710", "amount": "1500", "fromSettlementId": "1", "pin": w.company.PIN})
		if g := goesOn(bola.sendOnly("/app/payouts/check", pay), "/app/payouts/check", w.company.PIN); g.status != http.StatusSeeOther || !strings.HasPrefix(g.location, "/app/payouts/confirm/") {
			t.Errorf("the check goes to %q: %d, %s", g.location, g.status, g.text)
		}
		at := bola.checkedLines()
		for _, pin := range []string{"0000", w.company.PIN} {
			to, pays := at+"/send", int64(0)
			if pin == w.company.PIN {
				pays = 2
			}
			asked := bola.sendOnly(to, fieldsOf(found(t, regexp.MustCompile(`(?s)(<form method="post" action="`+to+`".*?</form>)`), bola.read(at))))
			if g := goesOn(asked, to, pin); (g.status == http.StatusSeeOther) != (pays > 0) || w.paid() != pays {
				t.Errorf("the PIN %s: %d to %q, %d payouts, %s", pin, g.status, g.location, w.paid(), g.text)
			}
		}
	})
}
