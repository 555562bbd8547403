package console_test

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/kobo-waas/kobo/internal/operator"
)

// pages are the addresses of the pages that every operator may read.
var pages = []string{"/console/overview", "/console/payments", "/console/payments?state=unknown&kind=payout", "/console/cases", "/console/waiting", "/console/waiting?tab=by-me", "/console/waiting?tab=decided", "/console/me", "/console/people"}

func TestNobodyReadsAPageWithoutASession(t *testing.T) {
	w := open(t)
	stranger := &person{world: w, name: "a stranger"}
	for _, path := range pages {
		g := stranger.get(path)
		if g.status != http.StatusSeeOther || !strings.HasPrefix(g.location, "/console/sign-in?to=") {
			t.Errorf("GET %s: %d, to %q", path, g.status, g.location)
		}
	}
	if g := stranger.send("/console/sign-out", url.Values{}); g.status != http.StatusSeeOther || g.location != "/console/sign-in" {
		t.Errorf("a stranger signs out: %d, to %q", g.status, g.location)
	}
	stranger.cookie = "__Host-kobo_operator=made-up"
	if g := stranger.get("/console/cases"); g.status != http.StatusSeeOther {
		t.Errorf("a made-up session: %d", g.status)
	}
}

func TestASignInLinkWorksOnceAndOnlyByItsButton(t *testing.T) {
	w := open(t)
	p := &person{world: w, name: "dev"}
	link := w.link("dev")
	for range 2 { // a mail program opens the link
		if p.read(link); p.cookie != "" {
			t.Fatal("opening the link has signed somebody in")
		}
	}
	p.submit(link, link, nil)
	p.read("/console/cases")
	thief := &person{world: w, name: "a thief"}
	if g := thief.send(link, thief.form(link, nil)); g.status != http.StatusUnprocessableEntity || thief.cookie != "" {
		t.Errorf("a used link: %d", g.status)
	}
}

func TestASignInByKeyLeadsBackToThePage(t *testing.T) {
	w := open(t)
	p := &person{world: w, name: "dev"}
	to := p.get("/console/waiting?tab=by-me").location
	wrong := p.send("/console/sign-in", p.form(to, map[string]string{"proof-key": "kobo_admin_wrong"}))
	if wrong.status != http.StatusUnprocessableEntity || p.cookie != "" || strings.Contains(wrong.text, "kobo_admin_wrong") {
		t.Errorf("a wrong key: %d, %s", wrong.status, wrong.text)
	}
	for asked, want := range map[string]string{
		"/console/waiting?tab=by-me": "/console/waiting?tab=by-me", "https://elsewhere.example/console/": "/console/", "//elsewhere.example": "/console/",
		"/console/sign-in": "/console/", "": "/console/",
	} {
		g := p.submit(to, "/console/sign-in", map[string]string{"proof-key": w.company.AdminKey, "to": asked})
		if g.location != want {
			t.Errorf("to %q: %q", asked, g.location)
		}
	}
	p.submit("/console/cases", "/console/sign-out", nil)
	if g := p.get("/console/cases"); g.status != http.StatusSeeOther {
		t.Errorf("after signing out: %d", g.status)
	}
}

func TestARemovedOperatorIsSignedOutAtOnce(t *testing.T) {
	w := open(t)
	p := w.add("grace", operator.Support)
	p.read("/console/cases")
	if err := w.app.Operators.RevokeKey(t.Context(), operator.Local("test"), "grace"); err != nil {
		t.Fatal(err)
	}
	if g := p.get("/console/cases"); g.status != http.StatusSeeOther {
		t.Errorf("a removed operator reads on: %d", g.status)
	}
}

func TestAnotherSiteCannotSendAForm(t *testing.T) {
	w := open(t)
	p := w.signIn("dev")
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.url+"/console/sign-out", strings.NewReader(p.form("/console/cases", nil).Encode()))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Cookie", p.cookie)
	r.Header.Set("Sec-Fetch-Site", "cross-site")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(answer.Body)
	_ = answer.Body.Close()
	if err != nil || answer.StatusCode != http.StatusForbidden || !strings.Contains(string(text), "Another site sent this form") || strings.Contains(string(text), "Sign out") {
		t.Errorf("a form of another site: %d %v %s", answer.StatusCode, err, text)
	}
	p.read("/console/cases")
}

// inline finds scripts and styles that the content security policy forbids.
var inline = regexp.MustCompile(`(?i)<script(?:>| [^>]*[^/"]>[^<])|<style|\sstyle=|\son[a-z]+=|javascript:|https?://`)

func TestPagesHoldNothingInline(t *testing.T) {
	w := open(t)
	p := w.signIn("dev")
	for _, path := range append(pages, "/console/nowhere", "/console/cases?what=this") {
		g := p.get(path)
		if found := inline.FindString(g.text); found != "" {
			t.Errorf("%s holds %q", path, found)
		}
		for name, want := range map[string]string{
			"Content-Security-Policy": "default-src 'self'", "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin",
		} {
			if got := g.header.Get(name); !strings.Contains(got, want) {
				t.Errorf("%s: %s is %q", path, name, got)
			}
		}
	}
}

