package console_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/operator"
)

// payout sends a payout by the companies' API. It returns its reference.
func (w *world) payout(account string, naira int) string {
	w.t.Helper()
	var token struct{ AccessToken string }
	w.asCompany("POST", "/api/v1/auth/generate-token/"+w.company.Reference, "", nil, &token)
	var banks struct{ Data []struct{ Code string } }
	w.asCompany("GET", "/api/v1/settlement/banks", token.AccessToken, nil, &banks)
	var checked struct{ Data struct{ ID string } }
	w.asCompany("POST", "/api/v1/settlement/validate-account", token.AccessToken, map[string]any{
		"account_number": account, "bank_code": banks.Data[0].Code, "fromSettlementId": w.company.SettlementID, "pin": w.company.PIN,
	}, &checked)
	w.asCompany("POST", "/api/v1/settlement/send-payout", token.AccessToken, map[string]any{"verify_id": checked.Data.ID, "amount": naira}, nil)
	return checked.Data.ID
}

// asCompany asks the companies' API.
func (w *world) asCompany(method, path, token string, body, out any) {
	w.t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		w.t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(w.t.Context(), method, w.url+path, bytes.NewReader(text))
	if err != nil {
		w.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	if token == "" {
		r.Header.Set("X-Api-Key", w.company.APIKey)
	} else {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode >= http.StatusBadRequest {
		said, err := io.ReadAll(answer.Body)
		w.t.Fatalf("%s %s: %d %s %v", method, path, answer.StatusCode, said, err)
	}
	if out == nil {
		return
	}
	if err := json.NewDecoder(answer.Body).Decode(out); err != nil {
		w.t.Fatal(err)
	}
}

// advance moves the sandbox's clock, and waits for the work that became due.
func (w *world) advance(d time.Duration) {
	w.t.Helper()
	r, err := http.NewRequestWithContext(w.t.Context(), "POST", w.url+"/sandbox/clock", strings.NewReader(`{"advance": "`+d.String()+`"}`))
	if err != nil {
		w.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	_ = answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		w.t.Fatalf("the clock: %d", answer.StatusCode)
	}
}

// listen opens a stream. The channel gets a value whenever the stream says that the page has changed.
func (p *person) listen(path string) <-chan struct{} {
	p.t.Helper()
	r, err := http.NewRequestWithContext(p.t.Context(), http.MethodGet, p.url+path, nil)
	if err != nil {
		p.t.Fatal(err)
	}
	r.Header.Set("Cookie", p.cookie)
	answer, err := http.DefaultClient.Do(r)
	if err != nil || answer.StatusCode != http.StatusOK {
		p.t.Fatalf("%s: %v, %v", path, answer, err)
	}
	changed := make(chan struct{}, 10)
	go func() {
		defer close(changed)
		defer answer.Body.Close()
		for lines := bufio.NewScanner(answer.Body); lines.Scan(); {
			if lines.Text() == "event: changed" {
				changed <- struct{}{}
			}
		}
	}()
	return changed
}

func TestAnUnknownOutcomeIsFollowedOnItsPage(t *testing.T) {
	each(t, func(w *world) {
		t := w.t
		p := w.signIn("dev")
		reference := w.payout("0123456706", 1500) // the bank accepts it, and pays at the second poll
		for _, filter := range []string{"", "?word=unknown", "?kind=payout&least=%E2%82%A61%2C500.00&most=1500"} {
			if text := p.read("/console/payments" + filter); !strings.Contains(text, "/console/p/"+reference) || !strings.Contains(text, "₦1,500.00") {
				t.Errorf("payments%s do not show the payout", filter)
			}
		}
		if text := p.read("/console/payments?word=paid"); strings.Contains(text, "/console/p/"+reference) {
			t.Error("an unknown payout is shown as paid")
		}
		page := p.read("/console/p/" + reference)
		for _, words := range []string{"Unknown for", "₦1,500.00 to ", "Do not pay again", "Asked 0 times after the call", "Grace period over at", "Clearing", "payout.pending"} {
			if !strings.Contains(page, words) {
				t.Errorf("the page of an unknown payout does not say %q", words)
			}
		}
		from := url.QueryEscape(clock.Text(time.Now()))
		changed := p.listen("/console/live/" + w.company.Reference + "/" + reference + "?from=" + from)
		other := p.listen("/console/live/" + w.company.Reference + "/another?from=" + from)
		w.advance(5 * time.Second)
		w.advance(30 * time.Second)
		select {
		case <-changed:
		case <-time.After(20 * time.Second):
			t.Fatal("the stream says nothing")
		}
		select {
		case <-other:
			t.Error("the stream of another reference says something")
		default:
		}
		page = p.read("/console/p/" + reference)
		for _, words := range []string{"Paid by Safe Haven", ">Paid<", "payout.success", "It was paid."} {
			if !strings.Contains(strings.Join(strings.Fields(page), " "), words) {
				t.Errorf("the page of a paid payout does not say %q", words)
			}
		}
		if strings.Contains(page, "Do not pay again") {
			t.Error("the page of a paid payout has a clock")
		}
	})
}

func TestAPageChangesWhenSomethingWaitsForAPerson(t *testing.T) {
	w := open(t)
	p := w.signIn("dev2")
	page := p.read("/console/waiting")
	_, rest, _ := strings.Cut(page, `data-live="`)
	address, _, _ := strings.Cut(rest, `"`)
	changed := p.listen(address)
	propose(w)
	select {
	case <-changed:
	case <-time.After(20 * time.Second):
		t.Fatal("the stream says nothing")
	}
	if page = p.read("/console/waiting"); !strings.Contains(page, "Issue key") || !strings.Contains(page, `class="badge">1<`) {
		t.Errorf("the page: %s", page)
	}
}

func TestAStreamNeedsASession(t *testing.T) {
	w := open(t)
	stranger := &person{world: w}
	for _, path := range []string{"/console/live/desk", "/console/live/" + w.company.Reference + "/x?from=" + url.QueryEscape(clock.Text(time.Now()))} {
		if g := stranger.get(path); g.status != http.StatusSeeOther {
			t.Errorf("%s: %d", path, g.status)
		}
	}
}

// Asking now finds the outcome before the resolver does, and tells a viewer nothing but no.
func TestAskingNowFindsTheOutcome(t *testing.T) {
	w := open(t)
	support, viewer := w.add("sola", operator.Support), w.add("vera", operator.Viewer)
	reference := w.payout("0123456708", 1500) // the bank accepts it and never says more
	page := "/console/p/" + reference
	if strings.Contains(viewer.read(page), "Ask now") {
		t.Error("a viewer sees the button")
	}
	if g := viewer.send(page+"/ask", viewer.form(page, nil)); g.status != http.StatusForbidden {
		t.Errorf("a viewer asks: %d", g.status)
	}
	w.advance(3 * time.Minute)
	w.advance(time.Minute) // no scheduled question in between
	support.submit(page, page+"/ask", nil)
	if g := support.send(page+"/ask", support.form(page, nil)); g.status != http.StatusTooManyRequests || !strings.Contains(g.text, "asked less than 30 seconds ago") {
		t.Errorf("asked twice: %d, %s", g.status, g.text)
	}
	if text := support.read(page); !strings.Contains(text, "Unknown for") {
		t.Error("asking has decided something")
	}
}
