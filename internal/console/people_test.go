package console_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"

	"github.com/kobo-waas/kobo/internal/operator"
)

var (
	secretOf = regexp.MustCompile(`Or type the secret: +<span><code>([A-Z2-7]+)</code>`)
	stateOf  = regexp.MustCompile(`name="state" value="([^"]+)"> ?<input type="hidden" name="username"`)
	linkOf   = regexp.MustCompile(`<code>http://localhost:8080(/console/link/[A-Za-z0-9_-]+)</code>`)
)

const phrase = "a rather long phrase"

// found returns the only group of a pattern in a page.
func found(t testing.TB, in *regexp.Regexp, text string) string {
	t.Helper()
	got := in.FindStringSubmatch(text)
	if got == nil {
		t.Fatalf("no %s in %s", in, text)
	}
	return got[1]
}

func codeOf(t testing.TB, secret string, at time.Time) string {
	t.Helper()
	code, err := totp.GenerateCode(secret, at)
	if err != nil {
		t.Fatal(err)
	}
	return code
}

// setPassword sets a password on the page of one's own, and returns the secret of the codes.
func (p *person) setPassword() string {
	p.t.Helper()
	text := p.read("/console/me")
	secret := found(p.t, secretOf, text)
	p.submit("/console/me", "/console/me/password", map[string]string{
		"state": found(p.t, stateOf, text), "password": phrase, "code": codeOf(p.t, secret, time.Now()),
	})
	return secret
}

func TestAPersonSignsInByPasswordAndCode(t *testing.T) {
	each(t, func(w *world) {
		t := w.t
		p := w.add("grace", operator.Support)
		other := w.signIn("grace")
		secret := p.setPassword()
		if g := other.get("/console/cases"); g.status != http.StatusSeeOther {
			t.Errorf("another session after a new password: %d", g.status)
		}
		guest := &person{world: w, name: "guest"}
		next := codeOf(t, secret, time.Now().Add(30*time.Second)) // the code of the present step is used
		for what, fields := range map[string]map[string]string{
			"a wrong password": {"proof-name": "grace", "proof-password": "wrong", "proof-code": next},
			"a wrong code":     {"proof-name": "grace", "proof-password": phrase, "proof-code": "000000"},
			"a wrong name":     {"proof-name": "nobody", "proof-password": phrase, "proof-code": next},
		} {
			g := guest.send("/console/sign-in", guest.form("/console/sign-in", fields))
			if g.status != http.StatusUnprocessableEntity || guest.cookie != "" || strings.Contains(g.text, phrase) {
				t.Errorf("%s: %d", what, g.status)
			}
		}
		guest.submit("/console/sign-in", "/console/sign-in", map[string]string{"proof-name": "grace", "proof-password": phrase, "proof-code": next})
		if text := guest.read("/console/me"); !strings.Contains(text, "This one") || !strings.Contains(text, "Another") {
			t.Error("the page does not list both sessions")
		}
		guest.submit("/console/me", "/console/me/sessions", nil)
		if g := p.get("/console/me"); g.status != http.StatusSeeOther {
			t.Errorf("an ended session: %d", g.status)
		}
		id := found(t, regexp.MustCompile(`name="id" value="([^"]+)"`), guest.read("/console/me"))
		guest.submit("/console/me", "/console/me/remove", map[string]string{"id": id})
		if text := guest.read("/console/me"); !strings.Contains(text, "no passkey and no password") {
			t.Error("a removed password is still there")
		}
	})
}

func TestTooManyWrongCodesLockOneNameOut(t *testing.T) {
	w := open(t)
	w.add("grace", operator.Support)
	guest := &person{world: w, name: "guest"}
	try := func(name string) int {
		return guest.send("/console/sign-in", guest.form("/console/sign-in", map[string]string{"proof-name": name, "proof-password": "wrong", "proof-code": "000000"})).status
	}
	for range 10 {
		if status := try("grace"); status != http.StatusUnprocessableEntity {
			t.Fatalf("a wrong code: %d", status)
		}
	}
	if status := try("grace"); status != http.StatusTooManyRequests {
		t.Errorf("the eleventh wrong code: %d", status)
	}
	if status := try("dev"); status != http.StatusUnprocessableEntity {
		t.Errorf("another name: %d", status)
	}
}