func TestAPageRefusesAFilterThatItDoesNotKnow(t *testing.T) {
	p := open(t).signIn("dev")
	for path, want := range map[string]int{
		"/console/cases?colour=red": http.StatusBadRequest, "/console/cases?status=BROKEN": http.StatusBadRequest, "/console/cases/none": http.StatusNotFound,
		"/console/cases?status=RESOLVED&after=": http.StatusOK, "/console/cases?page=2": http.StatusBadRequest, "/console/nowhere": http.StatusNotFound, "/console/proposals/none": http.StatusNotFound,
	} {
		if g := p.get(path); g.status != want {
			t.Errorf("GET %s: %d, %s", path, g.status, g.text)
		}
	}
	if g := p.get("/console/cases?colour=red"); !strings.Contains(g.text, "<code>reason</code>") {
		t.Errorf("the page does not list its filters: %s", g.text)
	}
}

// propose makes a proposal of the first operator: one more API key of the company.
func propose(w *world) string {
	w.t.Helper()
	var p struct{ ProposalID string }
	w.ask("POST", "companies/"+w.company.Reference+"/api-keys", `{}`, &p)
	return p.ProposalID
}

// What a proposal rests on has changed: the page shows the value then beside the value now, and has no button to approve.
// Afterwards the dead one shows the same two values, and no sentence with both.
func TestAProposalWhoseGroundChangedShowsThenAndNow(t *testing.T) {
	each(t, func(w *world) {
		t := w.t
		limit := func(amount string) (p struct{ ProposalID string }) {
			w.ask("POST", "companies/"+w.company.Reference+"/payout-limits", `{"amount":`+amount+`,"payouts":3}`, &p)
			return p
		}
		limit("100")
		page := "/console/proposals/" + limit("200").ProposalID
		second := w.signIn("dev2")
		if text := second.read(page); !strings.Contains(text, page+"/approve") || strings.Contains(text, "When dev asked") {
			t.Error(text)
		}
		form := second.form(page, nil)
		limit("90")
		sides := `<dt>When dev asked</dt><dd>3 payouts, of at most ₦100.00 in all</dd></div><div><dt>%s</dt><dd><strong>3 payouts, of at most ₦90.00 in all</strong></dd>`
		text := second.read(page)
		for _, want := range []string{fmt.Sprintf(sides, "Now"), "Nobody can approve this any more", page + "/reject", "/change/limit"} {
			if !strings.Contains(text, want) {
				t.Errorf("no %q in %s", want, text)
			}
		}
		if strings.Contains(text, page+"/approve") {
			t.Error("the page lets a person approve what nobody can approve")
		}
		second.send(page+"/approve", form)
		if text = second.read(page); !strings.Contains(text, fmt.Sprintf(sides, "When it ended")) || strings.Contains(text, "and is 90.00") || strings.Contains(text, page+"/approve") {
			t.Error(text)
		}
	})
}

func TestAProposalIsApprovedByAnotherPersonOnce(t *testing.T) {
	each(t, func(w *world) {
		t := w.t
		asker, second := w.signIn("dev"), w.signIn("dev2")
		proposal := "/console/proposals/" + propose(w)
		if own := asker.read(proposal); strings.Contains(own, "/approve") || !strings.Contains(own, "/withdraw") {
			t.Error("the page lets a person approve an act of their own")
		}
		if !strings.Contains(asker.read("/console/waiting?tab=by-me"), proposal) || strings.Contains(asker.read("/console/waiting"), proposal) {
			t.Error("an act of one's own stands under another tab")
		}
		if !strings.Contains(second.read("/console/waiting"), proposal) {
			t.Error("the proposal does not wait for the other person")
		}
		viewer := w.add("vera", operator.Viewer)
		if g := viewer.send(proposal+"/approve", viewer.form(proposal, nil)); g.status != http.StatusForbidden {
			t.Errorf("a viewer approves: %d", g.status)
		}
		if g := asker.send(proposal+"/approve", asker.form(proposal, nil)); g.status < 400 || !strings.Contains(g.text, "Nothing was changed") {
			t.Errorf("the asker approves: %d, %s", g.status, g.text)
		}
		// Several clicks at once send the form more than once.
		form := second.form(proposal, nil)
		answers := make([]page, 5)
		var all sync.WaitGroup
		for i := range answers {
			all.Go(func() { answers[i] = second.send(proposal+"/approve", form) })
		}
		all.Wait()
		for _, a := range answers {
			if a.status != http.StatusSeeOther || a.location != answers[0].location {
				t.Errorf("a click: %d, to %q: %s", a.status, a.location, a.text)
			}
		}
		if text := second.read(answers[0].location); !strings.Contains(text, "shown once") {
			t.Errorf("the answer: %s", text)
		}
		if text := second.read(answers[0].location); !strings.Contains(text, "No answer is shown here") {
			t.Errorf("the answer is shown again: %s", text)
		}
		var c struct{ APIKeys []struct{} }
		w.ask("GET", "companies/"+w.company.Reference, "", &c)
		if len(c.APIKeys) != 2 {
			t.Errorf("the company has %d keys", len(c.APIKeys))
		}
		if g := second.send(proposal+"/reject", second.form("/console/cases", map[string]string{"note": "too late"})); g.status < 400 {
			t.Errorf("a decided proposal was rejected: %d", g.status)
		}
		if strings.Contains(second.read("/console/waiting"), proposal) {
			t.Error("a decided proposal still waits")
		}
	})
}

func TestNamesAreNoHTML(t *testing.T) {
	w := open(t)
	p := w.signIn("dev2")
	proposal := "/console/proposals/" + propose(w)
	p.submit(proposal, proposal+"/reject", map[string]string{"note": `<script>alert("x")</script>`})
	if text := p.read(proposal); strings.Contains(text, "<script>alert") || !strings.Contains(text, "&lt;script&gt;") {
		t.Error("a note of a person became HTML")
	}
}
