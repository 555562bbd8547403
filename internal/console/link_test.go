package console_test

import (
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/operator"
	who "github.com/kobo-waas/kobo/internal/person"
)

// ahead is a clock that stands ahead of another one.
type ahead struct {
	clock.Clock
	by time.Duration
}

func (a ahead) Now() time.Time { return a.Clock.Now().Add(a.by) }

// later moves the time of sessions and of one-time codes, and of nothing else.
func (w *world) later(by time.Duration) {
	w.app.People.Machine = ahead{w.app.People.Machine, by}
}

// Somebody who has signed in by a link has nothing to prove with. So after ten minutes a password can still be made, once.
// The page that asks for the proof says where, and goes on with what was typed.
func TestAPersonWithALinkAloneIsNotLockedOut(t *testing.T) {
	each(t, func(w *world) {
		t := w.t
		ada := w.seat(w.company.Reference, "ada", who.Owner)
		w.later(20 * time.Minute)
		const people = "/app/settings/people"
		form := ada.form(people, map[string]string{"name": "musa", "role": who.Finance})
		asked := ada.sendOnly(people+"/invite", form)
		for _, want := range []string{"Prove that it is you", `href="/app/me"`, "I have made one: go on", `name="name" value="musa"`} {
			if !strings.Contains(asked.text, want) {
				t.Errorf("no %q in %s", want, asked.text)
			}
		}
		if g := ada.sendOnly("/app/me/remove", ada.form("/app/me", map[string]string{"id": "x"})); !strings.Contains(g.text, "Prove that it is you") {
			t.Errorf("something else was done without a proof: %d", g.status)
		}
		text := ada.read("/app/me")
		password := ada.form("/app/me", map[string]string{
			"state": found(t, stateOf, text), "password": phrase, "code": codeOf(t, found(t, secretOf, text), w.app.People.Machine.Now()),
		})
		if g := ada.send("/app/me/password", password); g.status != http.StatusSeeOther {
			w.t.Fatalf("the first password: %d, %s", g.status, g.text)
		}
		if g := ada.sendOnly(people+"/invite", form); g.status != http.StatusSeeOther {
			t.Errorf("what was typed: %d, %s", g.status, g.text)
		}
		w.later(20 * time.Minute)
		if g := ada.sendOnly("/app/me/password", ada.form("/app/me", nil)); !strings.Contains(g.text, "Prove that it is you") || strings.Contains(g.text, "I have made one") {
			t.Errorf("a second password without a proof: %d, %s", g.status, g.text)
		}
	})
}

// A link leads to the page on which a person makes a passkey or a password. Somebody who has one goes on to work.
func TestALinkLeadsToOnesOwnSignIn(t *testing.T) {
	w := open(t)
	w.add("grace", operator.Support)
	enter := func() (*person, string) {
		p := &person{world: w, name: "grace"}
		link := w.link("grace")
		return p, p.submit(link, link, nil).location
	}
	p, to := enter()
	if to != "/console/me" || !regexp.MustCompile(`no passkey and no password yet.*href="/console/"`).MatchString(strings.ReplaceAll(p.read(to), "\n", " ")) {
		t.Errorf("a link leads to %s", to)
	}
	p.setPassword()
	if _, to := enter(); to != "/console/" {
		t.Errorf("somebody with a password goes to %s", to)
	}
}

// A form that comes after the session has ended did nothing. The sign-in page says so, and leads back to the page of the form.
func TestAFormWithoutASessionSaysThatNothingWasSent(t *testing.T) {
	w := open(t)
	p := w.signIn("dev")
	p.cookie = ""
	const ended = "Your session has ended. Nothing was sent."
	for from, want := range map[string]string{
		"/console/payments?state=unknown": "/console/payments?state=unknown", "/console/cases/x/agreed": "/console/cases/x", "https://elsewhere.example/console/payments": "", "": "",
		"/console/nowhere": "", "/console/sign-in?to=%2Fconsole%2Fcases": "",
	} {
		if strings.HasPrefix(from, "/") {
			from = w.url + from
		}
		p.from = from
		g := p.send("/console/cases/x/agreed", url.Values{"form": {"x"}})
		at, err := url.Parse(g.location)
		if err != nil || at.Path != "/console/sign-in" || at.Query().Get("to") != want {
			t.Errorf("from %q: to %q, not %q", from, g.location, want)
		}
		text := p.read(g.location)
		if !strings.Contains(text, ended) {
			t.Errorf("from %q: %s", from, text)
		}
		wrong := p.send("/console/sign-in", p.form(g.location, map[string]string{"proof-key": "wrong", "to": want, "ended": "yes"}))
		if !strings.Contains(wrong.text, ended) || !strings.Contains(wrong.text, `name="to" value="`+want+`"`) {
			t.Errorf("after a wrong key: %s", wrong.text)
		}
	}
	if text := p.read(p.get("/console/cases").location); strings.Contains(text, ended) {
		t.Error("a page that nobody sent says so too")
	}
	p.from = ""
	if g := p.send("/console/sign-out", url.Values{}); g.location != "/console/sign-in" {
		t.Errorf("signing out twice: %q", g.location)
	}
}