// A form that needs a proof shows the page that asks for it, keeps its fields, and is done once with the proof.
func TestAnActOnKeysAsksForAProof(t *testing.T) {
	each(t, func(w *world) {
		t := w.t
		asker, second := w.signIn("dev"), w.signIn("dev2")
		proposal := "/console/proposals/" + propose(w)
		if _, err := w.app.DB.Exec(t.Context(), `UPDATE person_session SET proved_at = 0`); err != nil {
			w.t.Fatal(err)
		}
		if g := asker.get("/console/cases"); g.status != http.StatusSeeOther {
			w.t.Fatalf("a session whose proof somebody changed: %d", g.status)
		}
		w.stale(second)
		second.read("/console/waiting")
		form := second.form(proposal, map[string]string{"kept": `"typed" <words>`})
		asked := second.sendOnly(proposal+"/approve", form)
		if asked.status != http.StatusUnprocessableEntity || !strings.Contains(asked.text, "Prove that it is you") || !strings.Contains(asked.text, "&#34;typed&#34; &lt;words&gt;") {
			w.t.Fatalf("an act without a proof: %d, %s", asked.status, asked.text)
		}
		var before struct{ State string }
		w.ask("GET", strings.TrimPrefix(proposal, "/console/"), "", &before)
		if before.State != "PROPOSED" {
			w.t.Fatalf("the proposal is %s", before.State)
		}
		for what, key := range map[string]string{"a wrong key": "kobo_admin_wrong", "the key of another person": w.company.AdminKey} {
			form.Set("proof-key", key)
			if g := second.sendOnly(proposal+"/approve", form); g.status != http.StatusUnprocessableEntity || strings.Contains(g.text, key) {
				t.Errorf("%s: %d", what, g.status)
			}
		}
		form.Set("proof-key", w.company.SecondAdminKey)
		if g := second.sendOnly(proposal+"/approve", form); g.status != http.StatusSeeOther {
			w.t.Fatalf("an act with a proof: %d, %s", g.status, g.text)
		}
		second.submit("/console/people", "/console/people/dev/role", map[string]string{"role": "finance"}) // the proof is fresh
	})
}

// stale gives a person a session without a proof, as after ten minutes.
func (w *world) stale(p *person) {
	w.t.Helper()
	who, err := w.app.People.FindNamed(w.t.Context(), "", p.name)
	if err != nil {
		w.t.Fatal(err)
	}
	token, err := w.app.People.Begin(w.t.Context(), who, "a browser", false)
	if err != nil {
		w.t.Fatal(err)
	}
	p.cookie = "__Host-kobo_operator=" + token
}

func TestAnInvitedPersonNeedsTheLinkAndTheCode(t *testing.T) {
	each(t, func(w *world) {
		t := w.t
		asker, second := w.signIn("dev"), w.signIn("dev2")
		g := asker.submit("/console/people", "/console/people/invite", map[string]string{"name": "grace", "role": "finance"})
		shown := asker.read(g.location)
		link := found(t, linkOf, shown)
		if again := asker.read(g.location); strings.Contains(again, link) {
			t.Error("the link is shown twice")
		}
		list := second.read("/console/waiting")
		proposal := found(t, regexp.MustCompile(`href="(/console/proposals/[^"]+)"`), list)
		answer := second.submit(proposal, proposal+"/approve", nil)
		code := found(t, regexp.MustCompile(`\b([A-Z2-7]{12})\b`), second.read(answer.location))
		grace := &person{world: w, name: "grace"}
		if text := grace.read(link); !strings.Contains(text, `name="code"`) {
			t.Error("the page of the link does not ask for the code")
		}
		if g := grace.send(link, grace.form(link, map[string]string{"code": "AAAAAAAAAAAA"})); g.status != http.StatusUnprocessableEntity || grace.cookie != "" {
			t.Errorf("a wrong code: %d", g.status)
		}
		grace.submit(link, link, map[string]string{"code": code})
		grace.setPassword()
		if text := grace.read("/console/people"); strings.Contains(text, "/console/people/invite") {
			t.Error("a person without the role admin can invite")
		}
		if g := grace.send("/console/people/invite", grace.form("/console/me", map[string]string{"name": "eve", "role": "admin"})); g.status != http.StatusForbidden {
			t.Errorf("a person without the role admin invites: %d", g.status)
		}
		asker.submit("/console/people", "/console/people/grace/remove", nil)
		if g := grace.get("/console/me"); g.status != http.StatusSeeOther {
			t.Errorf("a removed operator reads on: %d", g.status)
		}
		if g := grace.send("/console/sign-out", url.Values{}); g.location != "/console/sign-in" {
			t.Errorf("a removed operator signs out: %d, to %q", g.status, g.location)
		}
	})
}

// Tries at the same time do not pass the limit together. A right password takes nothing from it.
func TestTriesAtTheSameTimeAreLimited(t *testing.T) {
	w := open(t)
	grace := w.add("grace", operator.Support)
	secret := grace.setPassword()
	guest := &person{world: w, name: "guest"}
	try := func(password, code string) url.Values {
		return guest.form("/console/sign-in", map[string]string{"proof-name": "grace", "proof-password": password, "proof-code": code})
	}
	for range 12 {
		w.later(30 * time.Second) // each code works once
		if g := guest.send("/console/sign-in", try(phrase, codeOf(t, secret, w.app.People.Machine.Now()))); g.status != http.StatusSeeOther {
			t.Fatalf("a right password: %d, %s", g.status, g.text)
		}
	}
	const tries = 25
	answers, ready := make(chan page, tries), make(chan struct{})
	for range tries {
		form := try("wrong", "000000")
		go func() {
			<-ready
			one := &person{world: w, name: "guest"}
			answers <- one.sendOnly("/console/sign-in", form)
		}()
	}
	close(ready)
	count := map[int]int{}
	for range tries {
		count[(<-answers).status]++
	}
	if count[http.StatusUnprocessableEntity] != 10 || count[http.StatusTooManyRequests] != tries-10 {
		t.Errorf("answers by status: %v", count)
	}
}
