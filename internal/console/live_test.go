package console_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"html"
	"io"
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
		for _, filter := range []string{"", "?state=unknown", "?state=accepted", "?state=open", "?kind=payout&least=%E2%82%A61%2C500.00&most=1500"} {
			if text := p.read("/console/payments" + filter); !strings.Contains(text, "/console/p/"+reference) || !strings.Contains(text, "₦1,500.00") {
				t.Errorf("payments%s do not show the payout", filter)
			}
		}
		if text := p.read("/console/payments?state=paid"); strings.Contains(text, "/console/p/"+reference) {
			t.Error("an unknown payout is shown as paid")
		}
		page := p.read("/console/p/" + reference)
		for _, words := range []string{"Accepted", "Safe Haven has accepted it and has not finished.", "₦1,500.00 to ", "Do not pay again", "Not asked again yet", "Grace period over at", "Clearing", "payout.pending"} {
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
			w.t.Fatal("the stream says nothing")
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

// readAt is when a page was read: in the time of Lagos, with UTC in the tooltip.
var readAt = regexp.MustCompile(`<time data-live-at datetime="[0-9T:.-]+Z" title="[0-9-]+ [0-9:]{8} UTC">read [0-9]{2}:[0-9]{2}:[0-9]{2}</time>`)

func TestAPageChangesWhenSomethingWaitsForAPerson(t *testing.T) {
	w := open(t)
	p := w.signIn("dev2")
	page := p.read("/console/waiting")
	_, rest, _ := strings.Cut(page, `data-live="`)
	address, _, _ := strings.Cut(rest, `"`)
	if !readAt.MatchString(page) {
		t.Errorf("the page does not say when it was read: %s", page)
	}
	changed := p.listen(address)
	propose(w)
	select {
	case <-changed:
	case <-time.After(20 * time.Second):
		t.Fatal("the stream says nothing")
	}
	if page = p.read("/console/waiting"); !strings.Contains(page, "New API key") || !strings.Contains(page, `class="badge">1<`) {
		t.Errorf("the page: %s", page)
	}
}

// hears waits for the next line of a stream, and returns it.
func hears(t testing.TB, lines <-chan string) string {
	t.Helper()
	select {
	case line := <-lines:
		return line
	case <-time.After(60 * time.Second):
		t.Fatal("the stream says nothing")
	}
	return ""
}

// told opens a stream, and returns its lines but for the first and the empty ones.
func (p *person) told(path string) <-chan string {
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
	lines := make(chan string, 100)
	go func() {
		defer close(lines)
		defer answer.Body.Close()
		for s := bufio.NewScanner(answer.Body); s.Scan(); {
			if text := s.Text(); text != "" && !strings.HasPrefix(text, "retry:") && !strings.HasPrefix(text, ":") {
				lines <- text
			}
		}
	}()
	return lines
}

// streamOf returns the address of a page's stream.
func (p *person) streamOf(page, attribute string) string {
	p.t.Helper()
	_, rest, found := strings.Cut(p.read(page), attribute+`="`)
	if !found {
		p.t.Fatalf("%s has no %s", page, attribute)
	}
	address, _, _ := strings.Cut(rest, `"`)
	return html.UnescapeString(address)
}

// New rows on a list do not push the others: the stream says how many there are. It says nothing else, and nothing about
// another company.
func TestAListSaysHowManyNewerRowsThereAre(t *testing.T) {
	each(t, func(w *world) {
		t := w.t
		ada, eve, dev := w.seat(w.company.Reference, "ada", who.Owner), w.seat(w.another(), "eve", who.Owner), w.signIn("dev")
		w.payout("0123456710", 10)
		lists := map[string]<-chan string{}
		for page, p := range map[string]*person{"/app/payouts": ada, "/app/money/ledger": ada, "/console/payments": dev, "/console/payments?kind=credit": dev} {
			lists[page] = p.told(p.streamOf(page, "data-newer"))
		}
		others := eve.told(eve.streamOf("/app/payouts", "data-newer"))
		w.payout("0123456711", 20)
		for _, page := range []string{"/app/payouts", "/console/payments"} {
			if kind, n := hears(t, lists[page]), hears(t, lists[page]); kind != "event: newer" || n != "data: 1" {
				t.Errorf("%s: %q, %q", page, kind, n)
			}
		}
		for _, quiet := range []<-chan string{others, lists["/console/payments?kind=credit"]} {
			select {
			case line := <-quiet:
				t.Errorf("the stream of another list says %q", line)
			default:
			}
		}
		if text := ada.read("/app/payouts"); strings.Count(text, "/app/p/") != 2 {
			t.Error(text)
		}
		for _, wrong := range []string{"/app/live/newer?of=/app/nowhere&from=" + url.QueryEscape(clock.Text(time.Now())), "/app/live/newer?of=/app/payouts"} {
			if g := ada.get(wrong); strings.Contains(g.text, "event:") {
				t.Errorf("%s: %s", wrong, g.text)
			}
		}
	})
}

// The stream of a thing names the thing, and nothing of what happened to it.
func TestAStreamCarriesNoContent(t *testing.T) {
	w := open(t)
	ada, eve := w.seat(w.company.Reference, "ada", who.Owner), w.seat(w.another(), "eve", who.Owner)
	reference := w.payout("0123456706", 1500)
	from := url.QueryEscape(clock.Text(time.Now().Add(-time.Minute)))
	mine, others := ada.told("/app/live/"+reference+"?from="+from), eve.told("/app/live/"+reference+"?from="+from)
	if kind, name := hears(t, mine), hears(t, mine); kind != "event: changed" || name != "data: "+reference {
		t.Errorf("%q, %q", kind, name)
	}
	select {
	case line := <-others:
		t.Errorf("another company hears %q", line)
	default:
	}
}

func TestAStreamNeedsASession(t *testing.T) {
	w := open(t)
	stranger := &person{world: w}
	for _, path := range []string{"/console/live/desk", "/app/live/x?from=" + url.QueryEscape(clock.Text(time.Now())), "/app/live/newer?of=/app/payouts", "/console/live/newer?of=/console/payments", "/console/live/" + w.company.Reference + "/x?from=" + url.QueryEscape(clock.Text(time.Now()))} {
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
	if text := support.read(page); strings.Contains(text, "can be asked again at") {
		t.Error("it can be asked now, and the page names a time")
	}
	answered := support.submit(page, page+"/ask", nil).location
	asked := w.app.Clock.Now()
	text := support.read(answered)
	at := found(t, regexp.MustCompile(`Safe Haven[^<]* answered at <time datetime="([^"]+)">\d\d:\d\d:\d\d</time>: (?:accepted|unknown)`), text)
	when, err := time.Parse(time.RFC3339Nano, at)
	if err != nil || asked.Sub(when) > 20*time.Second || !strings.Contains(text, "The outcome is still not known. Nothing has moved.") {
		t.Errorf("the answer came at %s, asked was at %s, %v: %s", at, asked, err, text)
	}
	g := support.send(page+"/ask", support.form(page, nil))
	if g.status != http.StatusTooManyRequests || !strings.Contains(g.text, "asked less than 30 seconds ago") || strings.Contains(g.text, " answered at ") {
		t.Errorf("asked twice: %d, %s", g.status, g.text)
	}
	for _, words := range []string{"It can be done again at", "It can be asked again at"} {
		at := found(t, regexp.MustCompile(words+` <strong>\d\d:\d\d:\d\d</strong>, ?<time[^>]* data-until="([^"]+)">in \d+ s</time>`), g.text)
		again, err := time.Parse(time.RFC3339Nano, at)
		if left := again.Sub(when); err != nil || left < 29*time.Second || left > 32*time.Second {
			t.Errorf("%s %s, %s after the answer, %v", words, at, left, err)
		}
	}
	w.advance(31 * time.Second)
	if text := support.read(page); !strings.Contains(text, "Accepted") || strings.Contains(text, "can be asked again at") || strings.Contains(text, " answered at ") {
		t.Errorf("half a minute later: %s", text)
	}
	support.submit(page, page+"/ask", nil)
}