// A form leads back to a page of its own side, and nowhere else. A browser would shorten a path with dots.
func TestAFormLeadsBackToOwnPagesOnly(t *testing.T) {
	w := open(t)
	bola := w.seat(w.company.Reference, "bola", who.Finance)
	for to, want := range map[string]string{
		"/app/payouts":                       "/app/payouts",
		"/app/payouts?status=FAILED&own=../": "/app/payouts?status=FAILED&own=../",
		"/app/me#views":                      "/app/me#views",
		"/app/../../evil":                    "/app/",
		"/app/../console/overview":           "/app/",
		"/app/./payouts":                     "/app/",
		"/app//payouts":                      "/app/",
		"/app/%2e%2e/evil":                   "/app/",
		"/app/.%2E/evil":                     "/app/",
		"/app/%5c..%5cevil":                  "/app/",
		"/app/\\..\\evil":                    "/app/",
		"/app/.\t./evil":                     "/app/",
		"/app/..":                            "/app/",
		"/application":                       "/app/",
		"/console/overview":                  "/app/",
		"//evil.example/app/payouts":         "/app/",
		"https://evil.example/app/payouts":   "/app/",
		"/app/sign-in":                       "/app/",
		"":                                   "/app/",
	} {
		if g := bola.send("/app/theme", bola.form("/app/me", map[string]string{"theme": "dark", "to": to})); g.status != http.StatusSeeOther || g.location != want {
			t.Errorf("%q: %d to %q", to, g.status, g.location)
		}
	}
}

// A person whose answer to the form of a link was lost sends the form again, and is signed in. So is a person whose browser had
// another session.
func TestALostAnswerToALinkIsGivenAgain(t *testing.T) {
	each(t, func(w *world) {
		ada := w.seat(w.company.Reference, "ada", who.Owner)
		for name, earlier := range map[string]string{"bola": "", "chidi": ada.cookie} {
			token, digest := who.NewLink()
			if _, err := w.app.People.InvitePerson(w.t.Context(), operator.Local("test"), w.company.Reference, name, who.Viewer, digest); err != nil {
				w.t.Fatal(err)
			}
			p, link := &person{world: w, name: name, cookie: earlier}, "/app/link/"+w.company.Reference+"/"+token.Reveal()
			form := p.form(link, nil)
			lost := p.sendOnly(link, form)
			session := p.cookie
			p.cookie = earlier
			again := p.sendOnly(link, form)
			if lost.status != http.StatusSeeOther || again.status != http.StatusSeeOther || again.location != lost.location || session == earlier || p.cookie != session {
				w.t.Fatalf("%s: %d and %d, with the cookies %q and %q: %s", name, lost.status, again.status, session, p.cookie, again.text)
			}
			p.says("/app/me", name)
			p.cookie = ""
			if g := p.sendOnly(link+"x", form); g.status != http.StatusUnprocessableEntity || p.cookie != "" {
				w.t.Errorf("%s: the form with another link: %d", name, g.status)
			}
			if g := p.sendOnly(link, p.form(link, nil)); g.status != http.StatusUnprocessableEntity || p.cookie != "" {
				w.t.Errorf("%s: another form of the link: %d", name, g.status)
			}
		}
	})
}

// A person who is signed in at one company signs in at another one, by a passkey or by a password.
func TestAPersonSignsInAtAnotherCompany(t *testing.T) {
	each(t, func(w *world) {
		t, other := w.t, w.another()
		ada := w.seat(w.company.Reference, "ada", who.Owner)
		text := ada.read("/app/me")
		secret := found(t, secretOf, text)
		ada.submit("/app/me", "/app/me/password", map[string]string{
			"state": found(t, stateOf, text), "password": phrase, "code": codeOf(t, secret, time.Now()),
		})
		ada.makePasskey()
		eve, femi := w.seat(other, "eve", who.Owner), w.seat(other, "femi", who.Owner)
		text = eve.read("/app/sign-in")
		eve.submit("/app/sign-in", "/app/sign-in", map[string]string{
			"proof-state":    html.UnescapeString(found(t, proofStateOf, text)),
			"proof-response": ada.device.Sign(t, []byte(html.UnescapeString(found(t, optionsOf, text))), consoleOrigin),
		})
		femi.submit("/app/sign-in", "/app/sign-in", map[string]string{
			"company": w.company.Reference, "proof-name": "ada", "proof-password": phrase, "proof-code": codeOf(t, secret, time.Now().Add(30*time.Second)),
		})
		for _, p := range []*person{eve, femi} {
			if !strings.HasPrefix(p.cookie, "__Host-kobo_company="+w.company.Reference+".") {
				t.Errorf("%s has the cookie %q", p.name, p.cookie)
			}
			p.says("/app/me", "ada")
		}
	})
}
