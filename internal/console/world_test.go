package console_test

import (
	"context"
	"encoding/json"
	"html"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/app"
	"github.com/kobo-waas/kobo/internal/apptest"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/person/persontest"
)

// consoleOrigin is the address of the console as browsers see it.
const consoleOrigin = "http://localhost:8080"

// world is a running development program, with four eyes and two operators.
type world struct {
	t       testing.TB
	app     *app.App
	company app.Credentials
	url     string
}

// person is a browser at the console.
type person struct {
	*world
	name, cookie string
	from         string             // the page that the browser shows, as it says it itself; "" for none
	key          string             // the admin key of an operator, or ""
	device       *persontest.Device // with the passkey of the person, once one was needed
}

// each runs f with a program on each database. The functions change its configuration first.
func each(t *testing.T, f func(w *world), changes ...func(*app.Config)) {
	t.Helper()
	t.Parallel()
	for _, dialect := range dbtest.Servers() {
		t.Run(string(dialect), func(t *testing.T) {
			t.Parallel()
			f(openOn(t, apptest.NewHome(t, dialect), changes...))
		})
	}
}

// open starts a program on SQLite.
func open(t *testing.T) *world {
	t.Helper()
	return openOn(t, apptest.NewHome(t, db.SQLite))
}

// openOn starts a program. The functions change its configuration first.
func openOn(t testing.TB, home apptest.Home, changes ...func(*app.Config)) *world {
	t.Helper()
	cfg := app.DevConfig(home.Data, home.Database)
	cfg.FourEyes, cfg.ConsoleOrigin, cfg.ExperimentalCitus = "on", consoleOrigin, dbtest.HasCitus()
	cfg.Window = 4 * time.Second // a slow machine must not turn a delivery into an unknown outcome
	for _, change := range changes {
		change(&cfg)
	}
	log := slog.New(slog.DiscardHandler)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	a, credentials, err := app.OpenDev(context.WithoutCancel(t.Context()), cfg, false, log)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	ready, ended := make(chan struct{}), make(chan error, 1)
	go func() { ended <- a.Run(ctx, listener, func() { close(ready) }) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	select {
	case <-ready:
	case err := <-ended:
		t.Fatal(err)
	}
	return &world{t: t, app: a, company: credentials, url: "http://" + listener.Addr().String()}
}

// add adds an operator with a role, and signs in by a link.
func (w *world) add(name string, role operator.Role) *person {
	w.t.Helper()
	key, digest := operator.NewKey()
	if _, err := w.app.Operators.Add(w.t.Context(), operator.Local("test"), name, role, digest); err != nil {
		w.t.Fatal(err)
	}
	p := w.signIn(name)
	p.key = key.Reveal()
	return p
}

// link returns the address of a page that signs an operator in once.
func (w *world) link(name string) string {
	w.t.Helper()
	token, err := w.app.People.SignInLink(w.t.Context(), name)
	if err != nil {
		w.t.Fatal(err)
	}
	return "/console/link/" + token.Reveal()
}

// signIn signs an operator in by a link.
func (w *world) signIn(name string) *person {
	w.t.Helper()
	p := &person{world: w, name: name, key: map[string]string{"dev": w.company.AdminKey, "dev2": w.company.SecondAdminKey}[name]}
	link := w.link(name)
	p.send(link, p.form(link, nil))
	if p.cookie == "" {
		w.t.Fatalf("%s is not signed in", name)
	}
	return p
}

// page is the answer to a request of a browser.
type page struct {
	status   int
	location string
	text     string
	header   http.Header
}

// do sends a request, as a browser does from a page of the console.
func (p *person) do(method, path, body string) page {
	p.t.Helper()
	return p.doAs(method, path, "application/x-www-form-urlencoded", body)
}

// doAs is do with the type of the body.
func (p *person) doAs(method, path, kind, body string) page {
	p.t.Helper()
	r, err := http.NewRequestWithContext(p.t.Context(), method, p.url+path, strings.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	if method == http.MethodPost {
		r.Header.Set("Content-Type", kind)
		r.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	if p.cookie != "" {
		r.Header.Set("Cookie", p.cookie)
	}
	if p.from != "" {
		r.Header.Set("Referer", p.from)
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := client.Do(r)
	if err != nil {
		p.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	for _, c := range answer.Cookies() {
		if strings.HasPrefix(c.Name, "__Host-kobo_") {
			p.cookie = c.Name + "=" + c.Value
		}
	}
	return page{answer.StatusCode, answer.Header.Get("Location"), string(text), answer.Header}
}

// get reads a page.
func (p *person) get(path string) page {
	p.t.Helper()
	return p.do(http.MethodGet, path, "")
}

// read reads a page, which must be there.
func (p *person) read(path string) string {
	p.t.Helper()
	g := p.get(path)
	if g.status != http.StatusOK {
		p.t.Fatalf("GET %s as %s: %d, %s", path, p.name, g.status, g.text)
	}
	return g.text
}

var number = regexp.MustCompile(`name="form" value="([^"]+)"`)

// seenField is a field by which a form says what its page has shown.
var seenField = regexp.MustCompile(`name="(seen[A-Za-z]+)" value="([^"]*)"`)

// form returns the fields of a form of a page, with a number of that page and with what the page has shown.
func (p *person) form(path string, fields map[string]string) url.Values {
	p.t.Helper()
	text := p.read(path)
	found := number.FindStringSubmatch(text)
	if found == nil {
		p.t.Fatalf("%s has no form", path)
	}
	out := url.Values{"form": {found[1]}}
	for _, seen := range seenField.FindAllStringSubmatch(text, -1) {
		out.Set(seen[1], seen[2])
	}
	for name, value := range fields {
		out.Set(name, value)
	}
	return out
}

// send sends a form. If the program asks who the person is, the person proves it, and the form goes again.
func (p *person) send(path string, form url.Values) page {
	p.t.Helper()
	g := p.sendOnly(path, form)
	if !g.asksForProof() {
		return g
	}
	return p.sendOnly(path, p.proved(g, form))
}

// ready returns a form with the proof that it needs, and does nothing yet.
func (p *person) ready(path string, form url.Values) url.Values {
	p.t.Helper()
	g := p.sendOnly(path, form)
	if !g.asksForProof() {
		p.t.Fatalf("POST %s as %s asks for no proof: %d", path, p.name, g.status)
	}
	return p.proved(g, form)
}

// sendOnly sends a form, and proves nothing.
func (p *person) sendOnly(path string, form url.Values) page {
	p.t.Helper()
	return p.do(http.MethodPost, path, form.Encode())
}

func (g page) asksForProof() bool { return strings.Contains(g.text, "<h1>Prove that it is you</h1>") }

var optionsOf = regexp.MustCompile(`data-passkey="get" data-options="([^"]+)"`)

// proved returns a form with the proof that a page asks for: an operator's own key, or else a passkey.
func (p *person) proved(asked page, form url.Values) url.Values {
	p.t.Helper()
	out := maps.Clone(form)
	if p.key != "" {
		out.Set("proof-key", p.key)
		return out
	}
	if p.device == nil {
		p.makePasskey()
	}
	options := html.UnescapeString(found(p.t, optionsOf, asked.text))
	out.Set("proof-state", html.UnescapeString(found(p.t, proofStateOf, asked.text)))
	out.Set("proof-response", p.device.Sign(p.t, []byte(options), consoleOrigin))
	return out
}

var proofStateOf = regexp.MustCompile(`name="proof-state" value="([^"]+)"`)

// makePasskey makes a passkey of a person of a company.
func (p *person) makePasskey() {
	p.t.Helper()
	_, session, _ := strings.Cut(p.cookie, "=")
	company, token, _ := strings.Cut(session, ".")
	_, own, err := p.app.People.Open(p.t.Context(), company, token)
	if err != nil || own.ID == "" {
		p.t.Fatalf("%s is not signed in: %v", p.name, err)
	}
	c, err := p.app.People.BeginPasskey(p.t.Context(), own)
	if err != nil {
		p.t.Fatal(err)
	}
	p.device = &persontest.Device{}
	if err := p.app.People.FinishPasskey(p.t.Context(), own, "phone", c.State, p.device.Create(p.t, c.Options, consoleOrigin)); err != nil {
		p.t.Fatal(err)
	}
}

// submit fills in a form of a page, and sends it. The form must be taken.
func (p *person) submit(from, to string, fields map[string]string) page {
	p.t.Helper()
	g := p.send(to, p.form(from, fields))
	if g.status != http.StatusSeeOther {
		p.t.Fatalf("POST %s as %s: %d, %s", to, p.name, g.status, g.text)
	}
	return g
}

// ask asks the operators' API with the key of the first operator.
func (w *world) ask(method, path, body string, out any) {
	w.t.Helper()
	r, err := http.NewRequestWithContext(w.t.Context(), method, w.url+"/admin/v1/"+path, strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+w.company.AdminKey)
	r.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	defer answer.Body.Close()
	var said struct{ Data json.RawMessage }
	if err := json.NewDecoder(answer.Body).Decode(&said); err != nil || answer.StatusCode >= http.StatusBadRequest {
		w.t.Fatalf("%s %s: %d, %v", method, path, answer.StatusCode, err)
	}
	if out == nil {
		return
	}
	if err := json.Unmarshal(said.Data, out); err != nil {
		w.t.Fatal(err)
	}
}
